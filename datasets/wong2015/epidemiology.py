"""Epidemiology of wong2015: the two-dimensional epidemic among the models of MARCA, a solver of Markov chains.

A state (u, v), u up to 1024 and v up to 512, leads to the south, (u, v - 1), at the rate v, to the east, (u + 1, v), at
2025, and to the north-west, (u - 1, v + 1), at u, where there is such a state. With the diagonal, which makes the sum
of a row nought, these are Table 2's non-zeros. MARCA numbers states in the order in which it finds them from the first
one, breadth first. The padding that sorting saves is then Table 6's; by lines of the grid it would be less.
"""

import numpy as np

KIND = "matrix"
TITLE = "Epidemiology"
COLLECTION = "Williams/mc2depi"
STAND_IN_FOR = "Williams/mc2depi of the SuiteSparse collection"
FIDELITY = "exact"
COUNTS = {"rows": 525_825, "nonzeros": 2_100_225, "row_length_min": 2, "row_length_max": 4}
MAKE = "MARCA's two-dimensional epidemic on 1025 x 513 states, numbered as they are found"
SCALES = {"smoke": (129, 65), "small": (361, 181), "paper": (1025, 513)}
EAST = 2025.0


def build(scale):
    """Return the matrix."""
    import scipy.sparse

    wide, high = SCALES[scale]
    u, v = np.divmod(np.arange(wide * high), high)
    next_states = np.stack((np.where(v > 0, u * high + v - 1, -1), np.where(u < wide - 1, (u + 1) * high + v, -1),
                            np.where((u > 0) & (v < high - 1), (u - 1) * high + v + 1, -1)), axis=1)  # fmt: skip
    rates = np.where(next_states >= 0, np.stack((v, np.full(len(u), EAST), u), axis=1), 0.0)
    number = np.empty(len(u), dtype=np.int64)
    number[_found(next_states)] = np.arange(len(u))
    rows, columns = np.repeat(number, 3), number[next_states].ravel()
    there = next_states.ravel() >= 0
    entries = np.concatenate((rates.ravel()[there], -rates.sum(axis=1)))
    places = np.concatenate((rows[there], number)), np.concatenate((columns[there], number))
    return scipy.sparse.coo_matrix((entries, places), shape=2 * (len(u),)).tocsr()


def _found(next_states):
    """Return the states, breadth first from the first one; the next ones of a state come in the order given."""
    new = np.ones(len(next_states), dtype=bool)
    front, found = np.array([0]), []
    while len(front):
        new[front] = False
        found.append(front)
        reached = next_states[front].ravel()
        reached = reached[(reached >= 0) & new[reached]]
        _, first = np.unique(reached, return_index=True)
        front = reached[np.sort(first)]
    return np.concatenate(found)
