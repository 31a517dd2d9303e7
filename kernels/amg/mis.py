"""Maximal independent sets of radius k, the same on every back end and in every run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, blocks, built, host_ints

SOURCE, LISTS = (Path(__file__).with_name(name) for name in ("mis.c", "mis_lists.c"))
BUILDS = [(SOURCE, BLOCK, {}), (LISTS, 1, {})]  # the second is a processor's
MOST_LISTED = 2  # the largest radius of a set that lists are used for
MANY = 8  # of so many nodes more than one is undecided, where all are looked at to spread keys
PARTS, NODES = 4, 64  # parts a thread, which evens out their work, and the least nodes of a part
MOST_NODES = 2**30  # hashes have 30 bits
# Before the first look at how many nodes are undecided, with seeds, whose rounds have five launches, and without
# them; and between looks.
FIRST_ROUNDS, ROUNDS = (8, 12), 2


def maximal_independent_set(device, graph: Csr, radius: int, seed_radius: int | None = None):
    """Return a flag for every node of a graph: 1 for the roots of a maximal independent set, 0 for others.

    No path of `radius` edges or less joins two roots, and every node is within `radius` of one (section 5.2.1, by
    the method of Bell, Dalton and Olson 2012). Random roots leave gaps of all sizes. With `seed_radius` the set
    grows from seeds that are as far apart, nodes with most neighbours covered first, and is packed as densely as one
    that is chosen node by node: on the Regular mesh 13.0 k roots where hashes alone find 10.5 k and the order of nodes
    13.7 k, in fewer rounds.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        Structurally symmetric; whether nodes are their own neighbours does not matter.
    radius : int
        k, at least 1.
    seed_radius : int, optional
        Radius of independence of the first roots, at least `radius`; by default keys are hashes alone.

    Returns
    -------
    (nodes,) int32
    """
    return next(flags for flags, found in rounds(device, graph, radius, seed_radius) if not host_ints(device, found)[0])


def rounds(device, graph: Csr, radius: int, seed_radius: int | None = None):
    """Yield flags of `maximal_independent_set` and three counters, until the first of these is 0.

    It counts the nodes that are undecided. The others are 0: they are for what is looked at with it.
    """
    if radius < 1 or (seed_radius or radius) < radius:
        raise ValueError(f"radius must be at least 1 and seed_radius at least that, not {radius} and {seed_radius}")
    n = graph.rows
    if n >= MOST_NODES:
        raise ValueError(f"a graph of {n} nodes; hashes of 30 bits tell fewer than {MOST_NODES} apart")
    if not device.is_gpu and radius <= MOST_LISTED:
        yield _by_lists(device, graph, radius, seed_radius), device.zeros(3, np.int32)
        return
    kernels, grid, edges = built(device, SOURCE), blocks(n), (graph.offsets, graph.columns)
    keys, following, one, two = (device.empty(n, np.uint64) for _ in range(4))
    kernels.start(grid, n, keys)

    def decide(reach: int, electing: bool, undecided=None) -> None:
        """Put out what is within `reach` of roots and, when electing, make roots of the largest within `reach`.

        The nodes that stay undecided are counted where `undecided` is given.
        """
        nonlocal keys, following
        source, target = keys, one
        for _ in range(reach - 1):
            kernels.spread(grid, n, *edges, source, target)
            source, target = target, (two if target is one else one)
        kernels.decide(grid, n, electing, *edges, source, keys, following, undecided)
        keys, following = following, keys

    reach = seed_radius or radius
    ahead = FIRST_ROUNDS[not seed_radius]
    while True:
        found = device.zeros(3, np.int32)
        for round_ in range(ahead):
            counter = found if round_ == ahead - 1 else None
            decide(reach, True, None if seed_radius else counter)
            reach = radius
            if seed_radius:
                decide(radius, False, counter)
                kernels.refresh(grid, n, *edges, keys, following)
                keys, following = following, keys
        flags, ahead = device.empty(n, np.int32), ROUNDS
        kernels.is_root(grid, n, keys, flags)
        yield flags, found


def _by_lists(device, graph: Csr, radius: int, seed_radius: int | None):
    """Return the same set on a processor, which goes through the nodes that are undecided alone."""
    n, edges, kernels = graph.rows, (graph.offsets, graph.columns), built(device, LISTS, 1)
    parts = max(1, min(PARTS * device.compute_units, n // NODES))
    keys, spreads = device.empty(n, np.uint64), [device.empty(n, np.uint64) for _ in range(2)]
    undecided, elected = device.empty(n, np.int32), device.empty(n, np.int32)
    lengths, counts = device.empty(parts, np.int32), device.empty(parts, np.int32)
    roots, out = device.zeros(n, np.int32), device.zeros(n, np.int32)
    kernels.start(parts, n, parts, keys, undecided, lengths)
    reach = seed_radius or radius
    while left := sum(host_ints(device, lengths)):
        # The last steps of few nodes are taken for each node by itself.
        source, hops = keys, min(reach, 1 if MANY * left > n else 2)
        for step in range(reach - hops):
            built(device, SOURCE).spread(blocks(n), n, *edges, source, spreads[step % 2])
            source = spreads[step % 2]
        kernels.elect(parts, n, parts, hops, *edges, source, keys, undecided, lengths, elected, counts)
        kernels.cover(parts, n, parts, radius, *edges, elected, counts, roots, out)
        kernels.refresh(parts, n, parts, seed_radius is not None, *edges, roots, out, keys, undecided, lengths)
        reach = radius
    return roots
