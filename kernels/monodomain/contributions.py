"""Assembly as a sum over sorted contributions (wong2015, section 4): where each element writes, and which row it is in.

Every entry of the matrix and of the residual is a row, whose entries are the contributions of the elements that share
it. Rows are stored as a sliced format stores a matrix, without columns: adding one up is a product with ones. Since the
matrix is symmetric, an edge is one row for its two entries.

On an H200 no unit is busy in the sums, and warps wait for loads: a row has eight contributions, and a thread is done
before enough of them are on their way. Elements of large hearts are bound by what they write, eight bytes to a place.
Notes: docs/notes/monodomain.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.assembly.pattern import Pattern
from kernels.spmv._csr import starts
from kernels.spmv._sliced import WARP, Slices, cut

SOURCE = Path(__file__).with_name("contributions.c")
BUILDS = [(SOURCE, 1, {})]
WINDOW = 1024  # rows within which they are sorted by length
PER_ELEMENT = 14  # six edges, four diagonal entries, four residuals


@dataclass(frozen=True)
class Contributions:
    """The plan, set up once for a mesh.

    Attributes
    ----------
    rows : int
        Edges, then nodes' diagonal entries, then nodes' residuals.
    slices : Slices
        How rows lie in memory.
    places : (14, elements) int32
        Where an element writes each of its contributions.
    """

    rows: int
    slices: Slices
    places: Any

    @property
    def padding(self) -> float:
        """Numbers stored over contributions."""
        return self.slices.entries / self.places.size


def plan(cells, pattern: Pattern, device) -> Contributions:
    """Sort the contributions of the elements by their targets.

    Parameters
    ----------
    cells : (elements, 4) int array of `device.xp`
    pattern : Pattern
        Of the same cells.
    device : kernels.device.Device

    Raises
    ------
    ValueError
        When there are more contributions than 32-bit integers count.
    """
    return _by_sorting(cells, pattern, device.xp) if device.is_gpu else _by_counting(cells, pattern, device)


def _by_sorting(cells, pattern, xp) -> Contributions:
    nodes, edges, count = pattern.nodes, pattern.edges.shape[0], cells.shape[0]
    rows = edges + 2 * nodes
    target = xp.empty((PER_ELEMENT, count), dtype=np.int32)
    target[:6] = pattern.element_edges.T
    target[6:10] = edges + cells.T
    target[10:] = edges + nodes + cells.T
    target = target.ravel()
    lengths = xp.bincount(target, minlength=rows).astype(np.int32)
    slices, first = _slices(lengths, xp)

    # The contributions in the order of their rows; the depth of each is its distance from the row's first.
    order = xp.argsort(target, kind="stable")
    ordered = target[order]
    depth = xp.arange(ordered.size, dtype=np.int64) - starts(lengths, xp)[ordered]
    places = xp.empty(ordered.size, dtype=np.int32)
    places[order] = (first[ordered] + WARP * depth).astype(np.int32)
    return Contributions(rows, slices, places.reshape(PER_ELEMENT, count))


def _by_counting(cells, pattern, device) -> Contributions:
    nodes, edges, count = pattern.nodes, pattern.edges.shape[0], cells.shape[0]
    rows = edges + 2 * nodes
    parts = max(1, min(device.compute_units, PER_ELEMENT * count // max(rows, 1)))  # each has a count for every row
    kernels = device.build(SOURCE, block=1)
    counts, lengths = device.empty(parts * rows, np.int32), device.empty(rows, np.int32)
    given = (count, edges, nodes, device.array(pattern.element_edges, np.int32), device.array(cells, np.int32))
    kernels.tally(parts, rows, parts, *given, counts)
    kernels.before(parts, rows, parts, counts, lengths)
    slices, first = _slices(np.asarray(device.to_host(lengths)), np)
    places = device.empty(PER_ELEMENT * count, np.int32)
    kernels.place(parts, rows, parts, *given, WARP, device.array(first, np.int64), counts, places)
    return Contributions(rows, slices, np.asarray(device.to_host(places)).reshape(PER_ELEMENT, count))


def _slices(lengths, xp):
    """Return how rows of these lengths lie in memory, and where each begins."""
    slices = cut(lengths, WARP, WINDOW, 8, xp)
    if slices.entries >= 2**31:
        raise ValueError(f"{slices.entries} contributions are beyond 32-bit indices")
    slot = xp.empty(lengths.size, dtype=np.int64)
    filled = xp.nonzero(slices.order >= 0)[0]
    slot[slices.order[filled]] = filled
    return slices, slices.offsets[slot // WARP] + slot % WARP
