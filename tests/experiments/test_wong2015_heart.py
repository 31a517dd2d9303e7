"""wong2015's Figures 2, 3, 15 and 16 from the command line, at scale smoke, on the back end that is everywhere."""

import ctypes
import math
from types import SimpleNamespace

import numpy as np
import pytest

import datasets
from experiments.wong2015 import figure3_tasks, figure15_speedup, figure16_power, power, slab, wave
from kernels.device.power import Energy
from repro import Cell, published
from repro.cache.store import read_toml
from repro.model import Row
from repro.rows import frame
from repro.show.results import Results


@pytest.fixture(scope="module", autouse=True)
def needs_c_and_meshes(openmp):
    pytest.importorskip("tetgen")


@pytest.fixture
def wong(bench):
    def run(artefacts, *only):
        chosen = [argument for item in only for argument in ("--only", item)]
        return bench.run(*(f"wong2015-{artefact}" for artefact in artefacts), *chosen)

    run.rows = lambda artefact: bench.rows(f"{artefact}.smoke.csv", "wong2015")
    run.folder = bench.folder / "bench" / "wong2015"
    return run


def test_shares_and_speed_ups(wong, monkeypatch):
    monkeypatch.setenv("REPRO_CPU_TDP", "130")
    only = ("case=heart-3k", "method=numba", "method=petsc-bjacobi-1", "method=ellwarp",
            "backend=openmp", "backend=host")  # fmt: skip
    assert wong(("figure15", "figure2", "figure16"), *only) == 0
    rows = {(row["method"], row["backend"], row["metric"]): row for row in wong.rows("figure15")}
    done = {key: float(row["value"]) for key, row in rows.items() if row["status"] == "done"}
    for who in (("numba", "host"), ("ellwarp", "openmp")):
        assert done[*who, "newton_iterations"] == 3
        assert 0 < float(rows[*who, "run"]["error"] or 0) < 1e-7
    speed_up = done["petsc-bjacobi-1", "host", "step"] / done["numba", "host", "step"] if (
        ("petsc-bjacobi-1", "host", "step") in done) else None  # fmt: skip
    text = (wong.folder / "figure15.smoke.md").read_text()
    if speed_up:
        line = next(line for line in text.splitlines() if "Numba loops |" in line)
        assert float(line.split("|")[3].split("(")[0]) == pytest.approx(speed_up, rel=0.05)  # two digits
        assert done["petsc-bjacobi-1", "host", "linear_iterations"] < done["numba", "host", "linear_iterations"]
    shares = (wong.folder / "figure2.smoke.md").read_text()
    line = next(line for line in shares.splitlines() if "Numba loops" in line and line.startswith("|"))
    assert sum(float(cell) for cell in line.split("|")[4:6]) == pytest.approx(100, abs=0.2)
    watts = (wong.folder / "figure16.smoke.md").read_text()
    assert "REPRO_CPU_TDP, the user's" in watts and "| 130 |" in watts


def test_tasks_and_a_wave(wong, monkeypatch):
    monkeypatch.setattr(figure3_tasks, "PIXELS", 90)
    monkeypatch.setattr(figure3_tasks, "MOVING", 90)
    monkeypatch.setitem(wave.SCALES, "smoke", 20)
    monkeypatch.setattr(wave, "VIEW", (-60.0, 60.0))  # into the cavities, where it begins
    assert wong(("figure3",), "case=heart-3k", "backend=openmp") == 0
    values = {row["metric"]: row for row in wong.rows("figure3")}
    missing = {"elements", "sums", "product", "begin", "solve", "crossing"} - set(values)
    assert not missing
    assert 0 < float(values["sums"]["error"]) < 1e-11
    assert 2 < float(values["reached"]["value"]) < 50 and float(values["last_activation"]["value"]) < 30
    from PIL import Image

    with Image.open(wong.folder / "figure3.smoke.wave.gif") as moving:
        assert moving.n_frames >= 3
        moving.seek(0)
        first = np.array(moving.convert("RGB"), float)
        moving.seek(moving.n_frames - 1)
        last = np.array(moving.convert("RGB"), float)
    assert yellow(first) < yellow(last)
    with Image.open(wong.folder / "figure3.smoke.wave.png") as still:
        assert still.mode == "P"  # of few colours
    text = (wong.folder / "figure3.smoke.md").read_text()
    assert "(figure3.smoke.wave.gif)" in text and "(figure3.smoke.png)" in text


