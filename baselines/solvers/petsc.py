"""PETSc's Krylov solvers, and through them hypre, in a process of its own: Debian's PETSc is another Python's.

The matrix is handed over as files in a temporary folder, commands and answers as lines of JSON. The process times
set-up and solve itself; one that hangs or dies costs a solve and not the caller.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines import PETSC_REMEDY
from baselines.solvers.rival import Rival, SolverFailed
from repro import Skip

LIBRARIES = (
    "PETSc",
    "hypre",
)
PROGRAM = Path(__file__).with_name("_petsc_process.py")
SERVED = Path(__file__).with_name("_petsc_served.py")  # imported by every program
DEBIAN = "/usr/lib/petscdir"
LONGEST = 600.0  # seconds that a set-up or a solve may take


class Installation(NamedTuple):
    """A Python and what it needs on its path to import petsc4py."""

    python: str
    path: str
    version: str


class Petsc(Rival):
    """One of PETSc's solvers.

    Parameters
    ----------
    options : dict of str to str
        PETSc's, without the leading hyphen.
    *system
        As of a `Rival`.
    limit : float
        Seconds after which the process is taken to hang.
    processes : int
        Of one thread each, which MPI starts where they are several; the rows are split evenly.

    Raises
    ------
    Skip
        If there is no petsc4py on this machine, or no mpiexec for several processes.
    """

    def __init__(self, options, *system, limit: float = LONGEST, processes: int = 1):
        super().__init__(*system)
        self.threads = self.processes = processes
        self._folder = tempfile.TemporaryDirectory(prefix="repro-petsc-")
        self._process, self._limit, self._options = None, limit, options
        self.seconds, self.has_set_up = 0.0, options.get("pc_type") != "none"

    def set_up(self):
        if self._process is None:
            self._start()
        self._ask("set up")

    def solve(self):
        answer = self._ask("solve")
        self.iterations = answer["iterations"]
        self.x = self._found("x")
        self._ended(answer["reason"] > 0, f"PETSc's reason {answer['reason']}")

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._errors.close()
            self._process = None
        self._folder.cleanup()

    __del__ = close

    def _found(self, name: str) -> np.ndarray:
        """Return a vector that each process left its share of."""
        folder = Path(self._folder.name)
        return np.concatenate([np.load(folder / f"{name}.{rank}.npy") for rank in range(self.processes)])

    def _start(self):
        folder = Path(self._folder.name)
        np.save(folder / "rhs.npy", self.rhs)
        matrices = {"matrix": self.matrix} | ({} if self.near is self.matrix else {"near": self.near})
        for which, matrix in matrices.items():
            for name, array in (
                ("row_offsets", matrix.indptr.astype(np.int32)), ("values", matrix.data),
                ("column_indices", matrix.indices.astype(np.int32)),
            ):  # fmt: skip
                np.save(folder / f"{which}.{name}.npy", array)
        options = {"ksp_type": "cg", "ksp_norm_type": "unpreconditioned", **self._options}
        options |= {"ksp_rtol": self.tolerance, "ksp_atol": 0.0, "ksp_max_it": self.max_iterations}
        (folder / "options.json").write_text(json.dumps({name: str(value) for name, value in options.items()}))
        self._launch(PROGRAM, launcher(self.processes) if self.processes > 1 else [])

    def _launch(self, program: Path, before: list[str]) -> None:
        """Start PETSc's program by a command, and ask for the version."""
        installation, folder = find(), self._folder.name
        self._errors = (Path(folder) / "errors").open("w+b")
        self._process = subprocess.Popen(
            [*before, installation.python, str(program), folder], env=_environment(installation), cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        self.version = self._ask("begin")["version"]

    def _ask(self, command: str) -> dict[str, Any]:
        """Send a command and return the answer; SolverFailed when none comes."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(self._limit):
                self._process.kill()
                self._bury()
                raise SolverFailed(f"PETSc did not end its '{command}' within {self._limit:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise SolverFailed(f"the process of PETSc died in its '{command}': {self._bury()}")
        answer = json.loads(line)
        if "error" in answer:
            raise SolverFailed(f"PETSc in its '{command}': {answer['error']}")
        self.seconds += answer["seconds"]
        return answer

    def _bury(self) -> str:
        """End the process, and return how it ended and what it said last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self._process.kill()
        self._process.communicate()
        code, self._process = self._process.returncode, None
        self._errors.seek(0)
        said = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip(" -")]
        said = ([line for line in said if "Error" in line] or said)[-1:]  # MPI has its own last words, about itself
        self._errors.close()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return "; ".join([how, *said])


def _environment(installation: Installation) -> dict[str, str]:
    """One thread, as all of the paper's times on the CPU, and PETSc's modules on the path of its own Python.

    MPI starts programs of its own by name; the system's lie beside the system's Python.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PETSC_OPTIONS"))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = os.pathsep.join(filter(None, (kept.get("PATH"), str(Path(installation.python).parent))))
    modules = os.pathsep.join(filter(None, (installation.path, str(SERVED.parent))))
    return kept | threads | {"PATH": places, "PYTHONPATH": modules}


@functools.cache
def find() -> Installation:
    """Return a Python that can import petsc4py: REPRO_PETSC_PYTHON, of PETSC_DIR, Debian's newest real one, or this.

    Raises
    ------
    Skip
        When there is none.
    """
    for python, path in _candidates():
        installation = Installation(python, path, "")
        test = "import numpy, petsc4py; print(petsc4py.__version__)"
        try:
            done = subprocess.run(
                [python, "-c", test], env=_environment(installation), capture_output=True, text=True, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return installation._replace(version=done.stdout.strip())
    raise Skip("PETSc is not installed: no Python here imports petsc4py", PETSC_REMEDY)


def launcher(processes: int) -> list[str]:
    """Return the command that starts so many processes: REPRO_MPIEXEC, or mpiexec.

    Raises
    ------
    Skip
        When there is none.
    """
    program = os.environ.get("REPRO_MPIEXEC") or shutil.which("mpiexec")
    if not program:
        raise Skip("mpiexec is not installed", "apt-get install openmpi-bin")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    is_open_mpi = "open" in (version.stdout + version.stderr).lower()
    options = ["--oversubscribe", "--bind-to", "none"] if is_open_mpi else []
    if is_open_mpi and hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-run-as-root")
    return [program, "-n", str(processes), *options]


def _candidates() -> list[tuple[str, str]]:
    """Return Pythons and paths that may have petsc4py, the most likely first."""
    places = [Path(os.environ["PETSC_DIR"])] if "PETSC_DIR" in os.environ else []
    # Complex builds have no hypre.
    places += sorted(Path(DEBIAN).glob("*/*-real"), key=_version, reverse=True)
    own = os.environ.get("REPRO_PETSC_PYTHON")
    found = [(own, "")] if own else []
    for place in places:
        for package in sorted(place.glob("lib/python3*/**/petsc4py/lib/PETSc.cpython-*.so")):
            tag = re.search(r"cpython-3(\d+)", package.name)
            names = [f"python3.{tag[1]}" if tag else "python3", "python3"]
            # A virtual environment may stand first on the path, and its Python lacks Debian's NumPy.
            pythons = [f"/usr/bin/{name}" for name in names] + [shutil.which(name) for name in names]
            found += [(python, str(package.parents[2])) for python in pythons if python and Path(python).exists()]
    return list(dict.fromkeys([*found, (sys.executable, "")]))


def _version(place: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", place.parent.name)))
