"""CSR, one thread a row: the plain kernel (zhang2013, section 3, 'scalar').

On an H200 rows lie side by side, so that neighbouring threads read far from one another and whole sectors are read for
a part of them. Where rows are very unequal few warps are left, waiting for the longest. Both are why the other formats
exist. Notes: docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv._matrix import REAL, Matrix

SOURCE, BLOCK = Path(__file__).with_name("csr_scalar.c"), 256
BUILDS = [(SOURCE, BLOCK, {"real": real}) for real in REAL.values()]


class Packed(Matrix):
    """CSR as it comes."""

    def plan(self, csr):
        self.stored = csr.nonzeros

    def fill(self, csr):
        self.hold(row_offsets=csr.row_offsets, columns=csr.columns, values=csr.values)
        self.kernel = self.build(SOURCE, BLOCK, {}).csr_scalar

    def enqueue(self, x, y, alpha, beta):
        rows = self.shape[0]
        self.kernel(-(-rows // BLOCK), rows, alpha, beta, *self.arrays.values(), x, y)
