"""The induced graph of a partition: a node a group, edges weighted by how many join two groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg import marked
from kernels.amg.arrays import Csr, built, host_ints
from kernels.amg.primitives import exclusive_sum

SOURCE = Path(__file__).with_name("induced.c")
SIZES = ((64, 128), (256, 2048))  # threads a block and slots of its table: the second for rows that overflow the first
BUILDS = [(SOURCE, block, {"TABLE": table}) for block, table in SIZES]


def induced_graph(device, graph: Csr, labels, members: Csr) -> Csr:
    """Return the graph of groups: weights are the number of edges, or the sum of their weights, between two.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
    labels : (nodes,) int32
        Group of each node.
    members : Csr
        Nodes of each group.
    """
    return (in_tables if device.is_gpu else marked.induced_graph)(device, graph, labels, members)


def in_tables(device, graph: Csr, labels, members: Csr) -> Csr:
    """Return what `induced_graph` does, each group's row found in a hash table on chip.

    Raises
    ------
    ValueError
        When a group touches more others than the device's shared memory holds.
    kernels.device.errors.BuildError
        On CUDA where a group touches too many for 2048 slots, as in `kernels.amg.product.in_tables`.
    """
    groups = members.rows
    counts, found = device.empty(groups, np.int32), device.zeros(2, np.int32)
    for block, table in configurations(device):
        kernel = built(device, SOURCE, block, TABLE=table).induced
        given = (members.offsets, members.columns, labels, graph.offsets, graph.columns, graph.weights, counts)
        kernel(groups, groups, 0, *given, None, None, None, found)
        offsets, _ = exclusive_sum(device, counts, totals=found, place=1)  # for nothing where a row overflows: few do
        overflow, entries = host_ints(device, found)
        if not overflow:
            break
        device.fill(found, 0)
    else:
        raise ValueError(f"a group touches more than {table} others")
    columns, weights = device.empty(entries, np.int32), device.empty(entries, np.int32)
    kernel(groups, groups, 1, *given, offsets, columns, weights, found)
    return Csr((groups, groups), offsets, columns, weights=weights)


def configurations(device):
    """Yield threads a block and slots of a table: the listed ones, then larger tables while the device has room."""
    yield from SIZES
    block, table = SIZES[-1]
    while 3 * 4 * 4 * table <= device.shared_bytes - 64:
        table *= 4
        yield block, table
