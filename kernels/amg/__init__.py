"""Algebraic multigrid by smoothed aggregation on patches: fu2014, section 5."""

from kernels.amg.hierarchy import Hierarchy, Level
from kernels.amg.setup import set_up

__all__ = ["Hierarchy", "Level", "set_up"]
