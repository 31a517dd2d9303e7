"""Assembly of linear elasticity with a thread a block of the matrix, which no other thread writes.

Beside the values it reads what is around each node: the elements, and for each quadrature point the inverse Jacobian.
Pattern and lists depend on the topology alone and are made over the array namespace, on the device under CUDA.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.assembly.elasticity.elements import ELEMENTS
from kernels.assembly.elasticity.problem import Elasticity
from kernels.assembly.problem import Assembler

SOURCE = Path(__file__).with_name("blocks.c")
BLOCK = 128
LIMIT = 2**31 - 1  # of 32-bit indices


def _defines(kind) -> dict[str, int]:
    return {"DIM": kind.dimension, "NODES": kind.nodes, "POINTS": kind.points}


BUILDS = [(SOURCE, BLOCK, _defines(kind)) for kind in ELEMENTS.values()]


@dataclass(frozen=True)
class System:
    """An assembled system.

    Attributes
    ----------
    matrix : CSR matrix of float64
        CuPy's on CUDA, else SciPy's; columns sorted, every entry of the pattern stored.
    rhs : (unknowns,) float64 array of the device
    block_size : int
        Unknowns of a node, which are side by side: the matrix consists of dense blocks of that size.
    """

    matrix: Any
    rhs: Any
    block_size: int


def system(device, problem: Elasticity) -> System:
    """Assemble a problem on a device.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Elasticity

    Raises
    ------
    ValueError
        When the matrix has more non-zeros than 32-bit row offsets can number.
    """
    made = _Assembly(device, problem)
    made.launch()
    return made.system()


def prepare(device, problem: Elasticity, block: int = BLOCK) -> Assembler:
    """Prepare the assembly of a problem: pattern and lists.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Elasticity
    block : int
        Threads, and blocks of the matrix, a block of threads.

    Raises
    ------
    ValueError
        When the matrix has more non-zeros than 32-bit row offsets can number.
    """
    made = _Assembly(device, problem, block)
    return Assembler(made.launch, made.result, made.nonzeros, {"plan_bytes": made.plan_bytes})


class _Assembly:
    """Pattern, lists and arrays of one problem on one device."""

    def __init__(self, device, problem, block=BLOCK):
        xp, self.device, self.problem, self.block = device.xp, device, problem, block
        kind = problem.element
        self.kernels = device.build(SOURCE, block=block, defines=_defines(kind))
        cells = xp.asarray(problem.cells)
        rows, columns, offsets = _pattern(cells, problem.nodes, xp)
        self.size = problem.dimension
        self.nonzeros = self.size**2 * len(rows)
        if max(self.nonzeros, cells.size) > LIMIT:
            raise ValueError(f"{self.nonzeros:,} non-zeros are too many for 32-bit row offsets")
        self.row_blocks = xp.diff(offsets)
        self.rows, self.columns, self.offsets = (device.array(x) for x in (rows, columns, offsets))
        star = xp.argsort(cells.ravel(), kind="stable").astype(xp.int32)
        counts = xp.bincount(cells.ravel(), minlength=problem.nodes)
        self.star, self.star_offsets = device.array(star), device.array(_offsets(counts, xp))
        self.cells, self.points = device.array(cells), device.array(xp.asarray(problem.points))
        self.gradients, self.shape, self.weights = (
            device.array(x) for x in (kind.gradients, kind.values, kind.weights)
        )
        self.fixed = None if problem.fixed is None else device.array(np.asarray(problem.fixed, dtype=np.uint8))
        self.metric = device.empty(len(cells) * kind.points * (self.size**2 + 1), "float64")
        self.values = device.empty(self.nonzeros, "float64")
        self.rhs = device.empty(problem.unknowns, "float64")
        lists = (self.rows, self.columns, self.offsets, self.star, self.star_offsets)
        self.plan_bytes = sum(array.nbytes for array in lists) + self.metric.nbytes

    def launch(self):
        """Enqueue everything from the coordinates to the finished values and right-hand side."""
        problem, kernels = self.problem, self.kernels
        elements, blocks = len(problem.cells), self.rows.size
        kernels.metrics(
            self._grid(elements), elements, self.points, self.cells, self.gradients, self.weights, self.metric
        )
        kernels.stiffness(
            self._grid(blocks), blocks, *problem.lame, self.rows, self.columns, self.offsets, self.star_offsets,
            self.star, self.cells, self.gradients, self.metric, self.fixed, self.values,
        )  # fmt: skip
        body = (*(problem.body or (0.0,) * self.size), 0.0)[:3]
        kernels.loads(
            self._grid(problem.nodes), problem.nodes, *body, self.star_offsets, self.star, self.shape, self.metric,
            self.fixed, self.rhs,
        )  # fmt: skip

    def system(self):
        """Return the last assembly on the device."""
        indices = self.device.empty(self.nonzeros, "int32")
        blocks = self.rows.size
        self.kernels.columns(self._grid(blocks), blocks, self.rows, self.columns, self.offsets, indices)
        xp, unknowns = self.device.xp, self.problem.unknowns
        lengths = xp.repeat(self.size * self.row_blocks, self.size)
        self.device.synchronize()
        # Where the kernels' arrays are not of the set-up's type, their memory is the host's, or is copied there.
        values, indices = (a if isinstance(a, xp.ndarray) else self.device.to_host(a) for a in (self.values, indices))
        matrix = self.device.sparse.csr_matrix((values, indices, _offsets(lengths, xp)), shape=(unknowns, unknowns))
        matrix.has_canonical_format = True
        return System(matrix, self.rhs, self.size)

    def result(self):
        """Return the last assembly on the host."""
        made = self.system()
        matrix = made.matrix.get() if hasattr(made.matrix, "get") else made.matrix.copy()
        return matrix, np.array(self.device.to_host(self.rhs))

    def _grid(self, threads):
        return -(-threads // self.block)


def _pattern(cells, nodes, xp):
    """Return row and column of each block, sorted, and where rows begin, all int32; an unused node has its diagonal."""
    width = cells.shape[1]
    keys = xp.empty(cells.size * width + nodes, dtype=xp.int64)
    pairs = keys[: cells.size * width].reshape(len(cells), width, width)
    pairs[:] = cells[:, :, None]
    pairs *= nodes
    pairs += cells[:, None, :]
    keys[cells.size * width :] = xp.arange(nodes, dtype=xp.int64) * (nodes + 1)
    keys.sort()
    keep = xp.ones(keys.size, dtype=bool)
    keep[1:] = keys[1:] != keys[:-1]
    keys = keys[keep]
    rows = (keys // nodes).astype(xp.int32)
    return rows, (keys % nodes).astype(xp.int32), _offsets(xp.bincount(rows, minlength=nodes), xp)


def _offsets(counts, xp):
    return xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(counts, dtype=xp.int64)]).astype(xp.int32)
