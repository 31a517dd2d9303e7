"""Pictures of triangulated surfaces, lit and shaded, from NumPy and Numba alone: they come out on any machine.

An orthographic z-buffer with smooth normals; a key light with soft shadows, a fill light and a highlight; light from
all sides that crevices keep out (ambient occlusion); lines along the edges of elements where they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

KEY, FILL = np.array([-0.45, 0.50, 0.74]), np.array([0.80, 0.10, 0.60])  # towards the lights: right, up, to the viewer
KEY_LIGHT, FILL_LIGHT, AMBIENT, HIGHLIGHT, SHININESS = 0.78, 0.20, 0.34, 0.10, 28
OVERSAMPLING = 2  # pixels of the buffer along each side of a pixel of the picture
SHADOW_PIXELS = 1400
MARGIN = 0.03  # of the picture, left free on each side
RINGS = np.array([3, 8, 20, 50, 120])  # radii of the samples of ambient occlusion, in pixels of a 2000 pixel buffer
FACETS = 0.05  # rise that a facet beside a smooth normal may have, and is no crevice
EMPTY = -1e30


@dataclass(frozen=True)
class Surface:
    """Triangles with their colours.

    Attributes
    ----------
    points : ndarray of float64, shape (n, 3)
    faces : ndarray of int, shape (m, 3)
    colours : ndarray of float64, shape (3,) or (m, 3)
        Red, green and blue as they shall look in full light, 0 to 1.
    normals : ndarray of float64, shape (n, 3), optional
        For smooth shading; without them faces are flat.
    edges : ndarray of bool, shape (m, 3), optional
        Whether a line is drawn along the side opposite to each corner.
    """

    points: np.ndarray
    faces: np.ndarray
    colours: np.ndarray
    normals: np.ndarray | None = None
    edges: np.ndarray | None = None

    def face_colours(self) -> np.ndarray:
        """Return the colour of each face, shape (m, 3)."""
        return np.broadcast_to(self.colours, (len(self.faces), 3))


def vertex_normals(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the unit normal at each point: the sum over its faces, each by its area; zero at points of no face."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    total = np.stack([np.bincount(faces.ravel(), np.repeat(normal[:, k], 3), len(points)) for k in range(3)], axis=1)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)


def view(azimuth: float, elevation: float) -> np.ndarray:
    """Return the axes of a viewer (right, up, towards the viewer) as rows; angles in degrees, z is up."""
    a, e = np.radians([azimuth, elevation])
    toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(toward, right), toward])


def picture(surfaces, axes: np.ndarray, pixels: int = 1000, **drawing) -> np.ndarray:
    """Return a picture of surfaces on white; see `shaded` for the arguments, and `Shaded.picture` for the picture."""
    return shaded(surfaces, axes, pixels, **drawing).picture(np.concatenate([each.face_colours() for each in surfaces]))


@dataclass(frozen=True)
class Shaded:
    """What does not depend on the surfaces' colours: of pictures that differ in those alone it is computed once.

    Attributes
    ----------
    face : ndarray of int, shape (height, width)
        What is seen in each pixel of the buffer, counted over all surfaces; -1 where nothing is.
    light, shine, ink : ndarray of float64, shape (height, width)
        The light on it, what shines back whatever the colour, and how much of a line covers it.
    """

    face: np.ndarray
    light: np.ndarray
    shine: np.ndarray
    ink: np.ndarray

    def picture(self, colours: np.ndarray) -> np.ndarray:
        """Return the picture in which the faces have the colours of shape (faces, 3).

        Returns
        -------
        ndarray of float32, shape (height, width, 3) over `OVERSAMPLING`
        """
        # Light adds up; what screens and papers show does not.
        colour = colours[self.face] ** 2.2 * self.light[..., None]
        colour = np.where((self.face >= 0)[..., None], colour + self.shine[..., None], 1.0)
        colour = np.clip(colour, 0, 1) * (1 - self.ink[..., None])
        height, width = (size // OVERSAMPLING for size in self.face.shape)
        blocks = colour[: height * OVERSAMPLING, : width * OVERSAMPLING].reshape(
            height, OVERSAMPLING, width, OVERSAMPLING, 3
        )
        return (blocks.mean(axis=(1, 3)) ** (1 / 2.2)).astype(np.float32)


def shaded(
    surfaces, axes: np.ndarray, pixels: int = 1000, line: float = 0.8, segments=None, even: float = 0.0
) -> Shaded:
    """Return surfaces seen and lit, for pictures whose longer side has `pixels`.

    Parameters
    ----------
    surfaces : sequence of Surface
    axes : ndarray, shape (3, 3)
        Of the viewer, as from `view`.
    pixels : int
    line : float
        Width of the lines along edges, in pixels.
    segments : ndarray of float64, shape (k, 2, 3), optional
        Further lines, as the edges of a box; they are hidden by what is before them.
    even : float
        Share of the light that is the same everywhere: where colours mean values, they are to be read off a bar.
    """
    scene = _Scene(surfaces, axes, pixels * OVERSAMPLING, None if segments is None else np.asarray(segments))
    depth, face, weights, near = _rasterise(scene.corners, *scene.shape, scene.flags)
    shown = face >= 0
    normal = _normals(scene, face, weights, shown)
    light, shine = _light(scene, depth, normal)
    ink = np.clip(line * OVERSAMPLING + 0.5 - near, 0, 1) * shown * 0.75
    ink = np.maximum(ink, scene.drawn(depth, line * OVERSAMPLING))
    return Shaded(face, even + (1 - even) * light, (1 - even) * shine, ink)


class _Scene:
    """All surfaces as one list of triangles in the viewer's pixels: x to the right, y down, depth to the viewer."""

    def __init__(self, surfaces, axes, pixels, segments):
        everything = np.concatenate([s.points[s.faces].reshape(-1, 3) for s in surfaces]) @ axes.T
        seen = everything if segments is None else np.concatenate([everything, segments.reshape(-1, 3) @ axes.T])
        low, high = seen.min(axis=0), seen.max(axis=0)
        self.scale = pixels * (1 - 2 * MARGIN) / (high - low)[:2].max()
        size = (high - low)[:2] * self.scale + 2 * MARGIN * pixels
        self.shape = int(size[1]), int(size[0])
        self.origin = np.array([low[0] - MARGIN * pixels / self.scale, high[1] + MARGIN * pixels / self.scale, 0.0])
        self.corners = self.place(everything).reshape(-1, 3, 3)
        self.segments = None if segments is None else self.place(segments.reshape(-1, 3) @ axes.T).reshape(-1, 2, 3)
        flat = [s.edges if s.edges is not None else np.zeros((len(s.faces), 3), bool) for s in surfaces]
        self.flags = np.concatenate(flat)
        self.normals = np.concatenate([_corner_normals(s) for s in surfaces]) @ axes.T

    def place(self, points):
        """From the viewer's axes to pixels."""
        return (points - self.origin) * (self.scale, -self.scale, self.scale)

    def drawn(self, depth, width):
        """The ink of the segments that nothing hides."""
        ink = np.zeros(depth.shape)
        if self.segments is not None:
            _draw(self.segments, depth, width, ink)
        return ink


