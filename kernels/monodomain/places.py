"""Where a storage format keeps each entry of a matrix, so that an assembly writes into the format at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels import spmv
from kernels.assembly.pattern import Pattern


def packed_places(pack: Callable, pattern: Pattern, device) -> tuple[Any, Any]:
    """Pack a matrix of a pattern, and find where in the format's values each of its entries stands.

    The entries' values are their numbers, which the packed array then holds.

    Returns
    -------
    matrix : packed matrix
        Its values are to be written.
    places : (nonzeros,) int32 array of `xp`

    Raises
    ------
    Unsuitable
        When the format keeps its values in more than one array, or changes them.
    """
    xp, n, count = device.xp, pattern.nodes, pattern.nonzeros
    numbers = xp.arange(1, count + 1, dtype=np.float64)
    csr = device.sparse.csr_matrix((numbers, pattern.column_indices, pattern.row_offsets), shape=(n, n))
    matrix = pack(csr)
    packed = matrix.arrays.get("values")
    if packed is None:
        raise spmv.Unsuitable("the format keeps its values in more than one array")
    packed = packed if xp is not np else device.to_host(packed)
    filled = xp.nonzero(packed.ravel() > 0)[0]
    entries = packed.ravel()[filled].astype(np.int64) - 1
    places = xp.full(count, -1, dtype=np.int32)
    if filled.size == count:
        places[entries] = filled.astype(np.int32)
    if not bool((places >= 0).all()):
        raise spmv.Unsuitable(f"the format keeps {filled.size} of the matrix's {count} values in one array")
    return matrix, places
