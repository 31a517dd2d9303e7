"""NVIDIA's AmgX through its C interface, where the user has the library: set-up and solve on the device.

AmgX is in no wheel: it is built from its sources, and found as ``libamgxsh.so`` by the loader, or in ``AMGX_DIR``. A
build may lack cycles or selectors; a configuration that names one of these is skipped.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from baselines.solvers.rival import Rival
from repro import ReproError, Skip

LIBRARIES = ("AmgX",)
NAME, FOLDER = "libamgxsh.so", "AMGX_DIR"
REMEDY = f"an NVIDIA GPU, and AmgX built from its sources; {FOLDER} is the folder of {NAME}"
DOUBLE_ON_DEVICE = 8193  # AMGX_mode_dDDI: vectors and matrix in double precision, 32-bit indices
CONVERGED = 0  # AMGX_SOLVE_SUCCESS
LACKING = 10  # AMGX_RC_CORE: a part that the configuration names is not registered; its name goes to standard output
WHOLE = "AmgX built from all of its sources; what it prints names the part"
# With more, a preconditioner is none, whatever its cycle costs: so many CG takes alone on the papers' meshes.
MOST_ITERATIONS = 1000


class AmgXError(ReproError):
    """A call of AmgX's that did not end well."""


def path() -> Path | None:
    """Return the library's file, None where there is none; nothing is loaded."""
    given = os.environ.get(FOLDER, "")
    folders = [given, f"{given}/lib"] if given else []
    folders += [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), "/usr/local/lib", "/usr/lib"]
    found = (Path(folder, NAME) for folder in folders if folder)
    return next((file for file in found if file.is_file()), None)


def version() -> str:
    """Return what tells one build of the library from another, empty where there is none."""
    file = path()
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file else ""


@functools.cache
def library():
    """Return the library, initialised and silent; Skip where there is none or no GPU."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # without a driver CuPy raises an error of its own
        raise Skip(f"no CuPy with a CUDA device: {str(error).splitlines()[0]}", REMEDY) from None
    try:
        loaded = ctypes.CDLL(str(path() or NAME))
    except OSError as error:
        raise Skip(f"AmgX is not installed: {error}", REMEDY) from None
    told = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int)(lambda message, length: None)
    loaded.told = told  # kept alive as long as AmgX may call it
    loaded.AMGX_register_print_callback(told)
    call(loaded, "initialize")
    return loaded


def call(amgx, name: str, *arguments) -> None:
    """Call one of AmgX's functions; AmgXError with its own words when that fails, Skip where the build lacks a part."""
    code = getattr(amgx, f"AMGX_{name}")(*arguments)
    if code == LACKING and name != "initialize":
        raise Skip(f"this build of AmgX lacks a part that the configuration names: its {name} answers {code}", WHOLE)
    if code:
        said = ctypes.create_string_buffer(4096)
        amgx.AMGX_get_error_string(code, said, len(said))
        raise AmgXError(f"AmgX's {name} answers {code}: {said.value.decode(errors='replace').strip()}")


def configuration(preconditioner: Mapping[str, Any], tolerance: float, max_iterations: int) -> str:
    """Return AmgX's configuration, as JSON, of conjugate gradients to ‖r‖ < tolerance ‖b‖ from zero."""
    multigrid = {"scope": "amg", "solver": "AMG", "max_iters": 1, "monitor_residual": 0, **preconditioner}
    solver = {
        "scope": "main", "solver": "PCG", "max_iters": max_iterations, "monitor_residual": 1, "norm": "L2",
        "convergence": "RELATIVE_INI", "tolerance": tolerance, "preconditioner": multigrid,
    }  # fmt: skip
    return json.dumps({"config_version": 2, "solver": solver})


class AmgX(Rival):
    """One of AmgX's solvers on the current CUDA device; matrix and right-hand side are there before set-up begins.

    Parameters
    ----------
    preconditioner : mapping
        AmgX's settings of its multigrid.
    *system
        As of a `Rival`; it takes `MOST_ITERATIONS` at most.
    """

    on_gpu = True

    def __init__(self, preconditioner, *system):
        super().__init__(*system)
        self.max_iterations = min(self.max_iterations, MOST_ITERATIONS)
        self._amgx = amgx = library()
        import cupy

        self._cupy = cupy
        self._made: dict[str, ctypes.c_void_p] = {}
        weakref.finalize(self, destroy, amgx, self._made)
        try:
            self._prepare(configuration(preconditioner, self.tolerance, self.max_iterations).encode())
        except BaseException:  # who holds the error holds this object, and the next system needs the memory
            self.close()
            raise

    def _prepare(self, settings):
        amgx, cupy = self._amgx, self._cupy
        self._create("config", "config", settings)
        self._create("resources", "resources", self._made["config"], suffix="_create_simple")
        resources, mode = self._made["resources"], ctypes.c_int(DOUBLE_ON_DEVICE)
        self._create("matrix", "matrix", resources, mode)
        self._create("rhs", "vector", resources, mode)
        self._create("x", "vector", resources, mode)
        self._create("solver", "solver", resources, mode, self._made["config"])
        n, ours = self.matrix.shape[0], self.matrix
        arrays = [cupy.asarray(a, t) for a, t in ((ours.indptr, "i4"), (ours.indices, "i4"), (ours.data, "f8"))]
        pointers = [ctypes.c_void_p(array.data.ptr) for array in arrays]
        call(amgx, "matrix_upload_all", self._made["matrix"], n, ours.nnz, 1, 1, *pointers, None)
        call(amgx, "vector_upload", self._made["rhs"], n, 1, self.rhs.ctypes.data_as(ctypes.c_void_p))

    def _create(self, name, kind, *arguments, suffix="_create"):
        handle = ctypes.c_void_p()
        call(self._amgx, f"{kind}{suffix}", ctypes.byref(handle), *arguments)
        self._made[name] = handle

    def set_up(self):
        call(self._amgx, "solver_setup", self._made["solver"], self._made["matrix"])
        self._cupy.cuda.Device().synchronize()

    def solve(self):
        # AmgX takes the first residual for b, but adds to what x holds.
        call(self._amgx, "vector_set_zero", self._made["x"], len(self.rhs), 1)
        call(
            self._amgx, "solver_solve_with_0_initial_guess", self._made["solver"], self._made["rhs"], self._made["x"]
        )  # fmt: skip
        self._cupy.cuda.Device().synchronize()
        count, status = ctypes.c_int(), ctypes.c_int()
        call(self._amgx, "solver_get_iterations_number", self._made["solver"], ctypes.byref(count))
        call(self._amgx, "solver_get_status", self._made["solver"], ctypes.byref(status))
        self.iterations = count.value
        self._ended(status.value == CONVERGED, f"AmgX's status {status.value}")

    def residual(self):
        self.x = np.empty_like(self.rhs)
        call(self._amgx, "vector_download", self._made["x"], self.x.ctypes.data_as(ctypes.c_void_p))
        return super().residual()

    def close(self):
        destroy(self._amgx, self._made)


def destroy(amgx, made) -> None:
    """Destroy handles in the order that AmgX wants, each once."""
    for name, kind in (
        ("solver", "solver"), ("x", "vector"), ("rhs", "vector"), ("matrix", "matrix"), ("resources", "resources"),
        ("config", "config"),
    ):  # fmt: skip
        handle = made.pop(name, None)
        if handle is not None:
            getattr(amgx, f"AMGX_{kind}_destroy")(handle)