def _corner_normals(surface):
    """Normals at the corners of each face, shape (m, 3, 3)."""
    if surface.normals is not None:
        return surface.normals[surface.faces]
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return np.repeat(normal[:, None], 3, axis=1)


def _normals(scene, face, weights, shown):
    """Unit normals of the pixels, turned to the viewer with their faces; towards the viewer where there is nothing."""
    a, b, c = (scene.corners[:, k, :2] for k in range(3))
    turned = (b - a)[:, 0] * (c - a)[:, 1] > (b - a)[:, 1] * (c - a)[:, 0]  # rows run down: seen from behind
    corners = scene.normals * np.where(turned, -1.0, 1.0)[:, None, None]
    normal = np.zeros((*face.shape, 3))
    normal[..., 2] = 1
    normal[shown] = (weights[shown][:, :, None] * corners[face[shown]]).sum(axis=1)
    normal[..., 2] = np.maximum(normal[..., 2], 0.02)
    return normal / np.linalg.norm(normal, axis=2, keepdims=True)


def _light(scene, depth, normal):
    """The light on each pixel, and what shines back of the key light, whatever the colour."""
    key, fill = (way / np.linalg.norm(way) for way in (KEY, FILL))
    open_sky = _open(depth, normal, np.maximum(1, RINGS * max(depth.shape) // 2000))
    reached = _unshadowed(scene, depth, normal, key) * (0.5 + 0.5 * open_sky)
    around = FILL_LIGHT * np.maximum(normal @ fill, 0) + AMBIENT * (0.75 + 0.25 * normal[..., 1])
    light = KEY_LIGHT * np.maximum(normal @ key, 0) * reached + around * open_sky**1.5
    half = key + (0, 0, 1)
    shine = HIGHLIGHT * np.maximum(normal @ (half / np.linalg.norm(half)), 0) ** SHININESS * reached
    return light, shine


def _unshadowed(scene, depth, normal, key):
    """The share of the key light that reaches each pixel: a map of depths seen from the light, sampled around."""
    flip = np.array([1.0, -1.0, 1.0])  # rows of a picture run down
    right = np.cross([0.0, 1.0, 0.0], key)
    axes = np.stack([right / np.linalg.norm(right), np.cross(key, right / np.linalg.norm(right)), key])
    seen = (scene.corners * flip) @ axes.T
    low, high = seen.reshape(-1, 3).min(axis=0), seen.reshape(-1, 3).max(axis=0)
    zoom = (SHADOW_PIXELS - 8) / (high - low)[:2].max()
    nearest, *_ = _rasterise((seen - low) * zoom + (4, 4, 0), SHADOW_PIXELS, SHADOW_PIXELS, scene.flags[:0])
    return _reached(depth, normal, axes, low, zoom, nearest)


@njit(cache=True)
def _reached(depth, normal, axes, low, zoom, nearest):
    """The share of 25 places around each pixel's in the map of depths that are not before it."""
    share = np.ones(depth.shape)
    place, seen = np.empty(3), np.empty(3)
    for i in range(depth.shape[0]):
        for j in range(depth.shape[1]):
            if depth[i, j] == EMPTY:
                continue
            place[0], place[1], place[2] = j + 0.5, -(i + 0.5), depth[i, j]
            for k in range(3):
                seen[k] = -low[k] * zoom
                for m in range(3):  # from a little above the surface, or it would lie in its own shadow
                    seen[k] += (place[m] + 1.5 / zoom * normal[i, j, m]) * axes[k, m] * zoom
            total = 0
            for y in range(int(seen[1]) + 2, int(seen[1]) + 7):
                for x in range(int(seen[0]) + 2, int(seen[0]) + 7):
                    inside = 0 <= y < nearest.shape[0] and 0 <= x < nearest.shape[1]
                    total += not inside or nearest[y, x] < seen[2] + 3.0
            share[i, j] = total / 25.0
    return share


@njit(cache=True)
def _rasterise(corners, height, width, flags):
    """Depth, face, barycentric weights and distance to the nearest marked edge of what is seen in each pixel."""
    depth, face = np.full((height, width), EMPTY), np.full((height, width), -1)
    weights, near = np.zeros((height, width, 3)), np.full((height, width), 1e9)
    altitude, w = np.empty(3), np.empty(3)
    for t in range(len(corners)):
        c = corners[t]
        double = (c[1, 0] - c[0, 0]) * (c[2, 1] - c[0, 1]) - (c[2, 0] - c[0, 0]) * (c[1, 1] - c[0, 1])
        if abs(double) < 1e-12:
            continue
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            altitude[k] = abs(double) / np.hypot(c[a, 0] - c[b, 0], c[a, 1] - c[b, 1])
        left, right = max(0, int(c[:, 0].min() - 0.5)), min(width - 1, int(c[:, 0].max() + 0.5))
        top, bottom = max(0, int(c[:, 1].min() - 0.5)), min(height - 1, int(c[:, 1].max() + 0.5))
        for i in range(top, bottom + 1):
            for j in range(left, right + 1):
                x, y = j + 0.5, i + 0.5
                for k in range(2):
                    a, b = (k + 1) % 3, (k + 2) % 3
                    w[k] = ((c[a, 0] - x) * (c[b, 1] - y) - (c[b, 0] - x) * (c[a, 1] - y)) / double
                w[2] = 1.0 - w[0] - w[1]
                if w[0] < -1e-9 or w[1] < -1e-9 or w[2] < -1e-9:
                    continue
                z = w[0] * c[0, 2] + w[1] * c[1, 2] + w[2] * c[2, 2]
                if z > depth[i, j]:
                    depth[i, j], face[i, j], near[i, j] = z, t, 1e9
                    for k in range(3):
                        weights[i, j, k] = w[k]
                        if len(flags) and flags[t, k]:
                            near[i, j] = min(near[i, j], w[k] * altitude[k])
    return depth, face, weights, near


def _open(depth, normal, rings):
    """The share of the sky that each pixel sees: one less how far its surroundings rise above its tangent plane."""
    # Directions are turned from pixel to pixel, or there would be bands.
    angles = (np.arange(12) + np.arange(8)[:, None] / 8) * np.pi / 6
    steps = np.rint(rings * np.stack([np.sin(angles), np.cos(angles)])[..., None]).astype(np.int64)
    return _unrisen(depth, normal, np.ascontiguousarray(steps.transpose(1, 2, 3, 0)), float(rings[-1]))


@njit(cache=True)
def _unrisen(depth, normal, steps, reach):
    height, width = depth.shape
    result = np.ones(depth.shape)
    for i in range(height):
        for j in range(width):
            if depth[i, j] == EMPTY:
                continue
            n, around = normal[i, j], steps[(i * 7 + j * 3) % 8]
            total = 0.0
            for d in range(around.shape[0]):
                highest = 0.0
                for r in range(around.shape[1]):
                    y, x = around[d, r, 0], around[d, r, 1]
                    if not (0 <= i + y < height and 0 <= j + x < width) or depth[i + y, j + x] == EMPTY:
                        continue
                    z = depth[i + y, j + x] - depth[i, j]
                    distance = np.sqrt(x * x + y * y + z * z)
                    # What is far in front is another limb, whose shadow the key light casts.
                    rise = (x * n[0] - y * n[1] + z * n[2]) / distance / (1.0 + (distance / (2.5 * reach)) ** 2)
                    highest = max(highest, rise - FACETS)
                total += highest
            result[i, j] = 1.0 - total / around.shape[0]
    return result


@njit(cache=True)
def _draw(segments, depth, width, ink):
    """Put the ink of lines where nothing is before them."""
    for s in range(len(segments)):
        a, b = segments[s, 0], segments[s, 1]
        steps = int(2 * np.hypot(b[0] - a[0], b[1] - a[1])) + 1
        for k in range(steps + 1):
            p = a + (b - a) * (k / steps)
            for i in range(int(p[1] - width - 1), int(p[1] + width + 2)):
                for j in range(int(p[0] - width - 1), int(p[0] + width + 2)):
                    if 0 <= i < depth.shape[0] and 0 <= j < depth.shape[1] and depth[i, j] <= p[2] + 1e-6:
                        gap = np.hypot(j + 0.5 - p[0], i + 0.5 - p[1])
                        ink[i, j] = max(ink[i, j], 0.6 * min(1.0, max(0.0, width + 0.5 - gap)))
