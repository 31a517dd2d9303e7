"""Krylov solvers whose iterations stay on the device."""

from kernels.krylov.conjugate_gradient import ConjugateGradient, Outcome

__all__ = ["ConjugateGradient", "Outcome"]
