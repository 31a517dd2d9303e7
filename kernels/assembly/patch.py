"""The patch-based assembly of fu2014, section 4: preparation and launch.

On an H200 shared memory binds: by the binary searches, and by the additions, which for doubles are loops of
compare-and-swap with many threads of a warp idle. `ring` needs neither. A processor has patches of its own kind, which
neither search nor share rows: see `touching`. Notes: docs/notes/assembly.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from kernels.assembly import touching
from kernels.assembly.partition import Partition, coordinate_bisection, expand
from kernels.assembly.pattern import csr_pattern
from kernels.assembly.problem import Assembler, Problem, fitted, pool_values, to_mesh_numbering

SOURCE = Path(__file__).with_name("patch.c")
BLOCK, PATCH_SIZE = 256, 200  # the fastest found on an H200
BUILDS = [(SOURCE, BLOCK, {"real": "double", "POOL_SIZE": 6000})]


def prepare(device, problem: Problem, patch_size: int | None = None, block: int = BLOCK) -> Assembler:
    """Prepare section 4 of the paper: patches, rearranged nodes and elements, the empty upper half of the matrix.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Problem
    patch_size : int, optional
        Nodes a patch, at most; by default what the device's shared memory holds.
    block : int
        Threads a block.
    """
    if device.backend == "openmp":
        return touching.prepare(device, problem, SOURCE, patch_size)
    xp = device.xp
    size = PATCH_SIZE if patch_size is None else patch_size
    plan = fitted(lambda nodes: _planned(problem, nodes, xp), size, patch_size is None, device.shared_bytes)
    partition, cells, element_order, element_offsets, row_offsets, column_indices, pool_size = plan
    offsets = partition.patch_offsets
    kernels = device.build(
        SOURCE, block=block, defines={"real": "double", "POOL_SIZE": pool_size}, shared_bytes=8 * pool_size
    )

    x, y, z = (device.array(axis) for axis in xp.asarray(problem.points)[partition.order].T.copy())
    source = device.array(xp.asarray(problem.source_values())[partition.order])
    conductivity = None
    if problem.conductivity is not None:
        conductivity = device.array(xp.asarray(problem.conductivity)[element_order])
    values, values_boundary = (device.zeros(column_indices.size, "float64") for _ in range(2))
    rhs, rhs_boundary = (device.zeros(problem.nodes, "float64") for _ in range(2))
    topology = [device.array(a) for a in (offsets, element_offsets, *cells.T.copy(), row_offsets, column_indices)]

    def launch():
        device.fill(values_boundary, 0)
        device.fill(rhs_boundary, 0)
        kernels.patch(
            partition.patches, problem.mass, conductivity, x, y, z, source, *topology,
            values, values_boundary, rhs, rhs_boundary,
        )  # fmt: skip
        for boundary, assembled in ((values_boundary, values), (rhs_boundary, rhs)):
            kernels.add_boundary(-(-assembled.size // block), assembled.size, boundary, assembled)

    def result():
        return to_mesh_numbering(
            *(device.to_host(a) for a in (values, column_indices, row_offsets, rhs)),
            order=device.to_host(partition.order),
            is_upper=True,
        )

    facts = {"patches": partition.patches, "shared_bytes": 8 * pool_size}
    return Assembler(launch, result, column_indices.size, facts)


class _Plan(NamedTuple):
    """The renumbered mesh patch by patch, the upper half of its pattern, and the largest patch's shared memory."""

    partition: Partition
    cells: Any
    element_order: Any
    element_offsets: Any
    row_offsets: Any
    column_indices: Any
    pool_size: int


def _planned(problem, patch_size, xp) -> _Plan:
    """Partition the mesh into patches of at most `patch_size` nodes, and give each its elements and rows."""
    partition = coordinate_bisection(xp.asarray(problem.points), patch_size, xp)
    offsets = partition.patch_offsets
    cells = partition.rank[xp.asarray(problem.cells)]
    # Elements go to the patch of their first node, and stand patch by patch. Elements of a warp have the same nodes
    # outside of the patch, so that all threads add on chip, or none.
    patch = expand(offsets, xp)
    owner = patch[cells[:, 0]]
    outside = ((patch[cells] != owner[:, None]) * xp.asarray([0, 1, 2, 4])).sum(axis=1)
    element_order = xp.argsort(8 * owner.astype(xp.int64) + outside, kind="stable")
    cells = cells[element_order]
    element_offsets = xp.searchsorted(owner[element_order], xp.arange(offsets.size)).astype(xp.int32)

    pattern = csr_pattern(cells, problem.nodes, xp)
    row = expand(pattern.row_offsets, xp)
    is_upper = pattern.column_indices >= row
    column_indices = pattern.column_indices[is_upper]
    row_offsets = xp.searchsorted(row[is_upper], xp.arange(problem.nodes + 1)).astype(xp.int32)

    sizes, entries = xp.diff(offsets), xp.diff(row_offsets[offsets])
    pool_size = pool_values((5 * sizes + entries + (entries + sizes + 2) // 2).max())
    return _Plan(partition, cells, element_order, element_offsets, row_offsets, column_indices, pool_size)
