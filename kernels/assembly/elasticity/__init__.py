"""Assembly of linear elasticity, the unknowns of a node side by side: plane stress and solids, simplices and Q1.

>>> from kernels.assembly import elasticity
>>> problem = elasticity.cantilever(mesh.points, mesh.cells)
>>> system = elasticity.system(device, problem)
>>> system.matrix, system.rhs, system.block_size
"""

from kernels.assembly.elasticity.blocks import System, prepare, system
from kernels.assembly.elasticity.problem import Elasticity, cantilever

__all__ = ["Elasticity", "System", "cantilever", "prepare", "system"]
