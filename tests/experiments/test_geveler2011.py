"""The artefacts of geveler2011 from the command line: counts, checks that a wrong result fails, and what is shown."""

import csv
import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

import datasets
from datasets.geveler2011 import hierarchy
from experiments.geveler2011 import (
    algebraic,
    cell_of,
    figure1_setups,
    layout,
    problems,
    solves,
    table1_levels,
    table2_spmv,
    table4_blood,
)
from kernels import multigrid, spmv
from repro import Skip
from repro import rows as stored
from repro.judge.roofs import Roofs
from repro.model import Row
from repro.run import memory
from repro.run.context import Run
from repro.show.results import Results

pytestmark = pytest.mark.usefixtures("openmp")


def frame(rows):
    """Rows as a frame, with the parameters that their methods' names stand for."""
    for row in rows:
        row.parameters |= dict(zip(("element", "numbering", "variant"), row.method.split("-", 2), strict=True))
    return stored.frame([row.as_dict() for row in rows])


class Files:
    """Files that a run wrote."""

    def __init__(self, bench):
        self.bench, self.folder = bench, bench.folder / "bench" / "geveler2011"

    def run(self, name, *methods):
        only = [f"--only=method={method}" for method in methods]
        backends = ["--only=backend=openmp", "--only=backend=host"]
        status = self.bench.run(f"geveler2011-{name}", *only, *backends)
        with (self.folder / f"{name}.smoke.csv").open(newline="") as stream:
            self.rows = list(csv.DictReader(stream))
        self.text = (self.folder / f"{name}.smoke.md").read_text()
        return status

    def values(self, metric):
        found = [row for row in self.rows if row["metric"] == metric]
        return {(row["case"], row["method"]): float(row["value"]) for row in found if row["status"] == "done"}


@pytest.fixture
def files(bench):
    return Files(bench)


def test_table_1_counts_and_names_what_contradicts_itself(files):
    assert files.run("table1") == 0
    dof, nonzeros = files.values("dof"), files.values("nonzeros")
    assert dof["circle-l5", "q1"] == 2176 and dof["blood-l4", "q1"] == 15233 and dof["blood-l4", "q2"] == 60417
    # 9 F - 7 B / 2 + c, and two more for each of BLOOD's four corners.
    assert nonzeros["circle-l4", "q1"] == 9 * 8 * 64 - 7 * 16 * 8 / 2
    assert nonzeros["blood-l4", "q1"] == 9 * 234 * 64 - 7 * 64 * 8 / 2 + 1 + 8
    assert "Printed non-zeros of Q1 level 4, Q2 level 4, Q1 level 5: a quarter of the next level's" in files.text
    assert "Printed non-zeros of Q2 level 4: nine times the Q1 column" in files.text
    assert "neither" not in files.text and "BLOOD (stand-in)" in files.text
    assert files.values("counted") == nonzeros


def test_table_2_times_what_is_right(files):
    methods = ["q1-2lv-locality", "q1-sto-locality", "q1-sto-ellpack_r", "q1-2lv-cpu-1", "q1-xyz-scipy"]
    assert files.run("table2", *methods) == 0
    assert {row["status"] for row in files.rows} == {"done"}
    rates, times = files.values("rate"), files.values("spmv")
    assert set(rates) == set(times) and len(rates) == 3
    for key, rate in rates.items():
        assert rate == pytest.approx(2 * 4160 / times[key] / 1e6)
    moved = files.values("x_warp")
    assert moved["circle-l4", "q1-sto-locality"] > 1.5 * moved["circle-l4", "q1-2lv-locality"]
    assert "| STO | 4 |" in files.text and "Why numberings differ" in files.text


def test_sequential_code_is_compared_on_one_thread(files, openmp):
    assert files.run("table2", "q1-xyz-ellpack_r-1", "q1-xyz-csr-1") == 0
    assert len(files.values("rate")) == 2
    for name in table2_spmv.ONE_THREAD:
        with table2_spmv._threads(name, openmp) as threads:
            assert threads == 1


CARD = {"gpu": True, "ceilings": {"device": "card", "bandwidths": {"copy": [[1e9, 1e9]]}, "cold": {}, "rates": {}}}


