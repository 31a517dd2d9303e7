"""c u - ∇·(κ∇u) = s on a hexahedral mesh by preconditioned conjugate gradients (remacle2016, sections 3 and 4)."""

from __future__ import annotations

import numpy as np

from kernels.krylov import ConjugateGradient, conjugate_gradient
from kernels.sem import coarse as coarse_space
from kernels.sem import diagonals, gather, kcycle, schwarz, two_scale
from kernels.sem.common import Common
from kernels.sem.schwarz import Schwarz
from kernels.sem.stiffness import Operator, fast
from repro import Work

PRECONDITIONERS = ("two-scale", "fine-only", "jacobi", None)


class Solver:
    """The paper's solver: making one is its set-up, `solve` may then be called for many right-hand sides.

    Parameters
    ----------
    device, points, cells, order, kappa, geometry, numbering
        Of the operator: see `Operator`.
    mass : float or (elements,) array, optional
        c; None for none.
    dirichlet : 'boundary', (nodes,) bool array, or None
        Where u = 0; None for natural conditions everywhere, which take a mass.
    dtype : {'float64', 'float32'}
        Of the operator and the vectors of conjugate gradients.
    preconditioner : {'two-scale', 'fine-only', 'jacobi', None}
        P = P^c + P^f; P^f alone; the inverse of the diagonal; none.
    inner_dtype : {'float32', 'float64'}, optional
        Of P; by default single precision, whatever `dtype` is.
    coarse : {'device', 'host'}
        Where P^c is computed: on the device, or as the paper does it on the host's cores, while the device computes
        P^f.
    weighted : bool
        Whether the local solves are weighted by the number of subdomains at a node; the paper has their plain sum. See
        `Schwarz`.
    cycle : mapping, optional
        Of P^c's `KCycle`: coarsest, steps, corrections.
    graph : bool, optional
        Of `ConjugateGradient`; with the coarse part on the host there is none.
    common : Common, optional
        Of this very problem, whose arrays `points` and `cells` then are: what has been made of it for other solvers is
        not made again.

    Attributes
    ----------
    operator : Operator
        With `numbering`, `nodes`, `multiply`, `least_work`.
    nodes : int
        The paper's N.
    mass : (nodes,) array of `dtype` on the device
        The lumped mass m, zero where u is fixed: `mass * s` is the right-hand side of a source s at the nodes.
    fine : Schwarz or None
        P^f.
    coarse : kernels.sem.two_scale.DeviceCoarse, HostCoarse or None
        P^c.
    iteration : kernels.krylov.ConjugateGradient
        Its `loop` says whether CUDA repeats the iteration as one graph.

    Raises
    ------
    ValueError
        For an unknown setting, an inverted element, or a problem that is singular: no fixed node and no mass.
    kernels.device.Unavailable
        When `coarse` is 'host' and there is no compiler for the host's cores.
    """

    def __init__(
        self, device, points, cells, order: int, *, kappa=1.0, mass=None, dirichlet="boundary", dtype: str = "float64",
        geometry: str = "trilinear", preconditioner: str | None = "two-scale", inner_dtype: str = "float32",
        coarse: str = "device", weighted: bool = True, numbering=None, cycle=None,
        graph: bool | None = None, common=None,
    ):  # fmt: skip
        if preconditioner not in PRECONDITIONERS:
            raise ValueError(f"preconditioner {preconditioner!r} is none of {', '.join(map(str, PRECONDITIONERS))}")
        if coarse not in two_scale.PLACES:
            raise ValueError(f"coarse {coarse!r} is none of {', '.join(two_scale.PLACES)}")
        self.device, self.order, self.dtype, self.preconditioner = device, order, np.dtype(dtype), preconditioner
        device.prepare(builds(device, order, self.dtype.name, preconditioner, inner_dtype, coarse, weighted))
        if common is None:
            common = Common(device, points, cells, order, kappa, mass, dirichlet, numbering)
            points, cells = common.points, common.cells
        common.check(device, points, cells, order, kappa, mass, dirichlet)
        self.operator = Operator(
            device, points, cells, order, dtype=dtype, geometry=geometry, kappa=kappa, mass=mass, dirichlet=dirichlet,
            numbering=common.numbering, outputs=(fast(device),),
        )  # fmt: skip
        self.numbering, self.nodes = self.operator.numbering, self.operator.nodes
        weights = diagonals.lumped_mass(self.operator, points, cells)
        self.mass = device.array(weights)
        if mass is None and bool((weights > 0).all()):
            raise ValueError("no node is fixed and there is no mass: the problem is singular")
        c = 0.0 if mass is None else mass
        self.fine = self.coarse = None
        if preconditioner == "jacobi":
            apply = diagonals.jacobi(self.operator, points, cells, kappa, c).apply
        elif preconditioner is None:
            apply = None
        else:
            table = common.subdomains()
            self.fine = Schwarz(
                self.operator, points, cells, common.fixed, kappa, c, inner_dtype, weighted, table=table
            )  # fmt: skip
            del table
            apply = self.fine.apply
        if preconditioner == "two-scale":
            self.coarse = two_scale.PLACES[coarse](self.operator, common, inner_dtype, **(cycle or {}))
            apply = two_scale.TwoScale(self.fine, self.coarse).apply
        graph = False if coarse == "host" and preconditioner == "two-scale" else graph
        self.iteration = ConjugateGradient(device, self.operator.multiply_fast, self.nodes, apply, graph, dtype)

    def load(self, source=1.0):
        """Return the right-hand side of a source: (nodes,) array of `dtype` on the device, zero where u is fixed.

        Parameters
        ----------
        source : float or (nodes,) array
            s at the nodes.
        """
        xp, namespaced = self.device.xp, diagonals.namespaced
        values = source if np.isscalar(source) else namespaced(self.device, source)
        return self.device.array(namespaced(self.device, self.mass) * xp.asarray(values, dtype=self.dtype))

    def solve(self, b, tolerance: float = 1e-6, max_iterations: int = 1000, x=None):
        """Solve A u = b from u = 0, until ‖r‖ <= tolerance ‖b‖.

        Parameters
        ----------
        b : (nodes,) array of `dtype` on the device
            As `load` makes it: zero where u is fixed.
        tolerance : float, optional
        max_iterations : int, optional
        x : (nodes,) array of `dtype` on the device, optional
            Takes the solution.

        Returns
        -------
        x : (nodes,) array of `dtype` on the device
        outcome : kernels.krylov.Outcome
            Its status tells a breakdown, or numbers that are none, from a limit of iterations.
        """
        x = self.device.empty(self.nodes, self.dtype) if x is None else x
        outcome = self.iteration.solve(b, x, tolerance, max_iterations)
        return x, outcome

    def work(self) -> Work:
        """Return the least bytes and the flops of one iteration."""
        parts = [self.operator.least_work(), self.iteration.vector_work()]
        parts += [part.work() for part in (self.fine, self.coarse) if part is not None]
        return Work(sum(part.bytes for part in parts), sum(part.flops for part in parts), self.dtype.name)


def builds(device, order: int, dtype: str, preconditioner, inner_dtype: str, coarse: str, weighted: bool) -> list:
    """Return what a solver builds, but for the operator's kernels, with which it begins, and for aggregation."""
    found = [gather.build(dtype), conjugate_gradient.build(device, dtype)]
    if preconditioner in ("two-scale", "fine-only"):
        if schwarz.by_atomics(device):
            found += [schwarz.setting(order, inner_dtype, True, dtype, weighted), gather.build(inner_dtype)]
        else:
            found += [schwarz.setting(order, inner_dtype, device.is_gpu), gather.build(inner_dtype)]
            found += [schwarz.halo(inner_dtype, dtype, weighted)]
    if preconditioner == "two-scale":
        found += [coarse_space.build(device.is_gpu, order, inner_dtype, dtype), gather.build("float64")]
        if coarse == "device":
            found += [kcycle.build(device.is_gpu, inner_dtype)]
    return found
