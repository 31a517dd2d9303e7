"""Units of the quantities in rows and in papers: conversion, scaling by prefix, three significant digits."""

import math
from numbers import Real
from typing import Any

from repro.model import ReproError

MISSING = "–"
_PREFIXES = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_SCALED = ("s", "B", "B/s", "FLOP/s", "DOF/s", "FLOP", "W", "J", "Hz")  # units that take a prefix
_PLAIN = {"": 1.0, "count": 1.0, "x": 1.0, "thousand": 1e3, "million": 1e6, "%": 0.01}
_UNITS = {prefix + base: (factor, base) for base in _SCALED for prefix, factor in _PREFIXES.items()} | {
    "us": (1e-6, "s"), "min": (60.0, "s"), "h": (3600.0, "s"), **{unit: (factor, "") for unit, factor in _PLAIN.items()}
}  # fmt: skip


def split(unit: str) -> tuple[float, str]:
    """Return the factor and the base unit: ``'ms'`` is (1e-3, 's'), ``'million'`` is (1e6, '').

    A unit that is not known is its own base, with the factor 1.
    """
    return _UNITS.get(unit, (1.0, unit))


def convert(value: float, unit: str, to: str) -> float:
    """Return `value`, given in `unit`, in the unit `to`.

    Raises `ReproError` when the two measure different things.
    """
    if unit == to:
        return value
    (factor, base), (target, target_base) = split(unit), split(to)
    if base != target_base:
        raise ReproError(f"a quantity in {unit or 'no unit'} cannot be given in {to or 'no unit'}")
    return value * factor / target


def is_time(unit: str) -> bool:
    """Return whether the unit measures time, where less is better."""
    return split(unit)[1] == "s"


def is_rate(unit: str) -> bool:
    """Return whether the unit is a rate, where more is better."""
    return split(unit)[1].endswith("/s")


def significant(value: float | int | None, digits: int = 3) -> str:
    """Return a number to some significant digits, without exponent where that stays readable.

    Whole numbers given as `int` keep every digit, with commas between thousands. None and NaN become a dash.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    value = float(value)
    if value == 0 or math.isinf(value):
        return f"{value:g}".replace("inf", "∞")
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))  # of the rounded number: 9.999 is 10.0
    if -4 < exponent < 6:
        rounded = round(value, digits - 1 - exponent)
        return f"{rounded:,.{max(0, digits - 1 - exponent)}f}"
    return f"{value:.{digits - 1}e}"


def quantity(value: float, unit: str) -> str:
    """Return a number with a fitting prefix: 3.2e-05 s is ``'32.0 µs'``."""
    factor, base = split(unit)
    if base not in _SCALED or value == 0 or math.isinf(value):
        return f"{significant(value)} {unit}".rstrip()
    amount = abs(value * factor)
    amount = float(f"{amount:.2e}")  # round first, so that 999.9 µs is 1.00 ms
    fitting = [prefix for prefix, size in _PREFIXES.items() if size <= amount * (1 + 1e-12)]
    if base == "s":
        fitting = [prefix for prefix in fitting if _PREFIXES[prefix] <= 1]  # seconds take no k, M, G
    prefix = max(fitting, key=_PREFIXES.__getitem__) if fitting else "p"
    return f"{significant(value * factor / _PREFIXES[prefix])} {prefix}{base}"


def is_missing(value: Any) -> bool:
    """Return whether a cell of a frame holds nothing: None or NaN."""
    return value is None or (isinstance(value, Real) and math.isnan(value))
