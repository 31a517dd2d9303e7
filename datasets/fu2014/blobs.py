"""A stand-in for the Blobs mesh of fu2014, whose geometry is not public: a box with blobs of a fifth of its volume.

The blobs are where a sum of bell-shaped functions exceeds a level, so near ones run together; they keep clear of the
box's sides. The elements conform to their surface, and regions 0 and 1 lie outside and inside of it. Spacings, disorder
and clearance are chosen as in `heart.py`.
"""

import numpy as np

from datasets import mesher, ordering, refinement, scattered, structured, surfaces

TITLE = "Blobs"
STAND_IN_FOR = "the Blobs of fu2014, a private geometry"
REGIONS = ("outside", "inside")
# Spacing of the blobs' surface, divisions of the box's edges, and spacing of the nodes elsewhere.
SCALES = {"smoke": (0.26, 8, 0.36), "small": (0.12, 24, 0.16), "paper": (0.06, 96, 0.0653), "large": None}
DISORDER, CLEAR = 1.0, 0.5  # of the latter
QUALITY = 1  # degrees: the least dihedral angle that smoothing aims at
SIDE = 4.0
# Centres and radii.
BLOBS = np.array([
    (1.10, 1.05, 1.00, 0.72), (2.95, 1.00, 1.10, 0.66), (1.05, 2.90, 1.15, 0.62), (2.80, 2.85, 0.95, 0.60),
    (1.00, 1.10, 2.90, 0.64), (2.90, 1.15, 2.95, 0.70), (1.15, 2.95, 2.85, 0.74), (3.00, 2.90, 2.80, 0.62),
    (2.00, 2.00, 2.00, 0.78), (2.05, 0.95, 2.05, 0.46), (0.90, 2.05, 1.95, 0.44),
])  # fmt: skip


def solid(x, y, z):
    """Return about the distance from the blobs' surface, negative inside them."""
    total = 0.0
    for *centre, radius in BLOBS:
        squares = sum((c - m) ** 2 for c, m in zip((x, y, z), centre, strict=True))
        total = total + np.exp(2 * (1 - squares / radius**2))
    return -0.13 * np.log(np.maximum(total, 1e-12))


def _from_faces(x, y, z):
    """Return about the distance from the blobs' surface or the box, whichever is nearer; it is negative in the box."""
    box = np.max([np.abs(c - SIDE / 2) for c in (x, y, z)], axis=0) - SIDE / 2
    return np.maximum(box, -np.abs(solid(x, y, z)))


def surface(spacing):
    """Return the points and triangles of the blobs' surface."""
    return surfaces.triangulate(solid, (0.0, 0.0, 0.0), (SIDE, SIDE, SIDE), spacing)


def build(scale):
    """Return points, cells and regions; the large mesh is the paper's, refined once."""
    if scale == "large":
        points, cells, regions = build("paper")
        return *refinement.red(points, cells, diagonal="shortest"), np.repeat(regions, 8)
    spacing, divisions, inner = SCALES[scale]
    blobs, interface = surface(spacing)
    box, faces = structured.box_surface(divisions, SIDE)
    seeds = np.array([(0.01, 0.01, 0.01, 0), *((*centre, 1) for *centre, _ in BLOBS)])
    inside = scattered.nodes(_from_faces, (0, 0, 0), (SIDE, SIDE, SIDE), inner, DISORDER, CLEAR * inner)
    nodes, faces = np.concatenate((box, blobs, inside)), np.concatenate((faces, interface + len(box)))
    points, cells, regions = mesher.tetrahedralise(nodes, faces, None, dihedral=QUALITY, seeds=seeds)
    return ordering.reordered(points, cells, regions, ordering.morton(points))
