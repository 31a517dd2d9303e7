"""The user's own mesh in place of one of the catalogue: read by meshio, checked, its regions taken where it has any."""

from __future__ import annotations

import contextlib
import hashlib
import io
from pathlib import Path

import numpy as np

from datasets import validation
from datasets.errors import MeshError
from datasets.mesh import Mesh

# Names under which formats keep region labels, the ones meant for them first.
REGION_DATA = (
    "region", "regions", "gmsh:physical", "medit:ref", "tetgen:ref", "avsucd:material", "MaterialIDs", "material",
    "cell_tags", "gmsh:geometrical",
)  # fmt: skip
# Cells that bound a solid or mark a point of it, and are left out.
LOWER = ("vertex", "line", "triangle", "quad", "polygon")


def key(entry, path: Path) -> str:
    """Return a hash of the file's bytes and of the mesh it takes the place of."""
    try:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256")
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    return hashlib.sha256(f"{entry.name} {path.name} {content.hexdigest()}".encode()).hexdigest()


def read(entry, path: Path) -> Mesh:
    """Return the tetrahedra in a file as a mesh that takes the place of a catalogue's entry.

    Raises
    ------
    MeshError
        When the file is missing, unreadable or of a format that meshio does not know; when it has other volume elements
        than linear tetrahedra; when the entry has regions and the file has none; and for all that
        `validation.checked` finds.
    """
    raw = _raw(path)
    source = path.name
    points = np.asarray(raw.points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"{source}: its points have {points.shape[-1]} coordinates; a tetrahedral mesh needs 3")
    blocks = _tetrahedral_blocks(raw, source)
    cells = np.concatenate([np.asarray(raw.cells[block].data) for block in blocks])
    cells = validation.checked(points, cells, source)
    regions = _regions(raw, blocks)
    if entry.regions and regions is None:
        raise MeshError(
            f"{source}: it has no region labels, and {entry.name} has the regions {', '.join(entry.regions)}; "
            f"give each tetrahedron an integer as cell data named 'region'"
        )
    labels = 0 if regions is None else len(np.unique(regions))
    if entry.regions and labels != len(entry.regions):
        wanted = ", ".join(entry.regions)
        raise MeshError(f"{source}: it has {labels} regions, and {entry.name} has {len(entry.regions)}: {wanted}")
    title = f"{path.name} (own mesh for {entry.short_title})"
    return Mesh(points, cells, regions=regions, name=entry.name, title=title)


def _raw(path):
    import meshio

    if not path.is_file():
        raise _unreadable(path, "it is a folder" if path.is_dir() else "no such file")
    known = sorted(meshio.extension_to_filetypes)
    if not any(path.name.lower().endswith(suffix) for suffix in known):
        raise MeshError(f"{path.name}: unknown mesh format {path.suffix!r}; meshio reads {' '.join(known)}")
    parts = {path, *(path.with_suffix(suffix) for suffix in (".node", ".ele") if path.suffix in (".node", ".ele"))}
    for part in sorted(parts):
        if part.is_file() and _is_blank(part):  # meshio would look for the first line for ever
            raise _unreadable(part, "the file is empty")
    # meshio prints warnings, and for some errors ends the process.
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return meshio.read(path)
    except (Exception, SystemExit) as problem:
        lines = [str(problem)] if str(problem) and not isinstance(problem, SystemExit) else said.getvalue().split("\n")
        reason = " ".join(" ".join(lines).split()) or type(problem).__name__
        raise _unreadable(path, reason[:200]) from problem


def _is_blank(path):
    with path.open("rb") as file:
        return not file.read(4096).strip()


def _tetrahedral_blocks(raw, source):
    counts = {}
    for block in raw.cells:
        counts[block.type] = counts.get(block.type, 0) + len(block.data)
    other = {kind: count for kind, count in counts.items() if kind != "tetra" and not kind.startswith(LOWER)}
    found = ", ".join(f"{count:,} {kind}" for kind, count in counts.items()) or "no cells"
    higher = [kind for kind in other if kind.startswith("tetra")]
    if higher:
        raise MeshError(
            f"{source}: it has tetrahedra of higher order ({found}); only linear ones, meshio's 'tetra', can be used"
        )
    if other and counts.get("tetra"):
        raise MeshError(f"{source}: it has other volume elements beside tetrahedra ({found})")
    if not counts.get("tetra"):
        raise MeshError(f"{source}: it has no tetrahedra; it has {found}")
    return [number for number, block in enumerate(raw.cells) if block.type == "tetra" and len(block.data)]


def _regions(raw, blocks):
    """Return integer labels of the tetrahedra: by a known name, or the only integer cell data that there is."""
    candidates = {}
    for name, data in raw.cell_data.items():
        values = np.concatenate([np.asarray(data[block]).reshape(len(raw.cells[block].data), -1) for block in blocks])
        if values.shape[1] == 1 and np.issubdtype(values.dtype, np.number) and np.array_equal(values, np.rint(values)):
            candidates[name] = values[:, 0].astype(np.int32)
    for name in REGION_DATA:
        if name in candidates:
            return candidates[name]
    return next(iter(candidates.values())) if len(candidates) == 1 else None


def _unreadable(path, problem):
    reason = getattr(problem, "strerror", None) or problem
    return MeshError(f"cannot read the mesh {path}: {reason}")
