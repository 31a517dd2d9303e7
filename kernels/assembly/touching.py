"""Patches for processors: each has all elements that touch it, with the places where they add to its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernels.assembly.partition import Partition, coordinate_bisection, expand
from kernels.assembly.pattern import csr_pattern
from kernels.assembly.problem import Assembler, Problem, fitted, pool_values, to_mesh_numbering

PATCH_SIZE, LANES, ADDRESSED = 1000, 8, 65536


def prepare(device, problem: Problem, source: Path, patch_size: int | None) -> Assembler:
    """Prepare the assembly of the upper half of the matrix; see `kernels.assembly.patch.prepare`.

    Raises
    ------
    ValueError
        When a patch is too large for 16-bit places.
    """
    plan = fitted(
        lambda nodes: _planned(problem, nodes), patch_size or PATCH_SIZE, patch_size is None, device.shared_bytes
    )
    order = plan.partition.order
    kernel = device.build(
        source, block=1, defines={"real": "double", "POOL_SIZE": plan.pool_size}, shared_bytes=8 * plan.pool_size
    ).patch
    x, y, z = (device.array(axis) for axis in problem.points[order].T.copy())
    load = device.array(problem.source_values()[order])
    conductivity = None
    if problem.conductivity is not None:
        conductivity = device.array(problem.conductivity[plan.elements])
    values, rhs = device.zeros(plan.column_indices.size, "float64"), device.zeros(problem.nodes, "float64")
    lists = [device.array(a) for a in (plan.headers, plan.halo_nodes, plan.lists, plan.row_offsets)]

    def launch():
        kernel(plan.partition.patches, problem.mass, conductivity, x, y, z, load, *lists, values, rhs)

    def result():
        return to_mesh_numbering(values, plan.column_indices, plan.row_offsets, rhs, order=order, is_upper=True)

    facts = {"patches": plan.partition.patches, "shared_bytes": 8 * plan.pool_size}
    return Assembler(launch, result, plan.column_indices.size, facts)


class _Plan(NamedTuple):
    """Data that the kernel needs.

    Attributes
    ----------
    headers : (patches, 8) int32
        First node, owned nodes, first of `halo_nodes`, local nodes, first entry, entries, first group, elements.
    lists : (groups, 10, 8) uint16
        Of eight elements the four local nodes, then the six places of their edges in the patch's rows.
    elements : (8 × groups,) int64
    """

    partition: Partition
    row_offsets: Any
    column_indices: Any
    headers: Any
    halo_nodes: Any
    lists: Any
    elements: Any
    pool_size: int


def _planned(problem, patch_size) -> _Plan:
    partition = coordinate_bisection(problem.points, patch_size)
    offsets, patches, nodes = partition.patch_offsets.astype(np.int64), partition.patches, problem.nodes
    cells = partition.rank[problem.cells]
    pattern = csr_pattern(cells, nodes)
    row = expand(pattern.row_offsets)
    is_upper = pattern.column_indices >= row
    row_offsets = np.searchsorted(row[is_upper], np.arange(nodes + 1)).astype(np.int32)
    upper = (np.cumsum(is_upper) - 1)[pattern.upper]

    patch_of = expand(offsets)
    items = np.unique(patch_of[cells] * np.int64(len(cells)) + np.arange(len(cells))[:, None])
    patch, element = items // len(cells), items % len(cells)
    starts = np.searchsorted(patch, np.arange(patches + 1))
    groups = -(-np.diff(starts) // LANES)
    first_groups = np.concatenate([[0], np.cumsum(groups)])
    slot = LANES * first_groups[patch] + np.arange(patch.size) - starts[patch]

    corners, own = cells[element].astype(np.int64), patch[:, None]
    is_owned = patch_of[corners] == own
    halo = np.unique((own * nodes + corners)[~is_owned])
    halo_starts = np.searchsorted(halo, np.arange(patches + 1) * nodes)
    sizes = np.diff(offsets)
    used = sizes + np.diff(halo_starts)
    outside = np.searchsorted(halo, own * nodes + corners) - halo_starts[own] + sizes[own]
    entry_starts = row_offsets[offsets].astype(np.int64)
    entries = np.diff(entry_starts)
    if max(used.max(), entries.max() + 1) >= ADDRESSED:
        raise ValueError(
            f"a patch holds {entries.max()} entries, 16 bits address {ADDRESSED}: take a smaller patch_size"
        )

    edge = pattern.element_edges[element]
    in_patch = patch_of[pattern.edges[edge, 0]] == own
    lists = np.zeros((int(first_groups[-1]), 10, LANES), np.uint16)
    group, lane = slot // LANES, slot % LANES
    lists[group, :4, lane] = np.where(is_owned, corners - offsets[own], outside)
    lists[group, 4:, lane] = np.where(in_patch, upper[edge] - entry_starts[own], entries[own])
    elements = np.zeros(LANES * lists.shape[0], np.int64)
    elements[slot] = element
    header = [
        offsets[:-1],
        sizes,
        halo_starts[:-1],
        used,
        entry_starts[:-1],
        entries,
        first_groups[:-1],
        np.diff(starts),
    ]
    return _Plan(
        partition, row_offsets, pattern.column_indices[is_upper], np.stack(header, axis=1).astype(np.int32),
        (halo % nodes).astype(np.int32), lists, elements, pool_values((6 * used + entries + 1).max()),
    )  # fmt: skip
