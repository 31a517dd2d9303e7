"""Rivals in solving sparse symmetric positive definite systems, one file a rival, set-up and solve apart.

Each is a module with a `TITLE` and ``prepare(matrix, rhs, tolerance, max_iterations) -> Rival``, found by its name.
"""

from __future__ import annotations

import importlib
import importlib.util

from baselines.solvers.names import AMGX, METHODS, ON_GPU
from baselines.solvers.rival import Rival, SolverFailed

__all__ = ["AMGX", "METHODS", "ON_GPU", "Rival", "SolverFailed", "prepare", "title"]


def prepare(method: str, matrix, rhs, tolerance: float = 1e-8, max_iterations: int = 10000) -> Rival:
    """Return one of `METHODS` or `ON_GPU` for a system; Skip when what it needs is not on this machine.

    Parameters
    ----------
    method : str
    matrix : scipy.sparse CSR array or matrix of float64, shape (n, n)
        Symmetric positive definite.
    rhs : ndarray of float64, shape (n,)
    tolerance : float
        Of ‖b - A x‖/‖b‖, the unpreconditioned residual.
    max_iterations : int
    """
    return _module(method).prepare(matrix, rhs, tolerance, max_iterations)


def title(method: str) -> str:
    """Return what a rival is, with its settings, in a line."""
    return _module(method).TITLE


def _module(method: str):
    name = f"baselines.solvers.{method.replace('-', '_')}"
    if importlib.util.find_spec(name) is None:
        raise ValueError(f"there is no rival {method!r}")
    return importlib.import_module(name)
