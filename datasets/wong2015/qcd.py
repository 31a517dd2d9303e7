"""QCD of wong2015: quarks on a lattice of 8^4 sites with 12 unknowns each, 4 spins of 3 colours.

Wilson's hopping matrix, without its diagonal. A spin is coupled, along each direction of space, with itself and one
other, by 1 -+ gamma in Dirac's representation; along time, two spins with the site after, two with the one before. All
three colours are coupled. That makes Table 2's 39 entries in every row. The collection's values are complex; of those
the real parts are taken, as SpMV here is real.
"""

import numpy as np

from datasets.wong2015 import _values

KIND = "matrix"
TITLE = "QCD"
COLLECTION = "QCD/conf5_4-8x8-05"
STAND_IN_FOR = "QCD/conf5_4-8x8-05 of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 49_152, "nonzeros": 1_916_928, "row_length_min": 39, "row_length_max": 39}
MAKE = "Wilson's hopping matrix on a lattice of 8^4 sites"
REAL_PART = True
BLOCK = 3
SCALES = {"smoke": 4, "small": 6, "paper": 8}
PARTNER = ((3, 2, 1, 0), (3, 2, 1, 0), (2, 3, 0, 1))  # of each spin in gamma_1, gamma_2 and gamma_3
COLOURS = 3


def build(scale):
    """Return the matrix."""
    edge = SCALES[scale]
    place = np.stack(np.unravel_index(np.arange(edge**4), (edge,) * 4))  # time first
    spin = np.arange(4)
    columns = []
    for axis in range(4):
        for step in (1, -1):
            moved = place.copy()
            moved[axis] = (moved[axis] + step) % edge
            site = np.ravel_multi_index(moved, (edge,) * 4)
            if axis == 0:
                couplings = [np.where((spin < 2) == (step > 0), spin, -1)]
            else:
                couplings = [spin, np.array(PARTNER[axis - 1])]
            # Of each site and spin: the spin that it is coupled with there, -1 for none.
            columns += [np.where(other < 0, -1, 4 * site[:, None] + other) for other in couplings]
    columns = np.sort(np.stack(columns, axis=-1).reshape(4 * edge**4, -1), axis=1)[:, 1:]  # one of each is -1
    columns = (COLOURS * columns[:, :, None] + np.arange(COLOURS)).reshape(len(columns), -1)
    columns = np.repeat(columns, COLOURS, axis=0)
    offsets = np.arange(len(columns) + 1) * columns.shape[1]
    return _values.filled(offsets, columns.ravel(), symmetric=False)
