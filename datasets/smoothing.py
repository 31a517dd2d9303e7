"""Removal of slivers: nodes of the worst elements go to where the least dihedral angle around them is greatest.

The optimisation-based smoothing of Freitag and Ollivier-Gooch (1997), many nodes at a time: nodes that are moved
together share no element. Step directions are random with a fixed seed, so the result is always the same.
"""

from __future__ import annotations

import numpy as np

from datasets import quality, topology

DIRECTIONS = 8
CREASE = np.cos(np.radians(25.0))  # surface nodes whose faces turn by more than this stay where they are


def raise_dihedral(
    points: np.ndarray, cells: np.ndarray, labels: np.ndarray | None = None, target: float = 12.0, sweeps: int = 60
) -> np.ndarray:
    """Return the points moved so that fewer elements have a dihedral angle below the target.

    Nodes on the boundary and between regions move in their tangent plane only, and not at all on edges and corners.
    No element gets worse than the worst one around the moved node was.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
    cells : ndarray of int, shape (m, 4)
        Positively or negatively oriented, but all the same.
    labels : ndarray of int, shape (m,), optional
        Regions, whose common faces are kept.
    target : float
        Degrees.
    sweeps : int
        At most so many rounds.
    """
    points = points.copy()
    sign = np.sign(quality.volumes(points, cells[:1])[0])
    normals, kind = _surface(points, cells, labels)
    incident = np.argsort(cells.ravel(), kind="stable") // 4
    start = np.concatenate(([0], np.cumsum(np.bincount(cells.ravel(), minlength=len(points)))))
    worst = np.cos(np.radians(quality.dihedral_extremes(points, cells)[0]))  # the greater, the flatter
    limit = np.cos(np.radians(target))
    random = np.random.default_rng(7)
    for sweep in range(sweeps):
        bad = np.flatnonzero(worst > limit)
        nodes = np.unique(cells[bad])
        nodes = nodes[kind[nodes] < 2]
        if not len(nodes):
            break
        chosen = _independent(nodes, cells, incident, start, worst, random, len(points))
        pairs, owner = _stars(chosen, incident, start)
        step = (0.3, 0.15, 0.07, 0.03)[sweep % 4]
        _move(points, cells, worst, chosen, pairs, owner, step, normals, kind, sign, random)
    return points


def _surface(points, cells, labels):
    """Return unit normals, and the kind of each node: 0 inside, 1 on a smooth part of a surface, 2 on a crease."""
    parts = [cells] if labels is None else [cells, *(cells[labels == label] for label in np.unique(labels)[1:])]
    faces = np.concatenate([topology.boundary_faces(part, len(points)) for part in parts])
    a, b, c = (points[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    nodes, normal = faces.ravel(), np.repeat(normal, 3, axis=0)
    mean = np.stack([np.bincount(nodes, weights=component, minlength=len(points)) for component in normal.T], axis=1)
    length = np.linalg.norm(mean, axis=1)
    mean /= np.where(length > 0, length, 1)[:, None]
    agreement = np.ones(len(points))
    np.minimum.at(agreement, nodes, (normal * mean[nodes]).sum(axis=1))
    kind = np.zeros(len(points), dtype=np.int8)
    kind[faces] = 1
    kind[agreement < CREASE] = 2
    return mean, kind


def _independent(nodes, cells, incident, start, worst, random, count):
    """Return a subset of the nodes no two of which share an element, those around the worst elements first."""
    pairs, owner = _stars(nodes, incident, start)
    urgency = np.full(count, -np.inf)
    severity = np.full(len(nodes), -np.inf)
    np.maximum.at(severity, owner, worst[pairs])
    urgency[nodes] = severity + 0.1 * random.random(len(nodes))
    leads = urgency[cells[pairs]].max(axis=1) == urgency[nodes][owner]
    beaten = np.bincount(owner, weights=~leads, minlength=len(nodes))
    return nodes[beaten == 0]


def _stars(nodes, incident, start):
    """Return the elements around the nodes one after the other, and which of the nodes each belongs to."""
    sizes = start[nodes + 1] - start[nodes]
    owner = np.repeat(np.arange(len(nodes)), sizes)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return incident[start[nodes][owner] + offset], owner


def _move(points, cells, worst, chosen, pairs, owner, step, normals, kind, sign, random):
    """Try a few places for each chosen node, go to the best, and update the angles of the elements around it."""
    star = cells[pairs]
    corners = np.ascontiguousarray(points[star].transpose(1, 2, 0))
    here = star.T == chosen[owner]
    before = np.full(len(chosen), -np.inf)
    np.maximum.at(before, owner, worst[pairs])
    best, best_place, best_angles = before.copy(), points[chosen].copy(), worst[pairs]
    centre = points[star].mean(axis=1)
    size = np.bincount(owner, weights=np.linalg.norm(centre - points[chosen][owner], axis=1)) / np.bincount(owner)
    for _ in range(DIRECTIONS):
        way = random.standard_normal((len(chosen), 3))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        tangent = way - (way * normals[chosen]).sum(axis=1, keepdims=True) * normals[chosen]
        way = np.where((kind[chosen] == 1)[:, None], tangent, way)
        place = points[chosen] + 2 * step * size[:, None] * way
        trial = np.where(here[:, None, :], place[owner].T[None], corners)
        a, b, c = (trial[i] - trial[0] for i in (1, 2, 3))
        signed = sign * (a * np.cross(b, c, axis=0)).sum(axis=0)
        angles = np.where(signed > 0, quality.dihedral_cosines(trial).max(axis=0), 2.0)
        after = np.full(len(chosen), -np.inf)
        np.maximum.at(after, owner, angles)
        better = after < best
        best = np.where(better, after, best)
        best_place[better] = place[better]
        best_angles = np.where(better[owner], angles, best_angles)
    points[chosen] = best_place
    worst[pairs] = best_angles
