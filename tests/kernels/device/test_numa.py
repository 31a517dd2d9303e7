"""Several NUMA nodes: which CPUs they have, and arrays that the pool's threads write first."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels.device import cpu, pool
from kernels.device import openmp as back_end

ROOT = Path(__file__).resolve().parents[3]
HAS_MASKS = hasattr(os, "sched_getaffinity")
CPUS = sorted(os.sched_getaffinity(0)) if HAS_MASKS else []
needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs and Linux")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return a function that makes a tree of nodes as the system has it, of lists of CPUs."""

    def make(*lists):
        for number, text in enumerate(lists):
            (tmp_path / f"node{number}").mkdir()
            (tmp_path / f"node{number}" / "cpulist").write_text(text + "\n")
        (tmp_path / "possible").write_text("0\n")
        monkeypatch.setattr(cpu, "NODES", tmp_path)

    return make


@pytest.fixture
def device(openmp, monkeypatch):
    """Return a device of two nodes for which every array is large, and the sizes that the pool has placed."""
    monkeypatch.setattr(back_end, "PLACED", 0.5)
    shared, placed = openmp._pool, []
    monkeypatch.setattr(shared, "nodes", 2)
    place = shared.place
    monkeypatch.setattr(shared, "place", lambda to, *content: (placed.append(to.nbytes), place(to, *content)))
    return back_end.Device(), placed


@pytest.mark.skipif(not HAS_MASKS, reason="asks Linux")
def test_nodes_are_those_of_the_cpus_that_the_process_may_use(tree, monkeypatch):
    tree("0-3,8-9", "4-7,10", "", *["12"] * 8, "11")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 5, 8, 10, 11})
    assert cpu.nodes() == [{1, 2, 8}, {5, 10}, {11}]
    assert cpu.domains() == "3 NUMA nodes"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    assert cpu.nodes() == [{5}] and cpu.domains() == "one NUMA node"


def test_a_system_that_tells_no_nodes_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu, "NODES", tmp_path / "missing")
    assert cpu.nodes() == [] and cpu.domains() == "NUMA not told"
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cpu.nodes() == []


def test_threads_are_on_nodes_by_their_cpus():
    masks = pool._masks(6, [{0, 1, 2, 3}, {64, 130}])
    assert [int(row[0]) for row in masks] == [15] * 4 + [0] * 2
    assert masks[4].tolist() == masks[5].tolist() == [0, 1, 4]
    assert [int(row[0]) for row in pool._masks(3, [{0, 1}, {2, 3}])] == [3, 3, 12]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
@pytest.mark.parametrize("shape", [0, 1, 1001, (7, 11), (3, 0)])
def test_arrays_are_placed_with_their_content(device, shape, dtype):
    made, placed = device
    x = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    copy = made.array(x)
    assert copy.dtype == dtype and copy.shape == x.shape and np.array_equal(copy, x)
    assert not np.shares_memory(copy, x)
    assert not x.size or copy.ctypes.data % cpu.ALIGNMENT == 0
    assert placed == ([x.nbytes] if x.nbytes else [])
    zeros = made.zeros(shape, dtype)
    assert zeros.shape == x.shape and not zeros.any() and made.empty(shape, dtype).shape == x.shape
    assert placed == ([x.nbytes] * 3 if x.nbytes else [])


def test_input_of_another_order_or_type_is_placed_in_order(device):
    made, _ = device
    x = np.arange(35.0).reshape(5, 7)
    for strided in (x.T, x[::2], x[:, 1:3]):
        found = made.array(strided)
        assert np.array_equal(found, strided) and found.flags.c_contiguous
    assert np.array_equal(made.array(x, np.float32), x.astype(np.float32))


def test_what_is_placed_already_is_not_copied(device):
    made, placed = device
    for own in (made.zeros(9, np.float64), made.empty((3, 3), np.float64), made.array(np.arange(9.0))):
        count = len(placed)
        assert made.array(own) is own
        assert np.shares_memory(made.array(own.reshape(-1)[2:5]), own)
        assert len(placed) == count


def test_small_arrays_and_those_of_one_node_are_not_copied(device, openmp, monkeypatch):
    monkeypatch.setattr(back_end, "PLACED", 400)
    monkeypatch.setattr(openmp, "_least", math.inf)
    made, placed = back_end.Device(), device[1]
    small, large = np.arange(99.0), np.arange(100.0)
    assert np.shares_memory(made.array(small), small) and not np.shares_memory(made.array(large), large)
    assert placed == [800]
    assert made.details["NUMA nodes"] == 2
    assert np.shares_memory(openmp.array(large), large)


@needs_two_cpus
def test_a_process_on_two_nodes(tmp_path):
    """In a process of its own, whose pool is made anew: bound threads, and the results of others."""
    for number in (0, 1):
        (tmp_path / f"node{number}").mkdir()
        (tmp_path / f"node{number}" / "cpulist").write_text(f"{CPUS[number]}\n")
    program = (
        "import os, sys, pathlib, numpy as np\n"
        "from kernels.device import cpu, open_device, survey\n"
        "cpu.NODES = pathlib.Path(sys.argv[1])\n"
        f"os.sched_setaffinity(0, {set(CPUS[:2])})\n"
        "device = open_device('openmp')\n"
        "x = device.array(np.arange(2e6)); assert x.tolist() == list(range(2_000_000))\n"
        "masks = [os.sched_getaffinity(int(t)) for t in os.listdir('/proc/self/task')]\n"
        f"assert masks.count({ {CPUS[1]} }) == 1, masks\n"
        f"assert os.sched_getaffinity(0) == {set(CPUS[:2])}\n"
        "print([each.detail for each in survey() if each.backend == 'openmp'])\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 NUMA nodes" in done.stdout
