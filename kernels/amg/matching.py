"""Merging of patches that fit into one: fewer, fuller patches cut fewer edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, Groups, blocks, built, host_ints
from kernels.amg.induced import induced_graph
from kernels.amg.primitives import exclusive_sum, group_members, group_sizes

SOURCE = Path(__file__).with_name("matching.c")
BUILDS = [(SOURCE, BLOCK, {})]
ROUNDS = 6  # of handshakes: the first pairs most
FULL = 0.75  # of the limit: when patches weigh so much in the mean, few pairs are left that fit into one
WORTHWHILE = 0.95  # of the patches may be left, or another pass is not made


def merged(device, graph: Csr, patches: Groups, weights, nodes: int, limit: int) -> Groups:
    """Return the patches after merging pairs of neighbours that together weigh no more than `limit`.

    Not in the paper, whose patches are as large as an independent set of radius one makes them. Fewer patches cut fewer
    entries, and any other `limit` is used as well. Notes: docs/notes/amg.md.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        The induced graph of aggregates.
    patches : Groups
        Of aggregates; its labels are changed.
    weights : (aggregates,) int32
    nodes : int
        The sum of `weights`.
    limit : int
    """
    kernels, n = built(device, SOURCE), graph.rows
    before = float("inf")
    while patches.count < WORTHWHILE * before and nodes < FULL * limit * patches.count:
        count = before = patches.count
        induced = induced_graph(device, graph, patches.labels, group_members(device, patches.labels, count))
        mate, choice, flags = (device.empty(count, np.int32) for _ in range(3))
        device.fill(mate, -1)
        for _ in range(ROUNDS):
            kernels.choose(
                blocks(count), count, induced.offsets, induced.columns, induced.weights, patches.sizes, mate, limit,
                choice,
            )  # fmt: skip
            kernels.pair(blocks(count), count, choice, mate)
        kernels.is_first(blocks(count), count, mate, flags)
        found = device.zeros(2, np.int32)
        numbers, _ = exclusive_sum(device, flags, totals=found, place=1)
        kernels.relabel(blocks(n), n, mate, numbers, patches.labels)
        sizes = group_sizes(device, patches.labels, weights, count, found)
        heaviest, count = host_ints(device, found)
        patches = Groups(patches.labels, count, sizes, heaviest)
    return patches
