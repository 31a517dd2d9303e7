"""The solvers of section 6.2 on one system: what each is, on which back ends, and how it is measured."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from baselines import solvers as rivals
from experiments.fu2014 import relaxation
from experiments.reported import ReportedClock
from kernels import amg
from repro import Cell, ReproError, Work
from repro.run.timing import HostClock

DEVICES = ("cuda", "opencl", "openmp")
TOLERANCE, MAX_ITERATIONS = 1e-8, 20000  # of ‖r‖/‖b‖ (section 6.2)
SMALLER = 1e-10  # for which the paper says that the trend is the same
ACCEPTED = 1.01e-8  # the true residual at the end; the recursion's is below the tolerance
SECONDS = {"smoke": 0.02, "small": 0.2, "paper": 1, "large": 1}  # of sampling each time

LAYOUT = {True: "hyb", False: "sell"}  # of a method that names none: the paper and CUSP have HYB on a GPU
BYTES = 100  # a non-zero, at the peak of set-up: 45 of ours, rivals with a hierarchy up to twice as many
DIRECT_BYTES = 160  # of a direct solver, times n^(4/3): the factors of nested dissection in three dimensions
ON_GPU = dict.fromkeys(rivals.ON_GPU, ("cuda",))  # rivals on the same card
UNITS = dict.fromkeys(("threads", "levels", "coarsest_rows"), "count")
UNITS |= dict.fromkeys(("bytes_inside", "bytes_boundary"), "B")
WITHOUT_SET_UP = ("cg", "hypre-cg", "numba-cg")
PATCH = {"relaxation": "patch", "coarsening": "patch"}
JACOBI = {"relaxation": "jacobi", "coarsening": "mis"}
# Weights chosen by one rule for both relaxations, on meshes that are not the tables': docs/notes/amg.md.
TUNED = JACOBI | {"prolongator_weight": 1.5, "jacobi_weight": 1.8}
INSIDE = {f"inside-{name}": name for name in ("symcoo", "half", "ell", "csr")}
RADII = {  # the paper has 2 for aggregates, 1 for patches
    "aggregates-k1": {"radius": 1, "seed_radius": 2, "least_aggregate": 3},
    "aggregates-k3": {"radius": 3, "seed_radius": 6},
    "patches-k2": {"patch_radius": 2},
}  # fmt: skip
# The parameters of each of the project's own methods.
SETTINGS = {
    "patch-pcgamg": PATCH,
    "jacobi-pcgamg": JACOBI,
    "cg": {"relaxation": "none"},
    "jacobi-tuned": TUNED,
    "jacobi-tuned-sell": TUNED | {"layout": "sell"},
    "jacobi-merged": TUNED | {"layout": "sell", "relaxation": "jacobi-merged"},
    # Each is one of the solvers above with other aggregates, and nothing else changed.
    "patch-mis-alike": PATCH | {"coarsening": "mis", "prolongator_weight": amg.COARSENINGS["patch"].weight},
    "jacobi-patch-alike": TUNED | {"coarsening": "patch"},
    "patch-double": PATCH | {"dtype": "float64"},
    "patch-sell": PATCH | {"layout": "sell"},
    **{method: PATCH | {"inside": name} for method, name in INSIDE.items()},
    **{method: PATCH | changed for method, changed in RADII.items()},
}
# Whose place a method takes in the paper's tables.
PUBLISHED = {"jacobi-pcgamg": "cusp-pcgamg", "cg": "cusp-cg"}
TITLES = {
    "patch-pcgamg": "the paper's solver: block Jacobi on patches, 3 inner iterations, in single precision within CG in "
    "double; the inside of patches in the format that is fastest on the device",
    "jacobi-pcgamg": "stand-in for CUSP-PCGAMG: the same with one sweep of weighted Jacobi, on aggregates around a "
    "maximal independent set of radius 2, without control of their sizes",
    "jacobi-tuned": "jacobi-pcgamg, the weights of prolongator and relaxation chosen by the rule that gives ours",
    "jacobi-tuned-sell": "jacobi-tuned with all matrices in SELL, in place of HYB",
    "jacobi-merged": "jacobi-tuned-sell, residual and correction computed in the products' kernels, as patches have it",
    "patch-mis-alike": "patch-pcgamg on the stand-in's aggregates, the prolongator's weight as it is",
    "jacobi-patch-alike": "jacobi-tuned on the paper's aggregates, both weights as they are",
    "patch-on-mis": "the paper's relaxation on the stand-in's aggregates",
    "jacobi-on-patch": "the stand-in's relaxation on the paper's aggregates",
    "cg": "stand-in for CUSP-CG: CG without a preconditioner, the matrix in HYB, on a processor in SELL",
    "aggregates-k1": "the paper's solver with aggregates around an independent set of radius 1, in place of 2",
    "aggregates-k3": "the paper's solver with aggregates around an independent set of radius 3, in place of 2",
    "patches-k2": "the paper's solver with patches around an independent set of radius 2, in place of 1",
    "patch-double": "the paper's solver with the multigrid in double precision, too",
    "product-assembled": "a product with the assembled matrix, in the format that conjugate gradients have it in",
    "product-local": "the same with element matrices, ten numbers each, whose products are added atomically",
    "patch-sell": "the paper's solver with CG's matrix in SELL, where the paper and all others here have HYB",
} | {
    method: f"the paper's solver with the inside of patches in {name}"
    for method, name in INSIDE.items()
}  # fmt: skip


def published(results, methods) -> dict[str, str]:
    """Return whose published values are drawn beside each method; none at a scale whose meshes are not the paper's."""
    return {method: PUBLISHED.get(method, method) if results.scale == "paper" else "" for method in methods}


