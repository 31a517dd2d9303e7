"""A stand-in for the Brain mesh of fu2014, whose geometry is not public: a folded solid of two hemispheres.

The grooves follow the nodal lines of a random wave of one wavelength, which meander as sulci do; the hemispheres are
parted by a fissure down to a bridge. Lengths are centimetres. Spacings, disorder and clearance are chosen as in
`heart.py`. At the coarse scales grooves are wider and fewer, so that the lattice resolves them.
"""

import functools

import numpy as np

from datasets import mesher, ordering, refinement, scattered, surfaces

TITLE = "Brain"
STAND_IN_FOR = "the Brain of fu2014, a private geometry"
# Spacing of the surface, and of the nodes inside.
SCALES = {"smoke": (0.6, 0.7), "small": (0.34, 0.35), "paper": (0.1295, 0.166), "large": None}
BOX = (-8.2, -9.7, -7.0), (8.4, 9.9, 7.4)
DISORDER, CLEAR = 0.8, 0.44  # of the inner spacing
QUALITY, WIDTH = 1, 4  # as in `heart.py`
WAVES = 14
CENTRE, RADII = (2.3, 0.0, 0.0), (4.4, 8.2, 5.6)


def wave_distance(x, y, z, wavelength):
    """Return about the distance, along an ellipsoid, from (x, y, z) moved onto it to the nodal lines of a wave.

    The wave is a sum of plane waves whose directions are spread evenly over a sphere. The distance is the wave over its
    gradient along the ellipsoid, which is kept from zero.
    """
    scaled = [(c - m) / r for c, m, r in zip((np.abs(x), y, z), CENTRE, RADII, strict=True)]
    length = np.maximum(np.sqrt(sum(c**2 for c in scaled)), 0.05)
    side = np.where(x < 0, -1.0, 1.0)
    on = [m + r * c / length for c, m, r in zip(scaled, CENTRE, RADII, strict=True)]
    normal = [c / length / r for c, r in zip(scaled, RADII, strict=True)]
    size = np.sqrt(sum(c**2 for c in normal))
    on[0], normal = on[0] * side, [normal[0] * side / size, normal[1] / size, normal[2] / size]

    turn = np.pi * (3 - np.sqrt(5)) * np.arange(WAVES)
    height = (np.arange(WAVES) + 0.5) / WAVES
    radius = np.sqrt(1 - height**2)
    value, slope = 0.0, [0.0, 0.0, 0.0]
    number = 2 * np.pi / wavelength
    for k in range(WAVES):
        way = number * np.array([radius[k] * np.cos(turn[k]), radius[k] * np.sin(turn[k]), height[k]])
        angle = way[0] * on[0] + way[1] * on[1] + way[2] * on[2] + 2.4 * k**2
        value, sine = value + np.cos(angle), np.sin(angle)
        slope = [total - component * sine for total, component in zip(slope, way, strict=True)]
    along = sum(s * n for s, n in zip(slope, normal, strict=True))
    tangential = sum(s**2 for s in slope) - along**2
    return value / np.sqrt(np.maximum(tangential, 0) + WAVES * (0.35 * number) ** 2)


def solid(x, y, z, groove, gap, wavelength):
    """Return about the distance from the cortex, negative inside; grooves and gap are given by half their widths."""
    side = np.abs(x)
    cerebrum = surfaces.ellipsoid(side, y, z, CENTRE, RADII)
    temporal = surfaces.ellipsoid(side, y, z, (4.0, 1.6, -3.2), (2.6, 4.6, 2.2))
    outer = surfaces.smooth_min(surfaces.smooth_max(cerebrum, -3.2 - z, 1.5), temporal, 1.0)
    depth = max(1.0, 2.2 * groove)
    half_width = groove * (1.4 + 0.8 * np.maximum(outer, -depth) / depth)  # wide at the top, narrow at the bottom
    cut = surfaces.smooth_max(np.abs(wave_distance(x, y, z, wavelength)) - half_width, -depth - outer, groove)
    folded = surfaces.smooth_max(outer, -cut, 2 * groove)
    hemispheres = surfaces.smooth_max(folded, gap - side, 0.6)
    bridge = surfaces.ellipsoid(x, y, z, (0.0, 0.0, -0.8), (3.0, 3.6, 1.6))
    return surfaces.smooth_min(hemispheres, bridge, 0.6)


def shape(spacing):
    """Return the distance of the solid whose surface has this spacing."""
    return functools.partial(solid, groove=1.8 * spacing, gap=1.7 * spacing, wavelength=max(4.0, 20 * spacing))


def surface(spacing):
    """Return the points and triangles of the cortex."""
    return surfaces.triangulate(shape(spacing), *BOX, spacing, blur=0.9)


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