def test_bounds_stand_below_their_numberings():
    fractions = {"cm-sell": 0.94, "sto-sell": 0.43, "cm-ellpack_r": 0.92, "hie-ellpack_r": None}
    rows = [Row("geveler2011-table2", "paper", "circle-l10", f"q1-{method}", "cuda", metric="spmv", value=1.0, unit="s",
                device="card", work_bytes=fraction and 1e9 * fraction)
            for method, fraction in fractions.items()]  # fmt: skip
    results = Results(frame(rows), "paper", "m", "geveler2011-table2", roofs=Roofs({"card": CARD}))
    first, second = table2_spmv._bounds(results).frame.to_dict("records")
    assert (first["Product"], second["Product"]) == ("ellpack_r", "sell") and first["L"] == 10
    assert first["CM"] == pytest.approx(92) and first["HIE"] is None and first["STO"] is None
    assert (second["CM"], second["STO"]) == (pytest.approx(94), pytest.approx(43))


def test_the_papers_columns_are_as_it_prints_them():
    place, took = ("geveler2011-table3", "paper", "circle-l7"), {"metric": "solve", "value": 2.0, "unit": "s"}
    rows = [Row(*place, f"q1-2lv-{method}", backend, **took)
            for method, backend in (("cpu-all", "host"), ("ellpack_r", "cuda"))]  # fmt: skip
    results = Results(frame(rows), "paper", "m", "geveler2011-table3")
    first = layout.by_numbering(results, "Table 3", "q1", "solve", "s").frame.to_dict("records")[0]
    assert (first["device, paper"], first["device, times as fast as all threads, paper"]) == ("0.08", "2.05")


def test_times_and_speedups_have_their_intervals():
    times = {
        "cpu-1": ("host", 8.0, 6.0, 10.0),
        "cpu-all": ("host", 2.0, 1.0, 4.0),
        "ellpack_r": ("cuda", 0.1, None, None),
    }
    rows = [Row("geveler2011-table4", "paper", "blood-l8", f"q1-cm-{method}", backend, metric="solve", value=value,
                unit="s", ci_low=low, ci_high=high, n=9)
            for method, (backend, value, low, high) in times.items()]  # fmt: skip
    results = Results(frame(rows), "paper", "m", "geveler2011-table4")
    first = layout.by_numbering(results, "Table 4", "q1", "solve", "s").frame.to_dict("records")[0]
    assert (first["1 thread [s]"], first["all threads [s]"]) == ("8.00 ± 25 %", "2.00 (1.0 to 4.0)")
    assert first["device [s]"] == "0.100"
    gains = [first[f"{each}, times as fast as {other}"]
             for each, other in (("all threads", "1 thread"), ("device", "all threads"))]  # fmt: skip
    assert gains == ["4.0 (1.9 to 8.3)", "20"]
    (speedups,) = [row for row in table4_blood.speedup_rows(results) if row["Numbering"] == "CM"]
    # Factors of 8/6 and 2 down, of 10/8 and 2 up: as errors that are independent add up.
    down, up = (math.exp(math.hypot(math.log(of), math.log(2))) for of in (8 / 6, 10 / 8))
    assert speedups["Q1 all threads"] == pytest.approx((4.0, 4 / down, 4 * up))
    assert speedups["Q1 device"][1:] == (None, None)
    drawn = table4_blood.plot(results).axes[0]
    assert len(drawn.collections) > 0  # a bar from 1.9 to 8.3
    for frame_, told in ((results.frame, True), (results.frame[results.frame["method"] != "q1-cm-cpu-1"], False)):
        notes = table4_blood._speedups(dataclasses.replace(results, frame=frame_), "BLOOD").notes
        assert ("All threads over one." in notes[0]) == told  # of which there is no column without one thread


def of_a_gpu(table, case, *measured):
    rows = [Row(f"geveler2011-{table}", "paper", case, f"q1-xyz-{variant}", "cuda", "card", metric=metric, value=value,
                unit={"r": "GFLOP/s", "c": "count"}.get(metric[0], "s"))
            for variant, values in measured for metric, value in values.items()]  # fmt: skip
    return Results(frame(rows), "paper", "m", f"geveler2011-{table}")


