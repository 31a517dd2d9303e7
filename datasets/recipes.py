"""The catalogue: every mesh and matrix that has a recipe, found by its place in `datasets/<paper>/<name>.py`.

A recipe of a mesh is a module as follows; `datasets.matrices_catalogue` tells of a matrix's recipe.

- ``TITLE``, what the paper's tables call the mesh;
- ``SCALES``, a mapping from the scales that it has (``smoke``, ``small``, ``paper``, ``large``) to what `build` needs;
- ``build(scale)``, which returns points, cells and, where the mesh has regions, a label for each cell;
- ``CELL_TYPE``, for elements other than tetrahedra: their name in `datasets.cells`;
- ``STAND_IN_FOR``, for a geometry that is not public: what this one stands in for;
- ``SOURCE``, for one that others publish: `datasets.fetched.Source`, or what else has its ``missing()``;
- ``FIDELITY``, how near it comes to that: ``exact``, ``resembles`` or ``does not``;
- ``REGIONS``, for a mesh with regions: their names, in the order of the labels;
- ``VARIANTS``, for a series of meshes, in place of ``SCALES``: the name of each and the scales that it has; they are
  ``<paper>/<mesh>-<name>``, and built by ``build(scale, name)``.
"""

from __future__ import annotations

import functools
import importlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from datasets import cache, recipe_keys
from datasets.errors import DownloadError, MeshError

