"""The user's own mesh in place of one of the catalogue: read by meshio, checked, its regions taken where it has any."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from datasets import guarded, validation
from datasets.cells import cell_type
from datasets.errors import MeshError
from datasets.mesh import Mesh

# Names under which formats keep region labels, the ones meant for them first.
REGION_DATA = (
    "region", "regions", "gmsh:physical", "medit:ref", "tetgen:ref", "avsucd:material", "MaterialIDs", "material",
    "cell_tags", "gmsh:geometrical",
)  # fmt: skip
# Cells that bound a plane or a solid mesh or mark a point of it, and are left out.
LOWER = {2: ("vertex", "line"), 3: ("vertex", "line", "triangle", "quad", "polygon")}


def key(entry, path: Path) -> str:
    """Return a hash of the file's bytes and of the mesh it takes the place of."""
    try:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256")
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    return hashlib.sha256(f"{entry.name} {path.name} {content.hexdigest()}".encode()).hexdigest()


def read(entry, path: Path) -> Mesh:
    """Return the elements in a file as a mesh that takes the place of a catalogue's entry.

    Points of a plane mesh may have a third coordinate if it is the same for all.

    Raises
    ------
    MeshError
        When the file is missing, unreadable or of a format that meshio does not know; when it has elements other than
        the entry's, linear ones of one type; when its points have too few coordinates or lie in no plane z = constant;
        when the entry has regions and the file has none; and for all that `validation.checked` finds.
    """
    kind = cell_type(entry.cell_type)
    raw = _raw(path)
    source = path.name
    blocks = _blocks(raw, source, kind)
    points = _points(raw, source, kind)
    cells = np.concatenate([np.asarray(raw.cells[block].data) for block in blocks])
    cells = validation.checked(points, cells, source, kind.name)
    regions = _regions(raw, blocks)
    if entry.regions and regions is None:
        raise MeshError(
            f"{source}: it has no region labels, and {entry.name} has the regions {', '.join(entry.regions)}; "
            f"give each {kind.singular} an integer as cell data named 'region'"
        )
    labels = 0 if regions is None else len(np.unique(regions))
    if entry.regions and labels != len(entry.regions):
        wanted = ", ".join(entry.regions)
        raise MeshError(f"{source}: it has {labels} regions, and {entry.name} has {len(entry.regions)}: {wanted}")
    title = f"{path.name} (own mesh for {entry.short_title})"
    return Mesh(points, cells, kind.name, regions, entry.name, title)


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
    return _by_meshio(path)


def _by_meshio(path):
    """Return points, cells and cell data as meshio has them."""
    try:
        found = guarded.read("mesh", path)
    except guarded.Unreadable as problem:
        raise _unreadable(path, problem) from None
    blocks = [SimpleNamespace(type=str(kind), data=found[f"cells{i}"]) for i, kind in enumerate(found["types"])]
    data = {
        str(name): [found[f"data{place}_{number}"] for number in range(len(blocks))]
        for place, name in enumerate(found["names"])
    }
    return SimpleNamespace(points=found["points"], cells=blocks, cell_data=data)


def _is_blank(path):
    with path.open("rb") as file:
        return not file.read(4096).strip()


def _points(raw, source, kind):
    """Return the coordinates, the third left out where the mesh is plane."""
    points = np.asarray(raw.points, dtype=np.float64)
    found = points.shape[-1]
    if points.ndim != 2 or found < kind.dimension:
        raise MeshError(
            f"{source}: its points have {found} coordinates; a mesh of {kind.plural} needs {kind.dimension}"
        )
    if kind.dimension == 2 and found == 3 and len(points):
        off = points[:, 2] != points[0, 2]
        if off.any():
            node = int(np.argmax(off))
            raise MeshError(
                f"{source}: its {kind.plural} must lie in a plane of constant z, but node {node} has "
                f"z = {points[node, 2]:.12g} and node 0 has z = {points[0, 2]:.12g}"
            )
    return np.ascontiguousarray(points[:, : kind.dimension])


def _blocks(raw, source, kind):
    """Return the numbers of the blocks of elements; sides and marks are left out, other elements are an error."""
    counts = {}
    for block in raw.cells:
        counts[block.type] = counts.get(block.type, 0) + len(block.data)
    lower = LOWER[kind.dimension]
    other = {name: count for name, count in counts.items() if name != kind.name and not name.startswith(lower)}
    found = ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "no cells"
    higher = [name for name in other if name.rstrip("0123456789") == kind.name]
    if higher:
        raise MeshError(
            f"{source}: it has {kind.plural} of higher order ({found}); "
            f"only linear ones, meshio's {kind.name!r}, can be used"
        )
    if other and counts.get(kind.name):
        volume = "volume elements" if kind.dimension == 3 else "elements"
        raise MeshError(f"{source}: it has other {volume} beside {kind.plural} ({found})")
    if not counts.get(kind.name):
        raise MeshError(f"{source}: it has no {kind.plural}; it has {found}")
    return [number for number, block in enumerate(raw.cells) if block.type == kind.name and len(block.data)]


def _regions(raw, blocks):
    """Return integer labels of the elements: by a known name, or the only integer cell data that there is."""
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
