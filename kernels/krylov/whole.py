"""A whole solve by conjugate gradients in one kernel, with Jacobi's preconditioner or, on processors, without one.

On CUDA it is for small systems in K1's warps, on processors for all whose rows lie in slices of 32.

Between two launches of a graph a GPU waits for microseconds, in which the rows of a small system would be multiplied
several times. Here blocks stay, each on a multiprocessor of its own, and meet twice an iteration through the
second-level cache. The matrix is read once and lies in registers. On processors the threads of one launch meet twice
an iteration, in compiled code, where five launches from Python would take longer than a small system's product.
Notes: docs/notes/krylov.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.krylov import conjugate_gradient

SOURCE = Path(__file__).with_name("whole.cu")
WARP = 32
WIDTHS = (16, 24, 32)  # entries of a row that a thread has in registers
FEWEST_WARPS, MOST_WARPS = 4, 12  # of a block: more blocks wait longer for one another, more warps lack registers
FEW = 160  # warps of a matrix for which blocks are small
TOGETHER = {"MIN_BLOCKS": 1, "COOPERATIVE": 1}  # blocks that wait for one another
LEAST_PART, PARTS = 4096, 4  # entries for which a processor's threads meet, and parts a thread at most
SLOTS = 5 * WARP  # entries that take as long as the vectors of a slice
LINE = 8  # doubles between the sums of two parts
BUILDS = [(SOURCE, WARP * warps, {**defines, "WIDEST": width, "MOST_BLOCKS": 132, "SORTED": 1, "WEIGHS": weighs,
                                    **TOGETHER})
          for weighs, warps, width in ((0, 1, 16), (1, MOST_WARPS, WIDTHS[-1]))
          for _, _, defines in conjugate_gradient.BUILDS[:1]]  # fmt: skip


def solver(device, matrix, inverse=None):
    """Return what enqueues all iterations of a solve; None where the matrix does not lie so, or is too large.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : packed matrix, or None
    inverse : (n,) float64 device array, optional
        Of its diagonal; without it there is no preconditioner, which only processors do.

    Returns
    -------
    callable or None
        ``enqueue(r, x, z, scalars, counters, history)``, arrays of `ConjugateGradient`; z is overwritten.
    """
    from kernels.spmv.ellwarp import Packed

    if device.backend == "openmp":
        return _on_processor(device, matrix, inverse)
    if device.backend != "cuda" or inverse is None:
        return None
    if type(matrix) is not Packed or matrix.dtype != np.float64 or matrix.reorder:
        return None
    warps = FEWEST_WARPS if matrix.warps <= FEW else MOST_WARPS
    blocks = -(-matrix.warps // warps)
    widest = int(np.diff(device.to_host(matrix.arrays["warp_offsets"])).max())
    if blocks > device.compute_units or widest > WIDTHS[-1] or not matrix.coalesced:
        return None
    _, _, defines = conjugate_gradient.build(device)
    defines |= {"WIDEST": min(width for width in WIDTHS if width >= widest), "MOST_BLOCKS": blocks,
                "SORTED": int("order" in matrix.arrays), **TOGETHER}  # fmt: skip
    kernel = device.build(SOURCE, WARP * warps, defines).whole
    board, numbers = device.zeros(2 * 3 * blocks * 2, np.float64), device.zeros(1, np.int32)
    held = matrix.arrays

    def enqueue(r, x, z, scalars, counters, history):
        kernel(blocks, matrix.warps, matrix.shape[0], held["warp_offsets"], held.get("order"), held["columns"],
               held["values"], inverse, r, x, z, board, numbers, scalars, counters, history)  # fmt: skip

    return enqueue


def _on_processor(device, matrix, inverse):
    from kernels.spmv import ellwarp, sell

    if matrix is None or matrix.dtype != np.float64:
        return None
    if type(matrix) is ellwarp.Packed and matrix.coalesced and not matrix.reorder:
        offsets = WARP * matrix.arrays["warp_offsets"].astype(np.int64)
    elif type(matrix) is sell.Packed and matrix.slices.size == WARP:
        offsets = np.asarray(matrix.arrays["slice_offsets"], np.int64)
    else:
        return None
    rows, slots = matrix.shape[0], WARP * (offsets.size - 1)
    order = np.arange(slots, dtype=np.int32)
    order[: matrix.arrays.get("order", order).size] = matrix.arrays.get("order", order)
    order[(order < 0) | (order > rows)] = rows
    parts = max(1, min(PARTS * device.compute_units, int(offsets[-1]) // LEAST_PART))
    # Parts of as many entries, and as many slots: vectors take their time, too.
    weights = offsets + SLOTS * np.arange(offsets.size)
    bounds = np.searchsorted(weights, np.linspace(0, weights[-1], parts + 1)[1:-1])
    bounds = device.array(np.concatenate([[0], bounds, [offsets.size - 1]]), np.int64)
    _, block, defines = conjugate_gradient.build(device)
    kernel = device.build(SOURCE, block, {**defines, "WEIGHS": int(inverse is not None)}).whole
    z, work, sums = (device.zeros(size, np.float64) for size in (rows + 1, 5 * slots, LINE * parts))
    held, offsets, order = matrix.arrays, device.array(offsets), device.array(order)

    def enqueue(r, x, _, scalars, counters, history):
        kernel(1, parts, slots, rows, bounds, offsets, order, held["columns"], held["values"], inverse, r, x, z, work,
               sums, scalars, counters, history)  # fmt: skip

    return enqueue
