"""Uniform refinement of quadrilaterals and hexahedra: each into 2^d, over and over, new nodes put on a curved boundary.

Elements number their corners in lexicographic order, the first axis fastest, and the children of element e are elements
2^d e to 2^d e + 2^d - 1 in the same order. An element's lattice are the 3^d vertices of its children: the unknowns of
its own Q2 element, too. Arrays may be NumPy's or CuPy's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

# The place in lexicographic order of meshio's corners.
LEXICOGRAPHIC = {4: [0, 1, 3, 2], 8: [0, 1, 3, 2, 4, 5, 7, 6]}
CHUNK = 1 << 14  # elements at a time on a processor, whose caches then hold what a `place` makes of them


@dataclass(frozen=True)
class Level:
    """A mesh of the hierarchy.

    Attributes
    ----------
    points : (n, d) float64
        The vertices: first the ones of the level before, then midpoints of edges, of faces, of elements.
    cells : (m, 2^d) int32
        Corners of each element.
    lattice : (m, 3^d) int32
        Vertices of each element's children, in the numbers of the next level.
    lattice_points : (n', d) float64
        The vertices that `lattice` numbers.
    boundary, lattice_boundary : (n,), (n',) bool
        Which lie on the boundary.
    """

    points: Any
    cells: Any
    lattice: Any
    lattice_points: Any
    boundary: Any
    lattice_boundary: Any


@dataclass(frozen=True)
class Space:
    """Unknowns of Q1 or Q2 on a level.

    Attributes
    ----------
    degree : int
    points : (n, d) float64
        Nodes.
    nodes : (m, (degree + 1)^d) int32
        Each element's unknowns, lexicographically; children stand in the order that `Level` tells.
    boundary : (n,) bool
        Which nodes lie on the boundary.
    """

    degree: int
    points: Any
    nodes: Any
    boundary: Any


@dataclass(frozen=True)
class Hierarchy:
    """Levels of a mesh, the coarsest first: level 1 of the paper is ``levels[0]``.

    Attributes
    ----------
    levels : tuple of Level
    source : float
        -Δu.
    dirichlet : callable
        From (n, d) points to u on the boundary.
    """

    levels: tuple[Level, ...]
    source: float
    dirichlet: Callable

    def space(self, level: int, degree: int) -> Space:
        """Return the unknowns of Q1 or Q2 on a level, which counts from 1."""
        mesh = self.levels[level - 1]
        if degree == 1:
            return Space(1, mesh.points, mesh.cells, mesh.boundary)
        if degree == 2:
            return Space(2, mesh.lattice_points, mesh.lattice, mesh.lattice_boundary)
        raise ValueError(f"there are Q1 and Q2, not Q{degree}")


def hierarchy(
    mesh, levels: int, xp=np, known: tuple[Level, ...] = (), edges: Callable | None = None
) -> Hierarchy:  # fmt: skip
    """Return a mesh of this paper refined to so many levels, its own counted.

    Parameters
    ----------
    mesh : datasets.mesh.Mesh
        Of this folder's recipes; one without a ``place``, or the user's own, is refined straight.
    levels : int
    xp : module, optional
        NumPy, or CuPy for arrays on the device.
    known : tuple of Level, optional
        The first of them, where they were made before.
    edges : callable, optional
        From cells and how many vertices there are to the numbers of each element's edges, and how many edges there are:
        ordered by lower, then by higher ends. By default they are sorted.
    """
    recipe = importlib.import_module(f"datasets.{mesh.name.replace('/', '.')}")
    own = mesh.title.partition(" (stand-in)")[0] != recipe.TITLE
    made = refined(mesh.points, mesh.cells, levels, None if own else getattr(recipe, "place", None), xp, known, edges)
    return Hierarchy(made, recipe.SOURCE, recipe.dirichlet)


def refined(
    points, cells, levels: int, place: Callable | None = None, xp=np, known: tuple[Level, ...] = (),
    edges: Callable | None = None,
) -> tuple[Level, ...]:  # fmt: skip
    """Return a mesh and its refinements.

    Parameters
    ----------
    points : (n, d) array
    cells : (m, 2^d) int array
        Quadrilaterals or hexahedra in meshio's order.
    levels : int
        The mesh's own counted.
    place : callable, optional
        ``place(cells, local, xp)`` returns the points of coarse elements, (p,) ints, at local coordinates, (p, d) in
        [0, 1]^d; where elements meet it must agree. By default elements are refined multilinearly, with straight sides.
    known, edges : see `hierarchy`
    """
    if levels < 1:
        raise ValueError(f"{levels} levels: there is at least the mesh itself")
    points = xp.asarray(points, dtype=np.float64)
    cells = xp.asarray(cells, dtype=np.int32)[:, LEXICOGRAPHIC[cells.shape[1]]]
    place = place or _multilinear(points, cells)
    made = list(known[:levels])
    for level in range(len(made), levels):
        if level:
            points, cells = made[-1].lattice_points, _children(made[-1].lattice)
        lattice, boundary, count = _lattice(cells, len(points), xp, edges)
        finer = _placed(lattice, count, level, points, place, xp)
        made.append(Level(points, cells, lattice, finer, boundary[: len(points)], boundary))
    return tuple(made)


def _positions(dimension):
    """Return the places of an element's lattice, (0, 0), (1, 0), (2, 0), (0, 1), ... of 0 to 2."""
    return [place[::-1] for place in product(range(3), repeat=dimension)]


def _lattice(cells, vertices, xp, edges):
    """Number edges, faces and elements behind the vertices; return lattices, which nodes are on the boundary, count."""
    dimension = cells.shape[1].bit_length() - 1
    positions = _positions(dimension)
    lattice = xp.empty((len(cells), 3**dimension), dtype=np.int32)
    count = vertices
    for free in range(dimension + 1):
        columns = [c for c, place in enumerate(positions) if place.count(1) == free]
        ends = [_ends(positions[c]) for c in columns]
        if free == 0:
            lattice[:, columns] = cells[:, [corners[0] for corners in ends]]
        elif free == dimension:
            lattice[:, columns] = count + xp.arange(len(cells), dtype=np.int32)[:, None]
            count += len(cells)
        elif free == 1 and edges is not None:
            number, distinct = edges(cells, vertices)
            lattice[:, columns] = count + number
            count += distinct
        else:
            keys = xp.stack([_key(cells[:, corners], vertices, xp) for corners in ends], axis=1)
            distinct, number = xp.unique(keys.ravel(), return_inverse=True)
            lattice[:, columns] = (count + number.reshape(keys.shape)).astype(np.int32)
            count += len(distinct)
        if count > np.iinfo(np.int32).max:
            raise ValueError(f"{count} nodes are too many for 32-bit numbers")
    boundary = xp.zeros(count, dtype=bool)
    facets = [[c for c, place in enumerate(positions) if place[axis] == end]
              for axis in range(dimension) for end in (0, 2)]  # fmt: skip
    middles = [facet[len(facet) // 2] for facet in facets]
    shared = xp.bincount(xp.concatenate([lattice[:, middle] for middle in middles]), minlength=count)
    for facet, middle in zip(facets, middles, strict=True):
        outside = shared[lattice[:, middle]] == 1
        boundary[lattice[outside][:, facet].ravel()] = True
    return lattice, boundary, count


def _ends(position):
    """Return the corners, in lexicographic numbers, of the edge, face or element in whose middle a lattice place is."""
    choices = [(0, 1) if p == 1 else (p // 2,) for p in position]
    return [sum(bit << axis for axis, bit in enumerate(bits)) for bits in product(*choices)]


def _key(corners, vertices, xp):
    """Return the same integer for the same edge, or face: its lowest vertex and the one opposite."""
    corners = corners.astype(np.int64)
    low = corners.argmin(axis=1)
    rows = xp.arange(len(corners))
    return corners[rows, low] * vertices + corners[rows, corners.shape[1] - 1 - low]


def _placed(lattice, count, level, points, place, xp):
    """Return the points of lattices on elements that are `level` refinements of coarse ones; `points` come first."""
    positions = _positions(points.shape[1])
    made = xp.empty((count, points.shape[1]))
    made[: len(points)] = points  # to the last bit
    columns = [column for column, position in enumerate(positions) if 1 in position]
    last = xp.empty(count, dtype=np.int8)  # the column that gives a new node its place, of all that could
    for column in columns:
        last[lattice[:, column]] = column
    origins = _origins(points.shape[1], level, xp)
    for column in columns:
        elements = xp.nonzero(last[lattice[:, column]] == column)[0]
        chunk = CHUNK if xp is np else max(1, len(elements))  # CIRCLE's first elements have such a column without any
        for begin in range(0, len(elements), chunk):
            some = elements[begin : begin + chunk]
            at = 0.5 ** (level + 1) * xp.asarray(positions[column], dtype=float)
            made[lattice[some, column]] = place(some // len(origins), origins[some % len(origins)] + at, xp)
    return made


def _origins(dimension, level, xp):
    """Return the first corners, in [0, 1]^d, of all that a coarse element is refined into, in their order."""
    rest = xp.arange(1 << dimension * level)
    origins = xp.zeros((len(rest), dimension))
    for back in range(level):
        for axis in range(dimension):
            origins[:, axis] += ((rest >> axis) & 1) * 0.5 ** (level - back)
        rest = rest >> dimension
    return origins


def _children(lattice):
    """Return the corners of all children."""
    dimension = round(np.log(lattice.shape[1]) / np.log(3))
    corners = [bits[::-1] for bits in product(range(2), repeat=dimension)]
    columns = [sum((a + b) * 3**axis for axis, (a, b) in enumerate(zip(child, corner, strict=True)))
               for child in corners for corner in corners]  # fmt: skip
    return lattice[:, columns].reshape(-1, len(corners))


def _multilinear(points, cells):
    """Return the `place` of straight elements."""
    dimension = points.shape[1]

    def place(cell, local, xp):
        total = 0.0
        for corner in range(2**dimension):
            weight = 1.0
            for axis in range(dimension):
                weight = weight * (local[:, axis] if corner >> axis & 1 else 1 - local[:, axis])
            total = total + weight[:, None] * points[cells[cell, corner]]
        return total

    return place
