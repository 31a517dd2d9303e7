"""A whole solve by Jacobi-preconditioned conjugate gradients in one CUDA kernel, for small systems in K1's warps.

Between two launches of a graph a GPU waits for microseconds, in which the rows of a small system would be multiplied
several times. Here blocks stay, each on a multiprocessor of its own, and meet twice an iteration through the
second-level cache. The matrix is read once and lies in registers. Notes: docs/notes/krylov.md.
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
BUILDS = [(SOURCE, WARP * warps, {**defines, "WIDEST": width, "MOST_BLOCKS": 132, "SORTED": 1, **TOGETHER})
          for warps, width in ((1, 16), (MOST_WARPS, WIDTHS[-1]))
          for _, _, defines in conjugate_gradient.BUILDS[:1]]  # fmt: skip


def solver(device, matrix, inverse):
    """Return what enqueues all iterations of a solve; None where the matrix does not lie so, or is too large.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : packed matrix, or None
    inverse : (n,) float64 device array
        Of its diagonal.

    Returns
    -------
    callable or None
        ``enqueue(r, x, z, scalars, counters, history)``, arrays of `ConjugateGradient`; z is overwritten.
    """
    from kernels.spmv.ellwarp import Packed

    if device.backend != "cuda" or type(matrix) is not Packed or matrix.dtype != np.float64 or matrix.reorder:
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