def test_the_slab_of_the_benchmark_is_compared_with_other_codes(wong, monkeypatch):
    """Its constants are the benchmark's: 0.1334 and 0.0176 S/m over 1.4, and 35.7 mV a millisecond."""
    conduction = slab.tissue()
    assert conduction.isotropic + conduction.along == pytest.approx(0.0953, abs=5e-5)
    assert conduction.isotropic == pytest.approx(0.01258, abs=5e-6) and pytest.approx(35.71, abs=0.01) == slab.STIMULUS
    monkeypatch.setitem(slab.MOST, "smoke", 1.4)
    assert wong(("figure3",), "case=slab-500", "backend=openmp") == 0
    for method in slab.METHODS:
        rows = {(row["metric"], row.get("p_point")): row for row in wong.rows("figure3") if row["method"] == method}
        assert 1.1 < float(rows["activation", "P1"]["value"]) < 1.4 and ("activation", "P8") not in rows
        assert 0 < float(rows["crossing", ""]["error"]) < slab.TOLERANCE
    text = (wong.folder / "figure3.smoke.md").read_text()
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if line.count("|") > 10}
    assert "| 1.00 |" in lines["ours, nodes, openmp"] and "40.1" in lines["openCARP"]
    others = read_toml(published.ROOT / "wong2015" / "slab.toml")
    assert slab.spread(others, 0.05) == slab.spread(others, 0.1) == (37.8, 48.7)
    assert slab.spread(others, 0.5) == (35.2, 143.067) and slab.spread(others, 1.0) is None


def yellow(image):
    """The share of the pixels that are as bright in red and green, and dark in blue."""
    return ((image[..., 0] > 150) & (image[..., 1] > 110) & (image[..., 2] < 120)).mean()


def test_a_wrong_heart_fails_its_cell(wong, monkeypatch):
    from kernels.monodomain import heart

    step = heart.Heart.step

    def late(self):
        taken = step(self)
        self._kernels.correct(self._blocks[0], self.nodes, self.device.array(np.full(self.nodes, 1e-6)), self.phi)
        return taken

    monkeypatch.setattr(heart.Heart, "step", late)
    assert wong(("figure15",), "case=heart-3k", "backend=openmp") == 1
    assert "exceeds the tolerance" in wong.rows("figure15")[0]["reason"]


def test_a_heart_that_does_not_fit_is_skipped_with_the_sizes(wong, monkeypatch):
    """On the device, on one core, by PETSc where it is, and the wave; 1e12 bytes an element are nowhere."""
    from experiments.wong2015 import heart

    elements = len(datasets.load("wong2015/heart_3k", "smoke").cells)
    figures = ("figure15", "figure3")
    on_device = ("case=heart-3k", "backend=openmp", "method=ellwarp", f"method={figure3_tasks.CROSSING}")
    with monkeypatch.context() as patch:
        patch.setattr(heart, "HOST_BYTES", 1e12)
        assert wong(figures, *on_device, "backend=host", "method=numba", "method=petsc-jacobi-1") == 0
    assert {row["status"] for name in figures for row in wong.rows(name)} == {"skipped"}
    monkeypatch.setattr(heart, "DEVICE_BYTES", 1e12)
    assert wong(figures, *on_device) == 0
    reasons = [row["reason"] for name in figures for row in wong.rows(name) if row["backend"] == "openmp"]
    said = f"the heart of {elements} elements needs {elements * 1e3:.3g} GB of memory"
    assert len(reasons) == 3 and all(said in reason for reason in reasons), reasons


