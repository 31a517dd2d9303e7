"""Conduction of linear tetrahedra: what of an element's matrix does not change while the heart beats."""

from __future__ import annotations

import numpy as np

from kernels.assembly.pattern import EDGE_NODES


def conduction(points, cells, fibres, isotropic: float, along: float, xp=np):
    """Return V ∇N_i · D ∇N_j for the edges of each element, and the volumes V.

    Parameters
    ----------
    points : (nodes, 3) float64 array of `xp`
    cells : (elements, 4) int array of `xp`
        Positively oriented.
    fibres : (elements, 3) float64 array of `xp`
        Unit vectors n along the fibres.
    isotropic, along : float
        Of D = isotropic I + along n ⊗ n.
    xp : module
        NumPy or CuPy.

    Returns
    -------
    stiffness : (6, elements) float64
        For the edges of `EDGE_NODES`; the rows of an element's matrix sum to zero.
    volumes : (elements,) float64

    Raises
    ------
    ValueError
        When an element is flat or inverted.
    """
    corner = [points[cells[:, k]] for k in range(4)]
    u, v, w = (corner[k] - corner[0] for k in (1, 2, 3))
    normals = [None, xp.cross(v, w), xp.cross(w, u), xp.cross(u, v)]  # six volumes times the gradients
    volume6 = (u * normals[1]).sum(axis=1)
    if not bool((volume6 > 0).all()):
        raise ValueError(f"element {int(xp.argmin(volume6))} is flat or inverted")
    normals[0] = -(normals[1] + normals[2] + normals[3])
    projected = [(normal * fibres).sum(axis=1) for normal in normals]
    stiffness = xp.empty((len(EDGE_NODES), cells.shape[0]), dtype=np.float64)
    for k, (i, j) in enumerate(EDGE_NODES):
        stiffness[k] = isotropic * (normals[i] * normals[j]).sum(axis=1) + along * projected[i] * projected[j]
    stiffness /= 6 * volume6
    return stiffness, volume6 / 6
