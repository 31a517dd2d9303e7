"""The paper's patchSPM: a level's matrix as inside, boundary and diagonal, A = A_I + A_B + A_D (fu2014, section 5.2.2).

The inside A_I has the entries between rows of one patch, in one of four formats with 16-bit indices. `symcoo` is the
paper's choice, `ell` and `csr` its rivals. `half` is an addition: it stores as little as `symcoo`, but a row keeps the
entries that it owns in registers and hands their transposed products to the other row's own slots in shared memory, so
that nothing is added atomically and results are the same bits every time. On an H200 it relaxes fastest: `symcoo` is
bound by atomic additions in shared memory, which are loops of compare and swap there. Notes: docs/notes/amg.md.

The boundary A_B, which the paper has in COO, is sorted by patch and row here and needs no atomics either.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.amg.arrays import blocks, host_ints
from kernels.amg.primitives import exclusive_sum, largest_of, row_lengths

SOURCE = Path(__file__).with_name("patch_matrix.c")
INSIDES = ("symcoo", "half", "ell", "csr")
INDEX = {"symcoo": "uint", "half": "uint", "ell": "ushort", "csr": "ushort"}
REAL = {"float32": "float", "float64": "double"}
BLOCKS = (*range(32, 512, 32), *range(512, 1025, 64))  # threads: as many as a patch has rows, whole warps
SLICE, HEADER, SLICE_NUMBERS = 32, 8, 4
FIRST, ROWS, FIRST_ENTRY, ENTRIES, FIRST_SLICE, SLOTS, BOUNDARY_ROWS = range(7)  # of a header
MOST_LOCAL = 1 << 16
ROW_ARRAYS = 4  # values of a row in shared memory
POOL_STEP = 1024  # of further values there, so that builds are few


def block_for(rows: int) -> int:
    """Return the threads of a block for patches of at most so many rows.

    Raises
    ------
    ValueError
        When they are too many.
    """
    for block in BLOCKS:
        if block >= rows:
            return block
    raise ValueError(f"a patch of {rows} rows; the most is {BLOCKS[-1]}")


def defines(inside: str, real: str) -> dict:
    """Return the defines of a build of the packing kernels, which the relaxation kernels share."""
    return {"INSIDE": INSIDES.index(inside), "index": INDEX[inside], "real": real}


def builds(inside: str, dtype: str, block: int) -> list[tuple]:
    """Return what is built to pack a matrix whose patches have at most `block` rows."""
    return [(SOURCE, block, defines(inside, REAL[dtype]))]


BUILDS = [
    *((SOURCE, 128, defines(inside, "float")) for inside in INSIDES),
    (SOURCE, 1024, defines("half", "double")),
]


class TooLarge(ValueError):
    """A patch that a format cannot hold in shared memory, or count with its indices."""


@dataclass(frozen=True)
class PatchMatrix:
    """A packed matrix; device arrays in the order of the kernels' arguments.

    Attributes
    ----------
    inside : {'symcoo', 'half', 'ell', 'csr'}
    dtype : str
    rows, patches, block : int
        Rows, patches, and the threads of a block: at least the rows of the largest patch.
    headers : (patches, 8) int32
        First row, rows, first entry and entries inside, first slice, slots, rows with entries in the boundary.
    order : (rows,) uint16
        Row of the patch in each place of its slices; with `csr` its first entry, counted within the patch.
    slices : (slices, 4) int32
        First entry, width and first slot of each 32 rows; unused by `symcoo` and `csr`. Of the boundary, first entry,
        width, first row of the patch, and place in it with the number of rows.
    values, columns : arrays
        Of the inside. A column has 16 bits; in `symcoo` with its row, in `half` with its slot, in 32. In slices it is
        a place, else a row of the patch.
    incoming : (rows,) uint16
        With `half`, products that the row in each place is handed.
    boundary_order, boundary_slices, boundary_values, boundary_columns : arrays
        The same of the boundary, with columns of 32 bits.
    diagonal : (rows,) array
        With slices in the order of `order`.
    most_entries, most_slots, widest : int
        Of a patch, of a patch, and of a slice.
    nonzeros_inside, nonzeros_boundary : int
        Entries of A_I and A_B, both halves counted.
    """

    inside: str
    dtype: str
    rows: int
    patches: int
    block: int
    headers: Any
    order: Any
    slices: Any
    values: Any
    columns: Any
    incoming: Any
    boundary_order: Any
    boundary_slices: Any
    boundary_values: Any
    boundary_columns: Any
    diagonal: Any
    most_entries: int
    most_slots: int
    widest: int
    nonzeros_inside: int
    nonzeros_boundary: int

    @property
    def bytes_inside(self) -> int:
        """Bytes that a relaxation reads of A_I, with the order and the sizes of rows and slices."""
        read = [self.headers, self.values, self.columns]
        if self.inside != "symcoo":
            read.append(self.order)
        if self.inside in ("half", "ell"):
            read.append(self.slices)
        if self.inside == "half":
            read.append(self.incoming)
        return sum(int(array.nbytes) for array in read)

    @property
    def bytes_boundary(self) -> int:
        """Bytes that a product with A_B reads."""
        read = self.boundary_values, self.boundary_columns, self.boundary_slices
        return sum(int(array.nbytes) for array in read)

    @property
    def least_bytes_inside(self) -> int:
        """Bytes of one half of A_I in the most compact of the formats: a value and two indices of 16 bits."""
        return self.nonzeros_inside // 2 * (np.dtype(self.dtype).itemsize + 4)

    @property
    def fraction_inside(self) -> float:
        """Off-diagonal entries within patches over all of them."""
        return self.nonzeros_inside / max(1, self.nonzeros_inside + self.nonzeros_boundary)


def fastest(device) -> str:
    """Return the format that relaxes fastest on a device, of the formats that were compared.

    A processor's block is a loop over its threads and has no registers to keep rows in. The C back end takes eight rows
    of `ell` at once; PoCL's compare-and-swap leaves `csr` the fastest there.
    """
    return "half" if device.is_gpu else "ell" if device.backend == "openmp" else "csr"


def shared_values(inside: str, dtype: str, entries: int, slots: int) -> int:
    """Return how many values relaxation needs in shared memory beside a patch's rows, in coarse steps."""
    if inside == "half":
        return -(-(slots + 1) // POOL_STEP) * POOL_STEP
    if inside == "csr":
        stepped = -(-max(entries, 1) // POOL_STEP) * POOL_STEP
        return stepped + stepped * 2 // np.dtype(dtype).itemsize
    return 0


def namespaced(device, array):
    """Return a kernel's array as one of the device's namespace; nothing is copied but from an OpenCL GPU."""
    return array if device.backend == "cuda" else device.to_host(array)


def pack(
    device, matrix, patch_offsets, inside: str = "half", dtype: str = "float32", largest_patch: int | None = None
) -> PatchMatrix:
    """Pack a symmetric matrix whose patches are contiguous.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse CSR array of `device.sparse`, (n, n) float64
        With sorted columns.
    patch_offsets : (patches + 1,) int array of `device.xp`
    inside : {'symcoo', 'half', 'ell', 'csr'}
    dtype : {'float32', 'float64'}
    largest_patch : int, optional
        Its rows, where they are known: or else the device is asked.

    Raises
    ------
    TooLarge
        When the format cannot hold a patch; `ell` holds all of up to 1024 rows.
    ValueError
        For another format, or a patch of more rows.
    """
    if inside not in INSIDES:
        raise ValueError(f"{inside!r} is none of {', '.join(INSIDES)}")
    n, patches = matrix.shape[0], patch_offsets.size - 1
    patch_offsets = device.array(patch_offsets, np.int32)
    block = block_for(largest_patch or largest_of(device, row_lengths(device, patch_offsets)))
    kernels = device.build(SOURCE, block=block, defines=defines(inside, REAL[dtype]))

    count = patches * (block // SLICE)
    headers = device.empty((patches, HEADER), np.int32)
    kernels.begin(blocks(patches, block), patches, patch_offsets, headers)
    order, incoming, boundary_order = (device.empty(n, np.uint16) for _ in range(3))
    slices, boundary_slices = (device.empty((count, SLICE_NUMBERS), np.int32) for _ in range(2))
    pattern = device.array(matrix.indptr, np.int32), device.array(matrix.indices, np.int32)
    owned = device.empty(matrix.nnz, np.uint16) if inside == "half" else None
    kernels.sort_rows(patches, *pattern, headers, order, incoming, slices, boundary_order, boundary_slices, owned)

    found, entries = device.zeros(6, np.int32), device.empty(patches, np.int32)
    counts = [device.empty(count, np.int32) for _ in range(2)]
    kernels.count_stored(blocks(count, block), count, headers, slices, boundary_slices, entries, *counts, found)
    sums = [
        exclusive_sum(device, sizes, totals=found, place=place)[0] for place, sizes in enumerate((entries, *counts), 3)
    ]
    most_entries, most_slots, widest, stored, in_slices, boundary_total = host_ints(device, found)
    shared = ROW_ARRAYS * block + shared_values(inside, dtype, most_entries, most_slots)
    needed = shared * np.dtype(dtype).itemsize
    if needed > device.shared_bytes or (max(most_slots, most_entries) >= MOST_LOCAL and inside in ("half", "csr")):
        raise TooLarge(f"a patch of {most_entries} entries inside is too large for {inside} and the {needed} bytes "
                       f"of shared memory it needs")  # fmt: skip
    kernels.place_slices(blocks(count, block), count, *sums, headers, slices, boundary_slices)
    total = stored if inside in ("symcoo", "csr") else in_slices
    values, boundary_values, diagonal = (device.empty(size, dtype) for size in (total, boundary_total, n))
    columns = device.empty(total, np.uint16 if INDEX[inside] == "ushort" else np.uint32)
    boundary_columns = device.empty(boundary_total, np.int32)
    kernels.fill(
        patches, *pattern, device.array(matrix.data, np.float64), headers, order, slices, boundary_order,
        boundary_slices, values, columns, boundary_values, boundary_columns, diagonal, owned,
    )  # fmt: skip
    if not device.is_gpu:
        device.synchronize()  # the queue may still read the matrix, whose arrays are the caller's
    halves = 2 if inside in ("symcoo", "half") else 1
    return PatchMatrix(
        inside, dtype, n, patches, block, headers, order, slices, values, columns, incoming, boundary_order,
        boundary_slices, boundary_values, boundary_columns, diagonal, most_entries, most_slots, widest,
        nonzeros_inside=halves * stored, nonzeros_boundary=matrix.nnz - halves * stored - n,
    )  # fmt: skip
