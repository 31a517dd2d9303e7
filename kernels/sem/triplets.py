"""Sums of triplets to a sparse matrix, in the order in which they are given: the same bits every time, on a GPU too."""

from __future__ import annotations

from kernels.sem import gather

BLOCK = gather.BLOCK


def summed(device, values, rows, columns, size: int):
    """Return a square matrix from triplets, values of one place added up: CSR of `device.sparse`, columns sorted.

    Parameters
    ----------
    device : kernels.device.Device
    values : (entries,) float64 of the device's namespace
    rows, columns : (entries,) int
    size : int
    """
    xp = device.xp
    keys = rows.astype("int64") * size + columns
    order = xp.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = xp.ones(len(keys), dtype=bool)
    is_first[1:] = keys[1:] != keys[:-1]
    first = xp.flatnonzero(is_first)
    offsets = xp.concatenate([first, xp.full(1, len(keys), dtype=first.dtype)]).astype("int32")
    keys = keys[first]
    found = device.empty(len(first), "float64")
    arrays = [device.array(array) for array in (offsets, order.astype("int32"), xp.ascontiguousarray(values))]
    kernels = device.build(*gather.build("float64"))
    kernels.gather(-(-len(first) // BLOCK), len(first), *arrays, found)
    starts = xp.zeros(size + 1, dtype="int32")
    starts[1:] = xp.cumsum(xp.bincount(keys // size, minlength=size))
    data = found if device.backend == "cuda" else device.to_host(found)
    return device.sparse.csr_matrix((data, (keys % size).astype("int32"), starts), shape=(size, size))
