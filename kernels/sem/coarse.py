"""The coarse space: trilinear functions on the mesh, what leads there and back, and their matrix (section 4.1).

The paper restricts by V = C m⁻¹, the L² projection with lumped masses. In V each element's share m_e / m of a node's
mass multiplies the value of the vertex's function there; the function is continuous, so all elements have the same
value, the shares add up to one, and V is the transpose of plain interpolation: the masses fall away. So it is done
here, with every node taken once, by the first element that has it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.sem import geometry as shapes
from kernels.sem.gather import Gather
from kernels.sem.gll import rule
from kernels.sem.layout import Layout
from kernels.sem.triplets import summed
from repro import Work

SOURCE = Path(__file__).with_name("coarse.c")
REAL = {"float64": "double", "float32": "float"}
THREADS = {"gpu": 128, "processor": 1}  # wanted in a block
ELEMENTS = 1 << 17  # whose matrices are made at once
NEGLIGIBLE = 1e-12  # of the roots of the diagonals: couplings that cancel but for rounding


def defines(order: int, elements: int, dtype: str, outer: str) -> dict:
    """Return the macros of a build of ``coarse.c``."""
    rising = ", ".join(f"(real){value!r}" for value in ((1 + rule(order).points) / 2).tolist())
    return {"real": REAL[dtype], "outer": REAL[outer], "Q": order + 1, "ELEMENTS": elements, "RISING": rising}


def grouped(order: int, is_gpu: bool) -> tuple[int, int]:
    """Return the elements and the threads of a block."""
    pencils = (order + 1) ** 2
    elements = max(1, THREADS["gpu" if is_gpu else "processor"] // pencils)
    return elements, -(-elements * pencils // 32) * 32


def build(is_gpu: bool, order: int, dtype: str, outer: str) -> tuple:
    """Return the build for vectors of `dtype` beside the operator's of `outer`."""
    elements, block = grouped(order, is_gpu)
    return SOURCE, block, defines(order, elements, dtype, outer)


BUILDS = [
    build(is_gpu, order, dtype, outer)
    for order, dtype, outer, is_gpu in ((1, "float32", "float32", True), (3, "float32", "float64", True),
                                        (4, "float64", "float64", False), (15, "float32", "float32", True))
]  # fmt: skip


class CoarseSpace:
    """Restriction V and prolongation Vᵀ between the nodes of an operator and the vertices that are not fixed.

    Parameters
    ----------
    operator : kernels.sem.stiffness.Operator
    fixed : (nodes,) bool array of the device's namespace, or None
    dtype : {'float32', 'float64'}
        Of coarse vectors; fine ones are of the operator's.

    Attributes
    ----------
    unknowns : int
    vertices : (elements, 8) int32 of the device's namespace
        Unknown of each vertex, in the tensor's order; -1 where it is fixed.
    """

    def __init__(self, operator, fixed=None, dtype: str = "float32"):
        device, order, xp = operator.device, operator.order, operator.device.xp
        self.device, self.order, self.elements, self.nodes = device, order, operator.elements, operator.nodes
        self.dtype, self._outer, q = np.dtype(dtype), operator.dtype, order + 1
        table = xp.asarray(operator.numbering.table)
        self.vertices, self.unknowns = vertices(table, self.nodes, order, fixed, xp)
        elements, _ = grouped(order, device.is_gpu)
        self._layout = Layout(self.elements, q, elements)
        self._owned = device.array(self._layout.pack(_owned(table, self.nodes, fixed, xp), xp, fill=-1))
        whole = xp.full((self._layout.groups * elements, 8), -1, dtype=xp.int32)
        whole[: self.elements] = self.vertices
        self._vertices = device.array(whole.reshape(-1))
        self._points = device.array((1 + rule(order).points) / 2, self.dtype)
        self._maps = Gather(device, self.vertices, self.unknowns, Layout(self.elements, 2, 1), dtype).prepared()
        self._parts = device.empty(whole.size, self.dtype)
        self._kernels = device.build(*build(device.is_gpu, order, dtype, self._outer.name))

    def restrict(self, r, coarse) -> None:
        """Enqueue coarse = V r."""
        self._kernels.restrict_local(self._layout.groups, self._owned, self._points, r, self._parts)
        self._maps.gather(self._parts, coarse)

    def prolong_add(self, coarse, z) -> None:
        """Enqueue z += Vᵀ coarse."""
        self._kernels.prolong(self._layout.groups, self._owned, self._points, self._vertices, coarse, z)

    def work(self) -> Work:
        """Return the least work of both: the table of nodes twice, r once, z read and written."""
        q, size, outer = self.order + 1, self.dtype.itemsize, self._outer.itemsize
        table = 4 * q**3 * self.elements
        memory = 2 * table + 3 * outer * self.nodes + self.elements * 8 * (4 + 2 * size + 4) + 2 * size * self.unknowns
        return Work(memory, self.elements * (6 * q**3 + 20 * q**2), self.dtype.name)


