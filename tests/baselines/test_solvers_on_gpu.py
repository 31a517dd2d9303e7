"""Rivals on a GPU: what they ask of their libraries, with stand-ins for these, and what is said where there is none."""

import ctypes
import json
import shutil
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from baselines import solvers
from baselines.solvers import _amgx, cudss
from kernels.device import Unavailable, compiler
from repro import Skip

STAND_IN = Path(__file__).with_name("amgx_stand_in.c")
MATRIX = scipy.sparse.diags_array([[-1.0] * 9, [2.5] * 10, [-1.0] * 9], offsets=[-1, 0, 1], format="csr")
RHS = np.arange(1.0, 11.0)


@pytest.fixture
def fake_cupy(monkeypatch):
    """CuPy's few functions that are used, on the host."""

    def asarray(values, dtype=None):
        array = np.ascontiguousarray(values, dtype)
        return types.SimpleNamespace(data=types.SimpleNamespace(ptr=array.ctypes.data), array=array)

    fake = types.SimpleNamespace(
        asarray=asarray, cuda=types.SimpleNamespace(Device=lambda: types.SimpleNamespace(synchronize=lambda: None))
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


@pytest.fixture
def amgx(monkeypatch, fake_cupy, tmp_path):
    """A library with AmgX's functions, found as the user's would be."""
    fake_cupy.cuda.runtime = types.SimpleNamespace(getDeviceCount=lambda: 1)
    try:
        built = compiler.library(STAND_IN.read_text(encoding="utf-8"), AssertionError, ("-O2", "-fPIC", "-shared"))
    except Unavailable as missing:
        pytest.skip(str(missing))
    shutil.copy(built._name, tmp_path / _amgx.NAME)
    monkeypatch.setenv(_amgx.FOLDER, str(tmp_path))
    _amgx.library.cache_clear()
    yield _amgx.library()
    _amgx.library.cache_clear()


def text_of(library, name):
    return (ctypes.c_char * 4096).in_dll(library, name).value.decode()


@pytest.mark.parametrize("method", solvers.AMGX)
def test_amgx(amgx, method):
    rival = solvers.prepare(method, MATRIX, RHS, 1e-8, 123)
    for _ in range(2):
        rival.set_up()
        rival.solve()
    assert rival.residual() < 1e-14 and rival.iterations == 7 and rival.on_gpu
    solver = json.loads(text_of(amgx, "settings"))["solver"]
    assert (solver["solver"], solver["tolerance"], solver["max_iters"]) == ("PCG", 1e-8, 123)
    assert (solver["convergence"], solver["monitor_residual"]) == ("RELATIVE_INI", 1)
    preconditioner = solver["preconditioner"]
    sweeps = (0, 3) if method == "amgx-shipped-aggregation" else (1, 1)
    assert preconditioner["solver"] == "AMG" and (preconditioner["presweeps"], preconditioner["postsweeps"]) == sweeps
    rival.close()
    rival.close()
    assert text_of(amgx, "calls").split(";")[:-1] == [
        "initialize", "config_create", "resources_create", "matrix_create", "vector_create", "vector_create",
        "solver_create", "matrix_upload_all", "vector_upload", *(2 * ["solver_setup", "vector_set_zero", "solve"]),
        "vector_download", "solver_destroy", "vector_destroy", "vector_destroy", "matrix_destroy",
        "resources_destroy", "config_destroy",
    ]  # fmt: skip
    assert ctypes.c_int.in_dll(amgx, "alive").value == 0


def test_what_amgx_cannot_solve_is_said(amgx):
    rival = solvers.prepare("amgx-pmis", MATRIX, RHS)
    with pytest.raises(_amgx.AmgXError, match="AmgX's solver_solve_with_0_initial_guess answers 1: bad parameters"):
        rival.solve()
    rival.set_up()
    ctypes.c_int.in_dll(amgx, "status").value = 3
    with pytest.raises(solvers.SolverFailed, match="no solution after 7 iterations: AmgX's status 3"):
        rival.solve()
    ctypes.c_int.in_dll(amgx, "answer_of_setup").value = 6
    with pytest.raises(_amgx.AmgXError, match="AmgX's solver_setup answers 6: out of luck"):
        rival.set_up()


def test_amgx_takes_no_more_iterations_than_a_preconditioner_is_worth(amgx):
    rival = solvers.prepare("amgx-shipped-v", MATRIX, RHS, 1e-8, 20000)
    assert json.loads(text_of(amgx, "settings"))["solver"]["max_iters"] == rival.max_iterations == 1000


@pytest.mark.parametrize(("step", "method"), [("create", "amgx-shipped-aggregation"), ("solve", "amgx-shipped-f")])
def test_a_build_of_amgx_that_lacks_a_part_is_skipped_and_leaves_nothing_behind(amgx, step, method):
    def solved(method):
        rival = solvers.prepare(method, MATRIX, RHS)
        try:
            rival.set_up()
            rival.solve()
            return rival.residual()
        finally:
            rival.close()

    answer, alive = (ctypes.c_int.in_dll(amgx, name) for name in (f"answer_of_{step}", "alive"))
    answer.value = 10
    said = rf"this build of AmgX lacks a part .*: its solver_{step}.* answers 10 \(AmgX built"
    with pytest.raises(Skip, match=said) as held:
        solved(method)
    assert alive.value == 0 and held.value.__traceback__
    answer.value = 0
    assert solved(method) < 1e-14


def test_amgx_is_looked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert _amgx.path() is None or _amgx.path().name == _amgx.NAME
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / _amgx.NAME).write_bytes(b"one")
    monkeypatch.setenv(_amgx.FOLDER, str(tmp_path))
    assert _amgx.path() == tmp_path / "lib" / _amgx.NAME
    before = _amgx.version()
    (tmp_path / "lib" / _amgx.NAME).write_bytes(b"another")
    assert len(before) == 16 and _amgx.version() != before


