"""A stand-in for BLOOD of geveler2011: an idealised bent blood vessel with an aneurysm (Figure 1 c, Table 1).

The authors' coarse mesh is not public. Table 1 fixes what this one shares with it: simply connected, 234 quadrilaterals
and 64 edges on the boundary at level 1, of whose vertices four, the vessel's ends, belong to a single quadrilateral.

A core of squares fills vessel and aneurysm. Three layers follow each wall: one of blood, which takes the core's corners
to the round wall, and two of the wall itself, whose elements are up to ten times as long as they are thick. So the
aneurysm's corners are vertices of three elements, and its neck's corners of five.
"""

import numpy as np

TITLE = "BLOOD"
STAND_IN_FOR = "the BLOOD coarse mesh of geveler2011, which is not public"
CELL_TYPE = "quad"
SCALES = {"smoke": 1, "small": 1, "paper": 1, "large": 1}  # the coarse mesh is level 1 of every scale
SOURCE = 0.0  # -Δu

BEFORE, NECK, AFTER, SIDE = 4, 8, 5, 7  # elements along the vessel, across the neck, along the vessel, up the aneurysm
ROWS, LAYERS = 2, np.array([0.0, 0.045, 0.105])  # of the vessel's core; distances of the wall's layers from the blood
COLUMNS, PATH = BEFORE + NECK + AFTER, BEFORE + 2 * SIDE + NECK + AFTER
UPPER, LOWER, CORE, SAC = 3 * PATH, 3 * COLUMNS, ROWS * COLUMNS, SIDE * NECK  # elements of each block, in this order
HEIGHT, RIM = 1.0, 0.22  # of the vessel's lumen; thickness of the layer between core and wall
LEFT, RIGHT = 1.4, 1.85  # lengths of vessel beside the aneurysm
RADIUS, CENTRE, FILLET = 1.2, 2.0, 0.4  # of the aneurysm, its centre's height, radius of the rounded neck
BEND = 9.0  # radius of the vessel's bend


def _neck():
    """Return half the distance between the ends of the rounded neck, and the angle that a fillet turns by."""
    rise = CENTRE - HEIGHT - FILLET
    half = np.sqrt((RADIUS + FILLET) ** 2 - rise**2)
    return half, np.pi / 2 + np.arctan2(rise, half)


def _arc(centre, radius, begin, turn, t, xp):
    """Return points of an arc and the side of its normals: the arc's outside times `radius`'s sign."""
    angle = begin + turn * t
    normal = xp.stack((xp.cos(angle), xp.sin(angle)), axis=1)
    return xp.asarray(centre) + abs(radius) * normal, normal * np.sign(radius)


def _straight(x, xp):
    """Return points of the vessel's upper side, and its normals."""
    return xp.stack((x, 0 * x + HEIGHT), axis=1), xp.stack((0 * x, 0 * x + 1), axis=1)


def _upper(s, xp):
    """Return the inner side of the upper wall at path coordinate `s`, counted in elements, and its outward normal."""
    half, turn = _neck()
    middle = LEFT + half
    corners = LEFT, LEFT + 2 * half
    sweep = 2 * turn
    # Either fillet has two elements, one on each side of the neck's corner.
    lengths = BEFORE - 1, 2, 2 * SIDE + NECK - 2, 2, AFTER - 1
    begins = np.cumsum([0, *lengths])
    pieces = [
        lambda t: _straight(LEFT * t, xp),
        lambda t: _arc((corners[0], HEIGHT + FILLET), -FILLET, -np.pi / 2, turn, t, xp),
        lambda t: _arc((middle, CENTRE), RADIUS, np.pi / 2 + sweep / 2, -sweep, t, xp),
        lambda t: _arc((corners[1], HEIGHT + FILLET), -FILLET, 1.5 * np.pi - turn, turn, t, xp),
        lambda t: _straight(corners[1] + RIGHT * t, xp),
    ]
    piece = sum((s > end).astype(int) for end in begins[1:-1])
    points, normals = xp.empty((len(s), 2)), xp.empty((len(s), 2))
    for number, (each, begin, length) in enumerate(zip(pieces, begins, lengths, strict=False)):
        mine = xp.nonzero(piece == number)[0]
        if len(mine):
            points[mine], normals[mine] = each((s[mine] - begin) / length)
    return points, normals


