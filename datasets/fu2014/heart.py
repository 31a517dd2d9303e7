"""A stand-in for the Heart mesh of fu2014, whose geometry is not public: a biventricular shell of the same size.

The left ventricle is a thick ellipsoidal shell, the right one a thinner shell wrapped around its side, both open at the
base, which is cut flat; lengths are centimetres. Spacing and volume are chosen for Table 1's counts; at the coarse
scales the right wall is thicker, so that the lattice resolves it.
"""

import functools

from datasets import mesher, ordering, refinement, surfaces

TITLE = "Heart"
STAND_IN_FOR = "the Heart of fu2014, a private geometry"
# Spacing of the surface, and greatest volume of an element.
SCALES = {"smoke": (0.5, 0.2), "small": (0.24, 0.0018), "paper": (0.0655, 0.000182), "large": None}


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


def surface(spacing):
    """Return the points and triangles of the muscle's surface."""
    shape = functools.partial(solid, wall=max(0.6, 2.4 * spacing))
    return surfaces.triangulate(shape, (-4.0, -4.0, -7.1), (7.2, 4.2, 3.8), spacing)


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    spacing, volume = SCALES[scale]
    points, cells, _ = mesher.tetrahedralise(*surface(spacing), volume)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
