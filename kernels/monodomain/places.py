"""Where a storage format keeps each entry of a matrix, so that an assembly writes into the format at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels import spmv
from kernels.assembly.pattern import Pattern

EXACT = 1 << 20  # single precision counts further than this


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
    numbers = xp.arange(count, dtype=np.int64)

    def packed(digits):
        values = (digits + 1).astype(np.float64)  # a format may leave zeros out
        matrix = pack(device.sparse.csr_matrix((values, pattern.column_indices, pattern.row_offsets), shape=(n, n)))
        if "values" not in matrix.arrays:
            raise spmv.Unsuitable("the format keeps its values in more than one array")
        values = matrix.arrays["values"]
        return matrix, (values if xp is not np else device.to_host(values)).ravel()

    matrix, found = packed(numbers)
    filled = xp.nonzero(found > 0)[0]
    entries = found[filled].astype(np.int64)
    if found.dtype == np.float32 and count > EXACT:  # the last digits come apart
        matrix, found = packed(numbers % EXACT)
        low = found[filled].astype(np.int64)
        entries = low + EXACT * ((entries - low + EXACT // 2) // EXACT)
    entries -= 1
    places = xp.full(count, -1, dtype=np.int32)
    if filled.size == count:
        places[entries] = filled.astype(np.int32)
    if not bool((places >= 0).all()):
        raise spmv.Unsuitable(f"the format keeps {filled.size} of the matrix's {count} values in one array")
    return matrix, places