def title(method: str) -> str:
    """Return what a solver is, in a line."""
    return TITLES.get(method) or rivals.title(method)


def cells(cases, methods, parameters: Mapping[str, Mapping] = MappingProxyType({})):
    """Return a cell for each case, with the datasets it reads, and each method on each of its back ends.

    `parameters`: of each case, beside the method's own.
    """
    return [
        Cell(case, method, backend, {**SETTINGS.get(method, {}), **parameters.get(case, {})}, data)
        for case, data in cases.items()
        for method, backends in methods.items()
        for backend in backends
    ]


def measure(run, matrix, *, timed: bool = True, together: bool = False, **options) -> None:
    """Measure the cell's method on A x = 1: set-up, solve, iterations, and the true residual at the end.

    Parameters
    ----------
    run : repro.run.context.Run
    matrix : scipy.sparse CSR matrix
    timed : bool
        Record the times, too.
    together : bool
        Record the time of a set-up with the solve after it, too.
    **options
        Of kernels.amg.Solver, for the project's own.
    """
    needed = DIRECT_BYTES * matrix.shape[0] ** (4 / 3) if run.cell.method == "cudss" else BYTES * matrix.nnz
    run.need("the solver", **{"host" if run.cell.backend == "host" else "device": needed})
    solver = _prepared(run, matrix, options)
    try:
        _record(run, solver, timed)
        if together:
            _time_both(run, solver)
    finally:
        solver.close()


def _record(run, solver, timed):
    if timed and solver.has_set_up:
        run.time("setup", solver.set_up, device=solver.clock, max_seconds=SECONDS[run.scale], capture=False)
    else:
        solver.set_up()
    if timed:
        time_solve(run, solver)
        if "inside" in run.cell.parameters:
            relaxation.measure(run, solver.made, SECONDS[run.scale])
    else:
        solver.solve()
        run.check(solver.residual(), ACCEPTED, "true residual")
        run.value("iterations", solver.iterations, "count", error=solver.residual())
    if isinstance(solver, OnDevice):
        solver.solve(SMALLER)
        run.value("iterations_tight", solver.iterations, "count", error=solver.residual())
    run.value("unknowns", solver.unknowns, "count")
    for fact, value in solver.facts().items():
        run.value(fact, value, UNITS.get(fact, ""))


