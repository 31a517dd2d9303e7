"""Meshes of the papers: built from recipes, checked, kept in a cache; or the user's own in their place.

>>> import datasets
>>> mesh = datasets.load("fu2014/regular", "smoke")
>>> mesh.points.shape, mesh.cells.shape
((2197, 3), (10368, 4))

`catalogue` lists what there is. A mesh is added by one file, ``datasets/<paper>/<mesh>.py``; see `datasets.recipes`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from datasets.errors import MeshError

if TYPE_CHECKING:
    from datasets.mesh import Mesh
    from datasets.recipes import Entry

__all__ = ["MeshError", "catalogue", "digest", "entry", "key", "load"]


def catalogue() -> Sequence[Entry]:
    """Return the meshes that there are, by name; each has ``.title``, ``.scales``, ``.build(scale)`` and more."""
    from datasets.recipes import entries

    return entries()


def entry(name: str) -> Entry:
    """Return the catalogue's entry of that name; MeshError when there is none."""
    from datasets.recipes import entry

    return entry(name)


def load(name: str, scale: str, override: str | Path | None = None) -> Mesh:
    """Return a mesh of the catalogue, or the user's own in its place.

    Parameters
    ----------
    name : str
        As in ``fu2014/heart``.
    scale : {'smoke', 'small', 'paper', 'large'}
    override : path, optional
        A file of elements of the same type in any format that meshio reads, which takes the place of the named mesh
        at every scale.

    Returns
    -------
    Mesh
        Its arrays are read-only. Its title names the file when it is the user's own.

    Raises
    ------
    MeshError
        When there is no such mesh, or the user's own cannot be read or used.
    """
    return _loaded(name, scale, None if override is None else str(override), key(name, scale, override))


def key(name: str, scale: str, override: str | Path | None = None) -> str:
    """Return a hash of what the mesh is made from: its recipe's code, or the user's file. Builds nothing."""
    if override is None:
        return entry(name).key(scale)
    from datasets import reading

    return reading.key(entry(name), Path(override))


def digest(name: str, scale: str, override: str | Path | None = None) -> str:
    """Return the SHA-256 of the mesh's content; builds it when it is not cached."""
    return load(name, scale, override).digest()


@functools.lru_cache(maxsize=2)
def _loaded(name, scale, override, key):
    """Remember the last meshes; `key` is an argument so that a file that has changed is read again."""
    if override is None:
        return entry(name).load(scale)
    from datasets import reading

    return reading.read(entry(name), Path(override))
