"""Ceilings on disk: kept while the machine and the probes are what they were."""

import pytest

from repro import environment
from repro.device_ceilings import DeviceCeilings
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