def _time_both(run, solver):
    def both():
        solver.set_up()
        solver.solve()

    run.time(
        "setup_and_solve", both, check=solver.residual, tolerance=ACCEPTED, device=solver.clock,
        max_seconds=SECONDS[run.scale], capture=False,
    )  # fmt: skip


def time_solve(run, solver, **parameters) -> None:
    """Time a solve, its iterations and one of them; the rows have these parameters of their own."""
    spent = run.time(
        "solve", solver.solve, check=solver.residual, tolerance=ACCEPTED, device=solver.clock,
        work=solver.least_work(), max_seconds=SECONDS[run.scale], capture=False, parameters=parameters,
    )  # fmt: skip
    run.value("time_per_iteration", spent.median / max(1, solver.iterations), "s", **parameters)
    run.value("iterations", solver.iterations, "count", error=solver.residual(), **parameters)


def _prepared(run, matrix, options):
    if "relaxation" in run.cell.parameters:  # a list of rivals would be part of the key
        return OnDevice(run.device, matrix, run.cell.parameters, **options)
    return OnHost(rivals.prepare(run.cell.method, matrix, np.ones(matrix.shape[0]), TOLERANCE, MAX_ITERATIONS))


class OnHost:
    """A rival that the host drives, also one on a GPU, with the clock that times it."""

    def __init__(self, rival):
        self._rival = rival
        self.clock = HostClock() if rival.seconds is None else ReportedClock(rival)
        self.has_set_up = rival.has_set_up
        self.set_up, self.solve, self.residual, self.close = rival.set_up, rival.solve, rival.residual, rival.close

    iterations = property(lambda self: self._rival.iterations)
    unknowns = property(lambda self: len(self._rival.rhs))

    def least_work(self):
        return None

    def facts(self):
        return {} if self._rival.on_gpu else {"threads": self._rival.threads}


def _options(parameters):
    """Return the options of kernels.amg.Solver among a cell's parameters; some change a field of its coarsening."""
    given = {name.removeprefix("prolongator_"): value for name, value in parameters.items()}
    found = {name: given[name] for name in inspect.signature(amg.Solver).parameters if name in given}
    if "coarsening" in found:
        usual = amg.COARSENINGS[found["coarsening"]]
        found["coarsening"] = dataclasses.replace(usual, **{name: given[name] for name in vars(usual) if name in given})
    return found


class OnDevice:
    """One of the project's solvers by a cell's parameters; the matrix is where it wants it before set-up begins."""

    has_set_up = True
    made = property(lambda self: self._solver)

    def __init__(self, device, matrix, parameters, **options):
        self.options = {"layout": LAYOUT[device.is_gpu]} | _options(parameters) | options
        self.clock = self.device = device
        self.matrix, self.unknowns, self.iterations = matrix, matrix.shape[0], 0
        self._given, self._b = device.sparse.csr_matrix(matrix), device.xp.ones(self.unknowns)

    def set_up(self, **options):
        self._solver = amg.Solver(self.device, self._given, **self.options | options)
        self.device.synchronize()

    def solve(self, tolerance=TOLERANCE):
        # The true residual is checked here, by a product that is not the solver's.
        self._x, outcome = self._solver.solve(self._b, tolerance, MAX_ITERATIONS, verify=False)
        self.device.synchronize()
        self.iterations = outcome.iterations
        if not outcome.converged:
            raise ReproError(f"no solution after {outcome.iterations} iterations: {outcome.status}")

    def residual(self):
        """Return ‖b - A x‖/‖b‖ by SciPy."""
        x = self._x.get() if hasattr(self._x, "get") else self._x
        return float(np.linalg.norm(1 - self.matrix @ x) / np.sqrt(self.unknowns))

    def least_work(self):
        """Return the least work of a solve, after one: how much it is shows in its iterations."""
        self.solve()
        one = self._solver.work()
        return Work(one.bytes * self.iterations, one.flops * self.iterations, one.precision)

    def facts(self):
        threads = {} if self.device.is_gpu else {"threads": self.device.compute_units}
        return threads | self._solver.facts()

    def close(self):
        self._given = self._b = self._x = self._solver = None
