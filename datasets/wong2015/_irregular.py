"""Stand-ins for matrices of circuits, economies and the web: few long rows, many short ones.

Row lengths follow a power law between the published extremes, with the exponent that gives the published mean. A row
has its diagonal, neighbours near it, and columns from all over the matrix, some of them far more popular than others.
"""

import numpy as np

from datasets.errors import MatrixError
from datasets.wong2015 import _lengths, _values

ROUNDS, CHOOSY = 200, 8  # rounds of drawing, and those after which a row takes whatever columns it finds


def matrix(rows, nonzeros, low, high, *, shift, near, band, skew, seed):
    """Return a square matrix of exactly so many non-zeros, whose rows have from `low` to `high` of them, both taken.

    Parameters
    ----------
    rows, nonzeros, low, high : int
    shift : float
        Row lengths k are as frequent as (k + shift)^-a: the larger, the fewer rows are very short.
    near : float
        Share of the entries that are within `band` of the diagonal.
    band : int
    skew : float
        Columns of the other entries are at rows u^skew for u even between 0 and 1, then scattered: 1 is no preference.
    seed : int
    """
    rng = np.random.default_rng(seed)
    lengths = rng.permutation(row_lengths(rows, nonzeros, low, high, shift))
    taken = np.arange(rows, dtype=np.int64) * (rows + 1)  # places i * rows + j, sorted; first the diagonal
    missing, factor = lengths - 1, _scatter(rows)
    for turn in range(ROUNDS):
        row = np.repeat(np.arange(rows, dtype=np.int64), missing)
        if not len(row):
            offsets = np.concatenate(([0], np.cumsum(lengths)))
            return _values.filled(offsets, taken % rows, symmetric=False)
        close = row + rng.integers(-band, band + 1, len(row))
        popular = (rows * rng.random(len(row)) ** (skew if turn < CHOOSY else 1)).astype(np.int64)
        is_near = rng.random(len(row)) < (near if turn < CHOOSY else 0)
        column = np.where(is_near, close, popular * factor % rows)
        row, column = row[inside := (column >= 0) & (column < rows)], column[inside]
        places = np.unique(row * rows + column)
        at = np.minimum(np.searchsorted(taken, places), len(taken) - 1)
        places = places[taken[at] != places]
        taken = np.sort(np.concatenate((taken, places)), kind="stable")
        missing -= np.bincount(places // rows, minlength=rows)
    raise MatrixError(f"no places were found for {int(missing.sum()):,} entries")


def row_lengths(rows, nonzeros, low, high, shift):
    """Return row lengths in rising order that add up to `nonzeros`, the first `low`, the last `high`."""
    lengths = np.arange(low, high + 1)

    def drawn(exponent):
        shares = (lengths + shift) ** -exponent
        return lengths[np.searchsorted(np.cumsum(shares) / shares.sum() * (1 - 1e-12), (np.arange(rows) + 0.5) / rows)]

    flat, steep = 0.0, 20.0
    for _ in range(60):
        middle = (flat + steep) / 2
        flat, steep = (middle, steep) if drawn(middle).sum() > nonzeros else (flat, middle)
    found = drawn(steep)
    found[0], found[-1] = low, high
    return _lengths.adjusted(found, nonzeros, low, high)


def _scatter(rows):
    """Return a factor that has no divisor in common with the number of rows."""
    return next(int(factor) for factor in range(int(0.618 * rows) | 1, 2 * rows) if np.gcd(factor, rows) == 1)
