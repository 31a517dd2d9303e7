"""Grid transfer written directly, in the call shape of a matrix: what the paper found no faster (section 2.3).

On an H200 a solve with it takes less than with matrices in slices where levels are small, and more at the largest: the
atomic additions to the coarse vector cost what the transfer's matrix would have been to read. Prolongation is bound by
the pipe to L1, restriction waits there for its atomics. Notes: docs/notes/multigrid.md.
"""

from __future__ import annotations

from pathlib import Path

from repro import Work

SOURCE, BLOCK = Path(__file__).with_name("direct.c"), 256
BUILDS = [(SOURCE, BLOCK, {"FUNCTIONS": functions, "PLACES": places}) for functions, places in ((4, 16), (9, 36))]


class DirectTransfer:
    """Prolongation, or restriction, by the places of fine nodes in coarse elements.

    Parameters
    ----------
    device : kernels.device.Device
    places : kernels.multigrid.transfer.Places
    coarse : int
        Unknowns of the coarse level.
    restricts : bool
    """

    def __init__(self, device, places, coarse: int, restricts: bool):
        self.device, self.restricts, fine = device, restricts, len(places.owner)
        self.arrays = [device.array(part) for part in (places.owner, places.nodes, places.table)]
        self.shape = (coarse, fine) if restricts else (fine, coarse)
        rows, functions = places.table.shape
        self.kernels = device.build(SOURCE, block=BLOCK, defines={"FUNCTIONS": functions, "PLACES": rows})

    def multiply(self, x, y, alpha: float = 1.0, beta: float = 0.0) -> None:
        """Enqueue y = Pᵀ x, or y += P x: what a cycle asks for.

        Raises
        ------
        ValueError
            For other factors.
        """
        if (alpha, beta) != (1.0, 0.0 if self.restricts else 1.0):
            raise ValueError(f"transfer without a matrix has no factors {alpha} and {beta}")
        blocks = -(-max(self.shape) // BLOCK)
        if self.restricts:
            self.kernels.clear(-(-self.shape[0] // BLOCK), self.shape[0], y)
            self.kernels.restrict_add(blocks, self.shape[1], *self.arrays, x, y)
        else:
            self.kernels.prolong(blocks, self.shape[0], *self.arrays, x, y)

    def least_work(self, beta: float = 0.0) -> Work:
        """Return the least work: the places, each vector once, and what is added to."""
        moved = sum(int(array.nbytes) for array in self.arrays)
        vectors = sum(self.shape) + (0 if self.restricts else self.shape[0])
        return Work(moved + 8 * vectors, 2.0 * self.arrays[2].shape[1] * max(self.shape))
