"""How blocks of the operator work, by order, precision and geometry: what was fastest on an H200."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


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
    body : {'stiffness', 'tensor', 'loops'}
        The source: threads on any device, FP64 tensor cores on CUDA, or loops on a processor, an element a block.
    """

    elements: int
    padding: int = 0
    min_blocks: int = 0
    pencils: int = 1
    body: str = "stiffness"

    def block(self, q: int) -> int:
        """Return the threads of a block for q nodes an edge: on GPUs a warp's multiple."""
        if self.body == "loops":
            return 1
        if self.body == "tensor":
            return 32 * (-(-q // 8)) ** 2 * self.elements
        return -(-self.elements * q * -(-q // self.pencils) // 32) * 32


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
# Orders at which the FP64 tensor cores are faster, with their elements and min_blocks.
_TENSOR = {
    "stored": {6: (2, 10), 7: (2, 10), 14: (1, 3), 15: (1, 0)},
    "trilinear": {6: (1, 16), 7: (1, 12), 13: (1, 0), 14: (1, 3), 15: (1, 0)},
}


def tuned(order: int, dtype: str, geometry: str, device) -> Shape:
    """Return the fastest shape that fits the device; affine elements take that of trilinear ones.

    Raises
    ------
    ValueError
        For an order that no shape is known of.
    """
    if not 1 <= order <= 15:
        raise ValueError(f"the order must be 1 to 15, not {order}")
    geometry = "stored" if geometry == "stored" else "trilinear"
    if not device.is_gpu:
        return Shape(1, body="loops")
    if device.backend == "cuda" and dtype == "float64" and order in _TENSOR[geometry]:
        elements, min_blocks = _TENSOR[geometry][order]
        return Shape(elements, min_blocks=min_blocks, body="tensor")
    shape = Shape(*_TUNED[dtype, geometry][order - 1])
    q = order + 1
    room = device.shared_bytes // (np.dtype(dtype).itemsize * (3 * q * q * (q + shape.padding) + 23))
    return replace(shape, elements=max(1, min(shape.elements, room)))
