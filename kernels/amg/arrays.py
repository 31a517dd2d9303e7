"""Sparse matrices, graphs and groups as arrays of a device, and what the set-up's modules launch kernels with."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

BLOCK = 256  # threads a block where nothing speaks for another number


@dataclass(frozen=True)
class Csr:
    """A sparse matrix or graph as arrays of the device.

    Attributes
    ----------
    shape : (int, int)
    offsets : (rows + 1,) int32
    columns : (entries,) int32
    values : (entries,) float64, or None
    weights : (entries,) int32, or None
        Adjacency of a graph; None counts each entry once.
    """

    shape: tuple[int, int]
    offsets: Any
    columns: Any
    values: Any = None
    weights: Any = None

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def entries(self) -> int:
        return self.columns.size


@dataclass(frozen=True)
class Groups:
    """A label for each node, the number of labels, the weight of each group, and the weight of the heaviest.

    Behind the weights of groups there may be zeros.
    """

    labels: Any
    count: int
    sizes: Any
    heaviest: int


@functools.cache
def built(device, source, block=BLOCK, **defines):
    """Return the kernels of a source, without reading it again: a set-up asks hundreds of times."""
    return device.build(source, block=block, defines=defines)


def blocks(count: int, block: int = BLOCK) -> int:
    """Return the blocks that hold so many threads or rows."""
    return -(-count // block)


def host_ints(device, array) -> list[int]:
    """Return a small array of counts as a list of ints: the only thing of a set-up that the host sees, and waits for.

    Raises
    ------
    ValueError
        When one of them is a total of `kernels.amg.primitives.exclusive_sum` that 32 bits do not hold.
    """
    found = device.to_host(array).tolist()
    if min(found) < 0:
        raise ValueError("more entries than 32-bit offsets can address")
    return found
