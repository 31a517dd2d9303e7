"""Fractions of what hardware allows, worked out by hand."""

import pytest

from repro.judge.peaks import Peak, least_seconds, of_paper, of_published, of_table
from repro.judge.roofs import Roof
from repro.run.ceilings import Ceilings


@pytest.mark.parametrize(("flops", "precision", "seconds"), [
    (1e9, "float64", 0.01), (1e11, "float32", 0.05), (0.0, "float16", 0.01), (1e9, "float16", None),
])  # fmt: skip
def test_the_least_time_is_the_memorys_or_the_arithmetics(flops, precision, seconds):
    peak = Peak("card", 100e9, {"float64": 1e12, "float32": 2e12}, gpu=True)
    assert least_seconds({"work_bytes": 1e9, "work_flops": flops, "work_precision": precision}, peak) == seconds


@pytest.mark.parametrize(
    ("artefact", "method", "name"),
    [
        ("fu2014-table2", "serial", "Intel i7 965 Extreme"), ("fu2014-table5", "cusp-cg", "NVIDIA GeForce GTX 580"),
        ("fu2014-table5", "hypre-cg", "Intel i7 965 Extreme"),
        ("geveler2011-table2", "q1-xyz-cpu-4", "Intel Core i7 920"),
        ("geveler2011-table3", "q2-sto-gpu", "NVIDIA GeForce GTX 285"),
        ("remacle2016-table2", "stored", "NVIDIA GTX 980"), ("remacle2016-table3", "stored", "NVIDIA K40"),
        ("remacle2016-table4", "openmp-cpu", "Intel Core i7-5960X"),
        ("zhang2013-table4", "order-2", "Intel Core2 Duo E7400"), ("wong2015-table4", "k1", "Asus ENGTX480"),
        ("zhang2013-table1", "matrix", None),
    ],
)  # fmt: skip
def test_published_numbers_know_their_hardware(artefact, method, name):
    found = of_published(artefact, method)
    assert (found.device if found else None) == name


def test_a_roof_is_the_memorys_and_not_the_caches():
    curve = {"copy": [(1e6, 9e12), (1e9, 4e12)], "read": [(1e6, 8e12), (1e9, 4.5e12)]}
    roof = Roof("card", True, None, Ceilings("card", curve, {}, {"float64": 3e13}))
    assert (roof.bandwidth, roof.rates) == (4.5e12, {"float64": 3e13})


def test_the_papers_devices():
    found = of_paper("remacle2016")
    assert list(found) == ["gpu", "gpu2", "cpu"] and [peak.gpu for peak in found.values()] == [True, True, False]
    assert found["gpu2"].bandwidth == 288e9 and found["gpu"].rates["float32"] == 4981e9


@pytest.mark.parametrize(
    ("artefact", "gpu", "name"),
    [
        ("remacle2016-table2", True, "NVIDIA GTX 980"), ("remacle2016-table3", True, "NVIDIA K40"),
        ("remacle2016-table4", False, "Intel Core i7-5960X"),
        ("remacle2016-table1", True, "NVIDIA GTX 980"),  # whose GPU the paper does not name
    ],
)  # fmt: skip
def test_the_device_of_a_table(artefact, gpu, name):
    assert of_table(artefact, gpu).device == name
