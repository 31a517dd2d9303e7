"""Maximal independent sets of radius k, the same on every back end and in every run."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from kernels.amg.primitives import Csr, blocks, host_ints

SOURCE = Path(__file__).with_name("mis.c")
BLOCK = 256
BUILDS = [(SOURCE, BLOCK, {})]
MOST_NODES = 2**30  # hashes have 30 bits
ROUNDS = 4  # between looks at how many nodes are undecided


@functools.cache
def kernels_of(device):
    """Return the kernels of this module on a device."""
    return device.build(SOURCE, block=BLOCK)


def maximal_independent_set(device, graph: Csr, radius: int):
    """Return a flag for every node of a graph: 1 for the roots of a maximal independent set, 0 for others.

    No path of `radius` edges or less joins two roots, and every node is within `radius` of one (section 5.2.1; the
    method is that of Bell, Dalton and Olson 2012). Every round is `radius` passes over the graph; rounds grow as the
    logarithm of the nodes, 13 for 275 k.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        Structurally symmetric; whether nodes are their own neighbours does not matter.
    radius : int
        k, at least 1.

    Returns
    -------
    (nodes,) int32
    """
    if radius < 1:
        raise ValueError(f"radius must be at least 1, not {radius}")
    n = graph.rows
    if n >= MOST_NODES:
        raise ValueError(f"a graph of {n} nodes; hashes of 30 bits tell fewer than {MOST_NODES} apart")
    kernels, grid = kernels_of(device), blocks(n)
    keys, following, one, two = (device.empty(n, np.uint32) for _ in range(4))
    kernels.start(grid, n, keys)
    left = n
    while left:
        for _ in range(ROUNDS):
            undecided = device.zeros(1, np.int32)
            source, target = keys, one
            for _ in range(radius - 1):
                kernels.spread(grid, n, graph.offsets, graph.columns, source, target)
                source, target = target, (two if target is one else one)
            kernels.decide(grid, n, graph.offsets, graph.columns, source, keys, following, undecided)
            keys, following = following, keys
        left = host_ints(device, undecided)[0]
    flags = device.empty(n, np.int32)
    kernels.is_root(grid, n, keys, flags)
    return flags