ROOT = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """A mesh of the catalogue.

    Attributes
    ----------
    name : str
        As in ``fu2014/heart``.
    title : str
        Its name in tables and plots; of a stand-in it says that it is one.
    short_title : str
        The paper's own name of the mesh, as its tables print it.
    scales : tuple of str
        The scales at which it can be built.
    stand_in_for : str
        The geometry that it stands in for; empty when it is the paper's own.
    regions : tuple of str
        Names of its regions, in the order of their labels; empty when it has none.
    cell_type : str
        Its elements, as in `datasets.cells`.
    variant : str
        Which mesh of a series; empty when it is none.
    """

    name: str
    short_title: str
    scales: tuple[str, ...]
    stand_in_for: str = ""
    regions: tuple[str, ...] = ()
    cell_type: str = "tetra"
    variant: str = ""
    recipe: ModuleType = field(repr=False, compare=False, default=None)
    kind = "mesh"

    @property
    def title(self) -> str:
        return f"{self.short_title} (stand-in)" if self.stand_in_for else self.short_title

    @property
    def address(self) -> str:
        """Where the geometry that it is made of is fetched from; empty when it needs none."""
        return getattr(self._source, "address", "")

    @property
    def public_scales(self) -> tuple[str, ...]:
        """The scales that need what is fetched."""
        return self.scales if self.address else ()

    def is_public(self, scale: str) -> bool:
        """Return whether this scale is made of geometry that has been downloaded."""
        return scale in self.public_scales and not self._source.missing()

    def missing(self, scale: str) -> str:
        """Return what keeps it from being built; empty when nothing does, or when it is cached."""
        return "" if self._source is None or self.is_cached(scale) else self._source.missing()

    def download(self) -> Path:
        """Download the geometry that it is made of, and return the folder."""
        if not self.address:
            raise DownloadError(f"{self.name} is made of nothing that could be downloaded")
        return self._source.download()

    @property
    def _source(self):
        found = getattr(self.recipe, "SOURCE", None)
        return found if hasattr(found, "missing") else None  # geveler2011's is the right-hand side, a number

    @property
    def fidelity(self) -> str:
        """The recipe's word for how near a stand-in comes to its original; empty when there is none."""
        return getattr(self.recipe, "FIDELITY", "")

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages whose versions are in its key."""
        return recipe_keys.packages(self.name.removesuffix(f"-{self.variant}"))

    def key(self, scale: str) -> str:
        """Return the hash of everything the mesh is made from; builds nothing."""
        return recipe_keys.key(self.name.removesuffix(f"-{self.variant}"), self._checked(scale), self.variant)

    def path(self, scale: str) -> Path:
        """Return where the mesh is kept once it is built."""
        return cache.folder() / f"{self.name.replace('/', '-')}-{self._checked(scale)}-{self.key(scale)[:16]}.npz"

    def is_cached(self, scale: str) -> bool:
        """Return whether the mesh lies in the cache, without reading it."""
        return self.path(scale).is_file()

    def build(self, scale: str) -> Path:
        """Build the mesh unless it is cached, and return its file."""
        self.load(scale)
        return self.path(scale)

    def load(self, scale: str):
        """Return the mesh, from the cache when it is there; see `datasets.load`."""
        from datasets.mesh import Mesh

        arrays = cache.fetch(self.path(scale), functools.partial(self._built, scale))
        return Mesh(
            arrays["points"], arrays["cells"], self.cell_type, arrays.get("regions"), self.name, self.title,
            self.stand_in_for,
        )  # fmt: skip

    def own_key(self, path: Path) -> str:
        """Return a hash of the user's file and of what it takes the place of."""
        from datasets import reading

        return reading.key(self, path)

    def own(self, path: Path):
        """Return the user's mesh in a file in the place of this one."""
        from datasets import reading

        return reading.read(self, path)

    def facts(self, scale: str) -> dict[str, Any]:
        """Return counts, valence, non-zeros and quality; see `Mesh.facts`."""
        return self.load(scale).facts()

    def expected(self, scale: str) -> dict[str, Any]:
        """Return what is recorded of the mesh in ``datasets/<paper>/expected.toml``, empty when nothing is."""
        paper, _, mesh = self.name.partition("/")
        recorded = ROOT / paper / "expected.toml"
        if not recorded.exists():
            return {}
        return tomllib.loads(recorded.read_text()).get(mesh, {}).get(self._checked(scale), {})

    def verify(self, scale: str) -> list[str]:
        """Return what is wrong with the mesh, one line each: checks that fail and differences from what is recorded."""
        from datasets import validation

        mesh = self.load(scale)
        try:
            validation.checked(mesh.points, mesh.cells, f"{self.name} at scale {scale}", self.cell_type)
        except MeshError as problem:
            return [str(problem)]
        facts, expected = mesh.facts(), self.expected(scale)
        problems = []
        if not facts["euler_agrees"]:
            problems.append(f"{facts['nonzeros_full']} non-zeros, but {facts['nonzeros_euler']} by Euler's formula")
        if "digest" in expected and mesh.digest() != expected["digest"]:
            problems.append(f"digest {mesh.digest()[:16]}, recorded is {expected['digest'][:16]}")
        for fact, (low, high) in expected.get("ranges", {}).items():
            if not low <= facts[fact] <= high:
                problems.append(f"{fact} is {facts[fact]:g}, outside {low:g} to {high:g}")
        return problems

    def _checked(self, scale: str) -> str:
        if scale not in self.scales:
            raise MeshError(f"{self.name} has no scale {scale!r}; it has {', '.join(self.scales)}")
        return scale

    def _built(self, scale: str) -> dict[str, Any]:
        from datasets import shapes, validation
        from datasets.cells import cell_type

        which = (self._checked(scale), self.variant) if self.variant else (self._checked(scale),)
        points, cells, *labels = self.recipe.build(*which)
        cells = shapes.oriented(points, cells, cell_type(self.cell_type))
        cells = validation.checked(points, cells, f"{self.name} at scale {scale}", self.cell_type)
        return {"points": points, "cells": cells} | ({"regions": labels[0]} if labels else {})


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Return every mesh and matrix that has a recipe, by name."""
    from datasets.matrices_catalogue import MatrixEntry

    found = []
    for path in sorted(ROOT.glob("*/[!_]*.py")):
        name = f"{path.parent.name}/{path.stem}"
        recipe = importlib.import_module(f"datasets.{path.parent.name}.{path.stem}")
        about = {
            "stand_in_for": getattr(recipe, "STAND_IN_FOR", ""), "regions": tuple(getattr(recipe, "REGIONS", ())),
            "cell_type": getattr(recipe, "CELL_TYPE", "tetra"), "recipe": recipe,
        }  # fmt: skip
        if getattr(recipe, "KIND", "mesh") == "matrix":
            found.append(MatrixEntry(name, recipe.TITLE, tuple(recipe.SCALES), about["stand_in_for"], recipe=recipe))
        elif hasattr(recipe, "VARIANTS"):
            for variant, scales in recipe.VARIANTS.items():
                title = f"{recipe.TITLE} {variant}"
                found.append(Entry(f"{name}-{variant}", title, tuple(scales), variant=variant, **about))
        else:
            found.append(Entry(name, recipe.TITLE, tuple(recipe.SCALES), **about))
    return tuple(sorted(found, key=lambda entry: entry.name))


def entry(name: str) -> Entry:
    """Return the mesh of that name.

    Raises
    ------
    MeshError
        When there is none, with the names that there are.
    """
    for candidate in entries():
        if candidate.name == name:
            return candidate
    raise MeshError(f"there is no dataset {name!r}; there are {', '.join(e.name for e in entries())}")
