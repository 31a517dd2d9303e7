"""Quotients with their intervals, as tables show them."""

import pytest

from repro.show.quotients import quotient, quotient_text, ratio_text
from repro.units import MISSING


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (36.24, "36"), (2.119, "2.1"), (0.809, "0.81"), (1.0, "1.0"), (float("inf"), "∞"),
        (999.4, "999"), (4643.2, "4,640"),
    ],
)  # fmt: skip
def test_ratios_are_given_as_papers_do(value, text):
    assert ratio_text(value) == text


def test_a_quotient_has_the_interval_of_independent_errors():
    alike = (4.0, 2.0, 8.0)  # by a factor of two to either side
    ratio, low, high = quotient((40.0, 20.0, 80.0), alike)
    reach = 2 ** (2**0.5)  # of the logarithms the roots of the summed squares
    assert (ratio, low, high) == pytest.approx((10, 10 / reach, 10 * reach))
    assert quotient(None, alike) is None and quotient(alike, None) is None and quotient(alike, (0.0, 0.0, 0.0)) is None
    assert quotient(alike, (2.0, None, None)) == (2.0, None, None)


@pytest.mark.parametrize(
    ("found", "parentheses", "text"),
    [
        (None, True, MISSING), ((12.3, None, None), True, "12"), ((12.3, 12.1, 12.4), False, "12"),
        ((12.3, 8.4, 18.0), True, "12 (8.4 to 18)"), ((0.5, 0.4, 0.8), False, "0.50 (0.40 to 0.80)"),
        ((0.5, 0.4, 0.8), True, "(2.0; 1.2 to 2.5)"), ((0.5, None, None), True, "(2.0)"),
    ],
)  # fmt: skip
def test_a_quotient_is_shown_with_its_interval(found, parentheses, text):
    assert quotient_text(found, parentheses) == text
