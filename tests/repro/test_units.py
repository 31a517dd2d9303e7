"""Units: conversion, fitting prefixes, significant digits."""

import pytest

from repro.model import ReproError
from repro.units import convert, is_rate, is_time, quantity, significant, split


@pytest.mark.parametrize(
    ("value", "unit", "to", "expected"),
    [
        (7.31, "ms", "s", 0.00731), (3.0, "us", "ns", 3000.0), (4.2, "million", "count", 4.2e6),
        (4018753, "", "million", 4.018753), (2.0, "min", "s", 120.0), (4.3, "TB/s", "GB/s", 4300.0),
        (41, "%", "", 0.41), (12.5, "iterations", "iterations", 12.5),
    ],
)  # fmt: skip
def test_conversion(value, unit, to, expected):
    assert convert(value, unit, to) == pytest.approx(expected)


@pytest.mark.parametrize(("unit", "to"), [("s", "GB/s"), ("B", "B/s"), ("", "s"), ("furlong", "s")])
def test_different_quantities_are_not_converted(unit, to):
    with pytest.raises(ReproError, match="cannot be given"):
        convert(1.0, unit, to)


def test_prefixes_are_told_from_units():
    assert split("ms") == (1e-3, "s") and split("GB/s") == (1e9, "B/s") and split("GFLOP/s") == (1e9, "FLOP/s")
    assert split("B/s")[1] == "B/s" and split("min") == (60.0, "s")
    assert is_time("us") and is_time("h") and not is_time("GB/s") and not is_time("million")
    assert is_rate("GDOF/s") and not is_rate("s")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.08, "1.08"), (0.0298, "0.0298"), (36.24, "36.2"), (999.6, "1,000"), (9.999, "10.0"), (0.0, "0"),
        (1234567.0, "1.23e+06"), (3.2e-9, "3.20e-09"), (123456.0, "123,000"), (274625, "274,625"),
        (None, "–"), (float("nan"), "–"), (-0.5, "-0.500"), (float("inf"), "∞"),
    ],
)  # fmt: skip
def test_three_significant_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.2e-5, "s", "32.0 µs"), (0.9999e-3, "s", "1.00 ms"), (4.3e12, "B/s", "4.30 TB/s"), (5400.0, "s", "5,400 s"),
        (0.25, "", "0.250"), (0.0, "s", "0 s"),
    ],
)  # fmt: skip
def test_quantities_take_a_fitting_prefix(value, unit, text):
    assert quantity(value, unit) == text