def test_the_second_problem_stands_beside_the_papers():
    results = of_a_gpu("table4", "blood-l8", (
        "amg-jacobi", {"solve": 0.006, "cycles": 7, "solve_general": 0.126, "cycles_general": 158}
    ))  # fmt: skip
    (table,) = table4_blood._general(results)
    assert table.frame.to_dict("records") == [
        {"Element": "Q1", "L": 8, "Variant": "amg-jacobi", "Back end": "cuda", "u = 1 [ms]": 6.0, "Cycles, u = 1": 7,
         "Random [ms]": 126.0, "Cycles, random": 158}
    ]  # fmt: skip
    text = "\n".join(each.to_markdown() for each in table4_blood.tables(results))
    assert "the coarse levels of `amg-jacobi` hold constants exactly" in text
    figure = table4_blood.plot(results)
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == ["Q1, level 8"]  # no speed-up is ours
    legend, labels = figure.axes[0].get_legend(), [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert [line.get_marker() for line in legend.get_lines()] == ["o", "|"] and labels[1] == "random right-hand side"
    assert "cycles then: those of the random right-hand side" in figure.get_supxlabel().replace("\n", " ")


def test_algebraic_multigrid_stands_beside_geometric_where_both_ran():
    results = of_a_gpu(
        "table4", "blood-l8", ("ellpack_r", {"solve": 0.6}), ("sell", {"solve": 0.5}), ("cusparse", {"solve": 0.1}),
        ("mixed-chebyshev", {"solve": 0.04, "solve_general": 0.05}), ("amg", {"solve": 0.05, "solve_general": 0.07}),
        ("amg-jacobi", {"solve": 0.006, "solve_general": 0.126}),
    )  # fmt: skip
    made = algebraic.table(results, "T")
    own, random = made.frame.to_dict("records")
    assert (own["The paper's cycle [ms]"], own["Geometric solver"], own["Algebraic solver"]) == (
        "600", "mixed-chebyshev", "amg-jacobi"
    )  # fmt: skip
    assert (own["Algebraic over geometric"], random["Algebraic over geometric"]) == ("0.15", "1.4")
    assert (random["Right-hand side"], random["Algebraic solver"]) == ("random", "amg")
    assert "is a constant" in made.notes[1]
    assert not algebraic.table(of_a_gpu("table3", "circle-l7", ("sell", {"solve": 1.0})), "T").frame.size


def test_panels_without_anything_of_ours_are_left_out():
    assert table1_levels.plot(of_a_gpu("table1", "circle-l7", ("sell", {"counted": 4}))) is None
    figure = table2_spmv.plot(of_a_gpu("table2", "circle-l7", ("ellpack_r", {"rate": 4.0, "spmv": 1.0})))
    assert [axes.get_xlabel() for axes in figure.axes] == ["Q1", "Q2"]


def test_what_a_variant_is_names_others_by_their_names():
    named = {name for text in solves.MEANING.values() for name in text.split("`")[1::2]}
    assert named <= set(solves.MEANING) and "those of" not in " ".join(solves.MEANING.values())
    assert not any(text.startswith(("the same of", "the same on", "the same with")) for text in solves.MEANING.values())


def test_a_wrong_product_fails(files, monkeypatch):
    pack = spmv.pack

    def planted(name, device, csr, *arguments, **options):
        made = pack(name, device, csr, *arguments, **options)
        multiply = made.multiply

        def wrong(x, y, alpha=1.0, beta=0.0):
            multiply(x, y, alpha * (1 + 1e-9), beta)

        made.multiply = wrong
        return made

    monkeypatch.setattr(spmv, "pack", planted)
    assert files.run("table2", "q1-2lv-sell", "q1-2lv-ellpack_r", "q1-xyz-cpu-all") == 1
    assert {row["method"]: row["status"] for row in files.rows} == {
        "q1-2lv-sell": "failed", "q1-2lv-ellpack_r": "failed", "q1-xyz-cpu-all": "done",
    }  # fmt: skip


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_solves_take_as_many_cycles_in_every_numbering_and_place(files, table):
    names = [f"q1-{numbering}-{name}" for numbering in ("2lv", "sto") for name in ("ellpack_r", "cpu-all")]
    variants = [f"q1-xyz-{name}" for name in (("sell", "direct", "pyamg") if table == "table3" else ("spai",))]
    names.append("q1-xyz-rate")  # of the table's level and of others
    assert files.run(table, *names, *variants) == 0
    assert {row["status"] for row in files.rows} == {"done"}
    cycles, case = files.values("cycles"), "circle-l4" if table == "table3" else "blood-l2"
    same = {cycles[case, name] for name in [*names, *variants[:2]] if "spai" not in name}
    assert len(same) == 1 and 2 < same.pop() < 12
    rates = files.values("convergence")
    assert np.ptp([rates[case, name] for name in names]) < 1e-5
    for row in files.rows:
        if row["metric"] == "solve":
            assert 0 < float(row["error"]) <= 1.01e-8
    assert ("Table 3: multigrid on CIRCLE, Q1" if table == "table3" else "BLOOD (stand-in)") in files.text
    shown, steps = (
        ("direct", "4 of Jacobi's steps") if table == "table3" else ("spai", "64 of Jacobi's or 16 of SPAI's")
    )
    assert f"`{shown}`: {solves.MEANING[shown]}" in files.text and steps in files.text
    assert "`cusparse`" not in files.text, "nothing of it is shown"
    assert files.values("last_factor")[case, names[0]] < files.values("limit")[case, "q1-xyz-rate"] < 0.6
    start = f"| Q1 | {case[-1]} | {int(cycles[case, names[0]])} |"
    row = next(line for line in files.text.splitlines() if line.startswith(start))
    assert float(row.split("|")[-2]) < 1e-5 and int(row.split("|")[-3]) >= 5


def test_the_same_solver_in_three_dimensions(files):
    names = [f"solid-{element}-xyz-{name}" for element in ("q1", "q2") for name in ("sell", "ellpack_r", "cpu-all")]
    assert files.run("table3", *names) == 0
    assert {row["status"] for row in files.rows} == {"done"}
    cycles, unknowns = files.values("cycles"), files.values("dof")
    for case, element in (("cube-l3", "q1"), ("cube-l2", "q2")):
        assert {unknowns[case, name] for name in names if element in name} == {9**3}
        assert len({cycles[case, name] for name in names if element in name}) == 1
        assert cycles[case, f"solid-{element}-xyz-sell"] < 12
    assert "In three dimensions" in files.text and "| Q2 | 2 | 729 | sell | openmp |" in files.text
    assert "| XYZ | 3 |" not in files.text  # none of them is in the paper's tables


def test_a_solver_that_stops_early_fails(files, monkeypatch):
    solve = multigrid.Multigrid.solve

    def early(self, tolerance, *arguments):
        return solve(self, 100 * tolerance, *arguments)

    monkeypatch.setattr(multigrid.Multigrid, "solve", early)
    assert files.run("table3", "q1-2lv-ellpack_r", "q1-2lv-cpu-all") == 1
    found = {row["method"]: row["status"] for row in files.rows}
    assert found == {"q1-2lv-ellpack_r": "failed", "q1-2lv-cpu-all": "done"}


def test_boundaries_are_closed_curves():
    """Of CIRCLE one around the square, 8 long, and one around the circle, where areas have another sign."""
    level = hierarchy(datasets.load("geveler2011/circle", "smoke"), 4).levels[-1]
    curves = sorted(figure1_setups._closed_curves(level), key=lambda curve: np.abs(curve).max())
    sums = [0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) for x, y in (curve.T for curve in curves)]
    lengths = [np.linalg.norm(curve - np.roll(curve, 1, axis=0), axis=1).sum() for curve in curves]
    assert np.allclose(np.abs(sums), (np.pi / 4, 4), rtol=0.01) and sums[0] * sums[1] < 0
    assert np.allclose(lengths, (np.pi, 8), rtol=0.01)


