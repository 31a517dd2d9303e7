"""Pictures of triangulated surfaces, lit and shaded, drawn by matplotlib: they come out on any machine.

The triangles are painted from the farthest to the nearest, their colours blended between lit corners; a key light, a
fill light and light from all sides, no shadows; lines along the edges of elements where they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KEY, FILL = np.array([-0.45, 0.50, 0.74]), np.array([0.80, 0.10, 0.60])  # towards the lights: right, up, to the viewer
KEY_LIGHT, FILL_LIGHT, AMBIENT = 0.72, 0.20, 0.26
THIN = 0.2  # pixels that a line is wide, to which Agg adds about one
PIECES = 200  # that a segment is painted in, each at its own depth
MARGIN = 0.03  # of the picture, left free on each side


@dataclass(frozen=True)
class Surface:
    """Triangles with their colours.

    Attributes
    ----------
    points : ndarray of float64, shape (n, 3)
    faces : ndarray of int, shape (m, 3)
        Of about one size, or what is behind may be painted over what is before.
    colours : ndarray of float64, shape (3,) or (m, 3)
        Red, green and blue as they shall look in full light, 0 to 1.
    normals : ndarray of float64, shape (n, 3), optional
        For smooth shading, of a closed surface whose faces are anticlockwise seen from outside: those seen from
        behind are left out. Without them faces are flat.
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
    """Everything of a picture but the surfaces' colours: pictures that differ in colours alone share it.

    Attributes
    ----------
    size : ndarray of float64, shape (2,)
        Width and height in pixels.
    triangles : ndarray of float64, shape (triangles, 3, 2)
        Corners in pixels, from below: of all surfaces' faces first, then of lines.
    order : ndarray of int, shape (triangles,)
        Triangles that are painted, the farthest first.
    light : ndarray of float64, shape (faces, 3)
        The light on each corner of a face.
    line : float
        Opacity of the lines.
    """

    size: np.ndarray
    triangles: np.ndarray
    order: np.ndarray
    light: np.ndarray
    line: float

    def picture(self, colours: np.ndarray) -> np.ndarray:
        """Return the picture in which the faces have the colours of shape (faces, 3).

        Returns
        -------
        ndarray of float32, shape (height, width, 3)
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import TriMesh
        from matplotlib.figure import Figure
        from matplotlib.transforms import IdentityTransform
        from matplotlib.tri import Triangulation

        paint = np.zeros((*self.triangles.shape[:2], 4))
        paint[..., 3] = self.line
        # Light adds up; what screens and papers show does not.
        lit = np.clip(colours[:, None] ** 2.2 * self.light[..., None], 0, 1) ** (1 / 2.2)
        paint[: len(colours)] = np.concatenate([lit, np.ones((*lit.shape[:2], 1))], axis=2)
        x, y = self.triangles[self.order].reshape(-1, 2).T
        mesh = Triangulation(x, y, np.arange(x.size).reshape(-1, 3))
        made = Figure(self.size, dpi=1, facecolor="white")
        canvas = FigureCanvasAgg(made)
        made.add_artist(TriMesh(mesh, facecolors=paint[self.order].reshape(-1, 4), transform=IdentityTransform()))
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.float32) / 255


def shaded(
    surfaces, axes: np.ndarray, pixels: int = 1000, line: float = 0.3, segments=None, even: float = 0.0
) -> Shaded:
    """Return surfaces seen and lit, for pictures whose longer side has `pixels`.

    Parameters
    ----------
    surfaces : sequence of Surface
    axes : ndarray, shape (3, 3)
        Of the viewer, as from `view`.
    pixels : int
    line : float
        Opacity of the lines along edges, which are a pixel wide; one between two faces is drawn with each.
    segments : ndarray of float64, shape (k, 2, 3), optional
        Further lines, as the edges of a box; they are hidden by what is before them.
    even : float
        Share of the light that is the same everywhere: where colours mean values, they are to be read off a bar.
    """
    corners = np.concatenate([each.points[each.faces] for each in surfaces]) @ axes.T
    lines, depth = _lines(surfaces, corners, np.zeros((0, 2, 3)) if segments is None else segments @ axes.T)
    seen = np.concatenate([corners.reshape(-1, 3), lines.reshape(-1, 3)])[:, :2]
    low, high = seen.min(axis=0), seen.max(axis=0)
    scale, margin = pixels * (1 - 2 * MARGIN) / (high - low).max(), MARGIN * pixels
    faces, lines = ((each[..., :2] - low) * scale + margin for each in (corners, lines))
    triangles = np.concatenate([faces, _widened(lines)])
    order = np.argsort(np.concatenate([corners[..., 2].mean(axis=1), depth, depth]), kind="stable")
    normals, hidden = _normals(surfaces, axes, corners)
    light = even + (1 - even) * _light(normals)
    size = np.rint((high - low) * scale + 2 * margin)
    return Shaded(size, triangles, order[~np.isin(order, hidden)], light, line)


def _lines(surfaces, corners, segments):
    """The ends of all lines, (lines, 2, 3), and their depths: an edge has its face's, so as to come right after it."""
    wanted = [s.edges if s.edges is not None else np.zeros((len(s.faces), 3), bool) for s in surfaces]
    face, k = np.nonzero(np.concatenate(wanted))
    edges = np.stack([corners[face, (k + 1) % 3], corners[face, (k + 2) % 3]], axis=1)
    places = segments[:, :1] + (segments[:, 1:] - segments[:, :1]) * np.linspace(0, 1, PIECES + 1)[:, None]
    pieces = np.stack([places[:, :-1], places[:, 1:]], axis=2).reshape(-1, 2, 3)
    depths = corners[face, :, 2].mean(axis=1), pieces[..., 2].mean(axis=1)
    return np.concatenate([edges, pieces]), np.concatenate(depths)


def _widened(lines):
    """Lines as two triangles each, (2 lines, 3, 2)."""
    a, b = lines[:, 0], lines[:, 1]
    along = (b - a) / np.maximum(np.linalg.norm(b - a, axis=1, keepdims=True), 1e-9)
    side = along[:, ::-1] * (-THIN / 2, THIN / 2)
    return np.concatenate([np.stack([a - side, a + side, b + side], 1), np.stack([a - side, b + side, b - side], 1)])


def _normals(surfaces, axes, corners):
    """Unit normals at the corners of all faces, (faces, 3, 3), turned to the viewer; and the faces left out."""
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal, smooth, end = np.repeat(flat[:, None], 3, axis=1), np.zeros(len(flat), bool), 0
    for surface in surfaces:
        own, end = slice(end, end + len(surface.faces)), end + len(surface.faces)
        if surface.normals is not None:
            normal[own], smooth[own] = surface.normals[surface.faces] @ axes.T, True
    behind = flat[:, 2] < 0
    normal *= np.where(behind, -1.0, 1.0)[:, None, None]
    normal /= np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-300)
    normal[..., 2] = np.maximum(normal[..., 2], 0.02)
    return normal / np.linalg.norm(normal, axis=2, keepdims=True), np.flatnonzero(smooth & behind)


def _light(normal):
    """The light on a surface with such normals."""
    key, fill = (np.maximum(normal @ (way / np.linalg.norm(way)), 0) for way in (KEY, FILL))
    return KEY_LIGHT * key + FILL_LIGHT * fill + AMBIENT * (0.75 + 0.25 * normal[..., 1])
