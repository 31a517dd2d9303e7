"""Matrices in the catalogue: the public one where it has been downloaded, else its stand-in, or one's own.

A recipe of a matrix is a module with

- ``KIND = "matrix"``, ``TITLE`` and ``SCALES``, as for a mesh (`datasets.recipes`);
- ``build(scale)``, which returns a sparse matrix of SciPy's;
- ``STAND_IN_FOR``, what that stands in for, where it is not the paper's own;
- ``COLLECTION``, the public matrix's group and name in the SuiteSparse collection, and ``COUNTS``, what the paper says
  of it, of the names of `Matrix.facts`: the public one and the stand-in at scale ``paper`` are held to it;
- no scales and no ``build`` where the matrix is the user's own or none;
- ``REAL_PART = True``, where the public one is complex and its real part is taken.

Nothing is downloaded unless `MatrixEntry.download` is called. From then on the scale ``paper`` is the public matrix:
its key, its digest and its title tell it from the stand-in.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from datasets import cache, matrices_reading
from datasets.errors import DownloadError, MatrixError
from datasets.matrices import Matrix
from datasets.recipes import Entry
from repro.model import Skip

COLLECTION = "https://sparse.tamu.edu/MM"
MIRROR = "REPRO_SUITESPARSE"  # environment variable: the address of another copy of the collection
PUBLIC_SCALE = "paper"
PUBLIC = "public-"  # begins the key of a matrix that was downloaded: what is stored of it is of no stand-in


class MatrixEntry(Entry):
    """A matrix of the catalogue; see `Entry`."""

    kind = "matrix"
    public_scales = (PUBLIC_SCALE,)

    @property
    def address(self) -> str:
        """Where the public matrix is; empty when there is none."""
        public = getattr(self.recipe, "COLLECTION", "")
        return f"{os.environ.get(MIRROR, COLLECTION).rstrip('/')}/{public}.tar.gz" if public else ""

    @property
    def public_path(self) -> Path:
        """Return where the public matrix is kept once it is downloaded."""
        counts = hashlib.sha256(repr((self.recipe.COLLECTION, sorted(self.recipe.COUNTS.items()))).encode())
        return cache.folder() / f"{self.name.replace('/', '-')}-public-{counts.hexdigest()[:16]}.npz"

    @property
    def packages(self) -> tuple[str, ...]:
        return (*super().packages, *["download"] * bool(self.address)) if self.scales else ()

    def is_public(self, scale: str) -> bool:
        """Return whether this scale is the public matrix, which has been downloaded, and not a stand-in."""
        return scale == PUBLIC_SCALE and bool(self.address) and self.public_path.is_file()

    def key(self, scale: str) -> str:
        """Return the hash of everything the matrix is made from; builds nothing, downloads nothing."""
        if not self.scales:
            return hashlib.sha256(self.name.encode()).hexdigest()
        if not self.is_public(scale):
            return super().key(scale)
        return PUBLIC + hashlib.sha256(f"{self.name} {scale} public {self._archive()}".encode()).hexdigest()

    def path(self, scale: str) -> Path:
        """Return where the matrix is kept once it is there."""
        return self.public_path if self.is_public(scale) else super().path(scale)

    def download(self) -> Path:
        """Download the public matrix into the cache, check it, and return its file.

        Raises
        ------
        DownloadError
            When there is none, when it does not arrive, or when it is not the paper's.
        """
        from datasets import download

        if not self.address:
            raise DownloadError(f"{self.name} is not in a public collection")
        if cache.read(self.public_path) is None:
            self.public_path.unlink(missing_ok=True)
            cache.fetch(self.public_path, functools.partial(self._downloaded, download.fetch))
        return self.public_path

    def load(self, scale: str) -> Matrix:
        """Return the matrix, from the cache when it is there; see `datasets.load`."""
        if not self.scales:
            raise Skip("no matrix of your own is given", f"--matrix {self.name}=FILE.mtx")
        if not self.is_public(scale):
            return self.stand_in(scale)
        arrays = cache.read(self.public_path)
        if arrays is None:
            raise self._damaged()
        part = ", real part" if self._real_part else ""
        return Matrix(_csr(arrays), self.name, f"{self.short_title} ({self.recipe.COLLECTION}{part})")

    def stand_in(self, scale: str) -> Matrix:
        """Return what stands in for the public matrix, even where that has been downloaded."""
        arrays = cache.fetch(super().path(scale), functools.partial(self._built, scale))
        return Matrix(_csr(arrays), self.name, self.title, self.stand_in_for)

    def own_key(self, path: Path) -> str:
        """Return a hash of the user's file and of what it takes the place of."""
        return matrices_reading.key(self, path)

    def own(self, path: Path) -> Matrix:
        """Return the user's matrix in the place of this one."""
        return matrices_reading.read(self, path)

    def verify(self, scale: str) -> list[str]:
        """Return what is wrong with the matrix, one line each."""
        matrix = self.load(scale)
        problems = self._differences(matrix) if scale == PUBLIC_SCALE else []
        recorded = self.expected(scale).get("digest", matrix.digest())
        if not self.is_public(scale) and matrix.digest() != recorded:
            problems.append(f"digest {matrix.digest()[:16]}, recorded is {recorded[:16]}")
        return problems

    @property
    def _real_part(self):
        return getattr(self.recipe, "REAL_PART", False)

    def _built(self, scale: str) -> dict[str, Any]:
        csr = Matrix(self.recipe.build(self._checked(scale)), title=f"{self.name} at scale {scale}").csr
        return _arrays(csr)

    def _downloaded(self, fetch):
        """Return the arrays of the public matrix; the archive is dropped once they are kept."""
        archive = self.public_path.with_name(f"{self.recipe.COLLECTION.replace('/', '-')}.tar.gz")
        read = {}

        def check(path):
            matrix = Matrix(matrices_reading.matrix(path, self._real_part))
            problems = self._differences(matrix)
            if problems:
                raise MatrixError(f"{self.recipe.COLLECTION}: {'; '.join(problems)}")
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            read.update(_arrays(matrix.csr), archive=np.frombuffer(digest, dtype=np.uint8))

        fetch(self.address, archive, check)
        archive.unlink()
        return read

    def _archive(self):
        """Return the SHA-256 of the archive that the public matrix came in."""
        try:
            with self.public_path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return arrays["archive"].tobytes().hex()
        except Exception as problem:
            raise self._damaged() from problem

    def _damaged(self):
        again = f"repro data build --download --scale {PUBLIC_SCALE} {self.name}"
        return MatrixError(f"the downloaded matrix {self.public_path} is damaged; fetch it again: {again}")

    def _differences(self, matrix):
        """Return how a matrix differs from what the paper says of it.

        The paper gives the least length of the rows that are not empty.
        """
        lengths = matrix.row_lengths
        found = {
            "rows": matrix.shape[0], "nonzeros": matrix.nonzeros, "row_length_min": int(lengths.min()),
            "row_length_max": int(lengths.max()),
        }  # fmt: skip
        counts = getattr(self.recipe, "COUNTS", {})
        if not found["row_length_min"]:
            found["row_length_min"] = int(lengths[lengths > 0].min())
        return [
            f"{fact} is {found[fact]:,}, in the paper {count:,}"
            for fact, count in counts.items()
            if found[fact] != count
        ]


def _arrays(csr):
    return {
        "row_offsets": csr.indptr, "columns": csr.indices, "values": csr.data, "shape": np.array(csr.shape),
    }  # fmt: skip


def _csr(arrays):
    import scipy.sparse

    shape = tuple(int(count) for count in arrays["shape"])
    return scipy.sparse.csr_matrix((arrays["values"], arrays["columns"], arrays["row_offsets"]), shape=shape)
