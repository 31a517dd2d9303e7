"""A beating heart with PETSc: started by `petsc.py` under mpiexec with a folder, in whatever Python has petsc4py.

Commands come as lines on the first process's standard input, its answers go as lines of JSON to standard output. It
needs NumPy and petsc4py. Nodes are split into equal ranges, elements go to the owner of their lowest node; elements'
tangents are added by PETSc's assembly of coordinates (MatSetValuesCOO).
"""

import ctypes
import importlib
import json
import sys
import time
from pathlib import Path

import numpy as np

served = importlib.import_module("_petsc_served")  # by the path that `petsc.py` gives

COMMANDS = ("begin", "run")
LIMIT = 20


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Heart:
    """One process's share of the heart that lies in a folder."""

    def __init__(self, folder, options):
        petsc4py = importlib.import_module("petsc4py")  # of another Python, whose packages this project cannot pin
        petsc4py.init(
            [sys.argv[0], *(word for name, value in options["petsc"].items() for word in ("-" + name, value))]
        )
        self.petsc = PETSc = importlib.import_module("petsc4py.PETSc")
        self.folder, self.options, self.world = folder, options, PETSc.COMM_WORLD
        self.library = ctypes.CDLL(next(str(path) for path in loaded() if path.name.startswith("libpetsc")))
        self.code = ctypes.CDLL(options["code"]).elements
        arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
        nodes = options["nodes"]
        layout = PETSc.Vec().createMPI(nodes)
        self.begin_node, self.end_node = layout.getOwnershipRange()
        lowest = arrays["cells"].min(axis=1)
        self.mine = np.flatnonzero((lowest >= self.begin_node) & (lowest < self.end_node))
        cells = np.array(arrays["cells"][self.mine])
        used = np.unique(cells)
        ghosts = used[(used < self.begin_node) | (used >= self.end_node)].astype(PETSc.IntType)
        owned = self.end_node - self.begin_node
        number = np.full(nodes, -1, np.int32)
        number[self.begin_node : self.end_node] = np.arange(owned)
        number[ghosts] = owned + np.arange(len(ghosts))
        self.cells = np.ascontiguousarray(number[cells])
        self.stiffness = np.array(arrays["stiffness"][self.mine]).reshape(-1, 16)
        self.volumes = np.array(arrays["volumes"][self.mine])
        self.model = np.array(options["model"])
        self.phi, self.residual = (PETSc.Vec().createGhost(ghosts, (owned, nodes)) for _ in range(2))
        self.change = layout.duplicate()
        self.start = np.array(arrays["phi"][self.begin_node : self.end_node]), np.array(arrays["recovery"][self.mine])
        self.recovery, self.tangents = np.zeros(len(cells)), np.zeros((len(cells), 16))
        self.matrix = PETSc.Mat().create()
        self.matrix.setSizes(((owned, nodes), (owned, nodes)))
        self.matrix.setType("aij")
        self.rows, self.columns = (
            np.ascontiguousarray(each.astype(PETSc.IntType).ravel())
            for each in (np.repeat(cells, 4, axis=1), np.tile(cells, (1, 4)))
        )
        self.call("MatSetPreallocationCOO", ctypes.c_ssize_t(self.rows.size), pointer(self.rows), pointer(self.columns))
        self.matrix.setOption(PETSc.Mat.Option.SPD, True)
        self.solver = PETSc.KSP().create()
        self.solver.setOperators(self.matrix)
        self.solver.setFromOptions()

    def call(self, function, *arguments):
        code = getattr(self.library, function)(ctypes.c_void_p(self.matrix.handle), *arguments)
        if code:
            raise RuntimeError(f"{function} returned {code}")

    def restore(self):
        self.phi.setArray(self.start[0])
        self.recovery[:] = self.start[1]
        self.accept()

    def local(self, vector):
        """Update the ghosts of a vector, and return its numbers in the numbering of this process."""
        vector.ghostUpdate()
        with vector.localForm() as form:
            return form.getArray()

    def accept(self):
        self.mean_before, self.before = self.local(self.phi)[self.cells].mean(axis=1), self.recovery.copy()

    def assemble(self):
        """Return the residual's norm over the unit."""
        values, PETSc = self.local(self.phi), self.petsc
        with self.residual.localForm() as form:
            residual = form.getArray()
            good = self.code(
                ctypes.c_long(len(self.cells)), ctypes.c_long(residual.size), pointer(self.cells),
                pointer(self.stiffness), pointer(self.volumes), pointer(values), pointer(self.mean_before),
                pointer(self.before), pointer(self.recovery), pointer(self.model),
                ctypes.c_double(1 / self.options["dt"]), pointer(self.tangents), pointer(residual),
            )  # fmt: skip
        if not good:
            raise RuntimeError("a local Newton iteration has not converged")
        self.residual.ghostUpdate(addv=PETSc.InsertMode.ADD_VALUES, mode=PETSc.ScatterMode.REVERSE)
        self.call("MatSetValuesCOO", pointer(self.tangents), ctypes.c_int(int(PETSc.InsertMode.INSERT_VALUES)))
        return self.residual.norm() / self.options["unit"]

    def step(self, spent):
        """Go on by a step; add to the seconds spent in assembly and solver."""
        clock = self.timed
        begun = clock()
        norms, linear = [self.assemble()], 0
        spent["assembly"] += clock() - begun
        while not norms[-1] <= self.options["tolerance"]:
            if len(norms) > LIMIT:
                raise RuntimeError(f"Newton's method has not converged in {LIMIT} iterations")
            begun = clock()
            self.solver.setOperators(self.matrix)  # its values are new, and so is the preconditioner
            self.solver.solve(self.residual, self.change)
            self.phi.axpy(-1.0, self.change)
            middle = clock()
            linear += self.solver.getIterationNumber()
            if self.solver.getConvergedReason() <= 0:
                raise RuntimeError(f"the linear solver ended for reason {self.solver.getConvergedReason()}")
            norms.append(self.assemble())
            spent["solver"] += middle - begun
            spent["assembly"] += clock() - middle
        self.accept()
        return {"norms": norms, "linear": linear}

    def timed(self):
        self.world.barrier()
        return time.perf_counter()

    def begin(self):
        return served.version(self.petsc)

    def run(self):
        self.restore()
        spent = {"assembly": 0.0, "solver": 0.0}
        begun = self.timed()
        steps = [self.step(spent) for _ in range(self.options["steps"])]
        seconds = self.timed() - begun
        np.save(self.folder / f"found.{self.world.rank}.npy", np.array(self.phi.getArray(readonly=True)))
        self.world.barrier()
        return {"seconds": seconds, "spent": spent, "steps": steps}


def loaded():
    """Return the libraries that this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return dict.fromkeys(Path(line.split()[-1]) for line in lines if "/" in line)


if __name__ == "__main__":
    served.serve(lambda folder: Heart(folder, json.loads((folder / "options.json").read_text())), COMMANDS)
