"""A stand-in for the matrix of a circuit: a symmetric graph of given row lengths, alike where rows are neighbours.

Parts of a circuit repeat, so rows near each other are about as long. Here each stretch of rows has a level, a row its
own deviation from that, and the ranks of both together say which length a row gets. A row is one end of as many wires
as it has entries off the diagonal; ends are put in order of place, most near their row, the others anywhere, and two
that follow one another are joined. Wires that join a row with itself, or two rows twice, are cut and their ends joined
again with the ends of others.
"""

import numpy as np

from datasets.errors import MatrixError
from datasets.wong2015 import _values

ROUNDS, CLOSE = 200, 8  # rounds of joining, and those in which ends stay near
OTHERS = 4  # wires that are cut for each one that has to be


def matrix(lengths, *, stretch, own, near, band, seed):
    """Return a symmetric matrix with a full diagonal and rows of these lengths, in an order drawn here.

    Parameters
    ----------
    lengths : ndarray of int
        In rising order; together, without the diagonal, even.
    stretch : int
        Rows of one level.
    own : float
        Deviation of a row from its level, in standard deviations of the levels.
    near : float
        Share of the ends that lie within `band` rows.
    band : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    rows = len(lengths)
    levels = np.repeat(rng.standard_normal(-(-rows // stretch)), stretch)[:rows]
    placed = np.empty(rows, dtype=np.int64)
    placed[np.argsort(levels + own * rng.standard_normal(rows), kind="stable")] = lengths
    ends = np.repeat(np.arange(rows), placed - 1)
    places = np.where(rng.random(len(ends)) < near, ends + rng.uniform(-band, band, len(ends)),
                      rng.uniform(0, rows, len(ends)))  # fmt: skip
    wires = ends[np.argsort(places, kind="stable")].reshape(-1, 2)
    for turn in range(ROUNDS):
        cut = np.flatnonzero(_bad(wires, rows))
        if not len(cut):
            return _filled(wires, rows)
        # With wires that are near at first; the wires that are left then go anywhere.
        close = turn < CLOSE
        others = cut[:, None] + rng.integers(-band, band + 1, (len(cut), OTHERS)) if close else rng.integers(
            0, len(wires), (len(cut), OTHERS))  # fmt: skip
        cut = np.union1d(cut, others.ravel() % len(wires))
        loose = wires[cut].ravel()
        order = np.argsort(loose + rng.uniform(-band, band, len(loose))) if close else rng.permutation(len(loose))
        wires[cut] = loose[order].reshape(-1, 2)
    raise MatrixError(f"{int(_bad(wires, rows).sum()):,} wires of {len(wires):,} could not be laid")


def _bad(wires, rows):
    """Return which wires join a row with itself, or rows that a wire before joins already."""
    low, high = wires.min(axis=1), wires.max(axis=1)
    bad = np.ones(len(wires), dtype=bool)
    bad[np.unique(low * rows + high, return_index=True)[1]] = False
    return bad | (low == high)


def _filled(wires, rows):
    import scipy.sparse

    first, second = np.concatenate((wires, wires[:, ::-1], np.stack(2 * (np.arange(rows),), axis=1))).T
    graph = scipy.sparse.csr_matrix((np.ones(len(first), dtype=np.int8), (first, second)), shape=(rows, rows))
    graph.sort_indices()
    return _values.filled(graph.indptr, graph.indices)
