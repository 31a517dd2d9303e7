"""The problem of linear elasticity: material, supports and loads, and the cantilever that they make by default."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.assembly.elasticity.elements import Element, element
from repro import Work


@dataclass(frozen=True)
class Elasticity:
    """Find K and f with K_(ia)(jb) = ∫ λ ∂_a φ_i ∂_b φ_j + μ ∂_b φ_i ∂_a φ_j + δ_ab μ ∇φ_i·∇φ_j and loads f.

    That is zhang2013's Bᵀ D B (section 2.2) for an isotropic material. Plane problems are of plane stress and unit
    thickness: λ = E ν / (1 - ν²) there, E ν / ((1 + ν) (1 - 2 ν)) in solids, and μ = E / (2 (1 + ν)). Unknown a of node
    i is number d i + a in d dimensions.

    Supported unknowns stay in the system, as unit rows and columns with a zero on the right: the matrix has the
    unknowns of all nodes, and every entry of the full pattern is stored, zeros as well. The published numbers
    of unknowns and non-zeros are the same.

    Attributes
    ----------
    points : (nodes, 2) or (nodes, 3) float64 array
    cells : (elements, k) int32 array
        Triangles, quadrilaterals, tetrahedra or hexahedra, positively oriented, in meshio's order.
    young, poisson : float
        E and ν.
    fixed : (nodes, d) bool array or None
        Unknowns that are 0.
    body : sequence of d floats or None
        Force on the unit of area or volume, the same everywhere.
    """

    points: np.ndarray
    cells: np.ndarray
    young: float = 1.0
    poisson: float = 0.3
    fixed: np.ndarray | None = None
    body: tuple[float, ...] | None = None

    def __post_init__(self):
        bound = 1.0 if self.dimension == 2 else 0.5
        if not (self.young > 0 and -1 < self.poisson < bound):
            raise ValueError(f"no material has E = {self.young:g} and ν = {self.poisson:g}: E > 0, -1 < ν < {bound:g}")
        if self.fixed is not None and self.fixed.shape != self.points.shape:
            raise ValueError(f"fixed must have shape {self.points.shape}, not {self.fixed.shape}")
        if self.body is not None and len(self.body) != self.dimension:
            raise ValueError(f"body must have {self.dimension} components, not {len(self.body)}")
        self.element  # noqa: B018 - an element that is none is refused here

    @property
    def element(self) -> Element:
        return element(self.cells, self.points)

    @property
    def dimension(self) -> int:
        return self.points.shape[1]

    @property
    def nodes(self) -> int:
        return self.points.shape[0]

    @property
    def unknowns(self) -> int:
        return self.points.size

    @property
    def lame(self) -> tuple[float, float]:
        """λ and μ."""
        free = 1 - self.poisson if self.dimension == 2 else 1 - 2 * self.poisson
        first = self.young * self.poisson / ((1 + self.poisson) * free)
        return first, self.young / (2 * (1 + self.poisson))

    def least_work(self, nonzeros: int) -> Work:
        """Cells, points and what is given read once, `nonzeros` values and the right-hand side written once.

        The operations counted make the element matrices' upper halves by quadrature, and sum them.
        """
        kind, d = self.element, self.dimension
        fixed = 0 if self.fixed is None else self.fixed.size
        moved = 4 * self.cells.size + 8 * self.points.size + fixed + 8 * nonzeros + 8 * self.unknowns
        pairs = kind.nodes * (kind.nodes + 1) // 2
        each_point = 4 * d * d * kind.nodes + 5 * d * d + 2 * d * d * pairs  # Jacobian and gradients, inverse, products
        return Work(bytes=moved, flops=len(self.cells) * (kind.points * each_point + 5 * d * d * pairs))


def cantilever(points: np.ndarray, cells: np.ndarray, young: float = 1.0, poisson: float = 0.3) -> Elasticity:
    """Return a body clamped where x is least, under a weight of 1 a unit of area or volume along the last axis.

    zhang2013 states neither material nor supports nor loads. With these, conjugate gradients with Jacobi's
    preconditioner take nearly the iterations that Table 3's text has (docs/notes/assembly.md). Young's modulus does not
    matter once the system is scaled.
    """
    x = points[:, 0]
    fixed = np.repeat((x <= x.min() + 1e-9 * (x.max() - x.min()))[:, None], points.shape[1], axis=1)
    body = (0.0,) * (points.shape[1] - 1) + (-1.0,)
    return Elasticity(points, cells, young, poisson, fixed, body)
