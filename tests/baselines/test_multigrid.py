"""The host's cycles are the kernels' very cycle, defect by defect; PyAMG comes to the same solution."""

import numpy as np
import pytest

import datasets
from baselines.multigrid import Algebraic, ClassicalAmg, NumbaCycle, SciPyCycle, use_threads
from datasets.geveler2011 import hierarchy
from kernels import multigrid
from kernels.device import Unavailable, open_device


@pytest.fixture(scope="module", params=[("circle", 1, 5), ("blood", 2, 2)])
def grids(request, repro_cache):
    name, degree, level = request.param
    found = hierarchy(datasets.load(f"geveler2011/{name}", "smoke"), level)
    return multigrid.grids([found.space(i, degree) for i in range(1, level + 1)], found.source, found.dirichlet)


@pytest.fixture(scope="module")
def expected(grids):
    for backend in ("openmp", "opencl"):
        try:
            solver = multigrid.Multigrid(open_device(backend), grids, steps=16, damping=0.5)
        except Unavailable:
            continue
        return solver.solve(), np.array(solver.device.to_host(solver.solution))
    pytest.skip("no back end on the processor")


@pytest.mark.parametrize("rival", [SciPyCycle, NumbaCycle])
def test_same_cycles(grids, expected, rival):
    outcome, u = expected
    for threads in (1, None) if rival is NumbaCycle else (None,):
        options = {"threads": threads} if threads else {}
        solver = rival(grids, steps=16, damping=0.5, **options)
        found = solver.solve()
        assert found.converged and found.cycles == outcome.cycles and found.rate == pytest.approx(outcome.rate)
        assert np.allclose(found.history, outcome.history, rtol=1e-6)
        assert np.abs(solver.solution - u).max() < 1e-12


def test_pyamg(grids, expected):
    pytest.importorskip("pyamg")
    solver = ClassicalAmg(grids)
    found = solver.solve(1e-10)
    assert found.converged and np.abs(solver.solution - expected[1]).max() < 1e-6
    assert solver.solve(1e-10, max_cycles=1).status == "cycle limit"


def test_rivals_in_solving_come_to_the_same_solution(grids, expected):
    solver = Algebraic(grids, "numba-cg", 1e-10)
    found = solver.solve(1e-10)
    assert found.converged and found.history[-1] <= 1.01e-10 and np.abs(solver.solution - expected[1]).max() < 1e-6


def test_a_solve_on_one_thread_leaves_the_others_to_what_comes_after(grids):
    """Ceilings are probed, and other rivals run, in the same process."""
    import numba

    before = numba.get_num_threads()
    if before == 1:
        pytest.skip("one thread is all there is")
    NumbaCycle(grids, threads=1).solve(1e-2)
    assert numba.get_num_threads() == before
    with pytest.raises(RuntimeError, match="mine"), use_threads(1):
        assert numba.get_num_threads() == 1
        raise RuntimeError("mine")
    assert numba.get_num_threads() == before