def test_figure_1_is_drawn(files):
    assert files.run("figure1") == 0
    assert (files.folder / "figure1.smoke.png").stat().st_size > 50_000
    found = files.values("bandwidth")
    assert found["circle", "cm"] < found["circle", "xyz"] < found["circle", "sto"]
    assert files.values("elements") == {("circle", "mesh"): 8, ("blood", "mesh"): 234}
    # On quadrilaterals a node meets itself, and twice each edge and each of an element's two diagonals.
    assert files.values("counted")["circle", "mesh"] == 16 + 2 * (24 + 2 * 8)


@pytest.mark.parametrize(
    ("name", "backend"), [("cpu-1", "host"), ("scipy", "host"), ("pyamg", "host"), ("sell", "openmp")]
)
def test_a_long_solve_on_a_processor_is_some_of_its_cycles(monkeypatch, name, backend):
    from baselines.multigrid import NumbaCycle
    from experiments import partly

    monkeypatch.setattr(partly, "WHOLE", 0)
    monkeypatch.setattr(partly, "PART", 1e-4)
    threads, go_on = [], NumbaCycle.go_on
    monkeypatch.setattr(NumbaCycle, "go_on", lambda self, n=1: threads.append((self.threads, n)) or go_on(self, n))
    run = Run(cell_of("circle", 4, "q1", "sto", name, backend), "geveler2011-table3", "smoke")
    solves.measure(run.cell, run, 0.01)
    rows = {row.metric: row for row in run.rows}
    cycles = rows["cycles"].value
    count = round(cycles / rows["times_some_cycles"].value)
    assert rows["some_cycles"].n >= 5 and 1 <= count < cycles
    if name == "cpu-1":
        assert threads[-1] == (1, count) and (1, 1) in threads
    assert rows["solve"].value == pytest.approx(rows["some_cycles"].value * cycles / count, rel=1e-6)


