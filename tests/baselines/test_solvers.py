"""The rivals against SciPy's direct solver; and what is said when one is absent, hangs, dies or does not converge."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from baselines import solvers
from baselines.solvers import SolverFailed, amgcl, petsc, rival
from repro import Skip


@pytest.fixture(scope="module")
def system(perturbed_cube, by_scikit_fem):
    """An ill-scaled Helmholtz system of 1,331 unknowns in random order, with a right-hand side of no symmetry."""
    points, cells = perturbed_cube(10)
    random = np.random.default_rng(3)
    order = random.permutation(len(points))
    cells = np.argsort(order)[cells]
    problem = SimpleNamespace(
        points=points[order], cells=cells, conductivity=random.uniform(0.1, 9, len(cells)), mass=1.0, source=None,
        elements=len(cells), nodes=len(points),
    )  # fmt: skip
    matrix, _ = by_scikit_fem(problem)
    rhs = random.uniform(-1, 2, len(points))
    return matrix, rhs, scipy.sparse.linalg.spsolve(matrix.tocsc(), rhs)


@pytest.fixture(autouse=True)
def several_levels(monkeypatch):
    """By itself AMGCL solves a system of this size directly."""
    monkeypatch.setitem(amgcl.PRECONDITIONER, "coarse_enough", 100)


def prepared(method, *system, **options):
    try:
        return solvers.prepare(method, *system, **options)
    except Skip as missing:
        pytest.skip(str(missing))


def use(solver):
    try:
        solver.set_up()
    except Skip as missing:
        pytest.skip(str(missing))
    solver.solve()


def test_a_rival_that_there_is_not():
    with pytest.raises(ValueError, match="there is no rival 'numba-dg'"):
        solvers.prepare("numba-dg", None, None)


@pytest.mark.parametrize("method", solvers.METHODS)
def test_solution(method, system):
    matrix, rhs, expected = system
    solver = prepared(method, matrix, rhs, tolerance=1e-10)
    use(solver)
    assert np.linalg.norm(solver.x - expected) < 1e-8 * np.linalg.norm(expected)
    # Stopped by ‖r‖/‖b‖, and not long after.
    assert 1e-14 < solver.residual() < 1.01e-10
    counted = solver.iterations
    assert 3 < counted < (250 if method.endswith("-cg") else 40)
    solver.set_up()
    solver.solve()
    assert solver.iterations == counted, "neither set-up nor solve depends on what the last one left"
    assert solver.threads >= 1 and solvers.title(method)
    solver.close()


@pytest.mark.parametrize("method", ["hypre-cg", "numba-cg"])
def test_counts_of_conjugate_gradients_are_those_of_scipy(method, system):
    matrix, rhs, _ = system
    counts = []
    scipy.sparse.linalg.cg(matrix, rhs, rtol=1e-8, atol=0.0, callback=counts.append)
    solver = prepared(method, matrix, rhs)
    use(solver)
    assert abs(solver.iterations - len(counts)) <= 1
    solver.close()


@pytest.mark.parametrize("method", solvers.METHODS)
def test_a_limit_of_iterations_is_a_failure(method, system):
    matrix, rhs, _ = system
    solver = prepared(method, matrix, rhs, max_iterations=3)
    with pytest.raises(SolverFailed, match="no solution after 3 iterations"):
        use(solver)
    solver.close()


def test_an_indefinite_matrix_is_a_failure(system):
    _, rhs, _ = system
    solver = solvers.prepare("numba-cg", -scipy.sparse.eye_array(len(rhs), format="csr"), rhs)
    with pytest.raises(SolverFailed, match="not positive"):
        solver.solve()


def test_time_is_that_of_the_other_process(system):
    matrix, rhs, _ = system
    solver = prepared("hypre-cg", matrix, rhs)
    use(solver)
    before = solver.seconds
    solver.solve()
    assert 0 < solver.seconds - before < 0.1 and solver.version
    solver.close()


def test_hypre_on_all_cores_has_a_process_for_each_and_the_papers_has_one(monkeypatch, system):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    counts = {}
    for method in ("hypre-pcgamg", "hypre-pcgamg-all", "hypre-extended", "hypre-cg"):
        solver = solvers.prepare(method, *system[:2])
        counts[method] = solver.threads
        solver.close()
    assert counts == {"hypre-pcgamg": 1, "hypre-pcgamg-all": 3, "hypre-extended": 3, "hypre-cg": 1}


def pretend(monkeypatch, tmp_path, program):
    """Put a program in the place of the one that solves."""
    path = tmp_path / "program.py"
    path.write_text(program)
    monkeypatch.setattr(petsc, "PROGRAM", path)
    monkeypatch.setattr(petsc, "find", lambda: petsc.Installation(sys.executable, "", "0"))


BEGIN = "import json, os, signal, sys, time\nsys.stdin.readline()\nprint(json.dumps({'version': '0', 'seconds': 0}))\n"
BEGIN += "sys.stdout.flush()\nsys.stdin.readline()\n"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("time.sleep(60)", "did not end its 'set up' within 0.5 s"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "died in its 'set up': SIGSEGV"),
        ("sys.exit('out of memory')", "died in its 'set up': exit status 1; out of memory"),
        ("print(json.dumps({'error': 'no hypre'}), flush=True)", "PETSc in its 'set up': no hypre"),
    ],
)
def test_a_process_that_does_not_answer(monkeypatch, tmp_path, system, end, words):
    pretend(monkeypatch, tmp_path, BEGIN + end)
    solver = petsc.Petsc({}, *system[:2], 1e-8, 100, limit=0.5 if "sleep" in end else 30)
    with pytest.raises(SolverFailed, match=words):
        solver.set_up()
    solver.close()


def test_a_process_that_dies_at_once(monkeypatch, tmp_path, system):
    pretend(monkeypatch, tmp_path, "raise SystemExit('no such library')")
    solver = petsc.Petsc({}, *system[:2], 1e-8, 100)
    with pytest.raises(SolverFailed, match="died in its 'begin': exit status 1; no such library"):
        solver.set_up()


def test_an_option_that_petsc_does_not_know_is_a_failure(system):
    solver = petsc.Petsc({"pc_type": "nonsense"}, *system[:2], 1e-8, 100)
    with pytest.raises(SolverFailed, match="PETSc in its 'set up'"):
        use(solver)
    solver.close()


def test_mpi_finds_its_programs_where_the_path_has_not_the_systems(monkeypatch, tmp_path, system):
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = petsc._environment(petsc.Installation("/usr/bin/python3.11", "", "0"))["PATH"]
    assert asked.split(os.pathsep) == [str(tmp_path), "/usr/bin"]
    monkeypatch.delenv("PATH")
    assert petsc._environment(petsc.Installation("/usr/bin/python3.11", "", "0"))["PATH"] == "/usr/bin"
    petsc.find.cache_clear()
    solver = petsc.Petsc({"pc_type": "jacobi"}, *system[:2], 1e-8, 1000)
    try:
        solver.set_up()
    except Skip as missing:
        pytest.skip(missing.reason)
    solver.solve()
    assert solver.iterations > 1
    solver.close()


def test_without_petsc_the_remedy_is_named(monkeypatch, system):
    monkeypatch.setattr(petsc, "DEBIAN", "/nowhere")
    monkeypatch.delenv("PETSC_DIR", raising=False)
    petsc.find.cache_clear()
    try:
        with pytest.raises(Skip, match="apt-get install python3-petsc4py-real"):
            solvers.prepare("hypre-cg", *system[:2]).set_up()
    finally:
        petsc.find.cache_clear()


def test_a_python_of_the_users_own_comes_first(monkeypatch, tmp_path):
    """As one of Conda's, which has petsc4py where nothing else looks."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 9.9.9\n")
    python.chmod(0o755)
    monkeypatch.setenv("REPRO_PETSC_PYTHON", str(python))
    petsc.find.cache_clear()
    try:
        assert petsc.find() == (str(python), "", "9.9.9")
    finally:
        petsc.find.cache_clear()


@pytest.mark.parametrize(("asked", "threads"), [("3", 3), ("2,1", 2)])
def test_threads_of_openmp(monkeypatch, asked, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert rival.openmp_threads() == threads
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert rival.openmp_threads() >= 1
