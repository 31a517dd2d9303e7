"""Krylov solvers whose iterations stay on the device."""

from kernels.krylov.conjugate_gradient import ConjugateGradient, Outcome
from kernels.krylov.fused import FusedConjugateGradient

__all__ = ["ConjugateGradient", "FusedConjugateGradient", "Outcome"]
