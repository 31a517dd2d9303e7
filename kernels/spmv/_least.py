"""The least that a product y = alpha A x + beta y moves: in a format, and in any."""

from __future__ import annotations

from repro import Work


def least_work(packed, beta: float = 0.0) -> Work:
    """Return the work of a product with a matrix that is packed, here or by a rival.

    Its `bytes` are the format's: what it stores without padding, x read once, y written once, and read where beta is
    not 0. Its `problem_bytes` are of any format: as many numbers as the matrix has entries, and the same vectors, all
    of the precision in hand. No index is counted, since blocks, differences and stencils store ever fewer of them, and
    what is known of the entries beforehand, as symmetry or a constant, is not used. Over the time of a product they
    rank formats, where the format's own bytes tell how well its kernel does.

    Parameters
    ----------
    packed : Matrix or baselines.spmv.Rival
    beta : float
    """
    rows, columns = packed.shape
    item, vectors = packed.dtype.itemsize, columns + rows * (2 if beta else 1)
    padding = (packed.stored - packed.nonzeros) * packed.entry_bytes
    return Work(packed.bytes - padding + vectors * item, 2.0 * packed.nonzeros, packed.dtype.name,
                problem_bytes=float((packed.nonzeros + vectors) * item))  # fmt: skip
