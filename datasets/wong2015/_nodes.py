"""Stand-ins for matrices of finite elements: nodes in space, several unknowns each, coupled where nodes are near.

Nodes lie on a lattice, shaken, and are numbered along it, as a mesh numbered for a small bandwidth is. The nearest
pairs are coupled, all unknowns of one with all of the other, until the matrix has its non-zeros; what is then too
much of the last pair is taken out. All arithmetic is in integers, so that the structure is the same on every machine.
"""

import numpy as np

from datasets.errors import MatrixError
from datasets.wong2015 import _values

STEP, SHAKE = 1024, 300  # of the lattice, and how far a node is moved at most


def matrix(sizes, shape, nonzeros, low, high, *, alone=(), reach=5, spread=0, alike=1, seed=0):
    """Return a symmetric matrix of exactly so many non-zeros, whose rows have from `low` to `high` of them, both taken.

    Parameters
    ----------
    sizes : ndarray of int, shape (nodes,)
        Unknowns of each node.
    shape : three ints
        The lattice; its first positions are taken.
    nonzeros, low, high : int
    alone : sequence of int
        Sizes of nodes behind the others that are coupled with none, as fixed ones are.
    reach : int
        Squared lattice distance up to which nodes may be coupled.
    spread : int
        Percent by which some nodes reach farther than others: the larger, the more row lengths differ.
    alike : int
        Nodes in a row that reach as far as one another.
    seed : int
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    nodes = len(sizes)
    noise = _values.mixed(np.arange(4 * nodes, dtype=np.uint64) + np.uint64(seed << 40)).reshape(4, nodes)
    lattice = np.stack(np.unravel_index(np.arange(nodes), shape))
    points = STEP * lattice + (noise[:3] % np.uint64(2 * SHAKE + 1)).astype(np.int64) - SHAKE
    weights = 100 + (noise[3][np.arange(nodes) // alike] % np.uint64(spread + 1)).astype(np.int64)
    coupled = Couplings(sizes, nonzeros - sum(size**2 for size in alone), high)
    # One node takes the shortest row, unless those alone do, and one the longest; then they are left as they are.
    short, long = nodes // 3 + int(np.argmin(sizes[nodes // 3 :])), 2 * nodes // 3
    if not alone:
        coupled.complete(short, _nearest(points, short), low)
    coupled.complete(long, _nearest(points, long), high)

    first, second = _candidates(lattice, shape, reach)
    distance = ((points[:, first] - points[:, second]) ** 2).sum(axis=0)
    distance = distance * 40000 // (weights[first] + weights[second]) ** 2
    order = np.argsort(distance, kind="stable")
    first, second = first[order], second[order]
    if not alone:
        needed = _floor(first, second, nodes, -(-(low - sizes) // sizes.min()))
        coupled.add(first[needed], second[needed])
        first, second = first[~needed], second[~needed]
    coupled.add(first, second)
    return _values.filled(*expanded(coupled, alone, nonzeros))


class Couplings:
    """The pairs of nodes that are coupled, and the row length of each node so far."""

    def __init__(self, sizes, nonzeros, high):
        self.sizes, self.nonzeros, self.high = sizes, nonzeros, high
        self.lengths, self.size = sizes.tolist(), sizes.tolist()
        self.total = int((sizes**2).sum())
        self.pairs, self.closed = [], set()

    def complete(self, node, others, length):
        """Couple a node with others until its row has this length, and with no more."""
        for other in others:
            if self.lengths[node] == length:
                break
            rest = length - self.lengths[node] - self.size[other]
            if other not in self.closed and (rest == 0 or rest >= min(self.size)):
                self._couple(node, other)
        if self.lengths[node] != length:
            raise MatrixError(f"no row of {length} entries can be made of nodes of {set(self.size)} unknowns")
        self.closed.add(node)

    def add(self, first, second):
        """Couple pairs in turn, until there are enough non-zeros; pairs that would make too long a row are left out."""
        lengths, size, high, closed = self.lengths, self.size, self.high, self.closed
        for i, j in zip(first.tolist(), second.tolist()):
            if self.total >= self.nonzeros:
                break
            if lengths[i] + size[j] <= high and lengths[j] + size[i] <= high and i not in closed and j not in closed:
                self._couple(i, j)

    def _couple(self, i, j):
        self.pairs.append((i, j))
        self.lengths[i] += self.size[j]
        self.lengths[j] += self.size[i]
        self.total += 2 * self.size[i] * self.size[j]


def _nearest(points, node):
    distance = ((points - points[:, node, None]) ** 2).sum(axis=0)
    return np.argsort(distance, kind="stable")[1:400].tolist()


def _candidates(lattice, shape, reach):
    """Return the pairs of nodes, the lesser first, up to a squared distance of `reach` on the lattice."""
    width = int(reach**0.5)
    count, found = lattice.shape[1], []
    for offset in np.ndindex(*(3 * [2 * width + 1])):
        x, y, z = (int(c) - width for c in offset)
        step = (x * shape[1] + y) * shape[2] + z
        if step > 0 and x * x + y * y + z * z <= reach:
            moved = lattice + np.array([[x], [y], [z]])
            inside = ((moved >= 0) & (moved < np.array(shape)[:, None])).all(axis=0)
            first = np.flatnonzero(inside[: max(count - step, 0)])
            found.append((first, first + step))
    return (np.concatenate(side) for side in zip(*found))


def _floor(first, second, nodes, least):
    """Return which pairs, sorted by distance, are among the nearest `least[i]` of one of their nodes."""
    import scipy.sparse

    count = len(first)
    both, pair = np.stack((first, second), axis=1).ravel(), np.repeat(np.arange(count), 2)
    pairs = scipy.sparse.csr_matrix((np.ones(2 * count, dtype=np.int8), (both, pair)), shape=(nodes, count))
    lengths = np.diff(pairs.indptr)
    rank = np.arange(2 * count) - np.repeat(pairs.indptr[:-1], lengths)
    needed = np.zeros(count, dtype=bool)
    needed[pairs.indices[rank < np.repeat(least, lengths)]] = True
    return needed


def expanded(coupled, alone, nonzeros):
    """Return row offsets and columns of the matrix of unknowns, with what is too much taken out."""
    import scipy.sparse

    sizes = np.concatenate((coupled.sizes, np.asarray(alone, dtype=np.int64)))
    nodes, pairs = len(sizes), np.array(coupled.pairs)
    self = np.arange(nodes)
    rows, columns = np.concatenate((pairs[:, 0], pairs[:, 1], self)), np.concatenate((pairs[:, 1], pairs[:, 0], self))
    graph = scipy.sparse.csr_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(nodes, nodes))
    offsets, columns = unknowns(graph, sizes)
    excess = len(columns) - nonzeros
    if excess < 0:
        raise MatrixError(f"the nearest pairs of nodes make {len(columns):,} non-zeros, {nonzeros:,} are wanted")
    starts = np.concatenate(([0], np.cumsum(sizes)))
    i, j = coupled.pairs[-1]
    block = [(starts[i] + a, starts[j] + b) for a in range(sizes[i]) for b in range(sizes[j])]
    out = [place for pair in block[: excess // 2] for place in (pair, pair[::-1])]
    if excess % 2:
        out.append((starts[i], starts[i]))  # one more or less than a symmetric matrix with a full diagonal can have
    keep = np.ones(len(columns), dtype=bool)
    for row, column in out:
        keep[offsets[row] + np.searchsorted(columns[offsets[row] : offsets[row + 1]], column)] = False
    kept = np.concatenate(([0], np.cumsum(keep)))
    return kept[offsets], columns[keep]


def unknowns(graph, sizes):
    """Return row offsets and columns of the matrix that couples all unknowns of nodes that the graph couples.

    Parameters
    ----------
    graph : csr_matrix
        With an entry for each pair of nodes that are coupled, each node with itself among them.
    sizes : ndarray of int
        Unknowns of each node, which are numbered one node after another.
    """
    graph.sort_indices()
    starts = np.concatenate(([0], np.cumsum(sizes)))
    width = sizes[graph.indices]
    ends = np.concatenate(([0], np.cumsum(width)))
    flat = np.arange(ends[-1]) + np.repeat(starts[graph.indices] - ends[:-1], width)  # the columns of each node
    low, high = ends[graph.indptr[:-1]], ends[graph.indptr[1:]]
    lengths = np.repeat(high - low, sizes)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return offsets, flat[np.arange(offsets[-1]) + np.repeat(np.repeat(low, sizes) - offsets[:-1], lengths)]