def test_every_scale_has_the_papers_hearts_and_methods():
    cells = figure15_speedup.cells("paper")
    assert {cell.case for cell in cells} == {"heart-3k", "heart-5k", "heart-30k", "heart-50k"}
    methods = {cell.method for cell in cells}
    assert {f"petsc-{name}-{n}" for name in ("jacobi", "bjacobi") for n in (1, 2, 3, 4, 8, 16)} < methods
    petsc = [cell for scale in ("smoke", "paper") for cell in figure15_speedup.cells(scale) if "petsc" in cell.method]
    assert all(cell.cores == cell.parameters["processes"] == int(cell.method.split("-")[2]) for cell in petsc)
    assert {"ellwarp", "ellwarp2", "cusparse_csr", "ellwarp-host-assembly"} < methods
    assert not any("host-assembly" in cell.method for cell in figure16_power.cells("paper"))
    large = {(cell.case, cell.backend) for cell in figure3_tasks.cells("large")}
    assert large == {(case, "cuda") for case in ("heart-5m", "slab-100", "slab-50")} | {("heart-3k", "openmp")}
    assert {cell.case for cell in figure15_speedup.cells("large")} == {cell.case for cell in cells} | {"heart-5m"}


def hearts(processes):
    """Rows of all hearts, of a GPU, its processor and PETSc on so many processes: a step takes 1 s over them."""
    rows = []
    for case, nodes in (("heart-3k", 3e3), ("heart-50k", 5e4)):
        found = [(f"petsc-{name}-{n}", "host", 1 / n) for name in ("jacobi", "bjacobi") for n in processes]
        found += [("numba", "host", 0.7), ("ellwarp", "cuda", 0.01), ("ellwarp", "openmp", 0.05)]
        found += [("torchcor", "cuda", 0.02)]
        for method, backend, step in found:
            place = "wong2015-figure15", "paper", case, method, backend, "a device"
            values = {"step": step, "run": 5 * step, "nodes": nodes, "tdp": 100.0, "newton_iterations": 3.0}
            for metric, value in values.items():
                unit = "s" if metric in ("step", "run") else ""
                rows.append(Row(*place, metric, value, unit, parameters={"source": "a list"}))
    return Results(frame([row.as_dict() for row in rows]), "paper", "m", "wong2015-figure15")


def legends(module, results):
    drawn = module.plot(results)
    placed = [*drawn.legends, *(axes.get_legend() for axes in drawn.axes if axes.get_legend())]
    return {text.get_text() for each in placed for text in each.get_texts()}, drawn.get_supxlabel()


@pytest.mark.parametrize("module", [figure15_speedup, figure16_power])
def test_the_most_processes_of_petsc_are_drawn_and_tables_have_all(module):
    """Eight methods to a panel at most: a ninth would not be drawn."""
    papers, said = legends(module, hearts((1, 2, 3, 4)))
    assert {f"PETSc, Jacobi, {n} processes" for n in (2, 3, 4)} < papers and "tables alone" not in said
    results = hearts((1, 2, 3, 4, 8, 16))
    more, said = legends(module, results)
    assert {f"PETSc, {name}, {n} processes" for name in ("Jacobi", "block Jacobi") for n in (4, 8, 16)} < more
    assert not any("not drawn" in text or "2 proc" in text for text in more) and "1 to 3 processes in the tables" in (
        " ".join(said.split())
    )
    if module is figure15_speedup:  # ours on the processor's cores is beside them
        assert "ELL-WARP K1, OpenMP, all cores" in module.plot(results).axes[-1].get_legend_handles_labels()[1]
    table = module.tables(results)[0].frame.set_index("Method")
    assert {f"PETSc, block Jacobi, {n} processes" for n in (2, 3, 16)} < set(table.index)
    assert "watts" not in said  # the least are the most
    if module is figure16_power:  # over four, as in the paper, whoever else was measured
        (panel,) = [axes for axes in module.plot(results).axes if "Processors" in axes.get_ylabel()]
        assert "ELL-WARP K1, OpenMP, all cores" in panel.get_legend_handles_labels()[1]
        assert table.loc["PETSc, block Jacobi, 16 processes", figure16_power.RELATIVE].tolist() == pytest.approx([4, 4])
        assert "with those four, too" in module.tables(results)[0].notes[0]


def test_another_code_is_drawn_beside_ours_with_petsc_and_without():
    for processes in ((), (1,)):
        assert {"ELL-WARP K1", "TorchCor, another scheme"} <= legends(figure15_speedup, hearts(processes))[0]


