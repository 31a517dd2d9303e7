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

from kernels import spmv
from kernels.assembly.pattern import Pattern
from kernels.spmv._csr import starts
from kernels.spmv._sliced import WARP, Slices, cut

SOURCE, FACTORS = (Path(__file__).with_name(name) for name in ("contributions.c", "factors.c"))
BUILDS = [(SOURCE, 1, {}), *((FACTORS, 32, {"SLICE": WARP, "real": real}) for real in ("double", "float"))]
WINDOW = 1024  # rows within which they are sorted by length
PER_ELEMENT = 14  # six edges, four diagonal entries, four residuals
IN_MATRIX = 10  # without the residuals, which a processor sums beside the diagonal


@dataclass(frozen=True)
class Contributions:
    """The plan, set up once for a mesh.

    Attributes
    ----------
    rows : int
        Edges, then nodes' diagonal entries, then on a GPU nodes' residuals.
    slices : Slices
        Layout of the rows in memory.
    places : (14, elements) int32
        Where an element writes each of its contributions. On a processor, (10, elements): where a row has the element.
    """

    rows: int
    slices: Slices
    places: Any

    @property
    def padding(self) -> float:
        """Numbers stored over contributions."""
        return self.slices.entries / self.places.size


class Factors:
    """Sums on a processor, where scattered writes take longest, of what elements change alone.

    Conduction is constant: an element's part in each entry is known but for its mass, which all of them have, and its
    part in the residual but for its load and the potential. So conduction is summed once, into a matrix that also
    multiplies by the potential, and elements write two numbers in their own order.

    Parameters
    ----------
    device : kernels.device.Device
    plan : Contributions
    pattern : Pattern
    stiffness : (6, elements) float64 array
        See `geometry.conduction`.
    block : int
        Threads of a block.
    defines : dict
        Defines of the kernel's build.

    Attributes
    ----------
    conduction : packed matrix
    """

    def __init__(self, device, plan: Contributions, pattern: Pattern, stiffness, block: int, defines: dict):
        edges, nodes, count = pattern.edges.shape[0], pattern.nodes, stiffness.shape[1]
        element = np.full(plan.slices.entries, count, np.int32)  # which is zero
        element[plan.places] = np.arange(count)
        along = np.bincount(pattern.element_edges.T.ravel(), stiffness.ravel(), edges)
        ends = pattern.edges.T.ravel()
        constant = np.concatenate([along, -np.bincount(ends, np.tile(along, 2), nodes)])
        values = np.empty(pattern.nonzeros)
        values[pattern.upper] = values[pattern.lower] = along
        values[pattern.diagonal] = constant[edges:]
        shape = nodes, nodes
        matrix = device.sparse.csr_matrix((values, pattern.column_indices, pattern.row_offsets), shape=shape)
        self.conduction, self._flow = spmv.pack("sell", device, matrix), device.zeros(nodes, np.float64)
        self._element, self._constant, self._elements = device.array(element), device.array(constant), count
        self._sums = device.build(FACTORS, block, defines).sums

    def sums(self, blocks: int, slots: int, edges: int, offsets, order, factors, phi, *into) -> None:
        """Enqueue the sums, as `sums` of heart.c: `into` is what that ends with."""
        self.conduction.multiply(phi, self._flow)
        self._sums(blocks, slots, edges, self._elements, offsets, order, self._element, factors, self._constant,
                   self._flow, *into)  # fmt: skip


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
    if device.is_gpu:
        return _by_sorting(cells, pattern, device.xp, PER_ELEMENT)
    return _by_counting(cells, pattern, device, IN_MATRIX)


def _by_sorting(cells, pattern, xp, kinds) -> Contributions:
    nodes, edges, count = pattern.nodes, pattern.edges.shape[0], cells.shape[0]
    rows = edges + (2 if kinds > IN_MATRIX else 1) * nodes
    target = xp.empty((kinds, count), dtype=np.int32)
    target[:6] = pattern.element_edges.T
    target[6:10] = edges + cells.T
    target[10:] = edges + nodes + cells.T[: kinds - IN_MATRIX]
    target = target.ravel()
    lengths = xp.bincount(target, minlength=rows).astype(np.int32)
    slices, first = _slices(lengths, xp)

    # The contributions in the order of their rows; the depth of each is its distance from the row's first.
    order = xp.argsort(target, kind="stable")
    ordered = target[order]
    depth = xp.arange(ordered.size, dtype=np.int64) - starts(lengths, xp)[ordered]
    places = xp.empty(ordered.size, dtype=np.int32)
    places[order] = (first[ordered] + WARP * depth).astype(np.int32)
    return Contributions(rows, slices, places.reshape(kinds, count))


def _by_counting(cells, pattern, device, kinds) -> Contributions:
    nodes, edges, count = pattern.nodes, pattern.edges.shape[0], cells.shape[0]
    rows = edges + (2 if kinds > IN_MATRIX else 1) * nodes
    parts = max(1, min(device.compute_units, kinds * count // max(rows, 1)))  # each has a count for every row
    kernels = device.build(SOURCE, block=1)
    counts, lengths = device.empty(parts * rows, np.int32), device.empty(rows, np.int32)
    given = (kinds, count, edges, nodes, device.array(pattern.element_edges, np.int32), device.array(cells, np.int32))
    kernels.tally(parts, rows, parts, *given, counts)
    kernels.before(parts, rows, parts, counts, lengths)
    slices, first = _slices(np.asarray(device.to_host(lengths)), np)
    places = device.empty(kinds * count, np.int32)
    kernels.place(parts, rows, parts, *given, WARP, device.array(first, np.int64), counts, places)
    return Contributions(rows, slices, np.asarray(device.to_host(places)).reshape(kinds, count))


def _slices(lengths, xp):
    """Return how rows of these lengths lie in memory, and where each begins."""
    slices = cut(lengths, WARP, WINDOW, 8, xp)
    if slices.entries >= 2**31:
        raise ValueError(f"{slices.entries} contributions are beyond 32-bit indices")
    slot = xp.empty(lengths.size, dtype=np.int64)
    filled = xp.nonzero(slices.order >= 0)[0]
    slot[slices.order[filled]] = filled
    return slices, slices.offsets[slot // WARP] + slot % WARP
