"""Assembly with a thread an element and global atomics, through a precomputed map of every entry's place.

On an H200 scattered atomic additions in the second-level cache bind. Where nodes and elements are shuffled it falls far
behind. Notes: docs/notes/assembly.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.assembly.pattern import csr_pattern, entry_map
from kernels.assembly.problem import Assembler, Problem, to_mesh_numbering

SOURCE = Path(__file__).with_name("atomic.c")
BLOCK = 256
BUILDS = [(SOURCE, BLOCK, {"real": "double"}), (SOURCE, BLOCK, {"real": "float"})]


def prepare(device, problem: Problem, block: int = BLOCK) -> Assembler:
    """Prepare the assembly of `problem` in the mesh's own numbering.

    Parameters
    ----------
    device : kernels.device.Device
    problem : Problem
    block : int
        Threads, and elements, a block.
    """
    xp = device.xp
    cells = xp.asarray(problem.cells)
    pattern = csr_pattern(cells, problem.nodes, xp)
    places = device.array(entry_map(pattern, cells, xp))
    kernel = device.build(SOURCE, block=block, defines={"real": "double"}).atomic
    x, y, z = (device.array(axis) for axis in problem.points.T.copy())
    conductivity = None if problem.conductivity is None else device.array(problem.conductivity)
    source, cells = device.array(problem.source_values()), device.array(cells)
    values, rhs = device.zeros(pattern.nonzeros, "float64"), device.zeros(problem.nodes, "float64")
    grid = -(-problem.elements // block)

    def launch():
        device.fill(values, 0)
        device.fill(rhs, 0)
        kernel(grid, problem.elements, problem.mass, conductivity, x, y, z, source, cells, places, values, rhs)

    def result():
        return to_mesh_numbering(
            *(device.to_host(a) for a in (values, pattern.column_indices, pattern.row_offsets, rhs)), order=None
        )

    return Assembler(launch, result, pattern.nonzeros, {"plan_bytes": places.nbytes})