def test_cudss(fake_cupy):
    """The upper half is given as a positive definite matrix's; each set-up frees the one before."""
    made = []

    class DirectSolver:
        def __init__(self, a, b, options):
            self.a, self.b, self.options, self.steps = a, b, options, []
            made.append(self)

        def plan(self):
            self.steps.append("plan")

        def factorize(self):
            self.steps.append("factorize")

        def solve(self):
            assert self.steps == ["plan", "factorize"]
            full = self.a + scipy.sparse.triu(self.a, 1).T
            x = scipy.sparse.linalg.spsolve(full.tocsc(), self.b.array)
            return types.SimpleNamespace(get=lambda: x)

        def free(self):
            self.steps.append("free")

    advanced = types.SimpleNamespace(
        DirectSolver=DirectSolver, DirectSolverOptions=lambda **options: options,
        DirectSolverMatrixType=types.SimpleNamespace(SPD="spd"),
        DirectSolverMatrixViewType=types.SimpleNamespace(UPPER="upper"),
    )  # fmt: skip
    rival = cudss.CuDss(fake_cupy, scipy.sparse, advanced, MATRIX, RHS, 1e-8, 100)
    for _ in range(2):
        rival.set_up()
        rival.solve()
        assert rival.residual() < 1e-14 and rival.iterations == 1
    assert made[0].steps[-1] == "free" and made[1].options == {
        "sparse_system_type": "spd",
        "sparse_system_view": "upper",
    }
    rival.close()
    assert made[1].steps[-1] == "free"


@pytest.mark.parametrize("method", solvers.ON_GPU)
def test_without_a_gpu_it_is_skipped(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    _amgx.library.cache_clear()
    with pytest.raises(Skip, match="no CuPy with a CUDA device"):
        solvers.prepare(method, MATRIX, RHS)
    assert solvers.title(method)
