"""Solves a system with PETSc: started by `petsc.py` with a folder, in whatever Python has petsc4py, or by mpiexec.

Commands come as lines on the first process's standard input, its answers go as lines of JSON to standard output. It
needs NumPy and petsc4py.
"""

import importlib
import json
import sys
import time

import numpy as np

served = importlib.import_module("_petsc_served")  # by the path that `petsc.py` gives

COMMANDS = ("begin", "set_up", "solve")


class System:
    """One process's rows of the system that lies in a folder, with its options in PETSc's data base."""

    def __init__(self, folder):
        petsc4py = importlib.import_module("petsc4py")  # of another Python, whose packages this project cannot pin
        options = json.loads((folder / "options.json").read_text())
        petsc4py.init([sys.argv[0], *(word for name, value in options.items() for word in ("-" + name, value))])
        PETSc = importlib.import_module("petsc4py.PETSc")
        self.petsc, self.folder, self.solver, self.world = PETSc, folder, None, PETSc.COMM_WORLD
        rhs = np.load(folder / "rhs.npy")
        self.size = len(rhs)
        self.begin_row, self.end_row = (self.size * (self.world.rank + end) // self.world.size for end in (0, 1))
        self.matrix = self.near = self.read("matrix")
        if (folder / "near.values.npy").exists():
            self.near = self.read("near")
        self.rhs = PETSc.Vec().createWithArray(rhs[self.begin_row : self.end_row], comm=self.world)
        self.x = self.rhs.duplicate()

    def read(self, which):
        """Return the matrix of that name."""
        rows, columns, values = (
            np.load(self.folder / f"{which}.{name}.npy", mmap_mode="r")
            for name in ("row_offsets", "column_indices", "values")
        )
        integer, owned = self.petsc.IntType, self.end_row - self.begin_row
        begin, end = rows[self.begin_row], rows[self.end_row]
        csr = (
            (rows[self.begin_row : self.end_row + 1] - begin).astype(integer), columns[begin:end].astype(integer),
            np.array(values[begin:end]),
        )  # fmt: skip
        matrix = self.petsc.Mat().createAIJ(((owned, self.size), (owned, self.size)), csr=csr, comm=self.world)
        matrix.assemble()
        matrix.setOption(self.petsc.Mat.Option.SPD, True)
        return matrix

    def clock(self):
        self.world.barrier()
        return time.perf_counter()

    def begin(self):
        return served.version(self.petsc)

    def set_up(self):
        if self.solver is not None:
            self.solver.destroy()
        self.solver = self.petsc.KSP().create(self.world)
        self.solver.setOperators(self.matrix, self.near)
        self.solver.setFromOptions()
        begun = self.clock()
        self.solver.setUp()
        return {"seconds": self.clock() - begun}

    def solve(self):
        self.x.set(0.0)
        begun = self.clock()
        self.solver.solve(self.rhs, self.x)
        seconds = self.clock() - begun
        np.save(self.folder / f"x.{self.world.rank}.npy", self.x.getArray(readonly=True))
        self.world.barrier()
        return {
            "seconds": seconds, "iterations": self.solver.getIterationNumber(),
            "reason": int(self.solver.getConvergedReason()),
        }  # fmt: skip


if __name__ == "__main__":
    served.serve(System, COMMANDS)
