"""Algebraic multigrid by smoothed aggregation on patches: fu2014, section 5."""

from kernels.amg.hierarchy import Hierarchy, Level
from kernels.amg.setup import COARSENINGS, set_up
from kernels.amg.solver import Solver

__all__ = ["COARSENINGS", "Hierarchy", "Level", "Solver", "set_up"]
