"""The matrix that every format packs: CSR with sorted columns and no duplicates, in the set-up arrays of a device."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

LIMIT = 2**31 - 1024  # of 32-bit indices: kernels step past the last by less than the 1023 that are left
DTYPES = ("float64", "float32")


class Unsuitable(ValueError):
    """A format cannot hold a matrix; the message says why."""


@dataclass(frozen=True)
class Csr:
    """A canonical CSR matrix.

    Attributes
    ----------
    shape : tuple of int
    row_offsets : (rows + 1,) int32 array of the device's `xp`
    columns : (nonzeros,) int32
        Ascending in each row, none twice.
    values : (nonzeros,) float64 or float32
    xp : module
    """

    shape: tuple[int, int]
    row_offsets: Any
    columns: Any
    values: Any
    xp: Any

    @property
    def nonzeros(self) -> int:
        return self.columns.size

    @cached_property
    def lengths(self):
        """Entries of each row, int32."""
        return self.row_offsets[1:] - self.row_offsets[:-1]

    @cached_property
    def longest(self) -> int:
        """Entries of the longest row."""
        return int(self.lengths.max()) if self.shape[0] else 0

    @cached_property
    def structure(self) -> str:
        """A digest of where the entries are."""
        digest = hashlib.sha256(str(self.shape).encode())
        for array in (self.row_offsets, self.columns):
            digest.update(on_host(array).tobytes())
        return digest.hexdigest()


def canonical(device, csr, dtype="float64") -> Csr:
    """Return a matrix as `Csr` in the set-up arrays of a device; the given one is not changed.

    Parameters
    ----------
    device : kernels.device.Device
    csr : CSR matrix or array of scipy.sparse or cupyx.scipy.sparse, or Csr
    dtype : {'float64', 'float32'}

    Raises
    ------
    TypeError
        For another kind of matrix.
    Unsuitable
        When rows, columns or entries are beyond 32-bit indices, values are complex, or a column lies outside.
    """
    dtype = np.dtype(dtype)
    if dtype.name not in DTYPES:
        raise TypeError(f"values of {dtype} are not supported: {' or '.join(DTYPES)}")
    if isinstance(csr, Csr):
        return csr if csr.values.dtype == dtype else Csr(
            csr.shape, csr.row_offsets, csr.columns, csr.values.astype(dtype), csr.xp
        )  # fmt: skip
    if getattr(csr, "format", None) != "csr" or len(csr.shape) != 2:
        raise TypeError(f"a CSR matrix of SciPy or CuPy is wanted, not {type(csr).__name__}; matrix.tocsr() makes one")
    if csr.dtype.kind not in "fiub":
        raise Unsuitable(f"values of {csr.dtype} cannot be held as {dtype}")
    check_32_bits("rows", csr.shape[0])
    check_32_bits("columns", csr.shape[1])
    check_32_bits("entries", csr.indices.size)
    xp = device.xp
    if xp is np and hasattr(csr, "get"):
        csr = csr.get()
    # The flag is trusted: who sets it by hand on a matrix that is not canonical gets wrong products from some formats.
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    rows, columns = (int(size) for size in csr.shape)
    row_offsets, indices = (xp.asarray(array, dtype=np.int32) for array in (csr.indptr, csr.indices))
    if indices.size and not (int(indices.min()) >= 0 and int(indices.max()) < columns):
        raise Unsuitable(f"a column index lies outside 0 to {columns - 1}")
    return Csr((rows, columns), row_offsets, indices, xp.asarray(csr.data).astype(dtype, copy=False), xp)


def check_32_bits(what: str, count: int) -> None:
    """Raise Unsuitable when `count` is beyond what a 32-bit index addresses."""
    if count > LIMIT:
        raise Unsuitable(f"{count} {what} are beyond 32-bit indices, which reach {LIMIT}")


def on_host(array) -> np.ndarray:
    """Return a set-up array as NumPy's."""
    return array.get() if hasattr(array, "get") else array


def expand(offsets, xp):
    """Return the segment of every position below ``offsets[-1]``: 0 up to ``offsets[1]``, 1 up to ``offsets[2]``, …"""
    if xp is np:
        return np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    # CuPy's repeat takes no device array of counts.
    return xp.searchsorted(offsets[1:], xp.arange(int(offsets[-1]), dtype=offsets.dtype), side="right").astype(np.int32)


def starts(counts, xp, dtype=np.int64):
    """Return the offsets of consecutive segments of these sizes, with the total last."""
    result = xp.zeros(counts.size + 1, dtype=dtype)
    xp.cumsum(counts, dtype=dtype, out=result[1:])
    return result
