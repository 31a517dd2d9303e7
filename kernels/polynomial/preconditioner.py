"""A polynomial preconditioner on a device: products with the matrix, one vector kernel between two of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernels.polynomial.polynomials import Polynomial
from repro import Work

SOURCE = Path(__file__).with_name("preconditioner.c")
BLOCK = 256
REALS = {"float32": "float", "float64": "double"}
BUILDS = [(SOURCE, BLOCK, {"real": real, "wide": wide})
          for real, wide in (("float", "float"), ("float", "double"), ("double", "double"))]  # fmt: skip


class Preconditioner:
    """z = s(A) r in the precision of A's packing, r and z in double precision (zhang2013, algorithm 6).

    Clenshaw's recurrence runs from the highest coefficient γ_m down:
    b_k = γ_k r + 2 t(A) b_{k+1} - b_{k+2}, z = γ_0 r + t(A) b_1 - b_2, with t(A) = (2 A - (a + b) I) / (b - a).
    It takes `order` products, and half the vector traffic of the recurrence from below, which adds to z on the way.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : packed matrix
        With ``multiply(x, y)``, ``shape`` and ``dtype``, float32 or float64: any of kernels.spmv's. One that has
        ``combine``, as kernels.spmv.sbell does, spares a GPU all vector kernels but the rounding of r.
    polynomial : Polynomial
        For the spectrum of that very matrix.
    fuse : bool, optional
        Whether to use ``combine``; by default on a GPU.
    """

    def __init__(self, device, matrix: Any, polynomial: Polynomial, fuse: bool | None = None):
        self.polynomial, self.matrix = polynomial, matrix
        self.dtype = str(matrix.dtype)
        if self.dtype not in REALS:
            raise ValueError(f"a polynomial is applied in {' or '.join(REALS)}, not in {self.dtype}")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a matrix of {matrix.shape[0]} x {matrix.shape[1]} has no polynomials")
        real = REALS[self.dtype]
        self.n = int(matrix.shape[0])
        self._blocks = -(-self.n // BLOCK)
        self._inner = device.build(SOURCE, block=BLOCK, defines={"real": real, "wide": real})
        self._outer = device.build(SOURCE, block=BLOCK, defines={"real": real, "wide": "double"})
        self._fused = getattr(matrix, "combine", None) if (device.is_gpu if fuse is None else fuse) else None
        self.rounded = None if self.dtype == "float64" else device.empty(self.n, self.dtype)
        self._product, *self._terms = (device.empty(self.n, self.dtype) for _ in range(3))

    @property
    def parts(self) -> int:
        """Numbers in which `apply` leaves r·z; 0 where it cannot."""
        return self.matrix.parts if self._fused is not None else 0

    def apply(self, r, z, partial=None, is_rounded: bool = False) -> None:
        """Enqueue z = s(A) r for float64 device arrays, which are not the same; leave the parts of r·z in `partial`.

        With `is_rounded` the array `rounded` has r in single precision already.
        """
        residual = r
        if self.rounded is not None:
            if not is_rounded:
                self._outer.narrow(self._blocks, self.n, r, self.rounded)
            r = self.rounded
        a, b = self.polynomial.interval
        gamma, order = self.polynomial.coefficients, self.polynomial.order
        slope, shift = 2 / (b - a), -(a + b) / (b - a)
        now, scale = r, float(gamma[order])  # b_m = γ_m r is never stored
        for step, k in enumerate(reversed(range(order))):
            factor = (2.0 if k else 1.0) * scale
            # At the second step b_{k+2} is γ_m r, before that it is 0; from the third on b_k overwrites it.
            of_r = float(gamma[k] - (gamma[order] if step == 1 else 0.0))
            of_before = -1.0 if step > 1 else 0.0
            before = self._terms[step % 2]
            out = before if k else z
            if self._fused is not None:
                sums = (residual, partial) if partial is not None and k == 0 else (None, None)
                self._fused(now, out, factor * slope, of_before, factor * shift, of_r, r, before, *sums)
            else:
                self.matrix.multiply(now, self._product)
                kernel = self._inner.combine if k else self._outer.combine
                kernel(
                    self._blocks, self.n, of_r, r, factor * slope, self._product, factor * shift, now, of_before,
                    before, out,
                )  # fmt: skip
            now, scale = before, 1.0

    def least_work(self) -> Work:
        """Return the least work of an application: each product with what its step adds, nothing read twice."""
        size, order = self.matrix.dtype.itemsize, self.polynomial.order
        product = self.matrix.least_work()
        # Beside the product's vectors a step reads r and b_{k+2}, the first two only r; the last writes doubles.
        vectors = 2 * size * order - 2 * size + 8 - size
        if self.rounded is not None:
            vectors += 8 + size
        return Work(order * product.bytes + vectors * self.n, order * (product.flops + 7.0 * self.n), self.dtype)
