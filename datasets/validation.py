"""Checks that a mesh must pass before anything is assembled on it; the first offence is named."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from datasets import connectivity, shapes
from datasets.cells import cell_type
from datasets.errors import MeshError

FLAT = 1e-8  # relative Jacobian (`shapes.relative_jacobians`) up to which an element counts as flat


def checked(points: np.ndarray, cells: np.ndarray, source: str, kind: str = "tetra") -> np.ndarray:
    """Check a mesh and return its elements, positively oriented.

    Elements that are all negatively oriented follow another convention and are turned round; where only some are, the
    mesh is tangled or badly written, and that is an error. The Jacobian must be positive at every corner of a
    quadrilateral or hexahedron; a hexahedron that passes may still be folded inside. Elements and nodes are numbered
    from 0.

    Parameters
    ----------
    points : ndarray of float, shape (n, 2) or (n, 3)
    cells : ndarray of int, shape (m, k)
    source : str
        Name of the mesh in messages, most often the file's name.
    kind : {'triangle', 'quad', 'tetra', 'hexahedron'}

    Raises
    ------
    MeshError
        Naming the source and the first offending node or element, for: no elements, coordinates that are not finite,
        node numbers out of range, a node twice in an element, nodes without element, nodes at the same place, flat
        or twisted elements, mixed orientation, and faces of more than two elements or of two on the same side.
    """
    kind = cell_type(kind)
    if not len(cells):
        raise MeshError(f"{source}: the mesh has no {kind.plural}")
    _check_points(points, source)
    _check_indices(len(points), cells, source, kind)
    _check_duplicates(points, source)
    cells = _turned(points, cells, source, kind)
    _check_faces(len(points), cells, source, kind)
    return cells


def _check_points(points, source):
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        node = int(np.argmin(finite))
        raise MeshError(f"{source}: node {node} has the coordinates {_at(points[node])}{_more(~finite)}")


def _check_indices(count, cells, source, kind):
    outside = ((cells < 0) | (cells >= count)).any(axis=1)
    if outside.any():
        element = int(np.argmax(outside))
        raise MeshError(
            f"{source}: element {element} has the nodes {cells[element].tolist()}, but the mesh has only the nodes "
            f"0 to {count - 1}{_more(outside)}"
        )
    repeated = np.zeros(len(cells), dtype=bool)
    for i, j in combinations(range(kind.nodes), 2):
        repeated |= cells[:, i] == cells[:, j]
    if repeated.any():
        element = int(np.argmax(repeated))
        raise MeshError(f"{source}: element {element} has a node twice: {cells[element].tolist()}{_more(repeated)}")
    used = np.zeros(count, dtype=bool)
    used[cells] = True
    if not used.all():
        raise MeshError(f"{source}: node {int(np.argmin(used))} belongs to no {kind.singular}{_more(~used)}")


def _check_duplicates(points, source):
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    if same.any():
        pairs = np.sort(np.stack((order[:-1], order[1:]), axis=1)[same], axis=1)
        first, second = pairs[np.argmin(pairs[:, 1])].tolist()
        raise MeshError(f"{source}: nodes {first} and {second} are both at {_at(points[first])}{_more(same)}")


def _turned(points, cells, source, kind):
    relative = shapes.relative_jacobians(points, cells, kind)
    flat = (np.abs(relative) <= FLAT).any(axis=0)
    if flat.any():
        element = int(np.argmax(flat))
        extent = _extent(relative[:, element], cells[element], kind)
        raise MeshError(f"{source}: {_named(cells, element)} is flat{extent}{_more(flat)}")
    negative = (relative < 0).all(axis=0)
    twisted = (relative < 0).any(axis=0) & ~negative
    if twisted.any():
        element = int(np.argmax(twisted))
        corner = int(np.argmin(relative[:, element] * np.sign(relative[:, element].sum())))
        raise MeshError(
            f"{source}: {_named(cells, element)} is twisted or not convex: its Jacobian at node "
            f"{int(cells[element, corner])} has another sign than at others{_more(twisted)}"
        )
    if negative.any() and not negative.all():
        minority = negative if 2 * negative.sum() <= len(negative) else ~negative
        element = int(np.argmax(minority))
        raise MeshError(
            f"{source}: {_named(cells, element)} is inverted: it is oriented against most "
            f"of the {len(cells):,} elements{_more(minority)}"
        )
    cells = np.array(cells, dtype=np.int32)
    return cells[:, kind.mirrored] if negative.all() else cells


def _named(cells, element):
    return f"element {element} (nodes {cells[element].tolist()})"


def _extent(relative, nodes, kind):
    """Say how flat an element is, and where."""
    if kind.is_simplex:
        size = "volume" if kind.dimension == 3 else "area"
        return f": its {size} is {abs(relative[0]):.1e} of a regular {kind.singular}'s of that size"
    corner = int(np.abs(relative).argmin())
    return f" at node {int(nodes[corner])}: its edges there lie in one {'plane' if kind.dimension == 3 else 'line'}"


def _check_faces(count, cells, source, kind):
    keys = connectivity.facet_keys(cells, count, kind)
    ordered = np.sort(keys.ravel())
    first, second = ordered[:-1], ordered[1:]
    wrong = (first >> 3 == second >> 3) & ((first & 1 == 1) | (second != first + 1))
    if wrong.any():
        bad = np.isin(keys >> 3, second[wrong] >> 3)
        element = int(np.nonzero(bad)[1].min())
        row = int(np.argmax(bad[:, element]))
        face = cells[element, list(kind.facets[row])].tolist()
        sharing = np.flatnonzero((keys >> 3 == keys[row, element] >> 3).any(axis=0)).tolist()
        what = f"{len(sharing)} elements share" if len(sharing) > 2 else "two elements lie on the same side of"
        raise MeshError(
            f"{source}: {what} the {'face' if kind.dimension == 3 else 'edge'} with nodes {face}: "
            f"elements {', '.join(map(str, sharing[:4]))}"
        )


def _at(point):
    return f"({', '.join(f'{float(x):.12g}' for x in point)})"


def _more(mask):
    rest = int(np.count_nonzero(mask)) - 1
    return f" (and {rest:,} more)" if rest else ""
