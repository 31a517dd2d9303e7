"""The hearts on processors: loops against PETSc on several processes, the residual that judges both, and what fails."""

import numba
import numpy as np
import pytest

from baselines.monodomain import petsc, serial
from baselines.monodomain.residual import residual
from baselines.monodomain.system import system
from baselines.solvers.rival import SolverFailed
from kernels.monodomain import Model
from repro import Skip

DT, STEPS = 0.1, 3


@pytest.fixture(scope="module")
def tissue(perturbed_cube):
    points, cells = perturbed_cube(5)
    fibres = np.random.default_rng(1).standard_normal((len(cells), 3))
    return 0.3 * points, cells, fibres / np.linalg.norm(fibres, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def one(tissue):
    return system(*tissue, Model(), DT)


@pytest.fixture(scope="module")
def start(tissue):
    return 1 / (1 + np.exp((tissue[0][:, 0] - 0.7) / 0.2)), 0.1


@pytest.fixture(scope="module")
def after(one, start):
    heart = serial.Heart(one)
    heart.load(*start)
    heart.run(STEPS)
    return heart.phi


def installed():
    try:
        petsc.find()
        petsc.launcher(1)
    except Skip as missing:
        pytest.skip(str(missing))


def test_a_step_has_no_residual_and_a_wrong_one_has(tissue, one, start):
    heart = serial.Heart(one, tolerance=1e-11)
    heart.load(*start)
    heart.step()
    given = (*tissue, Model(), DT, *start)
    assert residual(*given, heart.phi) < 2e-11
    wrong = heart.phi.copy()
    wrong[7] += 1e-3
    assert residual(*given, wrong) > 1e-6
    assert residual(*given, start[0]) > 1e-3


@pytest.mark.parametrize("recovery", [0.0, 0.7, 2.5])
def test_the_residuals_recovery_is_that_of_the_loops(tissue, one, recovery):
    """The closed form takes the branch that Newton's method is on, over the whole range of potentials."""
    points = tissue[0]
    heart = serial.Heart(one, tolerance=1e-11)
    phi = np.linspace(0.0, 1.0, len(points))[np.argsort(np.argsort(points[:, 0]))]
    heart.load(phi, recovery)
    heart.step()
    assert residual(*tissue, Model(), DT, phi, recovery, heart.phi) < 2e-11


@pytest.mark.parametrize(("processes", "preconditioner"), [(1, "jacobi"), (2, "bjacobi"), (3, "jacobi")])
def test_petscs_heart_is_that_of_the_loops(one, start, after, processes, preconditioner):
    installed()
    heart = petsc.Heart(one, *start, STEPS, processes, preconditioner, limit=60)
    try:
        for _ in range(2):  # a second run starts where the first did
            heart.run()
            assert heart.phi == pytest.approx(after, abs=1e-8)
        assert heart.seconds > sum(heart.parts.values()) > 0
        assert [len(step["norms"]) for step in heart.steps] == [4] * STEPS
    finally:
        heart.close()


def test_a_step_on_one_core_calls_no_library(one, start, monkeypatch):
    """A BLAS that wakes its threads for long vectors made steps up to seven times as slow, on more than one core."""

    def refused(*arguments, **options):
        raise AssertionError("NumPy's linear algebra was called")

    heart = serial.Heart(one)
    heart.load(*start)
    for name in ("norm", "solve"):
        monkeypatch.setattr(np.linalg, name, refused)
    monkeypatch.setattr(np, "dot", refused)
    heart.step()
    compiled = numba.njit(serial._conjugate_gradients.py_func)  # afresh: of a cached one there is no text
    vector = np.ones(2)
    compiled(np.array([0, 1, 2], np.uint32), np.array([0, 1], np.uint32), vector, vector, vector, 1e-6, 5)
    (text,) = compiled.inspect_llvm().values()
    assert "numba_xxdot" not in text and "_product" in text


def test_petscs_failures_are_named(one, start):
    installed()
    broken = petsc.Heart(one, np.where(start[0] > 0.5, np.nan, 0), 0.0, STEPS, 2, limit=60)
    with pytest.raises(SolverFailed, match="Error"):
        broken.run()
    broken.close()
    hanging = petsc.Heart(one, *start, STEPS, limit=0.01)
    with pytest.raises(SolverFailed, match=r"within 0.01 s"):
        hanging.run()
    hanging.close()
    with pytest.raises(ValueError, match="none of"):
        petsc.Heart(one, *start, STEPS, preconditioner="ilu")


def test_without_mpiexec_it_is_skipped(monkeypatch):
    monkeypatch.delenv("REPRO_MPIEXEC", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Skip, match="mpiexec"):
        petsc.launcher(2)
