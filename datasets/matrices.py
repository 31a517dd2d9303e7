"""A sparse matrix of the catalogue, or the user's own in its place: compressed sparse rows that nobody changes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets.errors import MatrixError

if TYPE_CHECKING:
    import scipy.sparse

LARGEST = 2**31 - 1  # rows, columns and entries: indices are 32 bits wide
BLOCKS = range(2, 9)
FULL = 0.8  # share of a block's places that are taken where a matrix is said to consist of blocks


@dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse matrix whose arrays are read-only.

    Attributes
    ----------
    csr : scipy.sparse.csr_matrix of float64
        Sorted columns without duplicates, 32-bit indices; entries that are zero in the file are kept.
    name : str
        As in ``wong2015/cantilever``.
    title : str
        Its name in tables and plots; of a stand-in it says that it is one.
    stand_in_for : str
        The matrix that this one stands in for; empty when it is the public one or the user's own.
    """

    csr: scipy.sparse.csr_matrix
    name: str = ""
    title: str = ""
    stand_in_for: str = ""
    _remembered: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        csr = checked(self.csr, self.title or self.name or "the matrix")
        for array in (csr.indptr, csr.indices, csr.data):
            array.flags.writeable = False
        object.__setattr__(self, "csr", csr)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.csr.shape

    @property
    def nonzeros(self) -> int:
        """Entries that are kept."""
        return int(self.csr.nnz)

    @property
    def row_lengths(self) -> np.ndarray:
        """Entries of each row, shape (rows,)."""
        return np.diff(self.csr.indptr)

    def __repr__(self):
        return f"Matrix({self.name!r}, {self.shape[0]:,} x {self.shape[1]:,}, {self.nonzeros:,} non-zeros)"

    def digest(self) -> str:
        """Return the SHA-256 of shape, structure and values, in hexadecimal; names do not count."""
        if "digest" not in self._remembered:
            state = hashlib.sha256(f"csr {self.shape}\n".encode())
            for array, dtype in ((self.csr.indptr, "<i4"), (self.csr.indices, "<i4"), (self.csr.data, "<f8")):
                state.update(np.ascontiguousarray(array, dtype=dtype).data)
            self._remembered["digest"] = state.hexdigest()
        return self._remembered["digest"]

    def facts(self) -> dict[str, Any]:
        """Return counts and structure as plain numbers.

        Returns
        -------
        dict
            ``rows``, ``columns``, ``nonzeros``; ``row_length_min``, ``row_length_max``, ``row_length_mean`` and
            ``row_length_deviation``, the standard deviation; ``empty_rows``; ``bandwidth``, the largest distance of an
            entry from the diagonal; ``pattern_symmetric``; ``block``, the edge of the largest square blocks, from 2 to
            8, of which at least 80 % of the places are taken, 1 where there are none; ``block_fill``, that share.
        """
        if "facts" not in self._remembered:
            lengths = self.row_lengths
            rows = np.repeat(np.arange(self.shape[0]), lengths)
            block, fill = self._blocks(rows)
            self._remembered["facts"] = {
                "rows": self.shape[0], "columns": self.shape[1], "nonzeros": self.nonzeros,
                "row_length_min": int(lengths.min()), "row_length_max": int(lengths.max()),
                "row_length_mean": self.nonzeros / self.shape[0], "row_length_deviation": float(lengths.std()),
                "empty_rows": int((lengths == 0).sum()),
                "bandwidth": int(np.abs(rows - self.csr.indices).max()) if self.nonzeros else 0,
                "pattern_symmetric": self._is_symmetric(), "block": block, "block_fill": fill,
            }  # fmt: skip
        return dict(self._remembered["facts"])

    def _is_symmetric(self):
        if self.shape[0] != self.shape[1]:
            return False
        turned = self.csr.T.tocsr()
        return np.array_equal(turned.indptr, self.csr.indptr) and np.array_equal(turned.indices, self.csr.indices)

    def _blocks(self, rows):
        import scipy.sparse

        for edge in reversed(BLOCKS):
            places = (rows // edge, self.csr.indices // edge)
            shape = tuple(-(-count // edge) for count in self.shape)
            blocks = scipy.sparse.coo_matrix((np.ones(self.nonzeros, dtype=np.int32), places), shape=shape).tocsr()
            fill = self.nonzeros / max(edge * edge * blocks.nnz, 1)
            if fill >= FULL:
                return edge, fill
        return 1, 1.0


def checked(matrix: Any, source: str) -> scipy.sparse.csr_matrix:
    """Return a matrix as CSR with sorted columns, duplicates summed, 32-bit indices and float64 values.

    Raises
    ------
    MatrixError
        When it has no rows, no columns or no entries, too many of them, or values that are not finite; the message
        names the first.
    """
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise MatrixError(f"{source}: it is no sparse matrix but {type(matrix).__name__}")
    if not min(matrix.shape) or not matrix.nnz:
        raise MatrixError(f"{source}: it is empty: {matrix.shape[0]} x {matrix.shape[1]} with {matrix.nnz} entries")
    if max(*matrix.shape, matrix.nnz) > LARGEST:
        raise MatrixError(f"{source}: it has {matrix.nnz:,} entries, more than 32-bit indices can count")
    csr = scipy.sparse.csr_matrix(matrix, dtype=np.float64, copy=not matrix.format == "coo")
    csr.sum_duplicates()
    csr.indptr, csr.indices = (np.ascontiguousarray(a, dtype=np.int32) for a in (csr.indptr, csr.indices))
    finite = np.isfinite(csr.data)
    if not finite.all():
        entry = int(np.argmin(finite))
        row = int(np.searchsorted(csr.indptr, entry, side="right")) - 1
        place = f"row {row + 1}, column {csr.indices[entry] + 1}"
        raise MatrixError(f"{source}: its value in {place} is {csr.data[entry]}, which is no finite number")
    return csr
