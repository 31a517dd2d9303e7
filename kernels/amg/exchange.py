"""Exchange of aggregates between patches until none weighs more than it may: fu2014, section 5.2.1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, Groups, blocks, built
from kernels.amg.primitives import largest_of

SOURCE = Path(__file__).with_name("exchange.c")
BUILDS = [(SOURCE, BLOCK, {})]
LEAST_SCORE = -(1 << 28)
ROUNDS, MOST_ROUNDS = 4, 32  # between looks at the heaviest patch, and in all


def exchanged(device, graph: Csr, patches: Groups, weights, limit: int) -> Groups:
    """Return the patches after exchanges; after `MOST_ROUNDS` some may still be too heavy.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        The induced graph of aggregates.
    patches : Groups
        Of aggregates; its arrays are changed.
    weights : (aggregates,) int32
        Nodes of each aggregate.
    limit : int
        The most nodes of a patch.
    """
    if patches.heaviest <= limit:
        return patches
    kernels, n, count = built(device, SOURCE), graph.rows, patches.count
    target, score = device.empty(n, np.int32), device.empty(n, np.int32)
    best, winner = device.empty(count, np.int32), device.empty(count, np.int32)
    device.fill(best, LEAST_SCORE)
    device.fill(winner, -1)
    for _ in range(MOST_ROUNDS // ROUNDS):
        for _ in range(ROUNDS):
            kernels.propose(
                blocks(n), n, graph.offsets, graph.columns, graph.weights, weights, patches.labels, patches.sizes,
                limit, target, score, best,
            )  # fmt: skip
            kernels.elect(blocks(n), n, patches.labels, target, score, best, winner)
            kernels.move(blocks(count), count, target, weights, patches.labels, patches.sizes, best, winner)
        heaviest = largest_of(device, patches.sizes)
        if heaviest <= limit:
            break
    return replace(patches, heaviest=heaviest)