def vertices(table, nodes: int, order: int, fixed, xp):
    """Return the unknown of each vertex, (elements, 8) int32 in the tensor's order, -1 where it is fixed; and how many.

    Raises
    ------
    ValueError
        When every vertex is fixed.
    """
    n, q = order, order + 1
    corners = xp.asarray([n * (a + q * b + q * q * c) for c in (0, 1) for b in (0, 1) for a in (0, 1)])
    used = xp.zeros(nodes, dtype=bool)
    used[table[:, corners].ravel()] = True
    if fixed is not None:
        used &= ~fixed
    number = xp.where(used, xp.cumsum(used) - 1, -1).astype(xp.int32)
    unknowns = int(used.sum())
    if unknowns == 0:
        raise ValueError("every vertex of the mesh is fixed: there is no coarse space")
    return number[table[:, corners]], unknowns


def _owned(table, nodes: int, fixed, xp):
    """Return the table with each node left once, with the first element that has it, and fixed ones left out."""
    flat = table.ravel()
    first = xp.full(nodes, flat.size, dtype=xp.int64)
    xp.minimum.at(first, flat, xp.arange(flat.size))
    owned = xp.full(flat.size, -1, dtype=xp.int32)
    kept = xp.arange(nodes, dtype=xp.int32) if fixed is None else xp.flatnonzero(~fixed).astype(xp.int32)
    owned[first[kept]] = kept
    return owned.reshape(table.shape)


def matrix(device, points, cells, vertices, unknowns: int, kappa=1.0, mass=0.0):
    """Return the operator at n = 1 as a matrix: CSR of `device.sparse`, (unknowns, unknowns) float64.

    Parameters
    ----------
    device : kernels.device.Device
    points : (vertices, 3) float64
    cells : (elements, 8) int
    vertices : (elements, 8) int32
        Of a `CoarseSpace`.
    unknowns : int
    kappa, mass : float or (elements,) array
        κ and c.
    """
    xp = device.xp
    points, cells = xp.asarray(points), xp.asarray(cells)
    kappa, mass = (xp.broadcast_to(xp.asarray(value, dtype="float64"), (len(cells),)) for value in (kappa, mass))
    one, slope = np.eye(2), rule(1).derivative
    factors = [(one, one, slope), (one, slope, one), (slope, one, one)]
    slopes = [np.einsum("ck,bj,ai->cbakji", *axes).reshape(8, 8) for axes in factors]
    products = []  # of the slopes of two functions at each vertex, (8, 8 * 8), as the metric's components take them
    for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        one_way = np.einsum("pv,pw->pvw", slopes[a], slopes[b])
        both = one_way if a == b else one_way + one_way.transpose(0, 2, 1)
        products.append(xp.asarray(both.reshape(8, 64)))
    found = []
    for begin in range(0, len(cells), ELEMENTS):
        some = slice(begin, begin + ELEMENTS)
        rows, volume = shapes.cofactors(shapes.node_coordinates(points, cells[some], 1, xp), 1, xp)
        g = shapes.metric(rows, volume, xp) * kappa[some, None]
        local = sum(field @ product for field, product in zip(g, products, strict=True)).reshape(-1, 8, 8)
        diagonal = xp.arange(8)
        local[:, diagonal, diagonal] += volume * mass[some, None]
        own = vertices[some]
        row, column = xp.repeat(own, 8, axis=1).ravel(), xp.tile(own, (1, 8)).ravel()
        kept = (row >= 0) & (column >= 0)
        found.append((local.ravel()[kept], row[kept], column[kept]))
    values, row, column = (xp.concatenate([part[k] for part in found]) for k in range(3))
    return without_negligible(device, summed(device, values, row, column, unknowns))


def without_negligible(device, csr):
    """Return a matrix without the couplings that are nothing but rounding: equal cubes have twenty of them in a row."""
    coo, root = csr.tocoo(), device.xp.sqrt(csr.diagonal())
    kept = device.xp.abs(coo.data) > NEGLIGIBLE * root[coo.row] * root[coo.col]
    return summed(device, coo.data[kept], coo.row[kept], coo.col[kept], csr.shape[0])
