"""cuSPARSE, CSR of square blocks."""

from __future__ import annotations

from baselines.spmv._cusparse import GenericMatrix
from baselines.spmv._rival import INDEX_BYTES
from repro import Skip

BACKEND = "cuda"


class Packed(GenericMatrix):
    """Blocks whose values stand row by row.

    Parameters
    ----------
    size : int
        Rows and columns of a block.
    """

    algorithm = "BSR_ALG1"

    def describe(self, row_offsets, columns, values, size: int = 3):
        xp, (rows, width) = self.xp, self.shape
        if rows % size or width % size:
            raise Skip(f"{rows} × {width} is not made of {size} × {size} blocks")
        entry = xp.arange(columns.size, dtype="int32")
        row = xp.searchsorted(row_offsets[1:], entry, side="right").astype("int32")
        keys = (row // size).astype("int64") * (width // size) + columns // size
        blocks, block = xp.unique(keys, return_inverse=True)
        self.stored = blocks.size * size**2
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES / size**2
        block_values = xp.zeros(self.stored, dtype=self.dtype)
        block_values[(block.astype("int64") * size + row % size) * size + columns % size] = values
        block_rows = xp.searchsorted(blocks // (width // size), xp.arange(rows // size + 1))
        self.arrays = {
            "row_offsets": block_rows.astype("int32"),
            "columns": (blocks % (width // size)).astype("int32"),
            "values": block_values,
        }
        pointers = (array.data.ptr for array in self.arrays.values())
        sizes = (rows // size, width // size, blocks.size, size, size)
        order = int(self.library.Order.ROW)
        return self.library.create_bsr(*sizes, *pointers, *self.index, int(self.type), order)
