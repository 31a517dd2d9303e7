"""A stand-in for the Heart mesh of fu2014, whose geometry is not public: a biventricular shell of the same size.

The left ventricle is a thick ellipsoidal shell, the right one a thinner shell wrapped around its side, both open at the
base, which is cut flat; lengths are centimetres. Both spacings are chosen for Table 1's counts, and how far the inner
nodes are scattered, and keep from the surface, for its valences and for the iterations of conjugate gradients:
docs/notes/meshes.md. At the coarse scales the right wall is thicker, so that the lattice resolves it.
"""

import functools

import numpy as np

from datasets import mesher, ordering, refinement, scattered, surfaces

TITLE = "Heart"
STAND_IN_FOR = "the Heart of fu2014, a private geometry"
# Spacing of the surface, and of the nodes inside.
SCALES = {"smoke": (0.5, 0.42), "small": (0.24, 0.18), "paper": (0.0625, 0.0813), "large": None}
BOX = (-4.0, -4.0, -7.1), (7.2, 4.2, 3.8)
DISORDER, CLEAR = 0.5, 0.73  # of the inner spacing
QUALITY = 4  # degrees: the least dihedral angle that smoothing aims at
WIDTH = 4  # at the end: the side of the paper's cubes, since it does not say how large its domains are


def solid(x, y, z, wall):
    """Return about the distance from the muscle's surface, negative inside; `wall` is the right ventricle's."""
    left = surfaces.ellipsoid(x, y, z, (0.0, 0.0, 0.0), (3.1, 3.1, 6.2))
    left_cavity = surfaces.ellipsoid(x, y, z, (0.0, 0.0, 0.4), (1.8, 1.8, 5.1))
    right = surfaces.ellipsoid(x, y, z, (2.4, 0.3, 0.9), (3.8, 3.0, 5.4))
    right_cavity = surfaces.smooth_max(right + wall, 0.05 - left, 0.5)  # the septum belongs to the left ventricle
    muscle = surfaces.smooth_min(left, right, 0.8)
    muscle = surfaces.smooth_max(muscle, z - 2.6, 0.5)
    muscle = surfaces.smooth_max(muscle, -left_cavity, 0.3)
    return surfaces.smooth_max(muscle, -right_cavity, 0.3)


def shape(spacing):
    """Return the distance of the solid whose surface has this spacing."""
    return functools.partial(solid, wall=max(0.6, 2.4 * spacing))


def surface(spacing):
    """Return the points and triangles of the muscle's surface."""
    return surfaces.triangulate(shape(spacing), *BOX, spacing)


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    spacing, inner = SCALES[scale]
    points, faces = surface(spacing)
    inside = scattered.nodes(shape(spacing), *BOX, inner, DISORDER, CLEAR * inner)
    points, cells, _ = mesher.tetrahedralise(np.concatenate((points, inside)), faces, None, dihedral=QUALITY)
    points *= WIDTH / np.ptp(points, axis=0).max()
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
