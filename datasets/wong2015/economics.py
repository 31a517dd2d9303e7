"""Economics of wong2015, a macroeconomic model solved forward over 500 periods: each period has the same 413 equations.

The equations of a period are about its own variables, most near each other, and some of the period before and after.
Table 2's non-zeros leave 2548 of them a period, 611 of these to the neighbours, which the first and the last period
lack. A lot draws these equations.
"""

import numpy as np

from datasets.wong2015 import _lengths, _values

KIND = "matrix"
TITLE = "Economics"
COLLECTION = "Williams/mac_econ_fwd500"
STAND_IN_FOR = "Williams/mac_econ_fwd500 of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 206_500, "nonzeros": 1_273_389, "row_length_min": 1, "row_length_max": 44}
SPREAD = 4.44  # chosen: the standard deviation of row lengths
MAKE = "500 periods of 413 equations, none of them symmetric, each period coupled with the next"
SCALES = {"smoke": 8, "small": 62, "paper": 500}  # periods
EQUATIONS, ENTRIES, BEFORE, AFTER = 413, 2548, 400, 211
NEAR = 30  # equations between which most variables are shared


def build(scale):
    """Return the matrix."""
    periods = SCALES[scale]
    row, column = _period()
    period = np.arange(periods)[:, None]
    rows, columns = (EQUATIONS * period + row).ravel(), (EQUATIONS * period + column).ravel()
    there = (columns >= 0) & (columns < EQUATIONS * periods)
    rows, columns = rows[there], columns[there]
    order = np.lexsort((columns, rows))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=EQUATIONS * periods))))
    return _values.filled(offsets, columns[order], symmetric=False)


def _period():
    """Return rows and columns of a period's entries, the columns counted from its own first variable."""
    rng = np.random.default_rng(2)
    lengths = rng.permutation(
        _lengths.lognormal(EQUATIONS, ENTRIES, COUNTS["row_length_min"], COUNTS["row_length_max"], SPREAD)
    )
    row = np.repeat(np.arange(EQUATIONS), lengths - 1)
    shift = rng.permutation(np.repeat([-1, 1, 0], [BEFORE, AFTER, len(row) - BEFORE - AFTER]))
    found = {(i, i) for i in range(EQUATIONS)}
    for i, period in zip(row.tolist(), shift.tolist(), strict=True):
        j = i
        while (i, j) in found:
            near = rng.random() < 0.8
            other = i + rng.integers(-NEAR, NEAR + 1) if near else rng.integers(0, EQUATIONS)
            j = int(other) % EQUATIONS + EQUATIONS * period
        found.add((i, j))
    return np.array(sorted(found)).T
