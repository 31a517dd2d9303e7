"""One roof a device, and the fraction of it that a row reaches."""

import json
from pathlib import Path

import pytest

from repro.judge.roofs import Roofs, physical

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("pthread-AMD EPYC", "AMD EPYC"),
        ("cpu-skylake-avx512-Intel(R) Xeon(R) Processor", "Intel(R) Xeon(R) Processor"),
        ("cpu-znver4-AMD EPYC 9554 64-Core Processor", "AMD EPYC 9554 64-Core Processor"),
        ("NVIDIA H200", "NVIDIA H200"),
    ],
)
def test_an_emulation_has_the_processors_name(device, name):
    assert physical(device) == name


@pytest.mark.parametrize("machine", sorted(path.parent.name for path in RESULTS.glob("*/ceilings.json")))
def test_stored_ceilings_are_roofs(machine):
    stored = json.loads((RESULTS / machine / "ceilings.json").read_text())
    roofs = Roofs.read(RESULTS / machine)
    for name, old in stored.items():
        probed = old["ceilings"]
        roof = roofs.of(probed["device"], old["machine"]["cores"])
        assert roof.gpu == ("NVIDIA" in name)
        assert all(roof.ceilings.rates[precision] >= rate for precision, rate in probed["rates"].items())
        assert all(roof.ceilings.bandwidth(size) >= rate for size, rate in probed["bandwidths"]["triad"])


ROOFS = Roofs({"Card": {"gpu": True, "ceilings": {
    "device": "Card", "bandwidths": {"copy": [[1.0, 4e12]]}, "cold": {"copy": [[1.0, 2e12]]},
    "rates": {"float64": 1e13},
}}})  # fmt: skip
ROW = {"device": "Card", "unit": "ms", "value": 2.0, "work_bytes": 4e9, "work_flops": None, "work_precision": "",
       "problem_bytes": 1e9, "cold": False}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "of_problem", "fraction"),
    [
        ({}, False, 0.5),  # 4 GB at 4 TB/s take one of two milliseconds
        ({}, True, 0.125),
        ({"cold": True}, False, 1.0),
        ({"work_flops": 1.5e10}, False, 0.75),  # which take 1.5 ms
        ({"work_flops": 1.0, "work_precision": "float32"}, False, None),  # whose rate has not been measured
        ({"device": "Another"}, False, None),
        ({"work_bytes": float("nan")}, False, None),
        ({"problem_bytes": None}, True, None),
        ({"unit": "GB/s"}, False, None),
    ],
)
def test_a_fraction_is_the_least_time_over_the_time(change, of_problem, fraction):
    assert ROOFS.fraction(ROW | change, of_problem=of_problem) == (fraction and pytest.approx(fraction))
