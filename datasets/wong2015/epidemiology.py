"""Epidemiology of wong2015, a Markov chain of an epidemic on a grid of 1025 x 513 states.

The four neighbours of a grid make all of Table 2's non-zeros but one, without the diagonal; that one is put on the
diagonal of the last state.
"""

import numpy as np

from datasets.wong2015 import _values

KIND = "matrix"
TITLE = "Epidemiology"
COLLECTION = "Williams/mc2depi"
STAND_IN_FOR = "Williams/mc2depi of the SuiteSparse collection"
COUNTS = {"rows": 525_825, "nonzeros": 2_100_225, "row_length_min": 2, "row_length_max": 4}
SCALES = {"smoke": (129, 65), "small": (361, 181), "paper": (1025, 513)}


def build(scale):
    """Return the matrix."""
    wide, high = SCALES[scale]
    state = np.arange(wide * high)
    x, y = np.divmod(state, high)
    # In the order of the columns: the states before, those after; the diagonal is the last state's alone.
    columns = np.stack((state - high, state - 1, state, state + 1, state + high), axis=1)
    there = np.stack((x > 0, y > 0, state == wide * high - 1, y < high - 1, x < wide - 1), axis=1)
    return _values.filled(np.concatenate(([0], np.cumsum(there.sum(axis=1)))), columns[there])
