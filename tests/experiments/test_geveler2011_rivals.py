"""Solves of geveler2011 by a rival's products: by a stand-in on the host every one of a cycle is the rival's."""

import numpy as np
import pytest

import datasets
from baselines import spmv as rivals
from experiments.geveler2011 import cell_of, layout, problems, solves, table3_circle, table4_blood
from kernels import spmv
from kernels.spmv import sell
from repro import rows as stored
from repro.cache.keys import before, measured
from repro.model import SCALES, Row
from repro.run import tracing
from repro.run.context import Run
from repro.show.results import Results

pytestmark = pytest.mark.usefixtures("openmp")


class OfARival:
    """Stands for a rival's product, by SciPy on the host; tells whose it is, of which matrix, and when it is done."""

    def __init__(self, monkeypatch):
        pack, self.packed, self.done = rivals.pack, [], []

        def packed(name, csr):
            made = pack("scipy_csr", csr)
            multiply = made.multiply
            made.multiply = lambda *given: self.done.append(csr) or multiply(*given)
            self.packed.append((name, csr))
            return made

        monkeypatch.setattr(rivals, "pack", packed)


LEVELS_4 = 4 + 2 * 3  # matrices of four levels, and of the ways between them


@pytest.mark.parametrize(
    ("name", "rival", "alike", "matrices"),
    [
        ("cusparse", "cusparse_csr", "sell", LEVELS_4),
        ("cusparse-sell", "cusparse_sell", "sell", LEVELS_4),
        ("cusparse-chebyshev", "cusparse_sell", "chebyshev", LEVELS_4),
        ("cusparse-spai", "cusparse_csr", "spai", LEVELS_4 + 3),
        ("cusparse-sell-spai", "cusparse_sell", "spai", LEVELS_4 + 3),
    ],
)
def test_a_rival_has_every_product_of_the_same_cycle(monkeypatch, name, rival, alike, matrices):
    runs = []
    for variant in (alike, name):
        runs.append(Run(cell_of("circle", 4, "q1", "xyz", variant, "openmp"), "geveler2011-table3", "smoke"))
        if variant == name:
            asked = OfARival(monkeypatch)
            monkeypatch.setattr(spmv, "pack", None)  # none of ours
        solves.measure(runs[-1].cell, runs[-1], 0.01)
    ours, theirs = ({row.metric: row.value for row in run.rows} for run in runs)
    assert theirs["cycles"] == ours["cycles"] and theirs["convergence"] == pytest.approx(ours["convergence"], rel=1e-6)
    assert {whose for whose, _ in asked.packed} == {rival} and len(asked.packed) == matrices


def test_both_products_of_a_step_by_the_approximate_inverse_are_the_rivals(monkeypatch, openmp):
    asked = OfARival(monkeypatch)
    grids = problems.problem(datasets.load("geveler2011/circle", "smoke"), "q1", 4, openmp).numbered("xyz")
    solver = solves._solver("cusparse-spai", openmp, grids, "circle")
    level, smoother, matrix = solver.levels[-1], solver.smoothers[-1], grids[-1].matrix
    random = np.random.default_rng(3)
    level.b[:], level.x[:] = random.random((2, len(level.b)))
    x, defect = level.x.copy(), level.b - matrix @ level.x
    smoother.apply(1)
    product, inverse = asked.done
    assert product is matrix and not any(inverse is each for grid in grids for each in (grid.matrix, grid.prolongator))
    assert np.allclose(level.x, x + smoother.damping * (inverse @ defect), atol=1e-12)
    identity, jacobi = np.eye(len(x)), (matrix / matrix.diagonal()[:, None]).toarray()
    assert np.linalg.norm(identity - (inverse @ matrix).toarray()) < 0.8 * np.linalg.norm(identity - jacobi)
    assert np.array_equal(inverse.indices, matrix.indices)


