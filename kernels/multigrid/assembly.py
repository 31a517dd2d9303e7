"""Poisson's problem in Qk on quadrilaterals or hexahedra: matrix and right-hand side, Dirichlet rows made unit rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.multigrid import compiled, elements

# Elements at a time. Of processors 95 MB for Q2 in 3-D, less elsewhere; fewer would change the last bits of sums.
CHUNK, GPU_CHUNK = 1 << 14, 1 << 20


@dataclass(frozen=True)
class System:
    """A linear system.

    Attributes
    ----------
    matrix : CSR matrix of the device
        Sorted columns; what couples stays, zero or not.
    rhs : (n,) float64
    start : (n,) float64
        u on the boundary, 0 elsewhere: where iterations start.
    """

    matrix: Any
    rhs: Any
    start: Any


def poisson(space, source=0.0, dirichlet=None, xp=np, sparse=None, device=None) -> System:
    """Assemble -Δu = source with u given on the boundary.

    Elements are isoparametric: basis functions with the nodes' coordinates give their shape, so elements of Q2
    follow a curved boundary. Rows of boundary nodes are unit rows; their columns stay, as in the paper's Table 1.

    Parameters
    ----------
    space : object
        With ``degree``, ``points`` (n, d), ``nodes`` (m, (degree + 1)^d), lexicographic, and ``boundary`` (n,) bool.
    source : float or callable
        Of (p, d) points.
    dirichlet : callable, optional
        From (p, d) points to u on the boundary; by default 0.
    xp, sparse : modules, optional
        NumPy and scipy.sparse, or CuPy's.
    device : kernels.device.Device, optional
        A processor, which assembles in compiled code where `source` is a number.

    Returns
    -------
    System
    """
    if sparse is None:
        import scipy.sparse as sparse
    count, local = len(space.points), space.nodes.shape[1]
    fixed = space.boundary
    given = xp.zeros(count) if dirichlet is None else dirichlet(space.points)
    start = xp.where(fixed, given, 0.0)
    if device is not None and not callable(source):
        matrix, rhs = compiled.assembled(device, space, source)
        return System(matrix, xp.where(fixed, start, rhs), start)
    blocks, rhs = [], xp.zeros(count)
    chunk = CHUNK if xp is np else GPU_CHUNK
    for begin in range(0, len(space.nodes), chunk):
        nodes = space.nodes[begin : begin + chunk]
        stiffness, load = _local(space, nodes, source, xp)
        rhs += xp.bincount(nodes.ravel(), weights=load.ravel(), minlength=count)
        rows, columns = xp.repeat(nodes, local, axis=1).ravel(), xp.tile(nodes, (1, local)).ravel()
        free = ~fixed[rows]
        blocks.append((rows[free], columns[free], stiffness.ravel()[free]))
    unit = xp.nonzero(fixed)[0].astype(np.int32)
    blocks.append((unit, unit, xp.ones(len(unit))))
    rows, columns, entries = (xp.concatenate(parts) for parts in zip(*blocks, strict=True))
    matrix = sparse.coo_matrix((entries, (rows, columns)), shape=(count, count)).tocsr()
    matrix.sum_duplicates()
    return System(matrix, xp.where(fixed, start, rhs), start)


def _local(space, nodes, source, xp):
    """Return element matrices (m, k, k) and loads (m, k)."""
    corners = space.points[nodes]
    dimension = corners.shape[2]
    points, weights = elements.gauss(space.degree + 1, dimension)
    shape, slopes = (xp.asarray(table(space.degree, points)) for table in (elements.values, elements.gradients))
    stiffness, load = 0.0, 0.0
    for q, weight in enumerate(weights):
        jacobian = xp.swapaxes(corners, 1, 2) @ slopes[q]  # dx_i / dt_j
        adjugate, determinant = _inverse(jacobian, xp)
        gradient = slopes[q] @ adjugate
        size = weight * xp.abs(determinant)
        stiffness = stiffness + (weight / xp.abs(determinant))[:, None, None] * (
            gradient @ xp.swapaxes(gradient, 1, 2)
        )  # fmt: skip
        density = source(shape[q] @ corners) if callable(source) else source
        load = load + (size * density)[:, None] * shape[q]
    return stiffness, load


def _inverse(j, xp):
    """Return the adjugates, inverses times determinants, and the determinants of (m, d, d) matrices, d = 2 or 3."""
    if j.shape[1] == 2:
        adjugate = xp.stack((j[:, 1, 1], -j[:, 0, 1], -j[:, 1, 0], j[:, 0, 0]), axis=1).reshape(-1, 2, 2)
    else:
        a, b, c = (j[:, :, k] for k in range(3))
        adjugate = xp.stack((xp.cross(b, c), xp.cross(c, a), xp.cross(a, b)), axis=1)
    return adjugate, (adjugate[:, 0] * j[:, :, 0]).sum(axis=1)