def test_thermal_design_power_says_where_it_is_from(tmp_path, monkeypatch):
    monkeypatch.delenv(power.VARIABLE, raising=False)
    info = tmp_path / "cpuinfo"
    info.write_text(
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: hidden\n\nprocessor : 1\n"
    )
    watts, most, source = power.processor(info, tmp_path)
    assert (watts, most) == (125, 385) and "Emerald Rapids" in source and "125 to 385" in source
    info.write_text("vendor_id : Unheard\ncpu family : 1\nmodel : 1\n")
    assert power.processor(info, tmp_path) is None
    for k, limit in enumerate((165_000_000, 165_000_000)):
        package = tmp_path / f"intel-rapl:{k}"
        package.mkdir()
        (package / "constraint_0_max_power_uw").write_text(f"{limit}\n")
    assert power.processor(info, tmp_path) == (pytest.approx(330), pytest.approx(330), "RAPL, thermal specification")
    monkeypatch.setenv(power.VARIABLE, "95")
    assert power.processor(info, tmp_path)[0] == 95


@pytest.mark.parametrize(("parameters", "measured"), [({}, True), ({"assembly": "host"}, False)])
def test_a_processors_energy_is_of_a_step(monkeypatch, parameters, measured):
    class Counter:
        def __init__(self, device):
            assert not device.is_gpu

        def measure(self, function, seconds):
            function()
            return Energy(joules=6.0, watts=90.0, seconds=0.1, calls=1)

    values, ran = {}, []

    class Who:
        steps = 3

        def __call__(self):
            ran.append(1)

    def record(metric, value, unit, **own):
        values[metric] = (value, unit, *own.values())

    run = SimpleNamespace(cell=Cell("heart-3k", "numba", "host", parameters), scale="smoke", value=record)
    monkeypatch.setattr(power, "Power", Counter)
    monkeypatch.setenv(power.VARIABLE, "95")
    power.record(run, Who())
    for end in ("tdp", "tdp_most"):
        assert values.pop(end) == (95, "W", f"{power.VARIABLE}, the user's")
    assert values == ({"energy": (2.0, "J"), "power": (90.0, "W")} if measured else {})
    assert len(ran) == measured


def test_without_nvml_a_card_says_nothing(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert power.card(None) is None


def test_an_assembly_on_the_host_takes_the_same_before_every_format(openmp):
    from experiments.wong2015 import heart

    found = []
    for form in ("ellwarp", "csr_vector"):
        cell = Cell("heart-3k", form, "openmp", {"form": form, "assembly": "host"}, ("wong2015/heart_3k",))
        run = SimpleNamespace(
            cell=cell, scale="smoke", device=openmp, overrides={}, need=lambda *what, **bytes_: None,
            dataset=lambda name: datasets.load(name, "smoke"),
        )  # fmt: skip
        who = heart.OnDevice(run)
        begun = who.clock.record()
        who()
        spent = 1e-9 * (who.clock.record() - begun)
        found.append(who.parts(spent))
        assert found[-1]["assembly"] == pytest.approx(who._assembly * (who.newton + who.steps))
        assert found[-1]["solver"] == pytest.approx(who.heart.seconds["solver"], rel=1e-3)
    assert found[0]["assembly"] == found[1]["assembly"] > 0


def test_the_reference_is_once_as_fast_as_itself_without_an_interval():
    place = "wong2015-figure15", "paper", "heart-3k"
    rows = [Row(*place, method, "host", metric="step", value=value, unit="s", ci_low=value / 2, ci_high=2 * value, n=9)
            for method, value in ((figure15_speedup.REFERENCE, 8.0), ("numba", 2.0))]  # fmt: skip
    results = Results(frame([row.as_dict() for row in rows]), "paper", "m", "wong2015-figure15")
    assert figure15_speedup.speedup(results, "heart-3k", figure15_speedup.REFERENCE, "host") == (1.0, None, None)
    assert figure15_speedup.speedup(results, "heart-5k", figure15_speedup.REFERENCE, "host") is None  # not measured
    apart = math.exp(math.hypot(math.log(2), math.log(2)))
    found = figure15_speedup.speedup(results, "heart-3k", "numba", "host")
    assert found == pytest.approx((4.0, 4.0 / apart, 4.0 * apart))
