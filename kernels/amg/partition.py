"""Aggregates and patches, bottom-up from maximal independent sets: fu2014's double partitioning, section 5.2.1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.amg import mis
from kernels.amg.arrays import BLOCK, Csr, Groups, blocks, built, host_ints
from kernels.amg.exchange import exchanged
from kernels.amg.induced import induced_graph
from kernels.amg.matching import merged
from kernels.amg.primitives import (
    exclusive_sum,
    gathered,
    group_members,
    group_sizes,
    inverse_permutation,
    rearranged,
)

SOURCE = Path(__file__).with_name("aggregation.c")
BUILDS = [(SOURCE, BLOCK, {})]
TOGETHER = 27  # nodes without neighbours that make an aggregate


@dataclass(frozen=True)
class Partition:
    """The double partition of a graph, and the numbering that makes it contiguous.

    Attributes
    ----------
    order, rank : (nodes,) int32
        Node of each new number, and its inverse.
    aggregate : (nodes,) int32
        Aggregate of each node in the new numbering, ascending.
    aggregate_offsets : (aggregates + 1,) int32
    patch_offsets : (patches + 1,) int32
    largest_patch : int
        Its nodes.
    induced : Csr
        The graph of aggregates, with the number of edges between two as weights.
    """

    order: Any
    rank: Any
    aggregate: Any
    aggregate_offsets: Any
    patch_offsets: Any
    largest_patch: int
    induced: Csr

    @property
    def aggregates(self) -> int:
        return self.aggregate_offsets.size - 1


def _allocated(device, graph, labels, rounds, left=None):
    """Add unallocated nodes to groups, so many rounds; left[1], where given, counts the nodes that remain."""
    kernels, n = built(device, SOURCE), graph.rows
    for step in range(rounds):
        result = device.empty(n, np.int32)
        kernels.allocate(
            blocks(n), n, graph.offsets, graph.columns, graph.weights, labels, result,
            left if step == rounds - 1 else None,
        )  # fmt: skip
        labels = result
    return labels


def _weighed(device, labels, weights, count) -> Groups:
    """Return groups with their sizes, which are read for the largest."""
    most = device.zeros(1, np.int32)
    sizes = group_sizes(device, labels, weights, count, most)
    return Groups(labels, count, sizes, *host_ints(device, most))


def grouped(
    device,
    graph: Csr,
    radius: int,
    least: int,
    weights=None,
    seed_radius: int | None = None,
    together: int = TOGETHER,
) -> Groups:
    """Group the nodes of a graph around the roots of a maximal independent set, without small groups (steps 1 to 5).

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        Its weights are what adjacency sums.
    radius : int
        k of the set.
    least : int
        Groups of less weight are given to their neighbours, unless none of those is greater.
    weights : (nodes,) int32, optional
        Of the nodes; 1 by default.
    seed_radius : int, optional
        See `maximal_independent_set`.
    together : int
        So many nodes that have no neighbours make a group.
    """
    kernels, n = built(device, SOURCE), graph.rows
    isolated = device.empty(n, np.int32)
    for roots, found in mis.rounds(device, graph, radius, seed_radius):
        kernels.find_isolated(blocks(n), n, graph.offsets, graph.columns, roots, isolated, found)
        numbers, _ = exclusive_sum(device, roots, totals=found, place=2)
        undecided, alone, count = host_ints(device, found)
        if not undecided:
            break
    labels = device.empty(n, np.int32)
    kernels.number_roots(blocks(n), n, roots, numbers, labels)
    if alone:
        numbers, _ = exclusive_sum(device, isolated)
        kernels.number_isolated(blocks(n), n, isolated, numbers, count, together, labels)
        count += blocks(alone, together)
    labels = _allocated(device, graph, labels, radius)  # the set is maximal: no node is further from a root
    if least <= 1:
        return _weighed(device, labels, weights, count)
    sizes = group_sizes(device, labels, weights, count)
    stays = device.empty(count, np.int32)
    device.fill(stays, 1)
    kernels.mark_small(blocks(n), n, graph.offsets, graph.columns, labels, sizes, least, stays)
    found = device.zeros(3, np.int32)
    numbers, _ = exclusive_sum(device, stays, totals=found, place=2)
    remaining = device.empty(n, np.int32)
    kernels.renumber(blocks(n), n, labels, stays, numbers, remaining)
    labels = _allocated(device, graph, remaining, 2, found)
    sizes = group_sizes(device, labels, weights, count, found)  # as many as there were: how many stay is read with them
    heaviest, left, count = host_ints(device, found)
    while left:
        found = device.zeros(2, np.int32)
        labels = _allocated(device, graph, labels, 1, found)
        sizes = group_sizes(device, labels, weights, count, found)
        heaviest, left = host_ints(device, found)
    return Groups(labels, count, sizes, heaviest)


def bounded(device, groups: Groups, limit: int, weights=None) -> Groups:
    """Cut groups that weigh more than `limit` into pieces that do not; a node heavier than that is its own piece."""
    kernels, count, n = built(device, SOURCE), groups.count, groups.labels.size
    if groups.heaviest <= limit:
        return groups
    members = group_members(device, groups.labels, count)
    piece, pieces = device.zeros(n, np.int32), device.empty(count, np.int32)
    kernels.count_pieces(
        blocks(count), count, members.offsets, members.columns, weights, groups.sizes, limit, piece, pieces
    )
    total = device.empty(1, np.int32)
    first, _ = exclusive_sum(device, pieces, totals=total)
    kernels.number_pieces(blocks(n), n, first, piece, groups.labels)
    return _weighed(device, groups.labels, weights, *host_ints(device, total))


def numbered(device, aggregates: Groups, patches: Groups, members: Csr, induced: Csr) -> Partition:
    """Return the numbering in which patches, and in them aggregates, are contiguous."""
    by_patch = group_members(device, patches.labels, patches.count)
    new_number = inverse_permutation(device, by_patch.columns)
    # Members of aggregates in their new order are the nodes in theirs.
    nodes = rearranged(device, members, order=by_patch.columns)
    n, count = aggregates.labels.size, aggregates.count
    aggregate_offsets = nodes.offsets
    patch_offsets = gathered(device, aggregate_offsets, by_patch.offsets)
    old_label = gathered(device, aggregates.labels, nodes.columns)
    return Partition(
        order=nodes.columns,
        rank=inverse_permutation(device, nodes.columns),
        aggregate=gathered(device, new_number, old_label),
        aggregate_offsets=aggregate_offsets,
        patch_offsets=patch_offsets,
        largest_patch=patches.heaviest,
        induced=rearranged(device, Csr((count, count), induced.offsets, induced.columns, weights=induced.weights),
                           order=by_patch.columns, rank=new_number),
    ) if n else None  # fmt: skip


def double_partition(
    device,
    graph: Csr,
    *,
    radius: int = 2,
    seed_radius: int | None = 4,
    least_aggregate: int = 9,
    patch_size: int = 384,
    patch_radius: int = 1,
    least_patch: int | None = None,
) -> Partition:
    """Partition a graph into aggregates, and aggregates into patches.

    Parameters
    ----------
    device : kernels.device.Device
    graph : Csr
        Structurally symmetric.
    radius : int
        k of the independent set that aggregates grow from.
    seed_radius : int, optional
        Of its first roots; None for a random set.
    least_aggregate : int
        Smaller aggregates are given to their neighbours.
    patch_size : int
        The most nodes of a patch; it is never exceeded.
    patch_radius : int
        k of the independent set of aggregates that patches grow from.
    least_patch : int, optional
        Lighter patches are given to their neighbours; by default an eighth of `patch_size`.
    """
    aggregates = grouped(device, graph, radius, least_aggregate, seed_radius=seed_radius)
    aggregates = bounded(device, aggregates, patch_size)
    members = group_members(device, aggregates.labels, aggregates.count)
    induced = induced_graph(device, graph, aggregates.labels, members)
    least = patch_size // 8 if least_patch is None else least_patch
    patches = grouped(device, induced, patch_radius, least, aggregates.sizes, together=patch_size)
    patches = exchanged(device, induced, patches, aggregates.sizes, patch_size)
    patches = bounded(device, patches, patch_size, aggregates.sizes)
    patches = merged(device, induced, patches, aggregates.sizes, graph.rows, patch_size)
    return numbered(device, aggregates, patches, members, induced)
