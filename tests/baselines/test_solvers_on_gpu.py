"""Rivals on a GPU: what they ask of their libraries, with stand-ins for these, and what is said where there is none."""

import ctypes
import json
import sys
import types

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from baselines import solvers
from baselines.solvers import _amgx, cudss
from repro import Skip

MATRIX = scipy.sparse.diags_array([[-1.0] * 9, [2.5] * 10, [-1.0] * 9], offsets=[-1, 0, 1], format="csr")
RHS = np.arange(1.0, 11.0)


class FakeAmgX:
    """AmgX's functions on the host: a handle is the name of a kind and a number."""

    def __init__(self):
        self.calls, self.handles, self.status = [], [], 0

    def __getattr__(self, name):
        kind, _, what = name.removeprefix("AMGX_").partition("_")

        def function(*arguments):
            self.calls.append(name.removeprefix("AMGX_"))
            if what in ("create", "create_simple"):
                self.handles.append((kind, arguments[1:]))
                arguments[0]._obj.value = len(self.handles)
            elif what == "destroy":
                self.handles[arguments[0].value - 1] = None
            return 0

        return function

    def AMGX_matrix_upload_all(self, handle, n, nonzeros, rows, columns, *pointers):
        assert self.handles[handle.value - 1][0] == "matrix" and (rows, columns, pointers[3]) == (1, 1, None)
        kinds = (ctypes.c_int * (n + 1), ctypes.c_int * nonzeros, ctypes.c_double * nonzeros)
        offsets, places, values = (
            np.array(kind.from_address(pointer.value)) for kind, pointer in zip(kinds, pointers[:3], strict=True)
        )
        self.matrix = scipy.sparse.csr_array((values, places, offsets), shape=(n, n))
        return 0

    def AMGX_vector_upload(self, handle, n, block, pointer):
        self.rhs = np.array((ctypes.c_double * n).from_address(pointer.value))
        return 0

    def AMGX_solver_setup(self, solver, matrix):
        assert self.handles[solver.value - 1][0] == "solver" and self.handles[matrix.value - 1][0] == "matrix"
        self.ready = True
        return 0

    def AMGX_solver_solve_with_0_initial_guess(self, solver, rhs, x):
        assert self.ready and rhs.value != x.value
        self.x = scipy.sparse.linalg.spsolve(self.matrix.tocsc(), self.rhs)
        return 0

    def AMGX_solver_get_iterations_number(self, solver, count):
        count._obj.value = 7
        return 0

    def AMGX_solver_get_status(self, solver, status):
        status._obj.value = self.status
        return 0

    def AMGX_vector_download(self, handle, pointer):
        ctypes.memmove(pointer.value, self.x.ctypes.data, self.x.nbytes)
        return 0

    def AMGX_get_error_string(self, code, text, length):
        text.value = b"out of luck"


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
def amgx(monkeypatch, fake_cupy):
    fake = FakeAmgX()
    monkeypatch.setattr(_amgx, "library", lambda: fake)
    return fake


@pytest.mark.parametrize("method", [name for name in solvers.ON_GPU if name.startswith("amgx-")])
def test_amgx(amgx, method):
    rival = solvers.prepare(method, MATRIX, RHS, 1e-8, 123)
    rival.set_up()
    rival.solve()
    assert rival.residual() < 1e-14 and rival.iterations == 7 and rival.on_gpu
    (settings,) = [arguments[0] for kind, arguments in amgx.handles if kind == "config"]
    solver = json.loads(settings)["solver"]
    assert (solver["solver"], solver["tolerance"], solver["max_iters"]) == ("PCG", 1e-8, 123)
    assert (solver["convergence"], solver["monitor_residual"]) == ("RELATIVE_INI", 1)
    preconditioner = solver["preconditioner"]
    assert preconditioner["solver"] == "AMG" and preconditioner["presweeps"] == preconditioner["postsweeps"] == 1
    rival.close()
    rival.close()
    destroyed = [name for name in amgx.calls if name.endswith("_destroy")]
    assert destroyed == [f"{kind}_destroy" for kind in ("solver", "vector", "vector", "matrix", "resources", "config")]
    assert amgx.handles == [None] * 6


def test_what_amgx_cannot_solve_is_said(amgx):
    rival = solvers.prepare("amgx-pmis", MATRIX, RHS)
    rival.set_up()
    amgx.status = 3
    with pytest.raises(solvers.SolverFailed, match="no solution after 7 iterations: AmgX's status 3"):
        rival.solve()
    amgx.AMGX_solver_setup = lambda *arguments: 6
    with pytest.raises(_amgx.AmgXError, match="AmgX's solver_setup answers 6: out of luck"):
        rival.set_up()


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
    """The upper half is given as that of a positive definite matrix; each set-up frees the one before."""
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
