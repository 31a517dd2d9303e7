"""Ceilings on disk: kept while the machine and the probes are what they were."""

import pytest

from repro import ceilings, environment
from repro.ceilings import Ceilings
from repro.device_ceilings import DeviceCeilings, held_up
from repro.store import Store

PROBES = """def ceiling_kernels(clock):
    from repro.ceilings import CeilingKernel

    yield CeilingKernel("copy", "copy", 8000, lambda: bytes(8000), bytes=8000)
"""


@pytest.fixture
def source(laboratory):
    path = laboratory.folder / "fakelab" / "environment.py"
    path.write_text(path.read_text().replace("def ceiling_kernels(clock):\n    return []\n", PROBES))
    return path


@pytest.mark.parametrize(
    ("old", "new", "stands"),
    [
        ("bytes=8000", "bytes=16000", False),
        ("bytes(8000)", "bytes(8)", False),
        ("return list(range", "return tuple(range", True),  # of the datasets
        ("def ceiling_kernels(clock):", "def ceiling_kernels(clock):  # one", True),
    ],
)
def test_a_change_of_the_probes_is_measured_again(laboratory, source, old, new, stands):
    store = Store(laboratory.results, "bench")
    clock = environment.device("opencl")
    measured = DeviceCeilings(store).of(clock)
    assert DeviceCeilings(store).of(clock, measuring=False) == measured is not None
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    kept = DeviceCeilings(store)
    assert (kept.of(clock, measuring=False) is not None) == stands
    assert bool(kept.notes) != stands


def store_of(laboratory):
    return Store(laboratory.results, "bench")


def curve(*seconds):
    """A probe's bandwidths at 32 KiB, 1 MiB and 128 MiB."""
    sizes = (2.0**15, 2.0**20, 2.0**27)
    return [(size, size / time) for size, time in zip(sizes, seconds, strict=True)]


@pytest.mark.parametrize(
    ("seconds", "is_held_up"),
    [((5e-6, 6e-6, 600e-6), False), ((8.0e-3, 8.0e-3, 7.2e-3), True), ((4e-6, 8.0e-3, 16.0e-3), False)],
)
def test_ceilings_of_a_processor_that_other_programs_hold_are_none(
    seconds, is_held_up, laboratory, source, monkeypatch
):
    found = Ceilings("A processor", {"read": curve(*seconds)}, {}, {"float64": 12.3e9})
    assert held_up(found) == is_held_up
    monkeypatch.setattr(ceilings, "measure", lambda kernels, clock: found)
    store = DeviceCeilings(store_of(laboratory))
    assert (store.of(environment.device("opencl")) is None) == is_held_up == bool(store.notes)
    assert bool(store.read()) != is_held_up
    monkeypatch.setattr(ceilings, "measure", None)  # it is not probed again for the next cell
    assert (DeviceCeilings(store_of(laboratory)).of(environment.device("opencl")) is None) == is_held_up
