"""Geometry of hexahedra for the operator: coordinates of the GLL nodes, metric factors, constants of an element."""

from __future__ import annotations

import numpy as np

from kernels.sem.gll import rule
from kernels.sem.numbering import tensor_vertices

# Coefficients of 1, ξ, η, ζ, ξη, ξζ, ηζ, ξηζ from the values at the tensor's vertices.
_SIGNS = np.array([[1 - 2 * (v >> axis & 1) for axis in range(3)] for v in range(8)]) * -1
_MONOMIALS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
HOST_NODES = 1 << 16  # of elements at once: the many arrays that factors are made of stay in its caches
MONOMIALS = np.array([[np.prod(_SIGNS[v, list(axes)]) for v in range(8)] for axes in _MONOMIALS]) / 8


def at_once(order: int, nodes: int, xp=np) -> int:
    """Return how many elements to make factors of at once: enough for `nodes` nodes, on a host `HOST_NODES` at most."""
    return max(1, (min(nodes, HOST_NODES) if xp is np else nodes) // (order + 1) ** 3)


def coefficients(points, cells, xp=np):
    """Return the monomial coefficients of the trilinear maps of elements, (elements, 8, 3)."""
    corners = xp.asarray(points)[tensor_vertices(xp.asarray(cells))]
    return xp.einsum("mv,evx->emx", xp.asarray(MONOMIALS), corners)


def node_coordinates(points, cells, order: int, xp=np):
    """Return the coordinates of the GLL nodes of every element, (elements, (n + 1)³, 3), i fastest.

    They are a view of an array with the coordinate first, which is how `cofactors` goes through them.
    """
    t = xp.asarray(rule(order).points)
    one = xp.ones_like(t)
    powers = [[t if axis in axes else one for axis in (2, 1, 0)] for axes in _MONOMIALS]
    basis = xp.stack([xp.einsum("k,j,i->kji", *axes).ravel() for axes in powers])
    terms = xp.ascontiguousarray(coefficients(points, cells, xp).transpose(2, 0, 1))
    return xp.moveaxis((terms.reshape(-1, 8) @ basis).reshape(3, len(cells), -1), 0, -1)


def cofactors(coordinates, order: int, xp=np):
    """Return the cofactors |J| J⁻¹ of the Jacobian and its determinant at every node.

    Parameters
    ----------
    coordinates : (elements, (n + 1)³, 3) float64
        Of the GLL nodes; elements may be curved.

    Returns
    -------
    rows : list of three lists of three arrays (elements, (n + 1)³)
        |J| times the gradients of ξ, η and ζ, by coordinate.
    volume : (elements, (n + 1)³)

    Raises
    ------
    ValueError
        When the determinant is not positive everywhere.
    """
    q, shape = order + 1, coordinates.shape[:2]
    d = xp.asarray(rule(order).derivative)
    columns = [[], [], []]  # derivatives of the coordinates along ξ, η and ζ
    for axis in range(3):
        x = xp.ascontiguousarray(coordinates[..., axis])
        columns[0].append((x.reshape(-1, q) @ d.T).reshape(shape))
        columns[1].append((d @ x.reshape(-1, q, q)).reshape(shape))
        columns[2].append((d @ x.reshape(-1, q, q * q)).reshape(shape))
    rows = [_cross(columns[(axis + 1) % 3], columns[(axis + 2) % 3]) for axis in range(3)]
    volume = sum(a * b for a, b in zip(rows[0], columns[0], strict=True))
    if not bool((volume > 0).all()):
        bad = int(xp.argmin(volume.min(axis=1)))
        raise ValueError(f"element {bad} is inverted or flat: its Jacobian is not positive at every node")
    return rows, volume


def _cross(a, b):
    return [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]


def metric(rows, volume, xp=np):
    """Return |J| (JᵀJ)⁻¹ at every node, (6, elements, (n + 1)³): 11, 12, 13, 22, 23, 33. The paper's G, inverted."""
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    over = 1 / volume
    return xp.stack([sum(x * y for x, y in zip(rows[a], rows[b], strict=True)) * over for a, b in pairs])


def check_volumes(points, cells, order: int, xp=np) -> None:
    """Refuse trilinear elements whose Jacobian is not positive at every node, a few elements at a time."""
    step = at_once(order, 1 << 20, xp)
    for begin in range(0, len(cells), step):
        cofactors(node_coordinates(points, cells[begin : begin + step], order, xp), order, xp)


def is_affine(coefficients, xp=np, tolerance: float = 1e-12) -> bool:
    """Return whether every element is a parallelepiped, to rounding."""
    return bool(xp.abs(coefficients[:, 4:]).max() <= tolerance * xp.abs(coefficients[:, 1:4]).max())


def affine_constants(coefficients, kappa, mass, xp=np):
    """Return the six metric factors times κ, and the volume factor times c, of each parallelepiped: (elements, 7)."""
    columns = [[coefficients[:, axis, k] for k in range(3)] for axis in (1, 2, 3)]
    rows = [_cross(columns[(axis + 1) % 3], columns[(axis + 2) % 3]) for axis in range(3)]
    volume = sum(x * y for x, y in zip(rows[0], columns[0], strict=True))
    if not bool((volume > 0).all()):
        raise ValueError(f"element {int(xp.argmin(volume))} is inverted or flat")
    return xp.concatenate([metric(rows, volume, xp).T * kappa[:, None], (volume * mass)[:, None]], axis=1)
