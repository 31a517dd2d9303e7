"""zhang2013 from the command line: storage, wrong kernels, wrong solvers, and a format of one's own."""

import re
from importlib import metadata

import pytest

from experiments.zhang2013 import figure8_formats, table2_storage
from kernels import spmv
from repro import CheckFailed
from repro.published import load
from repro.run.context import Run

pytestmark = pytest.mark.usefixtures("openmp")


@pytest.fixture
def zhang(bench):
    def run(artefact, *only):
        chosen = [argument for item in only for argument in ("--only", item)]
        return bench.run(f"zhang2013-{artefact}", *chosen)

    run.rows = lambda artefact: bench.rows(f"{artefact}.smoke.csv", "zhang2013")
    run.folder = bench.folder / "bench" / "zhang2013"
    return run


def test_storage_factors_follow_from_the_grid(zhang):
    """A grid of m squares a side has (3 m + 1)² pairs of nodes, and rows of at most 9 nodes; likewise in space."""
    forms = ("ellpack", "bell", "sell", "sbell")
    assert zhang("table2", "case=quad", "case=hex", "backend=openmp", *(f"method={form}" for form in forms)) == 0
    factors = {(row["case"], row["method"]): float(row["value"]) for row in zhang.rows("table2")
               if row["metric"] == "storage_factor"}  # fmt: skip

    def ellpack(dimension, elements, padded=32):
        rows = -(-dimension * (elements + 1) ** dimension // padded) * padded
        return rows * dimension * 3**dimension / (dimension * (3 * elements + 1) ** dimension * dimension)

    assert factors["quad", "ellpack"] == pytest.approx(ellpack(2, 24))
    assert factors["hex", "ellpack"] == pytest.approx(ellpack(3, 8))
    assert all(1 <= factors[mesh, "sell"] < factors[mesh, "ellpack"] for mesh in ("quad", "hex"))
    shown = re.search(r"^\| quad \|(.*)", (zhang.folder / "table2.smoke.md").read_text(), re.M)[1].split(" | ")[::2]
    assert [cell.strip() for cell in shown] == [f"{factors['quad', form]:.2f}" for form in forms]
    # At the published sizes the formula gives the published digits.
    paper = load("zhang2013-table2")
    for mesh, dimension, elements in (("quad", 2, 400), ("hex", 3, 54)):
        assert f"{ellpack(dimension, elements):.2f}" == paper.get(mesh, "ellpack", "storage_factor").printed


def test_counts_are_the_papers_by_formula(zhang):
    assert zhang("table1", "case=quad", "case=hex", "backend=openmp", "backend=host") == 0
    counts = {(row["case"], row["metric"]): float(row["value"]) for row in zhang.rows("table1")}
    paper = load("zhang2013-table1")
    for mesh, d, smoke, full in (("quad", 2, 24, 400), ("hex", 3, 8, 54)):
        for elements, value in ((smoke, lambda metric, mesh=mesh: counts[mesh, metric]),
                                (full, lambda metric, mesh=mesh: paper.value(mesh, "matrix", metric))):  # fmt: skip
            assert value("unknowns") == d * (elements + 1) ** d
            assert value("nonzeros") == d * d * (3 * elements + 1) ** d


def test_a_wrong_product_fails_its_cell_alone(zhang, monkeypatch, capsys):
    from kernels.spmv import sell

    enqueue = sell.Packed.enqueue
    monkeypatch.setattr(sell.Packed, "enqueue", lambda self, x, y, a, b: enqueue(self, x, y, a * (1 + 1e-9), b))
    assert zhang("figure8", "case=quad", "backend=openmp", "method=sell", "method=csr_scalar") == 1
    rows = {(row["method"], row["metric"]): row for row in zhang.rows("figure8")}
    assert rows["sell", "spmv"]["status"] == "failed" and "exceeds the tolerance" in rows["sell", "spmv"]["reason"]
    assert rows["csr_scalar", "spmv"]["status"] == "done"


def test_a_wrong_solution_fails(zhang, monkeypatch):
    from kernels.polynomial import Solver

    solution = Solver.solution
    monkeypatch.setattr(Solver, "solution", lambda self: 1.001 * solution(self))
    only = ("case=least-squares", "method=order-6", "backend=openmp", "backend=host")
    assert zhang("table3", *only) == 1
    rows = {(row["backend"], row["metric"]): row for row in zhang.rows("table3")}
    assert rows["openmp", "solve"]["status"] == "failed"
    assert rows["host", "solve"]["status"] == "done"


def test_solves_agree_and_two_tables_share_them(zhang, capsys):
    only = ("case=least-squares", "case=jacobi", "method=order-0", "method=order-6", "backend=openmp", "backend=host")
    assert zhang("table3", *only) == 0
    found = {}
    for row in zhang.rows("table3"):
        if row["metric"] == "iterations":
            found.setdefault(row["case"], set()).add(float(row["value"]))
    assert all(max(values) - min(values) <= 1 for values in found.values())
    assert max(found["jacobi"]) > 3 * max(found["least-squares"])
    capsys.readouterr()
    assert zhang("table4", *only) == 0
    assert "0 cells measured" in capsys.readouterr().err


def test_speed_ups(zhang):
    only = ("backend=openmp", "backend=host", "method=least-squares-6", "method=sbell-double", "method=sbell-mixed")
    assert zhang("figure10", "case=hex", *only) == 0
    assert {row["status"] for row in zhang.rows("figure10")} == {"done"}
    text = (zhang.folder / "figure10.smoke.md").read_text()
    assert "Mixed precision over double precision" in text and "| hex | sbell-mixed | openmp |" in text


def test_slices_and_precisions(zhang):
    assert zhang("figure7", "case=quad", "backend=openmp", "method=slice-32", "method=slice-64") == 0
    assert len([row for row in zhang.rows("figure7") if row["metric"] == "spmv"]) == 2
    assert zhang("figure9", "case=quad", "backend=openmp") == 0
    errors = {row["method"]: float(row["error"]) for row in zhang.rows("figure9") if row["metric"] == "spmv"}
    assert 0 < errors["double"] < 1e-14 < 1e-9 < errors["single"] < 1e-6


def test_mkl_multiplies_in_single_precision_or_says_why_not(zhang):
    assert zhang("figure9", "case=quad", "backend=host", "backend=openmp", "method=single", "method=mkl_csr-single",
                 "method=mkl_bsr-single") == 0  # fmt: skip
    found = {row["method"]: row for row in zhang.rows("figure9") if row["metric"] in ("", "spmv")}
    assert found.keys() == {"single", "mkl_csr-single", "mkl_bsr-single"}
    text = (zhang.folder / "figure9.smoke.md").read_text()
    for title, method in (("MKL's CSR", "mkl_csr-single"), ("MKL's BSR", "mkl_bsr-single")):
        try:
            metadata.version("mkl")
        except metadata.PackageNotFoundError:
            assert found[method]["status"] == "skipped" and "wheel mkl is not installed" in found[method]["reason"]
            continue
        assert 1e-9 < float(found[method]["error"]) < 1e-6
        assert re.search(rf"\| quad \| {title} \| host \|( [\d.,]+ \|){{3}}", text)


def test_a_format_of_ones_own_is_swept(monkeypatch):
    monkeypatch.setattr(spmv, "FORMATS", (*spmv.FORMATS, "mine"))
    for module in (figure8_formats, table2_storage):
        found = [cell for cell in module.cells("paper") if cell.method == "mine"]
        assert {cell.case for cell in found} == {"tri", "quad", "tet", "hex"}
        assert {"cuda", "opencl", "openmp"} <= {cell.backend for cell in found}
        assert all("mine" in cell.parameters.values() for cell in found)


def test_a_rival_is_given_sorted_rows_and_compared_in_their_order(monkeypatch):
    from experiments.zhang2013 import products

    cell = products.product_cell("tri", "sorted", "host", rival="scipy_csr", dtype="float64", **products.GLOBAL)
    run = Run(cell, "zhang2013-figure8", "smoke")
    products.measure(cell, run)
    assert [row.metric for row in run.rows] == ["spmv", "nonzeros", "rate", "padding"]
    given = []
    pack = products.rivals.pack
    monkeypatch.setattr(products.rivals, "pack", lambda name, csr, *rest: given.append(csr) or pack(name, csr, *rest))
    products.measure(cell, Run(cell, "zhang2013-figure8", "smoke"))
    lengths = given[0].indptr[1:] - given[0].indptr[:-1]
    assert (lengths[1:] <= lengths[:-1]).all() and lengths[0] > lengths[-1]


@pytest.mark.parametrize("how", [{"threads": 1}, {"library": True}])
@pytest.mark.parametrize(("residual", "stands"), [(1.0064e-5, True), (1.02e-5, False)])
def test_every_solver_is_held_to_one_residual(monkeypatch, how, residual, stands):
    """To a hundredth, by which rounding parts what a solver stops by from what is computed afresh."""
    from experiments.zhang2013 import solves, systems

    monkeypatch.setattr(systems.System, "residual", lambda self, x: residual)
    cell = solves.solve_cell("quad", "jacobi", "host", "quad", polynomial="", order=0, **how)
    run = Run(cell, "zhang2013-table5", "smoke")
    if stands:
        solves.measure(cell, run)
        assert {row.metric for row in run.rows} == {"solve", "iterations", "products"}
    else:
        with pytest.raises(CheckFailed, match=r"1\.02e-05 exceeds the tolerance 1\.01e-05"):
            solves.measure(cell, run)


ON_THE_PROCESSOR = {"form": "sell", "precision": "mixed", "backend": "openmp"}


@pytest.mark.parametrize(
    ("whole", "how"), [(3, {"threads": 1}), (0, {"threads": 1}), (0, {"library": True}), (0, ON_THE_PROCESSOR)]
)
def test_a_solve_is_sampled_five_times_or_a_long_one_s_some_iterations_are(monkeypatch, whole, how):
    from experiments import partly
    from experiments.zhang2013 import solves
    from repro.show.results import interval_behind

    monkeypatch.setattr(solves, "SECONDS", {"smoke": 0.1})
    for module in (partly, solves):
        monkeypatch.setattr(module, "WHOLE", whole)
    monkeypatch.setattr(partly, "PART", 1e-4)
    chosen = {"polynomial": "neumann", "order": 2, "bound": "safeguard", "steps": 10}
    cell = solves.solve_cell("neumann", "order-2", **{"backend": "host", "mesh": "quad"} | chosen | how)
    run = Run(cell, "zhang2013-table3", "smoke")
    solves.measure(cell, run)
    rows = {row.metric: row.as_dict() for row in run.rows}
    assert 1 < rows["upper_bound"]["value"] < 1.4
    if whole:
        assert rows["solve"]["n"] >= 5 and "some_iterations" not in rows
        return
    behind = interval_behind(rows["solve"], rows.values())
    assert behind["n"] == rows["some_iterations"]["n"] >= 5
    times = rows["iterations"]["value"] / solves.LEAST
    assert rows["solve"]["value"] == pytest.approx(rows["some_iterations"]["value"] * times, rel=1e-6)
    assert rows["times_some_iterations"]["value"] == times
    assert behind["n"] < 6 or behind["ci_low"] <= rows["solve"]["value"]  # five have no interval of 95 %
