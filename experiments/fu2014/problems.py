"""The paper's problem on one of its meshes, and the matrix that assemblers must come to."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from baselines.assembly import coordinates, serial
from kernels.assembly.problem import Problem
from repro.keeping import kept


def helmholtz(mesh) -> Problem:
    """Return -Δu + u = 1 with natural boundary conditions on a mesh (section 6.1: λ = 1)."""
    return Problem(mesh.points, mesh.cells, mass=1.0)


@kept(
    lambda mesh, conductivities=None: (mesh.digest(), None if conductivities is None else tuple(conductivities)),
    most=5,  # the paper's meshes: three tables go through them, one after another, with solvers of their own
)
def helmholtz_matrix(mesh, conductivities: Sequence[float] | None = None):
    """Return the matrix of the problem by the serial loop, in CSR with sorted columns; the last are kept.

    Parameters
    ----------
    mesh : datasets.mesh.Mesh
    conductivities : sequence of float, optional
        σ of each region, in the order of their labels (section 6.2.4); by default it is 1 everywhere.
    """
    problem = helmholtz(mesh)
    if conductivities is not None:
        sigma = np.asarray(conductivities, dtype=np.float64)[mesh.regions]
        problem = dataclasses.replace(problem, conductivity=sigma)
    launch, result = serial.prepare(problem)
    launch()
    return scipy.sparse.csr_matrix(result()[0])


class Reference:
    """The Helmholtz matrix and right-hand side of a mesh from an independent assembler, and the distance to them.

    Parameters
    ----------
    mesh : datasets.mesh.Mesh
    assembler : {'coo', 'serial'}
        SciPy's sum over triples; or the serial loop, which is the reference of the former.
    """

    def __init__(self, mesh, assembler: str = "coo"):
        problem = helmholtz(mesh)
        if assembler == "coo":
            self.matrix, self.rhs = coordinates.assemble(problem)
        else:
            launch, result = serial.prepare(problem)
            launch()
            self.matrix, self.rhs = result()
        self.matrix.sort_indices()

    def error(self, matrix, rhs) -> float:
        """Return the largest difference of an entry over the largest entry, of matrix and right-hand side.

        It is infinite when the patterns differ.
        """
        ours, theirs = matrix, self.matrix
        if not (np.array_equal(ours.indptr, theirs.indptr) and np.array_equal(ours.indices, theirs.indices)):
            return float("inf")
        gaps = [np.abs(ours.data - theirs.data).max() / np.abs(theirs.data).max()]
        gaps.append(np.abs(rhs - self.rhs).max() / np.abs(self.rhs).max())
        return float(np.max(gaps))


@kept(lambda mesh, assembler="coo": (mesh.digest(), assembler))
def reference(mesh, assembler: str = "coo") -> Reference:
    """Return the reference of a mesh; the last one is kept, since the cells of a mesh follow one another."""
    return Reference(mesh, assembler)
