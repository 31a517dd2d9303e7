"""Claims and ledgers tell settings of our own as the modules have them."""

import inspect
import re

import pytest

import datasets
from experiments.remacle2016 import poisson, rod, solves, table1_iterations, table4_heat
from experiments.wong2015 import heart
from kernels.sem.kcycle import EXACT, NEAR_EXACT, KCycle
from repro import discovery
from repro.judge.claims import claims, needed
from repro.site.showcase.ledger import ledgers

BOUND = re.compile(r"‖r‖ <= (\S+?)(?=[.,;]?( |$))")


def of(paper, name):
    return next(claim for claim in claims(paper) if claim.id == name)


@pytest.mark.parametrize("name", ["h-optimal", "million-unknowns"])
def test_claims_on_solves_of_a_cube_say_to_which_residual(name):
    assert BOUND.search(of("remacle2016", name).condition)[1] == f"{poisson.TOLERANCE:.2g}"


@pytest.mark.parametrize("name", ["one-cycle-iterations", "one-cycle-order-7", "fine-scale-iterations"])
def test_a_cause_names_the_bound_on_the_residual_that_its_counts_are_to(name):
    """It is one for all of them, and a table has what both scales take to it."""
    (cause,) = of("remacle2016", name).causes
    metric, exponents = poisson.SWEEPS["absolute"]
    told = float(re.search(r"‖r‖ <= ([0-9.e-]+),", cause.says)[1])
    (exponent,) = [each for each in exponents if f"{10**each:.2g}" == f"{told:.2g}"]
    assert exponent == table1_iterations.OF_CAUSES
    assert all(f" {metric}[exponent={exponent}] " in selector for selector in cause.where.values())


def test_the_table_of_kernels_says_to_which_residual_a_cube_is_solved():
    (ledger,) = [each for each in ledgers() if each.paper == "remacle2016"]
    (name,) = [family.name for family in ledger.families if "weighted" in family.kernels]
    assert BOUND.search(name)[1] == f"{poisson.TOLERANCE:.2g}"


def test_the_memory_that_is_judged_is_that_of_the_papers_algorithm_which_the_table_shows():
    (selector,) = of("remacle2016", "device-memory").where.values()
    assert selector == "table4 cuda-gpu-plain device_memory @cuda"


def test_the_papers_solver_of_tables_1_to_3_is_one_and_table_4_says_where_it_is_another():
    """Theirs has three corrections; Table 4's has the solver's own number of them, as has what weights local solves."""
    assert poisson.METHODS["two-scale"] is poisson.PLAIN and poisson.PLAIN["cycle"] == {"corrections": NEAR_EXACT}
    plain = {method: options for method, (_, options) in solves.METHODS.items() if method.startswith("plain")}
    assert len(plain) == 2 and all(options is poisson.PLAIN for options in plain.values())
    assert NEAR_EXACT == 3 and inspect.signature(KCycle).parameters["corrections"].default == 1
    own = [poisson.METHODS["weighted"], solves.METHODS["solve-stored"][1], table4_heat.PLAIN]
    assert not any("cycle" in options for options in own)
    assert "once" in table4_heat.CORRECTIONS and "thrice" in table4_heat.CORRECTIONS


def test_one_correction_is_as_good_as_an_exact_solve_in_the_heat_equation(openmp):
    mesh, counts = datasets.load(rod.MESH, "smoke"), []
    for corrections in (1, EXACT):
        settings = table4_heat.PLAIN | {"cycle": {"corrections": corrections, "coarsest": 100}}
        problem = rod.heat(openmp, mesh, 2, **settings)
        assert len(problem.solver.coarse.cycle.rows) > 1
        counts.append([problem.advance().iterations for _ in range(2)])
    assert counts[0] == counts[1]


def test_what_opencl_is_explained_by_is_measured_where_opencl_is():
    (artefact,) = [each for each in discovery.find() if each.id == "remacle2016-table4"]
    cells = table4_heat.cells("paper")
    measured = set(cells) - set(needed.left_out(artefact, cells, "paper"))
    kept = {method: {cell.case for cell in measured if cell.method == method} for method in table4_heat.LAUNCHES}
    assert kept["cuda-launched"] == kept["opencl-gpu-plain"] < kept["cuda-gpu-plain"]


def test_the_table_of_kernels_says_how_many_steps_a_run_of_the_heart_has():
    (ledger,) = [each for each in ledgers() if each.paper == "wong2015"]
    (name,) = [family.name for family in ledger.families if family.metric == "run"]
    assert name.endswith(f" of {heart.STEPS['paper']} steps ({heart.STEPS['small']} at `small`)")
