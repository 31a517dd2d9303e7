"""Quotients of measured values as the tables show them, with the intervals that verdicts give them."""

from __future__ import annotations

import math

from repro.judge.difference import THRESHOLD, of_intervals
from repro.units import MISSING, significant

Found = tuple[float, float | None, float | None]
"""A value and the ends of its interval, None where there are none."""
THOUSAND = 1000  # from which on three digits are enough


def quotient(above: Found | None, below: Found | None) -> Found | None:
    """Return the quotient of two positive values, each with its interval; None where one of them is missing.

    Their errors are taken to be independent, as verdicts take them.
    """
    if above is None or below is None or below[0] == 0:
        return None
    if None in (*above, *below):
        return above[0] / below[0], None, None
    found = of_intervals(below, above, THRESHOLD)
    return found.ratio, found.low, found.high


def ratio_text(value: float) -> str:
    """Return a ratio to two significant digits, from 10 on as a whole number, of which three digits are kept."""
    if value < 10 or math.isinf(value):
        return significant(value, 2)
    return significant(round(value)) if value < THOUSAND else significant(value)


def quotient_text(found: Found | None, parentheses: bool = False) -> str:
    """Return a quotient, and in parentheses its interval where that is known and seen.

    With `parentheses`, one below 1 is given as its reciprocal, whose parentheses the interval shares: ``(2.0; 1.8 to
    2.3)``.
    """
    if found is None:
        return MISSING
    if parentheses and 0 < found[0] < 1:
        value, high, low = (None if end is None else math.inf if end == 0 else 1 / end for end in found)
        inner = quotient_text((value, low, high))
        return f"({inner.replace(' (', '; ', 1).removesuffix(')')})"
    value, low, high = (None if each is None else ratio_text(each) for each in found)
    return value if low is None or low == high else f"{value} ({low} to {high})"
