"""Meshes and matrices of the papers: built from recipes, checked, kept in a cache; or the user's own in their place.

>>> import datasets
>>> mesh = datasets.load("fu2014/regular", "smoke")
>>> mesh.points.shape, mesh.cells.shape
((2197, 3), (10368, 4))

`catalogue` lists what there is. One is added by one file, ``datasets/<paper>/<name>.py``; see `datasets.recipes` and
`datasets.matrices_catalogue`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from datasets.errors import DownloadError, MatrixError, MeshError

if TYPE_CHECKING:
    from datasets.matrices import Matrix
    from datasets.mesh import Mesh
    from datasets.recipes import Entry

__all__ = ["DownloadError", "MatrixError", "MeshError", "catalogue", "digest", "entry", "key", "load"]


def catalogue() -> Sequence[Entry]:
    """Return the meshes and matrices by name; each has ``.title``, ``.scales``, ``.build(scale)`` and more."""
    from datasets.recipes import entries

    return entries()


def entry(name: str) -> Entry:
    """Return the catalogue's entry of that name; MeshError when there is none."""
    from datasets.recipes import entry

    return entry(name)


def load(name: str, scale: str, override: str | Path | None = None) -> Mesh | Matrix:
    """Return a mesh or a matrix of the catalogue, or the user's own in its place.

    Parameters
    ----------
    name : str
        As in ``fu2014/heart``.
    scale : {'smoke', 'small', 'paper', 'large'}
    override : path, optional
        A file of elements of the same type in any format that meshio reads, or a Matrix Market file, which takes the
        place of the named mesh or matrix at every scale.

    Returns
    -------
    Mesh or Matrix
        Its arrays are read-only. Its title names the file when it is the user's own.

    Raises
    ------
    MeshError
        When there is no such dataset, or the user's own mesh cannot be read or used.
    MatrixError
        When the user's own matrix cannot be.
    """
    return _loaded(name, scale, None if override is None else str(override), key(name, scale, override))


def key(name: str, scale: str, override: str | Path | None = None) -> str:
    """Return a hash of what the dataset is made from: its recipe's code, or the user's file. Builds nothing."""
    if override is None:
        return entry(name).key(scale)
    return entry(name).own_key(Path(override))


def digest(name: str, scale: str, override: str | Path | None = None) -> str:
    """Return the SHA-256 of the dataset's content; builds it when it is not cached."""
    return load(name, scale, override).digest()


@functools.lru_cache(maxsize=2)
def _loaded(name, scale, override, key):
    """Remember the last ones; `key` is an argument so that a file that has changed is read again."""
    if override is None:
        return entry(name).load(scale)
    return entry(name).own(Path(override))
