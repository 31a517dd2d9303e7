"""An excitation wave that crosses the ventricles: computed once for a mesh, kept in the cache, and drawn."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import datasets
from datasets import topology
from experiments import rendering
from experiments.wong2015 import dataset
from experiments.wong2015.heart import DT, tissue
from kernels import monodomain
from kernels.monodomain import MILLISECONDS, Heart, Model
from repro.cache.store import cache_folder, write_atomically

CENTRE, RADIUS = np.array([2.3, 0.2, 1.9]), 1.0  # what is excited in the beginning: the septum, at the base
SOLVED = 1e-3  # of the residual, at which linear solves end: closer ones save no iteration of Newton's method
SINGLE = 400_000  # nodes from which linear solves are in single precision: there bytes bind
STEPS, EVERY = 170, 5  # steps of the wave, and between two frames: 15 wide, as long as it takes to cross
SCALES = {"smoke": 60}  # fewer, where only a part is wanted
VIEW = (-60.0, 22.0)  # azimuth and elevation in degrees
REST, PEAK = np.array([0.20, 0.25, 0.45]), np.array([0.98, 0.85, 0.35])
MIDDLE = np.array([0.85, 0.27, 0.25])


def excited(points) -> np.ndarray:
    """Return the potential in the beginning."""
    return (np.linalg.norm(points - CENTRE, axis=1) < RADIUS).astype(np.float64)


def solving(nodes: int) -> dict:
    """Return how the linear systems of a wave over so many nodes are solved, as `Heart` takes it."""
    return {"linear_tolerance": SOLVED, "linear_dtype": "float32" if nodes >= SINGLE else "float64"}


def steps(scale: str) -> int:
    """Return how many steps a wave is followed for."""
    return SCALES.get(scale, STEPS)


def crossing(device: Callable, case: str, scale: str, override: str | None = None, fresh: bool = False) -> dict:
    """Return a wave, from the cache where it has been computed before; a `fresh` one is always computed.

    Parameters
    ----------
    device : callable
        Opens what computes it.

    Returns
    -------
    dict
        ``frames`` (frames, boundary nodes), the potential in bytes, 0 at 0 and 255 at 1; ``times`` of the frames in
        milliseconds; ``activation`` (nodes) in milliseconds, negative where the wave has not been; ``points``,
        ``normals`` and ``faces`` of the boundary; ``newton`` and ``linear`` iterations of each step; ``seconds`` that
        it took. A fresh one has the last step for checks: ``last_phi`` and ``last_recovery`` before it, ``last_found``
        after it.
    """
    path = _path(case, scale, override)
    if path.exists() and not fresh:
        with np.load(path) as stored:
            return {name: stored[name] for name in stored.files}
    made = _computed(device(), case, scale, override)
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: array for name, array in made.items() if not name.startswith("last_")})
    write_atomically(path, stream.getvalue())
    return made


def _path(case, scale, override):
    state = hashlib.sha256(repr((datasets.key(dataset(case), scale, override), Model(), DT, STEPS)).encode())
    for source in (Path(__file__), *sorted(Path(monodomain.__file__).parent.glob("*.[chp]*"))):
        if source.is_file():
            state.update(source.read_bytes())
    return cache_folder() / "waves" / f"{case}-{scale}-{state.hexdigest()[:16]}.npz"


def _computed(device, case, scale, override):
    mesh, fibres = tissue(case, scale, override)
    boundary, surface = _surface(mesh)
    heart = Heart(device, mesh.points, mesh.cells, fibres, Model(), DT, format="ellwarp", **solving(len(mesh.points)))
    heart.load(excited(mesh.points))
    device.synchronize()
    begun = time.perf_counter()
    frames, times, taken, last = [], [], [], {}
    for k in range(steps(scale) + 1):
        if k % EVERY == 0:
            potential = np.asarray(device.to_host(heart.phi))[boundary]
            frames.append(np.round(255 * np.clip(potential, 0, 1)).astype(np.uint8))
            times.append(k * DT * MILLISECONDS)
        if k == steps(scale):
            break
        if k == steps(scale) - 1:
            last = {"last_phi": np.array(device.to_host(heart.phi)),
                    "last_recovery": np.array(device.to_host(heart.recovery))}  # fmt: skip
        taken.append(heart.step())
    activation = np.array(device.to_host(heart.activation))
    seconds = time.perf_counter() - begun
    return last | surface | {
        "frames": np.array(frames), "times": np.array(times),
        "activation": np.where(activation < 0, -1.0, activation * MILLISECONDS),
        "newton": np.array([step.newton_iterations for step in taken]),
        "linear": np.array([step.linear_iterations for step in taken]),
        "seconds": np.float64(seconds),
        "last_found": np.array(device.to_host(heart.phi)),
    }  # fmt: skip


def _surface(mesh):
    """The nodes of the boundary, and what is drawn of it, its faces by the places of their nodes among those."""
    faces = topology.boundary_faces(mesh.cells, len(mesh.points))
    boundary, faces = np.unique(faces, return_inverse=True)
    points, faces = mesh.points[boundary], faces.reshape(-1, 3)
    return boundary, {"points": points, "faces": faces, "normals": rendering.vertex_normals(points, faces)}


def pictures(wave: dict, frames, pixels: int):
    """Yield the heart's surface, coloured by the potential of each of some frames: from blue at rest by red to yellow.

    Parameters
    ----------
    wave : dict
        As from `crossing`.
    frames : iterable of int
    pixels : int
        Along the longer side.
    """
    faces = wave["faces"]
    surface = rendering.Surface(wave["points"], faces, REST, wave["normals"])
    shaded = rendering.shaded([surface], rendering.view(*VIEW), pixels)
    for frame in frames:
        yield shaded.picture(colour((wave["frames"][frame] / 255)[faces].mean(axis=1)))


def colour(potential: np.ndarray) -> np.ndarray:
    """Return red, green and blue of potentials from 0 to 1, in full light."""
    level = np.asarray(potential)[..., None]
    low, high = np.clip(2 * level, 0, 1), np.clip(2 * level - 1, 0, 1)
    return REST + low * (MIDDLE - REST) + high * (PEAK - MIDDLE)


def legend(axes) -> None:
    """Draw the scale of colours into axes."""
    axes.imshow(colour(np.linspace(0, 1, 64))[None], extent=(0, 1, 0, 1), aspect="auto")
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(labelsize=6, pad=1)
    axes.grid(False)
    axes.text(-0.06, 0.5, "Potential", fontsize=7, ha="right", va="center")


def moving(pictures) -> bytes:
    """Return pictures as an animated GIF that repeats for ever."""
    from PIL import Image

    frames = [Image.fromarray(np.uint8(255 * picture + 0.5)) for picture in pictures]
    # One palette for all, or the background flickers.
    palette = frames[len(frames) // 2].quantize(128, dither=Image.Dither.NONE)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    stream = io.BytesIO()
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:], duration=120, loop=0, optimize=True)
    return stream.getvalue()


def sheet(pictures, title: str, columns: int = 5) -> bytes:
    """Return frames with their times, row by row, as a PNG."""
    from repro.show.plots import PAGE, figure, small, style

    chosen = [pictures[k] for k in np.unique(np.linspace(0, len(pictures) - 1, 2 * columns).round().astype(int))]
    rows = -(-len(chosen) // columns)
    made = figure(PAGE, 1.7 * rows + 0.3)[0]
    made.clear()
    with style():
        for axes, (when, picture) in zip(made.subplots(rows, columns).flat, chosen, strict=False):
            axes.imshow(picture)
            axes.set_title(f"{when:.0f} ms", fontsize=7, y=-0.1)
        for axes in made.axes:
            axes.set_axis_off()
        legend(made.add_axes((0.8, 0.965, 0.15, 0.015)))
        made.suptitle(title, fontsize=8)
        stream = io.BytesIO()
        made.savefig(stream, format="png", metadata={"Software": None})
    return small(stream.getvalue(), 256, is_smooth=True)
