"""The host's probes compute what they claim, and move what they say."""

import numpy as np
import pytest

from kernels.stream import host

SIZE = 32 << 10


@pytest.fixture
def probes(monkeypatch):
    monkeypatch.setattr(host, "sizes", lambda *_, **__: (SIZE,))
    return {probe.name: probe for probe in host.probes()}


def test_names_kinds_and_work(probes):
    assert {name: (p.kind, p.size_bytes, p.bytes, p.precision) for name, p in probes.items()} == {
        "read 32 KiB": ("read", SIZE, SIZE, "float64"),
        "copy 32 KiB": ("copy", SIZE, 2 * SIZE, "float64"),
        "triad 32 KiB": ("triad", SIZE, 3 * SIZE, "float64"),
        "fma float64": ("flops", 0, 0, "float64"),
        "fma float32": ("flops", 0, 0, "float32"),
    }
    assert all((probe.flops > 1e6) == (probe.kind == "flops") for probe in probes.values())


def test_every_probe_runs_on_arrays_of_its_size(probes):
    for probe in probes.values():
        arrays = probe.function.__defaults__
        if probe.kind != "flops":
            assert {array.nbytes for array in arrays} == {SIZE}
            assert len(arrays) * SIZE == probe.bytes  # each array is read or written once
    assert probes["read 32 KiB"].function() == SIZE // 8
    x, z = probes["copy 32 KiB"].function.__defaults__
    probes["copy 32 KiB"].function()
    assert np.array_equal(z, x) and x.any()
    x, y, z = probes["triad 32 KiB"].function.__defaults__
    probes["triad 32 KiB"].function()
    assert np.array_equal(z, x + 3 * y)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_multiply_add_does_every_round_on_every_lane(probes, precision):
    x = np.random.default_rng(0).uniform(-5, 5, 96 * 4).astype(precision)
    expected = x.astype(float)
    rounds = 50
    for _ in range(rounds):
        expected = expected * 0.999 + 0.001
    host._multiply_add(x, rounds)
    assert x.dtype == precision and np.allclose(x, expected, rtol=1e-12 if precision == "float64" else 1e-4)
    (timed,) = probes[f"fma {precision}"].function.__defaults__
    assert timed.dtype == precision and timed.size % 96 == 0  # every lane is in a block of twelve vectors
    assert probes[f"fma {precision}"].flops % (2 * timed.size) == 0
