"""What claims and ledgers say of settings of our own is what the modules have."""

import re

import pytest

from experiments.remacle2016 import poisson
from repro.judge.claims import claims
from repro.site.showcase.ledger import ledgers

BOUND = re.compile(r"‖r‖ <= (\S+?)(?=[.,;]?( |$))")


def of(paper, name):
    return next(claim for claim in claims(paper) if claim.id == name)


@pytest.mark.parametrize("name", ["h-optimal-relative", "million-unknowns"])
def test_claims_on_solves_of_a_cube_say_to_which_residual(name):
    assert BOUND.search(of("remacle2016", name).condition)[1] == f"{poisson.TOLERANCE:.2g}"


def test_a_bound_on_the_residual_itself_is_the_one_of_the_counts():
    claim = of("remacle2016", "h-optimal")
    told = float(BOUND.search(claim.condition)[1])
    metric, exponents = poisson.SWEEPS["absolute"]
    (exponent,) = [each for each in exponents if f"{10**each:.2g}" == f"{told:.2g}"]
    assert all(f" {metric}[exponent={exponent}] " in selector for selector in claim.where.values())


def test_the_table_of_kernels_says_to_which_residual_a_cube_is_solved():
    (ledger,) = [each for each in ledgers() if each.paper == "remacle2016"]
    (name,) = [family.name for family in ledger.families if "weighted" in family.kernels]
    assert BOUND.search(name)[1] == f"{poisson.TOLERANCE:.2g}"
