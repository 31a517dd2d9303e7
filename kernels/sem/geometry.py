"""Geometry of hexahedra for the operator: coordinates of the GLL nodes, metric factors, constants of an element."""

from __future__ import annotations

import numpy as np

from kernels.sem.gll import rule
from kernels.sem.numbering import tensor_vertices

# Coefficients of 1, ξ, η, ζ, ξη, ξζ, ηζ, ξηζ from the values at the tensor's vertices.
_SIGNS = np.array([[1 - 2 * (v >> axis & 1) for axis in range(3)] for v in range(8)]) * -1
_MONOMIALS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
MONOMIALS = np.array([[np.prod(_SIGNS[v, list(axes)]) for v in range(8)] for axes in _MONOMIALS]) / 8


def coefficients(points, cells, xp=np):
    """Return the monomial coefficients of the trilinear maps of elements, (elements, 8, 3)."""
    corners = xp.asarray(points)[tensor_vertices(xp.asarray(cells))]
    return xp.einsum("mv,evx->emx", xp.asarray(MONOMIALS), corners)


def node_coordinates(points, cells, order: int, xp=np):
    """Return the coordinates of the GLL nodes of every element, (elements, (n + 1)³, 3), i fastest."""
    t = xp.asarray(rule(order).points)
    one = xp.ones_like(t)
    powers = [[t if axis in axes else one for axis in (2, 1, 0)] for axes in _MONOMIALS]
    basis = xp.stack([xp.einsum("k,j,i->kji", *axes).ravel() for axes in powers])
    return xp.einsum("mn,emx->enx", basis, coefficients(points, cells, xp))


def cofactors(coordinates, order: int, xp=np):
    """Return the cofactors |J| J⁻¹ of the Jacobian and its determinant at every node.

    Parameters
    ----------
    coordinates : (elements, (n + 1)³, 3) float64
        Of the GLL nodes; elements may be curved.

    Returns
    -------
    rows : list of three arrays (elements, (n + 1)³, 3)
        |J| times the gradients of ξ, η and ζ.
    volume : (elements, (n + 1)³)

    Raises
    ------
    ValueError
        When the determinant is not positive everywhere.
    """
    q = order + 1
    d = xp.asarray(rule(order).derivative)
    x = coordinates.reshape(-1, q, q, q, 3)
    columns = [xp.einsum(f"a{axis},ekjix->e{out}x", d, x) for axis, out in (("i", "kja"), ("j", "kai"), ("k", "aji"))]
    columns = [column.reshape(len(x), q**3, 3) for column in columns]
    rows = [xp.cross(columns[(axis + 1) % 3], columns[(axis + 2) % 3]) for axis in range(3)]
    volume = (rows[0] * columns[0]).sum(axis=-1)
    if not bool((volume > 0).all()):
        bad = int(xp.argmin(volume.min(axis=1)))
        raise ValueError(f"element {bad} is inverted or flat: its Jacobian is not positive at every node")
    return rows, volume


def metric(rows, volume, xp=np):
    """Return |J| (JᵀJ)⁻¹ at every node, (6, elements, (n + 1)³): 11, 12, 13, 22, 23, 33. The paper's G, inverted."""
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return xp.stack([(rows[a] * rows[b]).sum(axis=-1) / volume for a, b in pairs])


def check_volumes(points, cells, order: int, xp=np, step: int = 1 << 14) -> None:
    """Refuse trilinear elements whose Jacobian is not positive at every node, a few elements at a time."""
    for begin in range(0, len(cells), step):
        cofactors(node_coordinates(points, cells[begin : begin + step], order, xp), order, xp)


def is_affine(coefficients, xp=np, tolerance: float = 1e-12) -> bool:
    """Return whether every element is a parallelepiped, to rounding."""
    return bool(xp.abs(coefficients[:, 4:]).max() <= tolerance * xp.abs(coefficients[:, 1:4]).max())


def affine_constants(coefficients, kappa, mass, xp=np):
    """Return the six metric factors times κ, and the volume factor times c, of each parallelepiped: (elements, 7)."""
    a, b, c = (coefficients[:, axis] for axis in (1, 2, 3))
    rows = [xp.cross(b, c), xp.cross(c, a), xp.cross(a, b)]
    volume = (rows[0] * a).sum(axis=-1)
    if not bool((volume > 0).all()):
        raise ValueError(f"element {int(xp.argmin(volume))} is inverted or flat")
    return xp.concatenate([metric(rows, volume, xp).T * kappa[:, None], (volume * mass)[:, None]], axis=1)
