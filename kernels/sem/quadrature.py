"""Mass and stiffness with a point of Gauss more than nodes along an edge, stored factors: CEED's BP1 and BP3.

The operator of ``stiffness.py`` integrates at its nodes, as BP5 does; this one interpolates to the points and back. It
is there to stand beside BP5, portable and not tuned.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.polynomial.legendre import leggauss

from kernels.sem import geometry as shapes
from kernels.sem.gather import Gather
from kernels.sem.gll import rule
from kernels.sem.layout import Layout
from kernels.sem.numbering import number_nodes
from repro import Work

SOURCE = Path(__file__).with_name("quadrature.c")
REAL = {"float64": "double", "float32": "float"}
KINDS = ("mass", "stiffness")
THREADS = 128  # wanted in a block on a GPU
AT_ONCE = 1 << 15  # elements whose factors are made together


def lagrange(nodes, at):
    """Return the values of the Lagrange polynomials of some nodes at some places: (places, nodes)."""
    return np.array([[np.prod([(x - c) / (b - c) for c in nodes if c != b]) for b in nodes] for x in at])


def derivative(points):
    """Return the derivatives of the Lagrange polynomials of some points at these: (points, points)."""
    found = np.zeros((len(points), len(points)))
    for i, x in enumerate(points):
        for j, b in enumerate(points):
            others = [c for c in points if c != b]
            found[i, j] = sum(np.prod([(x - c) / (b - c) for c in others if c != d]) / (b - d) for d in others)
    return found


def setting(order: int, dtype: str, kind: str, is_gpu: bool) -> tuple:
    """Return the source, the threads of a block and the macros."""
    q, nodes, (points, _) = order + 2, rule(order).points, leggauss(order + 2)
    elements = max(1, THREADS // q**2) if is_gpu else 1
    macros = {
        "real": REAL[dtype], "P_NODES": order + 1, "Q": q, "ELEMENTS": elements, "KIND": kind.upper(),
        "TILES": 1 if kind == "mass" else 3,
        "INTERPOLATION": _list(lagrange(nodes, points)), "DERIVATIVE": _list(derivative(points)),
    }  # fmt: skip
    return SOURCE, -(-elements * q**2 // 32) * 32, macros


def _list(values):
    return ", ".join(f"(real){value!r}" for value in np.ravel(values).tolist())


BUILDS = [
    setting(1, "float64", "mass", True), setting(3, "float64", "stiffness", True),
    setting(7, "float64", "stiffness", True), setting(2, "float32", "mass", False),
]  # fmt: skip


class Quadrature:
    """y = A x from assembled to assembled vector.

    Parameters
    ----------
    device : kernels.device.Device
    points : (vertices, 3) float64
    cells : (elements, 8) int
        In meshio's order.
    order : int
    kind : {'mass', 'stiffness'}
    dtype : {'float64', 'float32'}
    dirichlet : (nodes,) bool array, or 'boundary', optional
        Nodes that read as zero, and whose rows give zero.

    Attributes
    ----------
    nodes, elements : int
    numbering : Numbering
    """

    def __init__(self, device, points, cells, order: int, kind: str, dtype: str = "float64", dirichlet=None):
        if kind not in KINDS:
            raise ValueError(f"kind {kind!r} is none of {', '.join(KINDS)}")
        xp = device.xp
        self.device, self.order, self.kind, self.dtype = device, order, kind, np.dtype(dtype)
        points, cells = xp.asarray(points), xp.asarray(cells)
        self.numbering = number_nodes(cells, order, xp)
        self.nodes, self.elements, self._vertices = self.numbering.nodes, len(cells), len(points)
        table = xp.asarray(self.numbering.table)
        if dirichlet is not None:
            fixed = self.numbering.boundary if isinstance(dirichlet, str) else xp.asarray(dirichlet)
            table = xp.where(fixed[table], xp.int32(-1), table)
        self.maps = Gather(device, table, self.nodes, Layout(self.elements, order + 1, 1), dtype)
        source, block, macros = setting(order, dtype, kind, device.is_gpu)
        self._groups = -(-self.elements // macros["ELEMENTS"])
        self._kernel = device.build(source, block=block, defines=macros).quadrature
        self._factors = device.array(_factors(points, cells, order, kind, self.dtype, xp).reshape(-1))
        self._rule = device.array(derivative(leggauss(order + 2)[0]).ravel(), self.dtype)
        self._parts = device.empty(self.elements * (order + 1) ** 3, self.dtype)

    def apply_local(self, x, parts) -> None:
        """Enqueue parts = element vectors of A x, [element][k][j][i]."""
        self._kernel(self._groups, self.elements, self.maps.table, self._factors, self._rule, x, parts)

    def multiply(self, x, y) -> None:
        """Enqueue y = A x."""
        self.apply_local(x, self._parts)
        self.maps.gather(self._parts, y)

    def least_work(self) -> Work:
        """Return the least work of `multiply`: factors and table once, both assembled vectors once."""
        p, q, size = self.order + 1, self.order + 2, self.dtype.itemsize
        factors = (1 if self.kind == "mass" else 6) * q**3
        memory = self.elements * (size * factors + 4 * p**3) + 2 * size * self.nodes
        there = 2 * (p**3 * q + p**2 * q**2 + p * q**3)  # interpolation one way
        flops = 2 * there + (q**3 if self.kind == "mass" else 12 * q**4 + 15 * q**3)
        return Work(memory, self.elements * flops, self.dtype.name, 3 * size * self._vertices + 2 * size * self.nodes)


def _factors(points, cells, order, kind, dtype, xp):
    """Return the volumes or the metric at the points, with the weights: (elements, components, q, q, q)."""
    at, weights = (xp.asarray(each) for each in leggauss(order + 2))
    q = order + 2
    z, y, x = at[:, None, None, None], at[:, None, None], at[:, None]
    w = (weights[:, None, None] * weights[:, None] * weights)[None]
    found = xp.empty((len(cells), 1 if kind == "mass" else 6, q, q, q), dtype=dtype)
    for begin in range(0, len(cells), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        c = shapes.coefficients(points, cells[some], xp)[:, :, None, None, None, :]
        columns = (
            c[:, 1] + c[:, 4] * y + c[:, 5] * z + c[:, 7] * y * z,
            c[:, 2] + c[:, 4] * x + c[:, 6] * z + c[:, 7] * x * z,
            c[:, 3] + c[:, 5] * x + c[:, 6] * y + c[:, 7] * x * y,
        )
        shape = (len(c), q, q, q, 3)
        columns = [xp.broadcast_to(column, shape) for column in columns]
        rows = [xp.cross(columns[(a + 1) % 3], columns[(a + 2) % 3]) for a in range(3)]
        volume = (rows[0] * columns[0]).sum(axis=-1)
        if kind == "mass":
            found[some, 0] = volume * w
            continue
        for k, (a, b) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            found[some, k] = (rows[a] * rows[b]).sum(axis=-1) / volume * w
    return found