def test_a_variant_that_is_declared_is_in_the_keys_of_its_own_cells_alone(monkeypatch):
    asked, names = OfARival(monkeypatch), {}
    for variant in ("cusparse-spai", "cusparse", "spai"):
        run = Run(cell_of("circle", 4, "q1", "xyz", variant, "openmp"), "geveler2011-table3", "smoke")
        with tracing.traced() as ran:
            solves.measure(run.cell, run, 0.01)
        found = measured(before({}, {}, 0, {}), ran)["code"]
        names[variant] = {name for entry in found.values() if isinstance(entry, dict) for name in entry["names"]}
    own = names["cusparse-spai"] - names["cusparse"]
    assert "_cusparse_spai" in own and "VARIANTS" in names["spai"]
    assert not any("_cusparse_spai" in names[other] for other in ("cusparse", "spai")) and asked.packed


#: A rival's variant, and ours with the same smoother.
PAIRS = {"cusparse-sell": "unfused", "cusparse-chebyshev": "chebyshev", "cusparse-sell-spai": "spai"}


@pytest.mark.parametrize("table", [table3_circle, table4_blood], ids=["table3", "table4"])
@pytest.mark.parametrize("scale", SCALES)
def test_the_rivals_slices_and_ours_run_in_the_numbering_that_suits_them(table, scale):
    ran = {}
    for cell in table.cells(scale):
        if cell.backend == "cuda" and cell.parameters["numbering"] == solves.LEVELLED:
            ran.setdefault((cell.parameters["element"], cell.case), []).append(cell.parameters["variant"])
    assert {element for element, _ in ran} == {"q1", "q2"}
    both = {"ellpack_r", "sell", *PAIRS, *PAIRS.values()}
    for (element, case), variants in ran.items():
        assert sorted(variants) == sorted(both if element == "q2" else {"ellpack_r", "sell"}), case
    assert {solves.VARIANTS[rival]["pack"] for rival in PAIRS} == {"cusparse_sell"}


def test_pages_have_a_table_for_each_numbering_that_has_more_than_slices():
    rows = []
    for numbering, variant in (("hie", "spai"), ("2lv", "sell"), ("2lv", "cusparse-sell")):
        rows.append(Row("geveler2011-table3", "paper", "circle-l9", f"q2-{numbering}-{variant}", "cuda", metric="solve",
                        value=0.04, unit="s"))  # fmt: skip
        rows[-1].parameters |= {"element": "q2", "numbering": numbering, "variant": variant}

    def shown(rows):
        results = Results(stored.frame([row.as_dict() for row in rows]), "paper", "m", "geveler2011-table3")
        tables = [*layout.beside_best(results, "q2", "Solvers"), *layout.beside_best(results, "q1", "Solvers")]
        assert {each.title for each in tables} <= {each.title for each in table3_circle.tables(results)}
        return {each.title: list(each.frame["Variant"]) for each in tables}

    cached, levelled = "Solvers in numbering HIE, Q2", "Solvers in numbering 2LV, Q2"
    assert shown(rows) == {cached: ["spai"], levelled: ["sell", "cusparse-sell"]}
    assert shown(rows[:2]) == {cached: ["spai"]}


def test_in_two_levels_slices_of_q2_need_no_sorting(openmp):
    """Slices that are not sorted store little more than sorted ones, where other numberings pay with half as much.

    Its rows are long by the measure that chooses SELL's body, which waits for fewer entries at once.
    """
    problem = problems.problem(datasets.load("geveler2011/circle", "smoke"), "q2", 5, openmp)

    def stored(numbering, **window):
        packed = spmv.pack("sell", openmp, spmv.canonical(openmp, problem.numbered(numbering)[-1].matrix), **window)
        return packed.stored / packed.nonzeros, sell.settings(packed, 1)["SHORT"]

    assert stored("2lv", window=1)[0] < 1.1
    assert all(stored(numbering, window=1)[0] > 1.5 for numbering in ("hie", "xyz", "cm", "sto"))
    assert all(stored(numbering)[0] < 1.05 and not stored(numbering)[1] for numbering in ("2lv", "hie", "xyz"))
