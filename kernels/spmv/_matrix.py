"""Parts of every format: a plan, arrays on the device, and a product.

A format of one's own is a file in this folder::

    class Packed(Matrix):
        \"\"\"One thread a row.\"\"\"

        def plan(self, csr):                             # sizes alone; raise Unsuitable for what cannot be held
            self.stored = csr.nonzeros

        def fill(self, csr):                             # arrays by the kernel's argument names, and the kernel
            self.hold(row_offsets=csr.row_offsets, columns=csr.columns, values=csr.values)
            self.kernel = self.build(SOURCE, BLOCK, {}).mine

        def enqueue(self, x, y, alpha, beta):            # y = alpha A x + beta y; beta = 0 must not read y
            self.kernel(-(-self.shape[0] // BLOCK), self.shape[0], alpha, beta, *self.arrays.values(), x, y)
"""

from __future__ import annotations

import numpy as np

from kernels.spmv._csr import Csr, Unsuitable
from repro import Work

REAL = {"float64": "double", "float32": "float"}
INDEX_BYTES = 4
LANES = 32  # rows that a thread of a processor takes in lockstep, so that memory is read in order; a GPU's takes one


class Matrix:
    """A sparse matrix in one format on one device.

    Parameters
    ----------
    device : kernels.device.Device
    csr : Csr
    plan_only : bool
        Only find out whether the format can hold it, and how much it would store.
    **options
        The format's own.

    Attributes
    ----------
    shape : tuple of int
    nonzeros : int
        Entries of the matrix, explicit zeros and all, duplicates summed.
    stored : int
        Values that the format stores for them, with padding.
    arrays : dict
        Arrays that the format keeps on the device.
    entry_bytes : float
        Bytes of a stored value with its share of indices.

    Raises
    ------
    Unsuitable
        When the format cannot hold the matrix.
    """

    def __init__(self, device, csr: Csr, plan_only: bool = False, **options):
        self.device = device
        self.shape, self.nonzeros, self.dtype = csr.shape, csr.nonzeros, np.dtype(csr.values.dtype)
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES
        self.stored = self.nonzeros
        self.arrays = {}
        self.plan(csr, **options)
        needed = self.stored * self.entry_bytes
        if needed > device.memory_bytes:
            raise Unsuitable(
                f"{self.stored} stored values for {self.nonzeros} entries take {needed / 1e9:.1f} GB; "
                f"{device.name} has {device.memory_bytes / 1e9:.1f}"
            )
        if not plan_only:
            self.fill(csr)

    def plan(self, csr: Csr) -> None:
        """Decide the layout from `csr`, set `stored` and `entry_bytes`; raise Unsuitable for what cannot be held."""
        raise NotImplementedError

    def fill(self, csr: Csr) -> None:
        """Pack the arrays and build the kernels."""
        raise NotImplementedError

    def enqueue(self, x, y, alpha: float, beta: float) -> None:
        """Enqueue y = alpha A x + beta y; y is not read when beta is 0."""
        raise NotImplementedError

    def multiply(self, x, y, alpha: float = 1.0, beta: float = 0.0) -> None:
        """Enqueue y = alpha A x + beta y.

        Parameters
        ----------
        x : (columns,) array of the device
        y : (rows,) array of the device
            It must not overlap `x`: the same array is refused, a view of it is not. With beta = 0 what it held does
            not matter, be it NaN.

        Raises
        ------
        ValueError
            For vectors of other sizes, or `x` and `y` the same.
        """
        if (x.size, y.size) != self.shape[::-1]:
            raise ValueError(f"a matrix of shape {self.shape} takes x of {self.shape[1]} and y of {self.shape[0]} "
                             f"numbers, not {x.size} and {y.size}")  # fmt: skip
        if x is y:
            raise ValueError("x and y are the same array")
        self.enqueue(x, y, alpha, beta)

    @property
    def bytes(self) -> int:
        """Bytes of the arrays that the format keeps."""
        return sum(int(array.nbytes) for array in self.arrays.values())

    @property
    def padding(self) -> float:
        """Values stored over entries of the matrix: 1 without padding (zhang2013, Table 2)."""
        return self.stored / self.nonzeros if self.nonzeros else 1.0

    def least_work(self, beta: float = 0.0) -> Work:
        """Return the least that y = alpha A x + beta y moves, in this format and in any; see `Work.of_product`."""
        return Work.of_product(self, beta)

    def hold(self, **arrays) -> None:
        """Keep arrays on the device; set-up arrays become arrays of the device."""
        for name, array in arrays.items():
            self.arrays[name] = self.device.array(array)

    def set_up_array(self, array):
        """Return an array of the device as one of the set-up namespace."""
        return array if isinstance(array, self.device.xp.ndarray) else self.device.to_host(array)

    def build(self, source, block, defines):
        """Return the kernels of a source with `real` defined by the values' type."""
        return self.device.build(source, block=block, defines={"real": REAL[self.dtype.name], **defines})

    @property
    def lanes(self) -> int:
        """Rows that a thread takes in lockstep."""
        return 1 if self.device.is_gpu else LANES

    def __repr__(self):
        rows, columns = self.shape
        return (f"<{type(self).__module__.rpartition('.')[2]} {rows} × {columns}, {self.nonzeros} entries, "
                f"{self.padding:.3g} × stored, {self.dtype}, on {self.device.backend}>")  # fmt: skip
