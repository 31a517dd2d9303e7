"""Data that solvers of one problem share, whatever their vectors, their preconditioners and where they stop."""

from __future__ import annotations

import numpy as np

from kernels.sem.aggregates import Level, hierarchy
from kernels.sem.coarse import matrix, vertices
from kernels.sem.kcycle import Hierarchy
from kernels.sem.numbering import number_nodes
from kernels.sem.overlap import subdomains


class Common:
    """The numbers of the nodes, and what is made of them and of the mesh when it is asked for, each time anew.

    A solver makes its own. Who makes many of one problem hands each the same, of a class that keeps what it has made.

    Parameters
    ----------
    device, points, cells, order, kappa, mass, dirichlet, numbering
        See `Solver`.

    Attributes
    ----------
    points, cells : arrays of the device's namespace
    numbering : Numbering
    fixed : (nodes,) bool array of the namespace, or None
    """

    def __init__(
        self, device, points, cells, order: int, kappa=1.0, mass=None, dirichlet="boundary", numbering=None
    ):  # fmt: skip
        xp = device.xp
        self.device, self.order, self.kappa, self.mass, self.dirichlet = device, order, kappa, mass, dirichlet
        self.points, self.cells = xp.asarray(points), xp.asarray(cells)
        self.numbering = number_nodes(self.cells, order, xp) if numbering is None else numbering
        self.fixed = self.numbering.boundary if isinstance(dirichlet, str) else dirichlet
        if dirichlet is not None:
            self.fixed = xp.asarray(self.fixed)

    def check(self, device, points, cells, order: int, kappa, mass, dirichlet) -> None:
        """Refuse to stand for another problem: of another mesh, or of arrays that are not these very ones."""
        asked, own = (points, cells, kappa, mass, dirichlet), ("points", "cells", "kappa", "mass", "dirichlet")
        same = all(_same(value, getattr(self, name)) for value, name in zip(asked, own, strict=True))
        if self.device is not device or self.order != order or not same:
            raise ValueError("what the solver is to share is of another problem")

    def subdomains(self):
        """Return the nodes of the overlapping subdomains: see `kernels.sem.overlap.subdomains`."""
        xp = self.device.xp
        return subdomains(xp.asarray(self.numbering.table), self.order, self.fixed, xp)

    def levels(self, coarsest: int) -> list[Level]:
        """Return the coarse space's matrix and its aggregates' matrices, down to `coarsest` rows."""
        numbering, xp = self.numbering, self.device.xp
        places, unknowns = vertices(xp.asarray(numbering.table), numbering.nodes, self.order, self.fixed, xp)
        c = 0.0 if self.mass is None else self.mass
        a = matrix(self.device, self.points, self.cells, places, unknowns, self.kappa, c)
        return hierarchy(self.device, a, coarsest)

    def hierarchy(self, device, dtype: str, coarsest: int) -> Hierarchy:
        """Return the levels as K-cycles take them, on the problem's device or on another, of the host."""
        levels = self.levels(coarsest)
        if device is not self.device and self.device.backend == "cuda":
            levels = [
                Level(level.matrix.get(), None if level.labels is None else level.labels.get(), level.aggregates)
                for level in levels
            ]
        return Hierarchy(device, levels, dtype)


def _same(one, other) -> bool:
    return one is other or (np.isscalar(one) and np.isscalar(other) and one == other)
