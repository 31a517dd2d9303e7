"""Sums over elements at the nodes: the lumped mass, the paper's m, and the diagonal of the operator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels.sem import geometry as shapes
from kernels.sem.gll import rule

SOURCE = Path(__file__).with_name("diagonals.c")
BLOCK = 256
REAL = {"float64": "double", "float32": "float"}
BUILDS = [(SOURCE, BLOCK, {"real": real}) for real in ("double", "float")]
NODES = 1 << 22  # of the elements whose factors a GPU makes at once


def lumped_mass(operator, points, cells):
    """Return the mass of every node, the paper's m of section 4.1, zero where nodes are fixed: (nodes,).

    Parameters
    ----------
    operator : kernels.sem.stiffness.Operator
    points : (vertices, 3) float64
    cells : (elements, 8) int
    """
    w = _weights(operator)

    def fields(rows, volume, some):
        return w * volume

    return _summed(operator, points, cells, fields)


def diagonal(operator, points, cells, kappa=1.0, mass=0.0):
    """Return the diagonal of the operator, zero where nodes are fixed: (nodes,) of the namespace.

    At a node of an element it is Σ_m ρ G_aa D_mi² along each of the three lines of nodes through it, and, where two of
    these meet with D_ii that are not zero, at edges and corners, 2 ρ G_ab D_ii D_jj.

    Parameters
    ----------
    operator : kernels.sem.stiffness.Operator
    points : (vertices, 3) float64
    cells : (elements, 8) int
    kappa, mass : float or (elements,) array
        The operator's κ and c.
    """
    xp, q = operator.device.xp, operator.order + 1
    d = xp.asarray(rule(operator.order).derivative)
    squares, own, w = d * d, xp.diagonal(d), _weights(operator)
    slopes = [xp.broadcast_to(own.reshape(shape), (q, q, q)).reshape(-1) for shape in ((1, 1, q), (1, q, 1), (q, 1, 1))]
    kappa, mass = (xp.broadcast_to(xp.asarray(value, dtype="float64"), (len(cells),)) for value in (kappa, mass))

    def fields(rows, volume, some):
        g = shapes.metric(rows, volume, xp) * (w * kappa[some, None])
        lines = [g[component].reshape(-1, q, q, q) for component in (0, 3, 5)]
        found = xp.einsum("mi,ekjm->ekji", squares, lines[0]) + xp.einsum("mj,ekmi->ekji", squares, lines[1])
        found = (found + xp.einsum("mk,emji->ekji", squares, lines[2])).reshape(-1, q**3)
        for component, a, b in ((1, 0, 1), (2, 0, 2), (4, 1, 2)):
            found += 2 * g[component] * (slopes[a] * slopes[b])
        return found + w * volume * mass[some, None]

    return _summed(operator, points, cells, fields)


def _weights(operator):
    w = operator.device.xp.asarray(rule(operator.order).weights)
    return operator.device.xp.einsum("k,j,i->kji", w, w, w).reshape(-1)


def _summed(operator, points, cells, fields):
    """Sum at the nodes what `fields` makes of the cofactors and volumes of some elements."""
    device, layout, xp = operator.device, operator.layout, operator.device.xp
    points, cells, q = xp.asarray(points), xp.asarray(cells), operator.order + 1
    parts = xp.zeros((layout.groups, q * layout.lanes), dtype=operator.dtype)
    step = max(1, shapes.at_once(operator.order, NODES, xp) // layout.group)
    for begin in range(0, layout.groups, step):
        some = slice(begin * layout.group, min((begin + step) * layout.group, operator.elements))
        places = shapes.node_coordinates(points, cells[some], operator.order, xp)
        field = fields(*shapes.cofactors(places, operator.order, xp), some)
        part = replace(layout, elements=len(field))
        parts[begin : begin + part.groups] = part.pack(field.astype(operator.dtype), xp).reshape(part.groups, -1)
    summed = device.empty(operator.nodes, operator.dtype)
    operator.maps.gather(device.array(parts.reshape(-1)), summed)
    return namespaced(device, summed)


def namespaced(device, array):
    """Return a kernel's array as one of the device's namespace; only an OpenCL GPU's is copied."""
    return array if device.backend == "cuda" else device.to_host(array)


class Scaling:
    """z = s r for a vector s, a kernel that a graph can hold.

    Parameters
    ----------
    device : kernels.device.Device
    factors : (n,) device array
    """

    def __init__(self, device, factors):
        self.factors, self.n = factors, int(factors.shape[0])
        self._kernel = device.build(SOURCE, block=BLOCK, defines={"real": REAL[np.dtype(factors.dtype).name]}).scale

    def apply(self, r, z) -> None:
        """Enqueue z = s r."""
        self._kernel(-(-self.n // BLOCK), self.n, self.factors, r, z)


def jacobi(operator, points, cells, kappa=1.0, mass=0.0) -> Scaling:
    """Return the preconditioner by the inverse of the diagonal; zero at fixed nodes. Arguments as for `diagonal`."""
    xp, found = operator.device.xp, diagonal(operator, points, cells, kappa, mass)
    inverse = xp.where(found > 0, 1 / xp.where(found > 0, found, 1), 0)
    return Scaling(operator.device, operator.device.array(inverse, operator.dtype))
