"""Small dense blocks: how many each row of blocks has, their layout in slices, and the kernel that fills it."""

from __future__ import annotations

from pathlib import Path

from kernels.spmv._csr import Csr, Unsuitable
from kernels.spmv._matrix import INDEX_BYTES, Matrix

SOURCE, BLOCK = Path(__file__).with_name("blocks.c"), 128
BUILDS = [
    (SOURCE, BLOCK, {"real": real, "SIZE": size, "SORTED": 3 - size}) for real, size in (("double", 3), ("float", 2))
]
SIZES = (3, 2)  # of elasticity in space and in the plane


class BlockMatrix(Matrix):
    """A format of square blocks in slices of block rows, which a subclass cuts."""

    def plan(self, csr, size: int | None = None, max_fill: float | None = None, **options):
        """Lay out blocks.

        Parameters
        ----------
        size : int, optional
            Rows and columns of a block; by default of `SIZES` what stores least.
        max_fill : float, optional
            Most values in blocks for an entry of the matrix; by default as many as a format without blocks stores in
            the same bytes.
        """
        best, reasons = None, []
        for candidate in SIZES if size is None else (size,):
            try:
                blocks = self._counted(csr, candidate, max_fill)
            except Unsuitable as refused:
                reasons.append(str(refused))
                continue
            entry_bytes = self.dtype.itemsize * candidate**2 + INDEX_BYTES
            slices = self.cut(blocks, entry_bytes, csr.xp, **options)
            if best is None or slices.entries * entry_bytes < best[0]:
                best = (slices.entries * entry_bytes, candidate, slices)
        if best is None:
            raise Unsuitable("; ".join(reasons))
        _, self.size, self.slices = best
        self.stored = self.slices.entries * self.size**2
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES / self.size**2

    def cut(self, blocks, entry_bytes, xp):
        """Return the slices of block rows with these numbers of blocks."""
        raise NotImplementedError

    def _counted(self, csr: Csr, size: int, max_fill: float | None):
        """Return the blocks of each block row, int32; Unsuitable when they do not suit."""
        device, (rows, columns) = self.device, csr.shape
        if size < 1 or rows % size or columns % size:
            raise Unsuitable(f"{rows} × {columns} is not made of {size} × {size} blocks")
        counts = device.zeros(rows // size, "int32")
        count = self._kernels(size, False).count_blocks
        given = [device.array(array) for array in (csr.row_offsets, csr.columns)]
        count(-(-rows // (size * BLOCK)), rows // size, *given, counts)
        counts = counts if device.backend == "cuda" else device.to_host(counts)
        if max_fill is None:
            item = self.dtype.itemsize
            max_fill = (item + INDEX_BYTES) / (item + INDEX_BYTES / size**2)
        fill = int(counts.sum()) * size**2 / max(1, csr.nonzeros)
        if fill > max_fill:
            raise Unsuitable(f"{size} × {size} blocks would hold {fill:.2f} values for an entry of the matrix, "
                             f"more than {max_fill:.2f}")  # fmt: skip
        return counts

    def _kernels(self, size, is_sorted):
        return self.build(SOURCE, BLOCK, {"SIZE": size, "SORTED": int(is_sorted)})

    def fill(self, csr):
        device, slices, size = self.device, self.slices, self.size
        columns, values = device.empty(slices.entries, "int32"), device.empty(self.stored, self.dtype)
        given = [device.array(array) for array in (csr.row_offsets, csr.columns, csr.values)]
        offsets = device.array(slices.offsets)
        order = None if slices.order is None else device.array(slices.order)
        fill = self._kernels(size, slices.order is not None).fill_blocks
        fill(-(-slices.slots // BLOCK), slices.slots, slices.size, csr.shape[0] // size, offsets, order, *given,
             columns, values)  # fmt: skip
        self.hold(columns=columns, values=values)
