"""cuSPARSE, sliced ELLPACK."""

from __future__ import annotations

from baselines.spmv._cusparse import GenericMatrix

BACKEND = "cuda"


class Packed(GenericMatrix):
    """Slices of rows in their own order, stored by columns; a padded column is -1.

    Parameters
    ----------
    slice_size : int
        Rows a slice.
    """

    algorithm = "SELL_ALG1"

    def describe(self, row_offsets, columns, values, slice_size: int = 32):
        xp, rows = self.xp, self.shape[0]
        lengths = row_offsets[1:] - row_offsets[:-1]
        slices = -(-rows // slice_size)
        padded = xp.zeros(slices * slice_size, dtype="int32")
        padded[:rows] = lengths
        offsets = xp.zeros(slices + 1, dtype="int64")
        if rows:
            offsets[1:] = xp.cumsum(slice_size * padded.reshape(slices, slice_size).max(axis=1).astype("int64"))
        self.stored = int(offsets[-1])
        entry = xp.arange(columns.size, dtype="int32")
        row = xp.searchsorted(row_offsets[1:], entry, side="right").astype("int32")
        place = offsets[row // slice_size] + row % slice_size + slice_size * (entry - row_offsets[row]).astype("int64")
        sell_columns = xp.full(self.stored, -1, dtype="int32")
        sell_values = xp.zeros(self.stored, dtype=self.dtype)
        sell_columns[place], sell_values[place] = columns, values
        self.arrays = {"slice_offsets": offsets.astype("int32"), "columns": sell_columns, "values": sell_values}
        pointers = (array.data.ptr for array in self.arrays.values())
        sizes = (self.nonzeros, self.stored, slice_size)
        return self.library.create_sliced_ell(*self.shape, *sizes, *pointers, *self.index, int(self.type))
