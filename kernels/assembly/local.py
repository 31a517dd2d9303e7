"""Products with element matrices that are never assembled: what fu2014's section 2 calls local matrices."""

from __future__ import annotations

from pathlib import Path

from kernels.assembly.problem import Problem
from repro import Work

SOURCE, BLOCK, NUMBERS = Path(__file__).with_name("local.c"), 256, 10
BUILDS = [(SOURCE, BLOCK, {"real": "double"})]


class LocalMatrices:
    """The element matrices of a problem, in the call shape of a packed matrix.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Problem
    """

    def __init__(self, device, problem: Problem):
        self.device, self.shape, self.elements = device, (problem.nodes, problem.nodes), problem.elements
        self._kernels = device.build(SOURCE, block=BLOCK, defines={"real": "double"})
        self._blocks = -(-problem.elements // BLOCK)
        self._cells = device.array(problem.cells)
        self._matrices = device.empty(NUMBERS * problem.elements, "float64")
        conductivity = None if problem.conductivity is None else device.array(problem.conductivity)
        axes = (device.array(axis) for axis in problem.points.T.copy())
        self._kernels.compute(
            self._blocks, self.elements, problem.mass, conductivity, *axes, self._cells, self._matrices
        )  # fmt: skip

    def multiply(self, x, y) -> None:
        """Enqueue y = A x for float64 device arrays."""
        self.device.fill(y, 0)
        self._kernels.multiply(self._blocks, self.elements, self._cells, self._matrices, x, y)

    def least_work(self) -> Work:
        """Return the least work: nodes and numbers of each element, and both vectors once."""
        moved = self._cells.nbytes + self._matrices.nbytes + 16 * self.shape[0]
        return Work(moved, 32 * self.elements)
