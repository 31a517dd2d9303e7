"""The pool of threads: every block once, from any thread, after a fork, and however the threads are held up."""

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kernels.device import compiler, cpu, pool

CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
WORK = ctypes.CFUNCTYPE(None, ctypes.c_long, ctypes.c_long, ctypes.c_void_p)
COUNT = """
KERNEL count(const long n, GLOBAL int *RESTRICT seen)
{
    OUTER(b);
    INNER(t) { if (t == 0 && b < n) ATOMIC_ADD_GLOBAL(&seen[b], 1); }
}
"""


@pytest.fixture
def count(tmp_path, openmp):
    path = tmp_path / "count.c"
    path.write_text(COUNT)
    return openmp.build(path, 4).count


@pytest.fixture
def own_pool(tmp_path, monkeypatch):
    """Return a function that makes a pool apart from the process's: its own copy of the library."""
    made = []

    def make(threads, takes_others=True, nodes=()):
        text = pool.SOURCE.read_text() + f"/* {len(made)} {tmp_path} */"
        source = tmp_path / f"pool{len(made)}.c"
        source.write_text(text)
        monkeypatch.setattr(pool, "SOURCE", source)
        made.append(pool.Pool(threads, compiler.FLAGS, takes_others, nodes))
        return made[-1]

    return make


def run(own, work, blocks):
    own._library.pool_run(WORK(work), None, ctypes.c_long(blocks))


def ranges(own, blocks):
    taken = []
    run(own, lambda first, last, job: taken.append((first, last)), blocks)
    return taken


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 8, 9, 31, 1000, 100003])
def test_each_block_is_done_once(count, blocks):
    seen = np.zeros(blocks, np.int32)
    for _ in range(20):
        count(blocks, blocks, seen)
    assert (seen == 20).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("takes_others", [True, False])
def test_ranges_cover_all_blocks_whatever_the_threads(own_pool, threads, takes_others):
    own = own_pool(threads, takes_others)
    assert own.threads == threads
    for blocks in (1, 2, 5, 64, 1000):
        taken = ranges(own, blocks)
        assert sorted(k for first, last in taken for k in range(first, last)) == list(range(blocks))


@pytest.mark.parametrize("most", [1, 2, 3, 99])
def test_fewer_threads_for_a_while(own_pool, most):
    own, meet = own_pool(4), threading.Barrier(min(most, 4), timeout=20)

    def who_takes_part(meets):
        found = set()

        def work(first, last, job):
            if threading.get_ident() not in found:
                found.add(threading.get_ident())
                meets.wait()  # nobody is done before all have begun

        run(own, work, 64)
        return len(found)

    with own.limited(most) as threads:
        assert threads == min(most, 4)
        for blocks in (1, 5, 1000):
            assert sorted(k for first, last in ranges(own, blocks) for k in range(first, last)) == list(range(blocks))
        assert who_takes_part(meet) == threads
    assert who_takes_part(threading.Barrier(4, timeout=20)) == 4


def test_a_thread_takes_what_another_has_not_begun(own_pool):
    """The other thread is held up in its first chunk: the caller does all the rest meanwhile."""
    own, rest, held = own_pool(2), threading.Event(), []
    caller = threading.get_ident()

    def work(first, last, job):
        if threading.get_ident() == caller:
            held.append((first, last))
            if sum(b - a for a, b in held) == 126:  # of 128, all but the chunk that the other has
                rest.set()
        else:
            assert rest.wait(20)

    def until_the_other_takes_part(first, last, job):
        if threading.get_ident() == caller:
            assert began.wait(20)
        else:
            began.set()

    began = threading.Event()
    run(own, until_the_other_takes_part, 8)
    for _ in range(50):
        held.clear(), rest.clear()
        run(own, work, 128)
        if rest.is_set():
            return
    pytest.fail("the caller never did the chunks of a thread that was held up")


def test_without_taking_each_thread_does_its_own_part(own_pool):
    own, owners = own_pool(4, takes_others=False), {}
    for _ in range(10):
        run(own, lambda first, last, job: owners.setdefault(first, set()).add(threading.get_ident()), 64)
    assert all(len(each) == 1 for each in owners.values())
    assert len({next(iter(each)) for each in owners.values()}) == 4


def test_launches_of_several_threads_do_not_mix(count):
    results = [np.zeros(1000 + k, np.int32) for k in range(4)]

    def launch(seen):
        for _ in range(200):
            count(seen.size, seen.size, seen)

    threads = [threading.Thread(target=launch, args=(seen,)) for seen in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((seen == 200).all() for seen in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own(count, tmp_path):
    seen = np.zeros(1000, np.int32)
    count(1000, 1000, seen)
    child = os.fork()
    if child == 0:
        count(1000, 1000, seen)
        os._exit(0 if (seen == 2).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs and Linux")
def test_each_thread_but_the_callers_keeps_to_its_node(own_pool):
    own, found, meet = own_pool(4, nodes=[{CPUS[0]}, {CPUS[1]}]), {}, threading.Barrier(4, timeout=20)

    def work(first, last, job):
        found[first] = os.sched_getaffinity(0)
        meet.wait()

    run(own, work, 4)
    assert [found[k] for k in range(4)] == [set(CPUS), {CPUS[0]}, {CPUS[1]}, {CPUS[1]}]
    assert os.sched_getaffinity(0) == set(CPUS)
    assert sorted(k for first, last in ranges(own, 1000) for k in range(first, last)) == list(range(1000))


def test_threads_of_one_node_are_not_bound(own_pool):
    own = own_pool(2, nodes=[set(CPUS)])
    assert own.nodes <= 1 and not hasattr(own, "_masks")


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_threads_write_each_its_part(own_pool, threads):
    own, random = own_pool(threads), np.random.default_rng(1)
    for size in (0, 1, 7, 8, 100_003):
        content, around = random.integers(1, 255, size, np.uint8), np.full(size + 2, 255, np.uint8)
        own.place(around[1:-1], content)
        assert np.array_equal(around[1:-1], content)
        own.place(around[1:-1])
        assert not around[1:-1].any() and around[0] == around[-1] == 255


@pytest.mark.parametrize(("asked", "threads"), [("3", 3), ("2,1", 2), ("", None), ("none", None), ("0", None)])
def test_threads_are_those_asked_for_or_the_cores(monkeypatch, asked, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert cpu.threads() == (threads or cpu.cores())


@pytest.mark.parametrize(("text", "cores"), [("150000 100000", 1), ("max 100000", 64), ("3200000 100000", 32)])
def test_a_control_group_limits_the_cores(monkeypatch, tmp_path, text, cores):
    path = tmp_path / "cpu.max"
    path.write_text(text)
    monkeypatch.setattr(cpu, "QUOTA", path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert cpu.cores() == cores


def test_where_the_system_allows_fewer_threads_they_do_all(tmp_path):
    """In a process of its own, whose limit leaves no thread but the caller's."""
    root = Path(__file__).resolve().parents[3]
    program = (
        "import resource, numpy as np, sys\n"
        "from kernels.device import open_device\n"
        "device = open_device('openmp')\n" + f"kernel = device.build({str(tmp_path / 'count.c')!r}, 4).count\n"
        "print(device.compute_units)\n"
        "seen = np.zeros(100, np.int32); kernel(100, 100, seen); assert (seen == 1).all()\n"
    )
    (tmp_path / "count.c").write_text(COUNT)
    environment = {**os.environ, "OMP_NUM_THREADS": "5000"}
    done = subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1024"
