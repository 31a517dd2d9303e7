"""Nodes within a solid: a lattice of good elements, and how far they are shaken decides the quality of the mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def nodes(distance: Callable, low, high, spacing: float, disorder: float, clear: float) -> np.ndarray:
    """Return the nodes of a body-centred lattice, shaken, that lie within a solid.

    Parameters
    ----------
    distance : callable
        Of arrays x, y and z: about the distance from the solid's surface, negative inside.
    low, high : (3,) sequences of float
        A box around the solid.
    spacing : float
        The cube of it is the volume of a node.
    disorder : float
        The edge of the cube within which a node is moved at random, over `spacing`. Without it elements are as good as
        they can be; with more the mesh comes near to one of random points.
    clear : float
        Distance that nodes keep from the surface.

    Returns
    -------
    ndarray, shape (n, 3)
    """
    step = spacing * 2 ** (1 / 3)
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    lattices = []
    for shift in (0.25, 0.75):
        axes = [np.arange(a + shift * step, b, step) for a, b in zip(low, high, strict=True)]
        lattices.append(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3))
    found = np.concatenate(lattices)
    found += disorder * spacing * (np.random.default_rng(0).random(found.shape) - 0.5)
    return found[np.asarray(distance(*found.T)) < -clear]