def _along(corners, counts, s, xp):
    """Return the points at `s` of a polygonal path whose straight pieces have these counts of elements."""
    places = xp.asarray(np.concatenate([[0], np.cumsum(counts)]).astype(float))
    corners = xp.asarray(corners)
    return xp.stack([xp.interp(s, places, xp.ascontiguousarray(corners[:, axis])) for axis in (0, 1)], axis=1)


def _corners():
    """Return the corners of the core's upper side from the vessel's left end to its right end."""
    half, _ = _neck()
    middle, top = LEFT + half, HEIGHT - RIM
    narrow, wide, high = half - 0.8, 0.6 * RADIUS, CENTRE + 0.55 * RADIUS
    return np.array([
        (0, top), (middle - narrow, top + 0.14), (middle - wide, high), (middle + wide, high),
        (middle + narrow, top + 0.14), (2 * middle + RIGHT - LEFT, top),
    ])  # fmt: skip


def _layers(depth, core, inner, normal, xp):
    """Return points of the three layers on a wall, `depth` from 0 at the core to 3 on the boundary."""
    t = xp.minimum(depth, 1.0)[:, None]
    distance = xp.interp(depth, xp.asarray([1.0, 2.0, 3.0]), xp.asarray(LAYERS))[:, None]
    return (1 - t) * core + t * inner + distance * normal


def place(cells, local, xp=np):
    """Return points of coarse elements, (p,) ints, at local coordinates, (p, 2) in [0, 1]²."""
    block = sum((cells >= bound).astype(int) for bound in np.cumsum([UPPER, LOWER, CORE]))
    first = xp.asarray(np.cumsum([0, UPPER, LOWER, CORE]))[block]
    width = xp.asarray([PATH, COLUMNS, COLUMNS, NECK])[block]
    i = (cells - first) % width + local[:, 0]
    j = (cells - first) // width + local[:, 1]
    straight = xp.empty((len(cells), 2))
    for number, points in enumerate((_upper_wall, _lower_wall, _vessel, _aneurysm)):
        mine = xp.nonzero(block == number)[0]
        if len(mine):  # none may be among few elements
            straight[mine] = points(i[mine], j[mine], xp)
    return _bent(straight, _corners()[-1, 0] / 2, xp)


def _upper_wall(i, j, xp):
    core = _along(_corners(), (BEFORE, SIDE, NECK, SIDE, AFTER), i, xp)
    return _layers(j, core, *_upper(i, xp), xp)


def _across(i, xp):
    """Return the upper and the lower side of the vessel's core: points straight below its upper side, neck and all."""
    roof = _along(_corners()[[0, 1, 4, 5]], (BEFORE, NECK, AFTER), i, xp)
    return roof, xp.stack((roof[:, 0], 0 * i + RIM), axis=1)


def _lower_wall(i, j, xp):
    roof, below = _across(i, xp)
    inner = xp.stack((roof[:, 0], 0 * i), axis=1)
    return _layers(3 - j, below, inner, xp.asarray([0.0, -1.0]), xp)


def _vessel(i, j, xp):
    roof, below = _across(i, xp)
    return below + (j / ROWS)[:, None] * (roof - below)


def _aneurysm(i, j, xp):
    """Return points of its core, a quadrilateral with straight sides."""
    across, up = (i / NECK)[:, None], (j / SIDE)[:, None]
    a, b, c, d = xp.asarray(_corners()[[1, 4, 3, 2]])
    return (1 - up) * ((1 - across) * a + across * b) + up * ((1 - across) * d + across * c)


def _bent(points, middle, xp):
    radius, angle = BEND + points[:, 1], (points[:, 0] - middle) / BEND
    return xp.stack((radius * xp.sin(angle), radius * xp.cos(angle) - BEND), axis=1)


def dirichlet(points):
    """Return u on the boundary: 1."""
    return 0 * points[:, 0] + 1


def build(scale):
    """Return points and cells of level 1: the blocks' own vertices, those at the same place made one."""
    cells = np.arange(UPPER + LOWER + CORE + SAC)
    corners = [place(cells, np.tile(np.array(corner, float), (len(cells), 1)))
               for corner in ((0, 0), (1, 0), (1, 1), (0, 1))]  # fmt: skip
    points = np.stack(corners, axis=1).reshape(-1, 2)
    _, first, vertex = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return points[first], vertex.reshape(-1, 4)
