"""Tetrahedral meshes of closed surfaces: TetGen, then smoothing of what it leaves flat."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from datasets import smoothing
from datasets.errors import MeshError
from repro.model import Skip

DIGITS = 9  # surfaces are rounded to so many, so that the last bits of a sine do not decide the mesh


def tetrahedralise(
    points: np.ndarray,
    faces: np.ndarray,
    volume: float | None,
    *,
    ratio: float = 1.4,
    dihedral: float = 12.0,
    keep_surface: bool = True,
    seeds: np.ndarray | None = None,
):
    """Fill a closed triangulated surface with tetrahedra.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
        Points of no face are nodes, too.
    faces : ndarray of int, shape (m, 3)
        Triangles that bound the solid, and those between its regions; no two may cross.
    volume : float or None
        Greatest volume of an element; with None `points` are all nodes, and elements are Delaunay's, then smoothed.
    ratio : float
        Bound of circumscribed radius over shortest edge, TetGen's measure.
    dihedral : float
        Least dihedral angle wanted, degrees; TetGen and the smoothing aim at it, and neither can promise it. With 0
        the mesh is TetGen's by its own defaults: nothing is smoothed, and flat elements stay.
    keep_surface : bool
        Whether the triangles stay as they are; if not, TetGen may divide them.
    seeds : ndarray, shape (k, 4), optional
        A point in each region and the region's label.

    Returns
    -------
    points : ndarray of float64, shape (n', 3)
    cells : ndarray of int32, shape (m', 4)
    labels : ndarray of int32, shape (m',), or None
        Region of each element, when there are seeds.

    Raises
    ------
    Skip
        Where TetGen is not installed.
    MeshError
        When TetGen fails.
    """
    bounds = f"q{ratio:g}/{dihedral:g}o/150" if dihedral else f"q{ratio:g}"
    wanted = "" if volume is None else f"{bounds}a{volume:.9g}"
    switches = f"p{wanted}Q" + "Y" * keep_surface + "A" * (seeds is not None)
    surface = np.round(np.asarray(points, dtype=np.float64), DIGITS) + 0.0
    seeds = np.empty((0, 4)) if seeds is None else np.asarray(seeds, dtype=np.float64)
    points, cells, labels = _run(surface, np.asarray(faces, dtype=np.int32), seeds, switches)
    labels = np.rint(labels).astype(np.int32) if len(seeds) else None
    if dihedral:
        points = smoothing.raise_dihedral(points, cells, labels, target=dihedral)
    return points, cells, labels


def _run(points, faces, seeds, switches):
    with tempfile.TemporaryDirectory(prefix="repro-tetgen-") as folder:
        source, target = Path(folder, "surface.npz"), Path(folder, "mesh.npz")
        np.savez(source, points=points, faces=faces, seeds=seeds)
        worker = Path(__file__).with_name("_tetgen_worker.py")
        done = subprocess.run(
            [sys.executable, str(worker), str(source), str(target), switches], cwd=folder, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode or not target.exists():
            if "No module named 'tetgen'" in done.stdout:
                raise Skip("the mesher TetGen is not installed", f"{sys.executable} -m pip install tetgen")
            said = [line for line in done.stdout.splitlines() if line.strip()] or ["nothing"]
            raise MeshError(
                f"TetGen failed with status {done.returncode} on a surface of {len(points):,} points "
                f"(switches {switches}); it said: {said[-1]}"
            )
        with np.load(target) as mesh:
            return mesh["points"], mesh["cells"].astype(np.int32), mesh["labels"]
