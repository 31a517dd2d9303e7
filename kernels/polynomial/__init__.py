"""Polynomial preconditioners of zhang2013: z = s(A) r by products with A alone, for the conjugate gradient method.

``polynomials`` holds the three polynomials, ``lanczos`` the bounds of the spectrum that they need, ``preconditioner``
their application on a device, in single or double precision, and ``solver`` the scaled, preconditioned solution.
"""

from kernels.polynomial.lanczos import Bounds, bounds
from kernels.polynomial.polynomials import POLYNOMIALS, Polynomial, fitted
from kernels.polynomial.preconditioner import Preconditioner
from kernels.polynomial.solver import Scaled, Solver, scaled

__all__ = ["POLYNOMIALS", "Bounds", "Polynomial", "Preconditioner", "Scaled", "Solver", "bounds", "fitted", "scaled"]
