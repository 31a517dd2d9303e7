"""A level's matrix with the vector operations around its product: fused where the format is known, else one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.spmv.sell import FEW
from repro import Work

VECTORS, FUSED = Path(__file__).with_name("vectors.c"), Path(__file__).with_name("fused.c")
GPU_SHAPE, CPU_SHAPE = (256, 1), (64, 8)  # threads a block, and entries of a thread
FUSED_GPU_SHAPES = {"ellpack_r": (128, 2), "sell": (128, 1), "sell16": (128, 1)}
# Of a slice all rows, so that memory is read in order.
FUSED_CPU_SHAPES = {"ellpack_r": (4, 64), "sell": (4, 32), "sell16": (4, 32)}
LEAST_CHUNK = 4096  # entries of a block in a sum
REGISTERS = {"MIN_BLOCKS": 1}  # as many as it takes: left alone NVRTC keeps to 32, and loads wait for one another
REAL = {"float64": "double", "float32": "float"}
# Of the formats that are fused: what bounds their rows.
EXTENTS = {"ellpack_r": "lengths", "sell": "slice_offsets", "sell16": "slice_offsets"}


def _defines(name: str, lanes: int, slice_size: int = 32, is_sorted: bool = False, is_short: bool = True,
             real: str = "double", rounded: str = "double") -> dict:  # fmt: skip
    sliced, bits = name != "ellpack_r", 16 if name == "sell16" else 32
    return {"LANES": lanes, "SLICED": int(sliced), "SLICE": slice_size if sliced else 1, "SORTED": int(is_sorted),
            "BITS": bits, "index": "ushort" if bits == 16 else "int", "SHORT": int(is_short),
            "extent": "long" if sliced else "int", "real": real, "rounded": rounded,
            **REGISTERS}  # fmt: skip


BUILDS = [(VECTORS, block, {"LANES": lanes, "real": real})
          for block, lanes in (GPU_SHAPE, CPU_SHAPE) for real in REAL.values()]  # fmt: skip
BUILDS += [(FUSED, block, _defines(name, lanes, is_sorted=is_sorted, real=real))
           for name, is_sorted in (("ellpack_r", False), ("sell", False), ("sell", True), ("sell16", True))
           for real in REAL.values()
           for block, lanes in (FUSED_GPU_SHAPES[name], FUSED_CPU_SHAPES[name])]  # fmt: skip
BUILDS += [(FUSED, 128, _defines("sell16", 1, rounded="float"))]


class Vectors:
    """The vector kernels on a device, launched over n entries."""

    def __init__(self, device, dtype="float64"):
        block, lanes = GPU_SHAPE if device.is_gpu else CPU_SHAPE
        defines = {"LANES": lanes, "real": REAL[np.dtype(dtype).name]}
        self.kernels, self.entries = device.build(VECTORS, block=block, defines=defines), block * lanes

    def launch(self, name: str, n: int, *arguments) -> None:
        """Enqueue one of the kernels whose grid is over entries."""
        getattr(self.kernels, name)(-(-n // self.entries), n, *arguments)


class Operator:
    """A x and what multigrid makes of it.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : packed matrix
        With ``multiply(x, y, alpha, beta)``, ``shape`` and ``least_work()``: any of kernels.spmv's, or a rival's.
    inverse_diagonal : (n,) array of the device
        0 where a row has no diagonal.
    fuse : bool, optional
        Whether the product is fused with what is around it, where the format is known.
    dtype : {'float64', 'float32'}, optional
        Of the matrix and the vectors.
    rounded : {'float64', 'float32'}, optional
        Of the defect that is measured.

    Attributes
    ----------
    is_fused : bool
    parts : int
        Numbers in which a measured defect leaves its sum of squares.
    """

    def __init__(self, device, matrix, inverse_diagonal, fuse: bool = True, dtype="float64", rounded="float64"):
        self.matrix, self.inverse_diagonal, self.n = matrix, inverse_diagonal, int(matrix.shape[0])
        self.dtype = np.dtype(dtype)
        self.vectors, self._rounded = Vectors(device, dtype), np.dtype(rounded)
        name = type(matrix).__module__.rpartition(".")[2]
        self.is_fused = fuse and name in EXTENTS and hasattr(matrix, "slices") and matrix.dtype == self.dtype
        if self.is_fused:
            slices, arrays = matrix.slices, matrix.arrays
            real = REAL[self.dtype.name]
            block, lanes = FUSED_GPU_SHAPES[name] if device.is_gpu else FUSED_CPU_SHAPES[name]
            order, is_short = arrays.get("order"), name == "ellpack_r" or matrix.stored < FEW * slices.slots
            defines = _defines(name, lanes, slices.size, order is not None, is_short, real, REAL[self._rounded.name])
            self._kernels = device.build(FUSED, block=block, defines=defines)
            self.parts = -(-slices.slots // (block * lanes))
            self._head = (slices.slots, slices.size, self.n, arrays[EXTENTS[name]], order, arrays.get("first_columns"),
                          arrays.get("far"), arrays["columns"],
                          arrays["values"])  # fmt: skip
        else:
            self._defect = device.zeros(self.n, self.dtype)
            self._chunk = max(LEAST_CHUNK, -(-self.n // (8 * device.compute_units)))
            self.parts = -(-self.n // self._chunk)
            self._narrow = Vectors(device, rounded)

    def _launch(self, name: str, *arguments) -> None:
        getattr(self._kernels, name)(self.parts, *self._head, *arguments)

    def defect(self, x, b, d) -> None:
        """Enqueue d = b - A x."""
        if self.is_fused:
            self._launch("defect", x, b, d)
        else:
            self.vectors.launch("copy", self.n, b, d)
            self.matrix.multiply(x, d, -1.0, 1.0)

    def measured_defect(self, x, b, d, partial) -> None:
        """Enqueue d = b - A x, rounded, and the parts of the sum of squares of what is not into `partial`."""
        if self.is_fused:
            self._launch("measured_defect", x, b, d, partial)
        else:
            exact = d if self._rounded == self.dtype else self._defect
            self.defect(x, b, exact)
            self.vectors.kernels.squares(self.parts, self.n, self._chunk, exact, partial)
            if exact is not d:
                self._narrow.launch("lower", self.n, exact, d)

    def relax(self, x, b, omega: float, out) -> None:
        """Enqueue out = x + omega D⁻¹ (b - A x); `out` is another array."""
        if self.is_fused:
            self._launch("relax", x, b, self.inverse_diagonal, omega, out)
        else:
            self.defect(x, b, self._defect)
            self.update(x, self._defect, omega, out)

    def relax_with_memory(self, x, b, now: float, before: float, p, out) -> None:
        """Enqueue p = now D⁻¹ (b - A x) + before p, out = x + p; p is not read where `before` is 0."""
        if self.is_fused:
            self._launch("relax_with_memory", x, b, self.inverse_diagonal, now, before, p, out)
        else:
            self.defect(x, b, self._defect)
            self.update_with_memory(x, self._defect, now, before, p, out)

    def update(self, x, d, omega: float, out) -> None:
        """Enqueue out = x + omega D⁻¹ d."""
        self.vectors.launch("update", self.n, omega, self.inverse_diagonal, d, x, out)

    def update_with_memory(self, x, d, now: float, before: float, p, out) -> None:
        """Enqueue p = now D⁻¹ d + before p, out = x + p."""
        self.vectors.launch("update_with_memory", self.n, now, before, self.inverse_diagonal, d, x, p, out)

    def scale(self, b, omega: float, out) -> None:
        """Enqueue out = omega D⁻¹ b: a relaxation of 0."""
        self.vectors.launch("scale", self.n, omega, self.inverse_diagonal, b, out)

    def work(self, vectors: int = 0) -> Work:
        """Return the least work of a product, with so many vectors beside x and the result."""
        least = self.matrix.least_work()
        return Work(
            least.bytes + self.dtype.itemsize * vectors * self.n,
            least.flops + 2 * (vectors + 1) * self.n,
            least.precision,
        )
