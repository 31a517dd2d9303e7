"""A beating heart with PETSc on several processes: conjugate gradients with Jacobi or block Jacobi.

Debian's PETSc is another Python's, and MPI starts its processes itself: the mesh is handed over as files, commands and
answers as lines of JSON. Block Jacobi has a block a process, and in it PETSc's incomplete factors without fill.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from baselines.monodomain.system import System
from baselines.solvers.petsc import LONGEST, Petsc, find, launcher
from baselines.solvers.rival import SolverFailed
from repro import Skip

LIBRARIES = ("PETSc",)


PROGRAM, CODE = Path(__file__).with_name("_petsc_process.py"), Path(__file__).with_name("elements.c")
PRECONDITIONERS = ("jacobi", "bjacobi")
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-nostdlib")  # PETSc's Python may have another C library


class Heart(Petsc):
    """The monodomain equations from a state, over so many steps; see `kernels.monodomain.Heart`.

    Parameters
    ----------
    system : System
    phi, recovery : ndarray or float
        Where each run starts.
    steps : int
        Of a run.
    processes : int
    preconditioner : {'jacobi', 'bjacobi'}
    limit : float
        Seconds after which the processes are taken to hang.

    Attributes
    ----------
    seconds : float
        That runs have taken so far, by the processes' own clock.
    parts : dict of str to float
        The seconds of the last run in ``assembly`` and ``solver``.
    phi : ndarray, (nodes,)
        After the last run.
    steps : list of dict
        ``norms`` and ``linear`` iterations of each step of the last run.

    Raises
    ------
    Skip
        If there is no petsc4py, no mpiexec or no C compiler on this machine.
    """

    def __init__(
        self, system: System, phi, recovery, steps: int, processes: int = 1, preconditioner: str = "jacobi",
        tolerance: float = 1e-8, linear_tolerance: float = 1e-6, limit: float = LONGEST,
    ):  # fmt: skip
        self._folder = tempfile.TemporaryDirectory(prefix="repro-petsc-")
        self._process, self._limit, self.seconds, self.processes = None, limit, 0.0, processes
        if preconditioner not in PRECONDITIONERS:
            raise ValueError(f"preconditioner {preconditioner!r} is none of {', '.join(PRECONDITIONERS)}")
        folder, model = Path(self._folder.name), system.model
        full = np.zeros(len(system.cells)) + recovery
        for name, array in (
            ("cells", system.cells), ("stiffness", system.stiffness), ("volumes", system.volumes),
            ("phi", np.zeros(system.nodes) + phi), ("recovery", full),
        ):  # fmt: skip
            np.save(folder / f"{name}.npy", array)
        petsc = {
            "ksp_type": "cg", "ksp_norm_type": "unpreconditioned", "pc_type": preconditioner, "ksp_atol": 0.0,
            "ksp_rtol": linear_tolerance, "ksp_max_it": 10 * max(100, int(system.nodes**0.5)),
        }  # fmt: skip
        self._options = {
            "petsc": {name: str(value) for name, value in petsc.items()}, "nodes": system.nodes, "dt": system.dt,
            "unit": system.unit, "tolerance": tolerance, "steps": steps, "code": str(folder / "elements.so"),
            "model": [model.alpha, model.b, model.c, model.gamma, model.mu1, model.mu2],
        }  # fmt: skip

    def run(self) -> None:
        """Go from the start over all steps.

        Raises
        ------
        SolverFailed
            When the processes die, hang, or do not converge.
        """
        if self._process is None:
            self._start()
        answer = self._ask("run")
        self.parts, self.steps = answer["spent"], answer["steps"]
        self.phi = self._found("found")

    def _start(self):
        find()  # before anything is compiled
        folder = Path(self._folder.name)
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise Skip("no C compiler: PETSc's heart brings its elements in C", "apt-get install gcc")
        made = subprocess.run(
            [compiler, *FLAGS, "-o", self._options["code"], str(CODE)], capture_output=True, text=True
        )
        if made.returncode:
            raise SolverFailed(f"{CODE.name} does not compile: {made.stderr.strip()[:300]}")
        (folder / "options.json").write_text(json.dumps(self._options))
        self._launch(PROGRAM, launcher(self.processes))
