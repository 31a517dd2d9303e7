"""The harness's door to kernels, baselines and datasets, and the reference that kernels are held to."""

import numpy as np
import pytest

import datasets
from experiments import environment
from experiments.fu2014 import problems
from kernels import device as devices
from kernels.device import recording
from kernels.device.passage import passage
from kernels.device.power import Power
from repro import Skip
from repro import environment as harness
from repro.cache import keys
from repro.run import tracing
from repro.run.timing import HostClock


def test_a_missing_back_end_is_a_skip_with_its_remedy(monkeypatch):
    def missing(backend):
        raise devices.Unavailable(f"no {backend}", "buy one")

    monkeypatch.setattr(devices, "open_device", missing)
    with pytest.raises(Skip, match=r"no cuda \(buy one\)"):
        environment.device("cuda")


def test_presences_are_back_ends_and_baselines():
    found = {presence.name: presence for presence in environment.presences()}
    assert {name for name, presence in found.items() if presence.kind == "back end"} == set(devices.BACKENDS)
    assert {"SciPy sparse", "Numba loops"} <= {n for n, presence in found.items() if presence.kind == "baseline"}
    assert all(presence.available or presence.remedy for presence in found.values())


@pytest.mark.parametrize("backend", ["openmp", "host"])
def test_ceilings_are_of_what_probes_and_of_no_baseline(backend, repro_cache):
    clock = HostClock() if backend == "host" else harness.device(backend)
    with tracing.traced() as ran:
        next(iter(harness.ceiling_kernels(clock))).function()
    key = keys.measured(keys.before({}, {}, 0, {}), ran)
    found = {path for path in key["code"] if path.startswith(("kernels", "baselines", "datasets"))}
    assert not [path for path in found if path.startswith(("baselines/", "datasets/"))]
    own = {path for path in found if not path.startswith("kernels/device/")}
    sizes = "kernels/stream/probes.py"  # the arrays' sizes are the same
    assert own == ({"kernels/stream/host.py", sizes} if backend == "host" else {sizes})
    assert any("stream.c" in name for name in key["kernels"]) == (backend != "host")


def test_costs_are_of_datasets_that_there_are_and_the_longest_are_known():
    scales = {entry.name: entry.scales for entry in environment.catalogue()}
    for scale, costs in environment._costs().items():
        assert not [name for name in costs if scale not in scales[name]]
        assert all(seconds >= 0.1 and 0 < gigabytes < 64 for seconds, gigabytes in costs.values())
    heart, regular = (environment.dataset_cost(f"fu2014/{name}", "paper") for name in ("heart", "regular"))
    assert heart[0] > regular[0] and heart[1] > 4e8
    assert environment.dataset_cost("geveler2011/circle", "paper")[0] < 1  # not in the file


@pytest.fixture
def reference():
    mesh = datasets.load("fu2014/regular", "smoke")
    return problems.Reference(mesh), problems.Reference(mesh, "serial")


def test_the_two_references_agree(reference):
    coo, serial = reference
    assert 0 < coo.error(serial.matrix, serial.rhs) < 1e-14


def test_the_papers_problem(reference):
    """λ = 1 and f = 1 on a cube of side 4: all entries, and the right-hand side, sum to its volume."""
    assert reference[0].matrix.sum() == pytest.approx(64, rel=1e-12)
    assert reference[0].rhs.sum() == pytest.approx(64, rel=1e-12)


@pytest.mark.parametrize("place", [0, 7, -1])
def test_the_reference_sees_every_entry(reference, place):
    coo, _ = reference
    matrix = coo.matrix.copy()
    matrix.data[place] += 1e-10 * matrix.data.max()
    assert coo.error(matrix, coo.rhs) == pytest.approx(1e-10, rel=1e-3)
    rhs = coo.rhs.copy()
    rhs[place] *= 1 + 1e-10
    assert 1e-12 < coo.error(coo.matrix, rhs) < 1e-9
    rhs[place] = np.nan
    assert not coo.error(coo.matrix, rhs) <= 1
    matrix.data[place] = np.nan
    assert not coo.error(matrix, coo.rhs) <= 1


def test_another_pattern_is_infinitely_far(reference):
    coo, _ = reference
    matrix = coo.matrix.copy()
    matrix.indices[[0, 1]] = matrix.indices[[1, 0]]
    assert coo.error(matrix, coo.rhs) == float("inf")


def test_references_are_kept_by_content_and_assembler():
    mesh = datasets.load("fu2014/regular", "smoke")
    first = problems.reference(mesh)
    assert problems.reference(mesh) is first
    other = type(mesh)(mesh.points * 2, mesh.cells)
    assert problems.reference(other) is not first
    assert problems.reference(mesh, "serial") is not problems.reference(mesh)


def test_how_energy_is_read_and_vectors_go_to_the_host_counts_and_how_kernels_are_noted_does_not():
    with tracing.traced() as ran:
        Power(harness.device("openmp"))
        passage(harness.device("openmp"), 1, "float32")
        recording.recorded()
    found = keys.measured(keys.before({}, {}, 0, {}), ran)["code"]
    mine = [name for name in found if name.startswith("kernels/device/")]
    assert mine == ["kernels/device/passage.py", "kernels/device/power.py"]
