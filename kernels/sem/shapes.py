"""How blocks of the operator work, by order, precision and geometry: the fastest found on an H200."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernels.device import Unavailable
from kernels.sem.layout import lanes

CONSTANTS = 23  # of a trilinear element, from which factors are recomputed


@dataclass(frozen=True)
class Shape:
    """Sizes of a block.

    Attributes
    ----------
    elements : int
        Elements a block.
    padding : int
        Numbers between the rows of a tile in shared memory.
    min_blocks : int
        Resident blocks that the registers shall allow; 0 leaves it to the compiler.
    pencils : int
        Pencils a thread.
    stages : int
        Slabs of stored factors that CUDA copies ahead to shared memory, fewer than nodes along an edge.
    body : {'stiffness', 'tensor', 'columns', 'rows', 'pencils', 'loops'}
        The source: threads on any device; FP64 tensor cores on CUDA by tiles of slabs, or by columns along each axis,
        an element a block; threads of whole rows and recomputed factors; threads that take a pencil along each axis in
        turn; or vectors of elements on a processor.
    warps, chunks : int
        Of columns: warps of a block, and parts of a pencil along ζ, which divide it.
    """

    elements: int
    padding: int = 0
    min_blocks: int = 0
    pencils: int = 1
    stages: int = 0
    body: str = "stiffness"
    warps: int = 0
    chunks: int = 1

    def block(self, q: int) -> int:
        """Return the threads of a block for q nodes an edge: on GPUs a warp's multiple."""
        if self.body == "loops":
            return 1
        if self.body == "columns":
            return 32 * self.warps
        if self.body == "rows":
            return -(-self.elements * q // 32) * 32
        if self.body == "tensor":
            return 32 * (-(-q // 8)) ** 2 * self.elements
        return -(-self.elements * q * -(-q // self.pencils) // 32) * 32

    def shared(self, q: int, constants: int = CONSTANTS) -> int:
        """Return the numbers in a block's shared memory, at most; `constants` are an element's."""
        if self.body == "rows":
            return self.elements * (2 * (q**3 + 1) + constants)
        if self.body == "pencils":
            return self.elements * (3 * q * distances(q)[1] + constants)
        if self.body == "columns":
            return 4 * q * spread(q * spread(q)) + constants
        if self.body == "tensor":
            width = 4 * -(-q // 4)
            tile = (q + 4) * width * (width + 4 * (width // 16))
        else:
            tile = 3 * q * q * (q + self.padding)
        return self.elements * (tile + 6 * self.stages * q * q + constants)


def distances(q: int) -> tuple[int, int]:
    """Return how far rows and slabs lie apart in pencils.c: where least banks meet, as counted over all its pencils."""
    pitch = q + (q % 4 == 0)
    return pitch, q * pitch + (q % 4 == 2)


def spread(n: int) -> int:
    """Return the least number from n that is 4 or 12 more than a multiple of 16: columns.cu's distances."""
    return n + min((20 - n) % 16, (28 - n) % 16)


# Of orders 1, 2, ..., 15: elements, padding, min_blocks, pencils.
_TUNED = {
    ("float64", "stored"): [
        (8, 0, 21, 1), (32, 0, 0, 1), (4, 0, 10, 1), (5, 0, 6, 1), (3, 1, 8, 2),
        (3, 0, 0, 1), (1, 0, 10, 1), (1, 0, 5, 1), (2, 1, 0, 1), (1, 1, 4, 1),
        (1, 0, 3, 1), (1, 0, 2, 1), (2, 0, 0, 2), (1, 0, 2, 1), (1, 0, 0, 1),
    ],
    ("float32", "stored"): [
        (16, 0, 10, 1), (32, 0, 3, 1), (8, 1, 6, 1), (5, 1, 8, 1), (5, 0, 7, 2),
        (5, 0, 3, 1), (2, 0, 6, 2), (1, 1, 0, 1), (3, 0, 3, 2), (1, 0, 4, 1),
        (2, 0, 3, 1), (1, 1, 4, 1), (1, 0, 4, 1), (1, 1, 2, 1), (1, 0, 2, 1),
    ],
    ("float64", "trilinear"): [
        (32, 0, 0, 1), (7, 0, 10, 1), (4, 0, 16, 2), (5, 0, 4, 1), (7, 0, 3, 2),
        (5, 0, 2, 1), (1, 0, 12, 2), (1, 0, 4, 1), (1, 0, 3, 1), (1, 0, 3, 1),
        (1, 1, 2, 1), (1, 0, 2, 1), (2, 0, 0, 2), (1, 0, 0, 2), (1, 0, 0, 1),
    ],
    ("float32", "trilinear"): [
        (32, 0, 8, 2), (14, 0, 0, 1), (4, 1, 21, 2), (5, 0, 0, 1), (7, 0, 0, 2),
        (5, 0, 2, 1), (2, 0, 8, 2), (1, 0, 7, 1), (5, 0, 0, 2), (1, 0, 0, 1),
        (3, 0, 2, 2), (2, 0, 2, 2), (2, 0, 2, 2), (2, 0, 2, 2), (1, 0, 0, 2),
    ],
}  # fmt: skip
# Orders at which what CUDA alone has is faster: FP64 tensor cores, and factors copied ahead.
_CUDA = {
    ("float64", "stored"): {
        2: Shape(32, stages=2), 3: Shape(4, min_blocks=10, stages=2), 4: Shape(5, min_blocks=6, stages=2),
        5: Shape(2, stages=3, body="tensor"), 6: Shape(3, stages=2),
        7: Shape(2, min_blocks=8, stages=3, body="tensor"), 8: Shape(1, stages=3),
        9: Shape(1, padding=1, min_blocks=4, stages=3), 10: Shape(1, padding=1, stages=3),
        11: Shape(1, min_blocks=3, stages=3), 12: Shape(1, min_blocks=2, stages=4),
        13: Shape(1, stages=3, body="tensor"), 14: Shape(1, min_blocks=3, body="tensor"),
        15: Shape(1, stages=2, body="tensor"),
    },
    ("float64", "trilinear"): {
        2: Shape(32, body="rows"), 3: Shape(8, min_blocks=12, body="rows"),
        6: Shape(1, min_blocks=16, body="tensor"), 7: Shape(1, min_blocks=12, body="tensor"),
        9: Shape(1, padding=1, min_blocks=4, pencils=2), 10: Shape(1, body="columns", warps=4),
        11: Shape(1, min_blocks=5, body="columns", warps=5),
        13: Shape(1, body="tensor"), 14: Shape(1, min_blocks=3, body="tensor"), 15: Shape(1, body="tensor"),
    },
    ("float32", "stored"): {
        7: Shape(2, pencils=2, stages=2), 8: Shape(1, padding=1, stages=2), 9: Shape(3, stages=4),
        11: Shape(2, pencils=2, stages=3), 12: Shape(1, padding=1, stages=2),
        13: Shape(1, min_blocks=4, stages=2),
    },
}  # fmt: skip
# With a mass, whose factor is loaded late, other shapes are faster at some orders.
_CUDA_MASS = {
    ("float32", "stored"): {4: Shape(5, padding=1), 7: Shape(2, min_blocks=6, pencils=2)},
    ("float32", "trilinear"): {2: Shape(32, body="rows"), 6: Shape(4)},
}
FIRST_CAPABILITY = 80  # of the GPUs that have these


def tuned(order: int, dtype: str, geometry: str, device, has_mass: bool = False) -> Shape:
    """Return the fastest shape that fits the device; affine elements take that of trilinear ones.

    Raises
    ------
    ValueError
        For an order that no shape is known of.
    Unavailable
        When the device's shared memory does not hold an element's fields.
    """
    if not 1 <= order <= 15:
        raise ValueError(f"the order must be 1 to 15, not {order}")
    geometry = "stored" if geometry == "stored" else "trilinear"
    size, q = np.dtype(dtype).itemsize, order + 1
    if not device.is_gpu:
        return Shape(lanes(q, dtype), body="loops")
    known = _CUDA.get((dtype, geometry), {}) | (_CUDA_MASS.get((dtype, geometry), {}) if has_mass else {})
    special = known.get(order) if device.backend == "cuda" else None
    if special and int(device.details["compute capability"]) >= FIRST_CAPABILITY:
        if size * special.shared(q) <= device.shared_bytes:
            return special
    shape = Shape(*_TUNED[dtype, geometry][order - 1])
    needed = size * replace(shape, elements=1).shared(q, 0 if geometry == "stored" else CONSTANTS)
    if needed > device.shared_bytes:
        raise Unavailable(
            f"order {order} wants {needed} bytes of shared memory a block; {device.name} has {device.shared_bytes}",
            "take a lower order, single precision, or CUDA on the same card",
        )
    return replace(shape, elements=min(shape.elements, device.shared_bytes // needed))
