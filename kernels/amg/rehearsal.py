"""Small copies of the set-up's calls to the device's namespace, so that CuPy compiles and loads in time."""

from __future__ import annotations

import functools

from kernels.spmv._csr import Csr, starts


@functools.cache
def rehearse(device) -> None:
    """Begin each of the steps for which CuPy compiles kernels or loads libraries, once for a device."""
    xp = device.xp

    def ints(*values):
        return xp.asarray(values, dtype="int32")

    def reals():
        return xp.zeros(2, dtype="float64")

    steps = (
        lambda: device.sparse.csr_matrix((2, 2), dtype="float64"),
        lambda: device.fill(ints(0, 0), 1),
        lambda: reals()[ints(0, 1)],
        lambda: reals().astype("float32"),
        lambda: Csr((2, 2), ints(0, 1, 2), ints(0, 1), reals(), xp).longest,
        lambda: starts(ints(0, 1), xp, "int32"),
    )
    for step in steps:
        device.rehearse(step)