def test_the_work_of_a_solve_is_known_from_the_solves_that_are_timed(monkeypatch):
    solves_done, solve = [], multigrid.Multigrid.solve
    monkeypatch.setattr(multigrid.Multigrid, "solve", lambda *given: solves_done.append(given) or solve(*given))
    monkeypatch.setattr(solves, "_by_some_cycles", lambda *given: (None, None))
    run = Run(cell_of("circle", 4, "q1", "xyz", "sell", "openmp"), "geveler2011-table3", "smoke")
    monkeypatch.setattr(
        type(run), "time", lambda run, metric, function, **given: (function() and None) or asked.update(given)
    )
    asked = {}
    solves.measure(run.cell, run, 0.01)
    ((solver, *_),) = solves_done
    work, cycles = asked["work"](), {row.metric: row for row in run.rows}["cycles"].value
    cycle, first = solver.cycle_work(), solver.outer.operator.work(1)
    assert (work.bytes, work.flops) == (cycles * cycle.bytes + first.bytes, cycles * cycle.flops + first.flops)
    assert (work.precision, work.problem_bytes) == (first.precision, first.problem_bytes)


class Device:
    """A matrix or a vector as of a device, which counts its copies."""

    def __init__(self, of, copies):
        self.get = lambda: copies.append(self) or of


def test_a_defect_is_of_its_own_grid_and_the_matrix_is_copied_from_the_device_once():
    copies, found = [], hierarchy(datasets.load("geveler2011/circle", "smoke"), 4)
    made = multigrid.grids([found.space(i, 1) for i in (3, 4)], found.source, found.dirichlet)
    grids = [
        dataclasses.replace(grid, **{name: Device(getattr(grid, name), copies) for name in ("matrix", "rhs", "start")})
        for grid in made
    ]
    other = dataclasses.replace(grids[1], rhs=Device(2 * made[1].rhs, copies))
    for host, grid, times in ((made[1], grids[1], 1), (made[0], grids[0], 1), (made[1], other, 2), (made[1], other, 2)):
        u = np.random.default_rng(1).random(len(host.rhs))
        first = np.linalg.norm(times * host.rhs - host.matrix @ host.start)
        expected = np.linalg.norm(times * host.rhs - host.matrix @ u) / first
        for _ in range(2):
            assert problems.defect(grid, u) == expected == problems.defect(
                dataclasses.replace(host, rhs=times * host.rhs), u)  # fmt: skip
    assert [sum(each is grid.matrix for each in copies) for grid in grids] == [1, 2]
    assert problems._Same(gone := Device(0, [])) != problems._Same(Device(0, [])) and gone.get() == 0


def test_table_1_asks_for_memory_before_it_refines(monkeypatch):
    cell = next(c for c in table1_levels.cells("paper") if c.parameters["level"] == 10 and c.backend == "host")
    run = Run(cell, "geveler2011-table1", "smoke")
    monkeypatch.setattr(memory, "host_available", lambda: 1e9)
    monkeypatch.setattr(table1_levels, "_growing", None)
    with pytest.raises(Skip, match=r"the hierarchy needs .* GB of memory on the host, where 1 GB"):
        table1_levels.measure(cell, run)


def test_finer_levels_of_table_1_go_on_from_those_before(monkeypatch):
    made, levels = [], table1_levels.hierarchy
    monkeypatch.setattr(
        table1_levels, "hierarchy", lambda *given: made.append(len(given[3:] and given[3])) or levels(*given)
    )
    growing = table1_levels._Growing(datasets.load("geveler2011/circle", "smoke"), np)
    assert [len(growing.of(count).levels) for count in (2, 4, 3, 5)] == [2, 4, 4, 5] and made == [0, 2, 4]


def test_back_ends_that_take_turns_in_table_1_refine_once_each():
    mesh = datasets.load("geveler2011/circle", "smoke")
    namespaces = [SimpleNamespace(**vars(np) | {"__name__": name}) for name in ("one", "other")]
    found = [table1_levels._growing(mesh, xp) for xp in 2 * namespaces]
    assert found[:2] == found[2:] and found[0] is not found[1]
