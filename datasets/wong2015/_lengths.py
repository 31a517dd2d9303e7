"""Row lengths of matrices by their extremes, mean and standard deviation."""

import numpy as np

from datasets.errors import MatrixError


def lognormal(rows, nonzeros, low, high, deviation):
    """Return row lengths in rising order that add up to `nonzeros`, the first `low`, the last `high`.

    Their logarithms are normal, with the variance that the standard deviation asks for, and cut at both ends.
    """
    from scipy.special import ndtri

    quantiles = ndtri((np.arange(rows) + 0.5) / rows)
    width = np.sqrt(np.log1p((deviation * rows / nonzeros) ** 2))

    def drawn(middle):
        return np.clip(np.rint(np.exp(middle + width * quantiles)), low, high).astype(np.int64)

    small, large = np.log(low) - 8, np.log(high) + 8
    for _ in range(60):
        middle = (small + large) / 2
        small, large = (small, middle) if drawn(middle).sum() > nonzeros else (middle, large)
    found = drawn(small)
    found[0], found[-1] = low, high
    return np.sort(adjusted(found, nonzeros, low, high))


def adjusted(lengths, nonzeros, low, high):
    """Return row lengths in rising order with as few as possible changed by one, so that they add up to `nonzeros`."""
    while excess := int(lengths.sum()) - nonzeros:
        inner = np.flatnonzero((lengths[1:-1] > low) if excess > 0 else (lengths[1:-1] < high)) + 1
        if not len(inner):
            raise MatrixError(f"{len(lengths):,} rows of {low} to {high} entries cannot hold {nonzeros:,} non-zeros")
        lengths[inner[-abs(excess) :]] -= np.sign(excess)
    return lengths
