"""Shapes of the operator's blocks, by order, precision and geometry: the fastest found on an H200."""

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
    body : {'stiffness', 'tensor', 'rows', 'pencils', 'loops'}
        The source: threads on any device; FP64 tensor cores on CUDA; threads of whole rows and recomputed factors;
        threads that take a pencil along each axis in turn; or vectors of elements on a processor.
    """

    elements: int
    padding: int = 0
    min_blocks: int = 0
    pencils: int = 1
    stages: int = 0
    body: str = "stiffness"

    def block(self, q: int) -> int:
        """Return the threads of a block for q nodes an edge: on GPUs a warp's multiple."""
        if self.body == "loops":
            return 1
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


# By threads of stiffness.c, of orders 1 to 7: elements, padding, min_blocks, pencils.
_THREADS = {
    ("float64", "stored"): [
        (8, 0, 21, 1), (32, 0, 0, 1), (4, 0, 10, 1), (5, 0, 6, 1), (3, 1, 8, 2), (3, 0, 0, 1), (1, 0, 10, 1),
    ],
    ("float32", "stored"): [
        (16, 0, 10, 1), (32, 0, 3, 1), (8, 1, 6, 1), (5, 1, 8, 1), (5, 0, 7, 2), (5, 0, 3, 1), (2, 0, 6, 2),
    ],
    ("float64", "trilinear"): [
        (32, 0, 0, 1), (7, 0, 10, 1), (4, 0, 16, 2), (5, 0, 4, 1), (7, 0, 3, 2), (5, 0, 2, 1), (1, 0, 12, 2),
    ],
    ("float32", "trilinear"): [
        (32, 0, 8, 2), (14, 0, 0, 1), (4, 1, 21, 2), (5, 0, 0, 1), (7, 0, 0, 2), (5, 0, 2, 1), (2, 0, 8, 2),
    ],
}  # fmt: skip
# By pencils.c: elements and min_blocks.
_PENCILS = {
    ("float64", "stored"): {
        8: (1, 8), 9: (1, 6), 10: (1, 6), 11: (1, 0), 12: (1, 0), 13: (1, 2), 14: (1, 2), 15: (1, 0),
    },
    ("float32", "stored"): {8: (3, 4), 9: (3, 4), 10: (1, 8), 11: (1, 7), 12: (1, 0), 13: (1, 0), 14: (1, 0)},
    ("float64", "trilinear"): {
        4: (5, 0), 6: (1, 0), 8: (1, 6), 9: (1, 5), 10: (1, 5), 11: (1, 4), 12: (1, 3), 13: (1, 2), 14: (1, 2),
        15: (1, 0),
    },
    ("float32", "trilinear"): {
        4: (5, 0), 6: (4, 0), 7: (1, 0), 8: (1, 0), 9: (1, 0), 10: (1, 0), 11: (1, 0), 12: (1, 0), 13: (1, 0),
        14: (1, 0), 15: (1, 0),
    },
}  # fmt: skip
_TUNED = {
    key: {order: Shape(*sizes) for order, sizes in enumerate(_THREADS[key], 1)}
    | {order: Shape(count, min_blocks=blocks, body="pencils") for order, (count, blocks) in pencils.items()}
    for key, pencils in _PENCILS.items()
}
_TUNED["float32", "stored"][15] = Shape(1, min_blocks=2)  # which fits where pencils do not
# Orders at which what CUDA alone has is faster: FP64 tensor cores, threads with more registers, factors copied ahead.
_CUDA = {
    ("float64", "stored"): {
        2: Shape(32, stages=2), 3: Shape(4, min_blocks=10, stages=2), 4: Shape(5, min_blocks=6, stages=2),
        5: Shape(2, stages=3, body="tensor"), 6: Shape(2, min_blocks=7, body="pencils"),
        7: Shape(2, min_blocks=8, stages=3, body="tensor"), 15: Shape(1, stages=2, body="tensor"),
    },
    ("float64", "trilinear"): {
        2: Shape(32, body="rows"), 3: Shape(8, min_blocks=12, body="rows"),
        7: Shape(1, min_blocks=12, body="tensor"),
    },
    ("float32", "stored"): {
        5: Shape(7, min_blocks=5, body="pencils"), 6: Shape(2, min_blocks=10, body="pencils"),
        7: Shape(1, min_blocks=20, body="pencils"), 15: Shape(1, body="pencils"),
    },
}  # fmt: skip
# With a mass, whose factor is loaded late, other shapes are faster at some orders.
_CUDA_MASS = {
    ("float32", "stored"): {
        4: Shape(5, min_blocks=10, body="pencils"),
        5: Shape(8, min_blocks=5, body="pencils"),
        6: Shape(2, min_blocks=10, body="pencils"),
        7: Shape(1, min_blocks=16, body="pencils"),
    },
    ("float32", "trilinear"): {2: Shape(32, body="rows")},
}
FIRST_CAPABILITY = 80  # of the GPUs that have these


def tuned(order: int, dtype: str, geometry: str, device, has_mass: bool = False) -> Shape:
    """Return the fastest shape that fits the device; affine elements take the trilinear ones'.

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
    shape = _TUNED[dtype, geometry][order]
    if device.backend == "cuda" and int(device.details["compute capability"]) >= FIRST_CAPABILITY:
        for table in [_CUDA_MASS, _CUDA] if has_mass else [_CUDA]:
            special = table.get((dtype, geometry), {}).get(order)
            if special and size * special.shared(q) <= device.shared_bytes:
                return special
    needed = size * replace(shape, elements=1).shared(q, 0 if geometry == "stored" else CONSTANTS)
    if needed > device.shared_bytes:
        raise Unavailable(
            f"order {order} wants {needed} bytes of shared memory a block; {device.name} has {device.shared_bytes}",
            "take a lower order, single precision, or CUDA on the same card",
        )
    return replace(shape, elements=min(shape.elements, device.shared_bytes // needed))
