"""The paper's problems on a few levels."""

import functools

import numpy as np

import datasets
from datasets.geveler2011 import hierarchy, number, refined
from datasets.geveler2011._hierarchy import Hierarchy
from datasets.grids import hexes, quads
from kernels import multigrid


@functools.cache
def problem(name, levels):
    """A hierarchy by name: the paper's, a distorted square, or a distorted cube."""
    if name in ("circle", "blood"):
        return hierarchy(datasets.load(f"geveler2011/{name}", "smoke"), levels)
    points, cells = quads(2) if name == "square" else hexes(2)
    inside = ((points > 0) & (points < 1)).all(axis=1)
    points[inside] += np.random.default_rng(3).uniform(-0.1, 0.1, (inside.sum(), points.shape[1]))
    return Hierarchy(refined(points, cells, levels), 1.0, lambda x: x[:, 0] ** 2)


@functools.cache
def grids(name, degree, level, numbering="2lv", with_direct=False):
    """The problem's levels up to one."""
    found = problem(name, level)
    spaces = [found.space(i, degree) for i in range(1, level + 1)]
    made = multigrid.grids(spaces, found.source, found.dirichlet, with_direct=with_direct)
    if numbering == "2lv":
        return made
    return multigrid.renumbered(made, orders(name, degree, level, numbering))


@functools.cache
def orders(name, degree, level, numbering):
    return [number(numbering, problem(name, level).space(i, degree), i) for i in range(1, level + 1)]


def on(device, levels):
    """The levels in the set-up arrays of a device."""
    xp, sparse = device.xp, device.sparse
    if xp is np:
        return levels

    def moved(part):
        if part is None:
            return None
        return sparse.csr_matrix(part) if hasattr(part, "indptr") else xp.asarray(part)

    return [multigrid.Grid(*map(moved, (g.matrix, g.prolongator, g.rhs, g.start))) for g in levels]
