"""What claims and ledgers say of settings of our own is what the modules have."""

import inspect
import re

import pytest

from experiments.remacle2016 import poisson, products, table1_iterations
from kernels.sem.kcycle import KCycle
from repro.judge.claims import claims
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
    told = float(re.search(r"at about ([0-9.e-]+),", cause.says)[1])
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


def test_tables_say_where_the_k_cycle_is_another():
    """Table 1's two-scale has three corrections; the others have the solver's own number of them."""
    assert poisson.METHODS["two-scale"]["cycle"] == {"corrections": 3}
    assert inspect.signature(KCycle).parameters["corrections"].default == 1
    assert "once" in products.CORRECTIONS and "thrice" in products.CORRECTIONS
