"""Solves a system with PETSc: started by `petsc.py` with a folder, in whatever Python has petsc4py.

Commands come as lines on standard input, answers go as lines of JSON to standard output. It needs NumPy and petsc4py.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np


class System:
    """The system that lies in a folder, with its options in PETSc's data base."""

    def __init__(self, folder):
        petsc4py = importlib.import_module("petsc4py")  # of another Python, whose packages this project cannot pin
        options = json.loads((folder / "options.json").read_text())
        petsc4py.init([sys.argv[0], *(word for name, value in options.items() for word in ("-" + name, value))])
        PETSc = importlib.import_module("petsc4py.PETSc")
        self.petsc, self.folder, self.solver = PETSc, folder, None
        rows, columns, values, rhs = (
            np.load(folder / f"{name}.npy") for name in ("row_offsets", "column_indices", "values", "rhs")
        )
        integer = PETSc.IntType
        size = len(rows) - 1
        self.matrix = PETSc.Mat().createAIJ((size, size), csr=(rows.astype(integer), columns.astype(integer), values))
        self.matrix.assemble()
        self.matrix.setOption(PETSc.Mat.Option.SPD, True)
        self.rhs = PETSc.Vec().createWithArray(rhs)
        self.x = self.rhs.duplicate()

    def begin(self):
        return {"version": ".".join(map(str, self.petsc.Sys.getVersion())), "seconds": 0.0}

    def set_up(self):
        if self.solver is not None:
            self.solver.destroy()
        self.solver = self.petsc.KSP().create()
        self.solver.setOperators(self.matrix)
        self.solver.setFromOptions()
        begun = time.perf_counter()
        self.solver.setUp()
        return {"seconds": time.perf_counter() - begun}

    def solve(self):
        self.x.set(0.0)
        begun = time.perf_counter()
        self.solver.solve(self.rhs, self.x)
        seconds = time.perf_counter() - begun
        np.save(self.folder / "x.npy", self.x.getArray(readonly=True))
        return {
            "seconds": seconds, "iterations": self.solver.getIterationNumber(),
            "reason": int(self.solver.getConvergedReason()),
        }  # fmt: skip


def main():
    """Answer commands until standard input ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the process that asks
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    system = None
    for line in sys.stdin:
        command = line.strip()
        try:
            system = system or System(Path(sys.argv[1]))
            answer = {"begin": system.begin, "set up": system.set_up, "solve": system.solve}[command]()
        except Exception as error:
            answer = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:400]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
