"""Assembly by edges: the ring of tetrahedra around every edge, listed once, and the kernel that walks it.

On an H200 shared memory binds, half of it by conflicts of the random reads of ring nodes, then the issue of
instructions. An order of nodes that is shuffled costs little. Notes, with what was tried: docs/notes/assembly.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from kernels.assembly.partition import coordinate_bisection, expand
from kernels.assembly.pattern import EDGE_NODES, Pattern, csr_pattern
from kernels.assembly.problem import Assembler, Problem, fitted, pool_values, to_mesh_numbering

SOURCE = Path(__file__).with_name("ring.c")
BLOCK, PATCH_SIZE = 256, 160  # the fastest found on an H200, where four blocks share a multiprocessor
PROCESSOR_PATCH = 1000  # of the C back end, which takes edges eight at a time and rows one after the other
BUILDS = [(SOURCE, BLOCK, {"real": "double", "POOL_SIZE": 4000, "HAS_CONDUCTIVITY": has}) for has in (0, 1)]

SLICE, WORD, NOWHERE, BREAK, PADDING = 32, 4, 65535, 32768, 65535
# The other two nodes of an element, such that (edge, others) has the orientation of the element.
OTHER_NODES = np.array([[2, 3], [3, 1], [1, 2], [0, 3], [2, 0], [0, 1]])


@dataclass(frozen=True)
class Rings:
    """The nodes around every edge, chain after chain.

    Attributes
    ----------
    offsets : (edges + 1,) int64
    nodes : int64
        A chain of n elements has n + 1 nodes; around an inner edge the last is the first.
    elements : int64
        The element between a node and the one before it; -1 at the start of a chain.
    """

    offsets: Any
    nodes: Any
    elements: Any


@dataclass(frozen=True)
class RingPlan:
    """Data that each block needs to compute the rows of its patch; arguments of the kernel, in its order.

    Attributes
    ----------
    headers : (patches, 8) int32
        First node, owned nodes, first of `halo_nodes`, local nodes, first entry, entries, first slice, slots (32 ×
        slices).
    halo_nodes : int32
        Nodes that the rings of a patch use and the patch does not own.
    slice_offsets : (slices + 1,) int32
        First word of each slice in `ring_words`.
    ring_words : int64
        Four entries of 16 bits: three times a local node, owned first, `BREAK` set where a chain starts; the words of a
        slice's 32 edges are interleaved.
    edges : (32 × slices,) int64
        Four entries of 16 bits: three times the local ends of each edge, and where its entries (low, high) and (high,
        low) stand in the patch's rows, or `NOWHERE`.
    ring_elements : int32
        Element of each entry of `ring_words`, for a conductivity that varies.
    pool_size : int
        Values in shared memory that the largest patch takes.
    """

    headers: Any
    halo_nodes: Any
    slice_offsets: Any
    ring_words: Any
    edges: Any
    ring_elements: Any
    pool_size: int

    @property
    def patches(self) -> int:
        return self.headers.shape[0]


def edge_rings(cells, pattern: Pattern, xp=np) -> Rings:
    """Order the elements around every edge of positively oriented `cells` so that neighbours share a face.

    Raises
    ------
    ValueError
        When the elements around an edge do not line up: they overlap, or an element is inverted.
    """
    cells = cells.astype(xp.int64)
    nodes = pattern.nodes
    first, second = cells[:, EDGE_NODES[:, 0]], cells[:, EDGE_NODES[:, 1]]
    other = cells[:, OTHER_NODES]
    ascending = first < second
    tail = xp.where(ascending, other[..., 0], other[..., 1]).ravel()
    head = xp.where(ascending, other[..., 1], other[..., 0]).ravel()
    edge = pattern.element_edges.astype(xp.int64).ravel()
    # Elements sorted by (edge, tail): the successor of one is the element of the same edge whose tail is its head.
    keys = edge * nodes + tail
    order = xp.argsort(keys)
    keys, edge, head, tail = keys[order], edge[order], head[order], tail[order]
    element = order // len(EDGE_NODES)
    wanted = edge * nodes + head
    successor = xp.minimum(xp.searchsorted(keys, wanted), keys.size - 1)
    has_successor = keys[successor] == wanted
    if bool((keys[1:] == keys[:-1]).any()):
        raise ValueError(_overlap(pattern, int(edge[1:][keys[1:] == keys[:-1]][0])))
    has_predecessor = xp.zeros(keys.size, dtype=bool)
    has_predecessor[successor[has_successor]] = True
    # A chain starts where nothing comes before; a ring without such a place starts at its first element.
    edge_offsets = xp.searchsorted(edge, xp.arange(pattern.edges.shape[0] + 1))
    is_start = ~has_predecessor
    is_open = xp.zeros(pattern.edges.shape[0], dtype=bool)
    is_open[edge[is_start]] = True
    is_start[edge_offsets[:-1][~is_open]] = True

    # Walk all chains at once, a step at a time.
    start = xp.nonzero(is_start)[0]
    chain, depth = xp.full(keys.size, -1, dtype=xp.int64), xp.zeros(keys.size, dtype=xp.int64)
    lengths = xp.zeros(start.size, dtype=xp.int64)
    here, walker, step = start, xp.arange(start.size), 0
    while here.size:
        chain[here], depth[here] = walker, step
        lengths[walker] += 1
        goes_on = has_successor[here]
        here, walker = successor[here[goes_on]], walker[goes_on]
        is_new = chain[here] < 0
        here, walker, step = here[is_new], walker[is_new], step + 1
    if bool((chain < 0).any()):
        raise ValueError(_overlap(pattern, int(edge[chain < 0][0])))

    # Chains stand in the order of their starts, which is the order of edges.
    chain_offsets = xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(lengths + 1)])
    ring_nodes = xp.empty(int(chain_offsets[-1]), dtype=xp.int64)
    ring_elements = xp.full(ring_nodes.size, -1, dtype=xp.int64)
    ring_nodes[chain_offsets[:-1]] = tail[start]
    place = chain_offsets[chain] + 1 + depth
    ring_nodes[place], ring_elements[place] = head, element
    first_chain = xp.searchsorted(edge[start], xp.arange(pattern.edges.shape[0] + 1))
    return Rings(chain_offsets[first_chain], ring_nodes, ring_elements)


def _overlap(pattern, edge):
    low, high = (int(node) for node in pattern.edges[edge])
    return f"the elements around edge ({low}, {high}) overlap or one is inverted: the mesh is not conforming there"


def ring_plan(cells, pattern: Pattern, patch_offsets, xp=np) -> RingPlan:
    """Plan the assembly of renumbered `cells` whose patches of nodes are contiguous.

    Parameters
    ----------
    cells : (elements, 4) int32 array of `xp`
        Positively oriented.
    pattern : Pattern
        Of the same cells.
    patch_offsets : (patches + 1,) int32
        First node of each patch.

    Raises
    ------
    ValueError
        When the mesh is not conforming, or a patch too large for 16-bit local indices.
    """
    rings = edge_rings(cells, pattern, xp)
    nodes, patches = pattern.nodes, patch_offsets.size - 1
    offsets = patch_offsets.astype(xp.int64)
    patch_of = expand(offsets, xp)
    edges = pattern.edges.astype(xp.int64)
    row_starts = pattern.row_offsets.astype(xp.int64)[offsets]
    longest_row = int(xp.diff(row_starts).max())
    if longest_row >= NOWHERE:
        raise ValueError(f"a patch holds {longest_row} entries, 16 bits address {NOWHERE}: take a smaller patch_size")

    # An item is an edge in a patch that owns one of its ends. Items of a patch are sorted by length of their lists, so
    # that slices pad little, then by their lower node, so that threads of a slice read the same few nodes.
    ring_lengths = xp.diff(rings.offsets)
    low_patch, high_patch = patch_of[edges[:, 0]], patch_of[edges[:, 1]]
    crosses = xp.nonzero(low_patch != high_patch)[0]
    item_edge = xp.concatenate([xp.arange(edges.shape[0]), crosses])
    item_patch = xp.concatenate([low_patch, high_patch[crosses]])
    longest = int(ring_lengths.max())
    likeness = item_patch * (longest + 1) + longest - ring_lengths[item_edge]
    order = xp.argsort(likeness * edges.shape[0] + item_edge)
    item_edge, item_patch = item_edge[order], item_patch[order]
    lengths = ring_lengths[item_edge]
    item_offsets = xp.searchsorted(item_patch, xp.arange(patches + 1))
    slices = -(-xp.diff(item_offsets) // SLICE)
    first_slices = _offsets(slices, xp)
    slot = SLICE * first_slices[item_patch] + xp.arange(item_edge.size) - item_offsets[item_patch]

    words = xp.zeros(SLICE * int(first_slices[-1]), dtype=xp.int64)
    words[slot] = -(-lengths // WORD)
    slice_offsets = _offsets(SLICE * words.reshape(-1, SLICE).max(axis=1), xp)

    # Every item's list of global nodes, and where each entry goes in the interleaved slices.
    list_offsets = _offsets(lengths, xp)
    item = expand(list_offsets, xp)
    depth = xp.arange(item.size) - list_offsets[item]
    source = rings.offsets[item_edge[item]] + depth
    word = slice_offsets[slot[item] // SLICE] + SLICE * (depth // WORD) + slot[item] % SLICE
    place = WORD * word + depth % WORD
    entry_patch, entry_node = item_patch[item], rings.nodes[source]

    end_nodes = edges[item_edge]
    list_is_owned = patch_of[entry_node] == entry_patch
    end_is_owned = patch_of[end_nodes] == item_patch[:, None]
    halo = xp.unique(
        xp.concatenate(
            [
                (entry_patch * nodes + entry_node)[~list_is_owned],
                (item_patch[:, None] * nodes + end_nodes)[~end_is_owned],
            ]
        )
    )
    halo_offsets = xp.searchsorted(halo, xp.arange(patches + 1) * nodes)
    sizes = xp.diff(offsets)
    most_local = 3 * int((sizes + xp.diff(halo_offsets)).max())
    if most_local >= BREAK - 3:
        raise ValueError(
            f"a patch uses {most_local // 3} nodes, {BREAK // 3} can be addressed: take a smaller patch_size"
        )

    def local_index(patch, node, is_owned):
        outside = xp.searchsorted(halo, patch * nodes + node) - halo_offsets[patch] + sizes[patch]
        return 3 * xp.where(is_owned, node - offsets[patch], outside)

    ring_entries = xp.full(WORD * int(slice_offsets[-1]), PADDING, dtype=xp.uint16)
    starts_chain = rings.elements[source] < 0
    ring_entries[place] = local_index(entry_patch, entry_node, list_is_owned) + BREAK * starts_chain
    elements = xp.zeros(ring_entries.size, dtype=xp.int32)
    elements[place] = xp.maximum(rings.elements[source], 0)

    packed_edges = xp.zeros((words.size, 4), dtype=xp.uint16)
    packed_edges[:, 2:] = NOWHERE
    for side, entry in enumerate((pattern.upper, pattern.lower)):
        packed_edges[slot, side] = local_index(item_patch, end_nodes[:, side], end_is_owned[:, side])
        row = end_is_owned[:, side]
        packed_edges[slot[row], 2 + side] = entry[item_edge[row]] - row_starts[item_patch[row]]
    local = sizes + xp.diff(halo_offsets)
    entries = xp.diff(row_starts)
    header = [
        offsets[:-1],
        sizes,
        halo_offsets[:-1],
        local,
        row_starts[:-1],
        entries,
        first_slices[:-1],
        SLICE * slices,
    ]
    return RingPlan(
        headers=xp.stack(header, axis=1).astype(xp.int32),
        halo_nodes=(halo % nodes).astype(xp.int32),
        slice_offsets=slice_offsets.astype(xp.int32),
        ring_words=ring_entries.view(xp.int64),
        edges=packed_edges.reshape(-1).view(xp.int64),
        ring_elements=elements,
        pool_size=pool_values((2 * entries + 3 * local + (slices + 2) // 2).max()),
    )


def _offsets(counts, xp):
    return xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(counts)])


def prepare(device, problem: Problem, patch_size: int | None = None, block: int = BLOCK) -> Assembler:
    """Partition and renumber the mesh of `problem`, plan its assembly and build the kernel.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Problem
    patch_size : int, optional
        Nodes a patch, at most; by default what the device's shared memory holds.
    block : int
        Threads a block.
    """
    xp = device.xp
    takes_rows_in_turn = device.backend == "openmp"
    usual = PROCESSOR_PATCH if takes_rows_in_turn else min(block, PATCH_SIZE)
    size = usual if patch_size is None else patch_size
    if size > block and not takes_rows_in_turn:
        raise ValueError(f"a block of {block} threads cannot sum the rows of patches of {size} nodes")
    partition, pattern, plan, _ = fitted(
        lambda nodes: _planned(problem, nodes, xp), size, patch_size is None, device.shared_bytes
    )
    defines = {
        "real": "double",
        "POOL_SIZE": plan.pool_size,
        "HAS_CONDUCTIVITY": int(problem.conductivity is not None),
        "MIN_BLOCKS": max(1, 1024 // block),
    }
    kernel = device.build(SOURCE, block=block, defines=defines, shared_bytes=8 * plan.pool_size).ring
    x, y, z = (device.array(axis) for axis in xp.asarray(problem.points)[partition.order].T.copy())
    source = conductivity = elements = None
    if problem.source is not None:
        source = device.array(xp.asarray(problem.source)[partition.order])
    if problem.conductivity is not None:
        conductivity, elements = device.array(problem.conductivity), device.array(plan.ring_elements)
    values, rhs = device.zeros(pattern.nonzeros, "float64"), device.zeros(problem.nodes, "float64")
    lists = [
        device.array(getattr(plan, field.name))
        for field in fields(plan)
        if field.name not in ("ring_elements", "pool_size")
    ]
    rows = [device.array(a) for a in (pattern.row_offsets, pattern.column_indices, pattern.diagonal)]

    def launch():
        kernel(plan.patches, problem.mass, conductivity, elements, x, y, z, source, *lists, *rows, values, rhs)

    def result():
        return to_mesh_numbering(
            *(device.to_host(a) for a in (values, pattern.column_indices, pattern.row_offsets, rhs)),
            order=device.to_host(partition.order),
        )

    facts = {
        "patches": plan.patches,
        "plan_bytes": sum(array.nbytes for array in lists),
        "shared_bytes": 8 * plan.pool_size,
    }
    return Assembler(launch, result, pattern.nonzeros, facts)


def _planned(problem, patch_size, xp):
    """Partition the mesh, derive the pattern in the new numbering, and plan."""
    partition = coordinate_bisection(xp.asarray(problem.points), patch_size, xp)
    cells = partition.rank[xp.asarray(problem.cells)]
    pattern = csr_pattern(cells, problem.nodes, xp)
    plan = ring_plan(cells, pattern, partition.patch_offsets, xp)
    return partition, pattern, plan, plan.pool_size
