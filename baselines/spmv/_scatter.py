"""Values put into another order on the host, by the simple loop of wong2015 (section 6), compiled by Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

LIBRARIES = ("numba",)


def scatter(places: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """Write ``out[places[k]] = values[k]`` for each k, on one core.

    Parameters
    ----------
    places : (n,) uint32 array
        Below ``out.size``, which is not checked: signed ones, which Numba wraps in case they are negative, take longer.
    values : (n,) array
    out : array of the same type
    """
    if places.dtype != np.uint32 or places.shape != values.shape:
        raise ValueError(f"{places.size} places of {places.dtype} for {values.size} values; they are uint32, one each")
    _scatter(places, values, out)


@njit(cache=True)
def _scatter(places, values, out):
    for k in range(values.size):
        out[places[k]] = values[k]
