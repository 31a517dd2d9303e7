"""Checks that a tetrahedral mesh must pass before anything is assembled on it; the first offence is named."""

from __future__ import annotations

import numpy as np

from datasets import quality, topology
from datasets.errors import MeshError

FLAT = 1e-8  # relative volume (1 for a regular tetrahedron) up to which an element counts as flat


def checked(points: np.ndarray, cells: np.ndarray, source: str) -> np.ndarray:
    """Check a mesh and return its elements, positively oriented.

    Elements that are all negatively oriented follow another convention and are turned round; where only some are, the
    mesh is tangled or badly written, and that is an error. Elements and nodes are numbered from 0.

    Parameters
    ----------
    points : ndarray of float, shape (n, 3)
    cells : ndarray of int, shape (m, 4)
    source : str
        What messages call the mesh, most often the file's name.

    Raises
    ------
    MeshError
        Naming the source and the first offending node or element, for: no elements, coordinates that are not finite,
        node numbers out of range, a node twice in an element, nodes without element, nodes at the same place, flat
        elements, mixed orientation, and faces of more than two elements or of two on the same side.
    """
    if not len(cells):
        raise MeshError(f"{source}: the mesh has no tetrahedra")
    _check_points(points, source)
    _check_indices(len(points), cells, source)
    _check_duplicates(points, source)
    cells = _turned(points, cells, source)
    _check_faces(len(points), cells, source)
    return cells


def _check_points(points, source):
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        node = int(np.argmin(finite))
        raise MeshError(f"{source}: node {node} has the coordinates {_at(points[node])}{_more(~finite)}")


def _check_indices(count, cells, source):
    outside = ((cells < 0) | (cells >= count)).any(axis=1)
    if outside.any():
        element = int(np.argmax(outside))
        raise MeshError(
            f"{source}: element {element} has the nodes {cells[element].tolist()}, but the mesh has only the nodes "
            f"0 to {count - 1}{_more(outside)}"
        )
    repeated = np.zeros(len(cells), dtype=bool)
    for i, j in topology.EDGES:
        repeated |= cells[:, i] == cells[:, j]
    if repeated.any():
        element = int(np.argmax(repeated))
        raise MeshError(f"{source}: element {element} has a node twice: {cells[element].tolist()}{_more(repeated)}")
    used = np.zeros(count, dtype=bool)
    used[cells] = True
    if not used.all():
        raise MeshError(f"{source}: node {int(np.argmin(used))} belongs to no tetrahedron{_more(~used)}")


def _check_duplicates(points, source):
    order = np.lexsort((points[:, 2], points[:, 1], points[:, 0]))
    ordered = points[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    if same.any():
        pairs = np.sort(np.stack((order[:-1], order[1:]), axis=1)[same], axis=1)
        first, second = pairs[np.argmin(pairs[:, 1])].tolist()
        raise MeshError(f"{source}: nodes {first} and {second} are both at {_at(points[first])}{_more(same)}")


def _turned(points, cells, source):
    relative = quality.relative_volumes(points, cells)
    flat = np.abs(relative) <= FLAT
    if flat.any():
        element = int(np.argmax(flat))
        raise MeshError(
            f"{source}: element {element} (nodes {cells[element].tolist()}) is flat: its volume is "
            f"{abs(relative[element]):.1e} of a regular tetrahedron's of that size{_more(flat)}"
        )
    negative = relative < 0
    if negative.any() and not negative.all():
        minority = negative if 2 * negative.sum() <= len(negative) else ~negative
        element = int(np.argmax(minority))
        raise MeshError(
            f"{source}: element {element} (nodes {cells[element].tolist()}) is inverted: it is oriented against most "
            f"of the {len(cells):,} elements{_more(minority)}"
        )
    return quality.oriented(points, cells)


def _check_faces(count, cells, source):
    keys = topology.face_keys(cells, count)
    ordered = np.sort(keys.ravel())
    same = ordered[1:] == ordered[:-1]
    if same.any():
        _, elements = np.nonzero(np.isin(keys, ordered[1:][same]))
        element = int(elements.min())
        row = int(np.argmax(np.isin(keys[:, element], ordered[1:][same])))
        face = cells[element, list(topology.FACES[row])].tolist()
        sharing = np.flatnonzero(((keys >> np.uint64(1)) == (keys[row, element] >> np.uint64(1))).any(axis=0)).tolist()
        what = f"{len(sharing)} elements share" if len(sharing) > 2 else "two elements lie on the same side of"
        raise MeshError(f"{source}: {what} the face with nodes {face}: elements {', '.join(map(str, sharing[:4]))}")


def _at(point):
    return f"({', '.join(f'{float(x):.12g}' for x in point)})"


def _more(mask):
    rest = int(np.count_nonzero(mask)) - 1
    return f" (and {rest:,} more)" if rest else ""
