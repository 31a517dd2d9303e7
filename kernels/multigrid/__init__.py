"""Geometric multigrid out of products with sparse matrices and vector operations (geveler2011).

`assembly.poisson` and `transfer.prolongation` make the matrices of every level from arrays alone; `Multigrid` cycles
over them. It sees matrices and vectors: neither the elements, nor the mesh, nor its dimension.
"""

from kernels.multigrid.assembly import System, poisson
from kernels.multigrid.edges import numbered_edges
from kernels.multigrid.smoothers import SMOOTHERS
from kernels.multigrid.solver import Multigrid, Outcome
from kernels.multigrid.systems import Grid, grids, renumbered
from kernels.multigrid.transfer import prolongation

__all__ = [
    "SMOOTHERS",
    "Grid",
    "Multigrid",
    "Outcome",
    "System",
    "grids",
    "numbered_edges",
    "poisson",
    "prolongation",
    "renumbered",
]
