"""Rivals in multigrid on the host: the paper's cycle in SciPy and in Numba, and algebraic multigrid in place of it.

Each is made of the levels of ``kernels.multigrid.Multigrid`` and has its call shape: ``solve`` from the start, then
``solution``.
"""

from baselines.multigrid.algebraic import Algebraic, interior
from baselines.multigrid.classical import ClassicalAmg
from baselines.multigrid.library import SciPyCycle
from baselines.multigrid.loops import NumbaCycle, threads_there, use_threads

__all__ = ["Algebraic", "ClassicalAmg", "NumbaCycle", "SciPyCycle", "interior", "threads_there", "use_threads"]
