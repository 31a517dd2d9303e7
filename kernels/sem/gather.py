"""Scatter and gather between assembled and element vectors, the paper's equations 6 and 7."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import scipy.sparse

from kernels.sem.diagonals import namespaced
from kernels.sem.layout import Layout

SOURCE = Path(__file__).with_name("gather.c")
BLOCK = 256
_REAL = {"float64": "double", "float32": "float"}


def build(dtype: str) -> tuple:
    """Return the build for vectors of `dtype`."""
    return SOURCE, BLOCK, {"real": _REAL[dtype]}


BUILDS = [build(dtype) for dtype in _REAL]


class Gather:
    """The maps between the assembled vector and the element vector of one numbering.

    Parameters
    ----------
    device : kernels.device.Device
    table : (elements, q³) int32 array of `device.xp`
        Global number of every local node; negative for a node that is left out, as Dirichlet's.
    nodes : int
    layout : Layout
        Of element vectors.
    dtype : {'float64', 'float32'}

    Attributes
    ----------
    table : (layout.size,) int32
        In the layout; -1 fills up the last group.
    offsets : (nodes + 1,) int32
    places : int32
        The paper's I_g→l: where each node stands in the element vector.
    surface : list of three int32 arrays
        Nodes that no element has inside, those left out among them; and their offsets and places in a surface vector.
        These, offsets and places are made when they are first asked for, or by `prepared`: who adds by atomics does
        without.
    """

    def __init__(self, device, table, nodes: int, layout: Layout, dtype: str = "float64"):
        xp = device.xp
        if layout.size >= 2**31:
            raise ValueError(f"{layout.size} local nodes exceed 32 bits")
        self.device, self.nodes, self.layout = device, nodes, layout
        self.table = device.array(layout.pack(xp.asarray(table, dtype="int32"), xp, fill=-1))
        self._kernels = device.build(*build(dtype))

    @functools.cached_property
    def _back(self):
        found = places_of(self._numbers, self.nodes, self.device.xp)
        return [self.device.array(array) for array in found]

    def prepared(self) -> Gather:
        """Make offsets and places now, not in the stream of a first gathering, whose memory is its own."""
        _ = self._back
        return self

    @property
    def offsets(self):
        return self._back[0]

    @property
    def places(self):
        return self._back[1]

    @functools.cached_property
    def surface(self):
        xp, table = self.device.xp, self.layout.unpack(self._numbers, self.device.xp)
        chosen = xp.asarray(self.layout.on_surface())
        starts, places = places_of(table[:, chosen].reshape(-1), self.nodes, xp)
        uses = xp.diff(starts)
        nodes = xp.nonzero((uses > 0) | (self.uses() == 0))[0]
        ends = xp.zeros(len(nodes) + 1, dtype="int32")
        ends[1:] = xp.cumsum(uses[nodes])
        return [self.device.array(array) for array in (nodes.astype("int32"), ends, places)]

    @property
    def _numbers(self):
        return namespaced(self.device, self.table)

    def uses(self):
        """Return how many local nodes each node has, (nodes,) int of the namespace."""
        return self.device.xp.bincount(self._numbers + 1, minlength=self.nodes + 1)[1:]

    @property
    def entries(self) -> int:
        """Local nodes that are not left out."""
        return int((self._numbers >= 0).sum())

    def scatter(self, x, y) -> None:
        """Enqueue y = element vector of the assembled vector x; left-out nodes read as zero."""
        self._kernels.scatter(-(-self.layout.size // BLOCK), self.layout.size, self.table, x, y)

    def gather(self, x, y) -> None:
        """Enqueue y = assembled vector: the element vector x summed at every node, zero where nodes are left out."""
        self._kernels.gather(-(-self.nodes // BLOCK), self.nodes, self.offsets, self.places, x, y)

    def gather_surface(self, x, y) -> None:
        """Enqueue y = the sums of the surface vector x at nodes that no element has inside; others are left alone."""
        count = int(self.surface[0].shape[0])
        self._kernels.gather_some(-(-count // BLOCK), count, *self.surface, x, y)

    def gather_atomic(self, x, y) -> None:
        """Enqueue the same as `gather` by atomics."""
        self.device.fill(y, 0)
        self._kernels.gather_atomic(-(-self.layout.size // BLOCK), self.layout.size, self.table, x, y)


def places_of(numbers, count: int, xp=np):
    """Return where each number stands in an array of them, in order.

    Parameters
    ----------
    numbers : (entries,) int array of `xp`
        Below `count`; negative ones are left out.
    count : int
    xp : module

    Returns
    -------
    offsets : (count + 1,) int32
    places : int32
        The places of number k are ``places[offsets[k]:offsets[k + 1]]``.
    """
    if xp is np:  # SciPy counts, which is faster than sorting; what is left out is the first column
        columns, ends = np.maximum(numbers, -1) + 1, np.arange(len(numbers) + 1, dtype="int32")
        entries = np.zeros(len(numbers), "int8"), columns, ends
        by_number = scipy.sparse.csr_matrix(entries, shape=(len(numbers), count + 1)).tocsc()
        offsets = by_number.indptr[1:] - by_number.indptr[1]
        return offsets, by_number.indices[by_number.indptr[1] :]
    order = xp.argsort(numbers, kind="stable")
    offsets = xp.zeros(count + 1, dtype="int32")
    offsets[1:] = xp.cumsum(xp.bincount(numbers[numbers >= 0], minlength=count))
    return offsets, order[int((numbers < 0).sum()) :].astype("int32")
