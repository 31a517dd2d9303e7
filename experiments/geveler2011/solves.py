"""Measurement that Tables 3 and 4 share: solving a problem by one of the solvers, from the start to the tolerance."""

from __future__ import annotations

from experiments.geveler2011 import BEST, DEVICES, ELEMENTS, LEVELS, NUMBERINGS, PLACES, cell_of, convergence
from experiments.methods import declares
from experiments.partly import by_some

#: Solvers that are measured in every numbering: the paper's columns, and where each runs.
COLUMNS = (("cpu-all", ("host",)), ("ellpack_r", DEVICES))
#: The numbering by coordinates and the random one: one thread takes long.
ONE_THREAD = (BEST, "sto")
#: Unknowns of the largest level that is done in one launch with those below it, and of the largest smoothed by tiles.
AT_ONCE = {"small": 200, "tiled": 70_000}
#: Settings of the solver that are measured in the best numbering, by name.
VARIANTS = {
    "sell": {"format": "sell"},
    "unfused": {"format": "ellpack_r", "fuse": False},
    "direct": {"format": "sell", "transfer": "direct"},
    "chebyshev": {"format": "sell", "smoother": "chebyshev"},
    "spai": {"format": "sell", "smoother": "spai"},
    "strong": {"format": "sell", "smoother": "chebyshev", "smoothing": "strong"},
    "small": {"format": "sell", **AT_ONCE},
    "mixed": {"format": "sell16", "precision": "mixed", **AT_ONCE},
    "mixed-chebyshev": {
        "format": "sell16",
        "precision": "mixed",
        "smoother": "chebyshev",
        "smoothing": "strong",
        **AT_ONCE,
    },
    "mixed-spai": {"format": "sell16", "precision": "mixed", "smoother": "spai"},
    "cusparse": {"pack": "cusparse_csr"},
    "cusparse-sell": {"pack": "cusparse_sell"},
    "cusparse-chebyshev": {"pack": "cusparse_sell", "smoother": "chebyshev"},
}


@declares(VARIANTS, "cusparse-spai")  # a plain row above voids every cell that looks there
def _cusparse_spai():
    return {"pack": "cusparse_csr", "smoother": "spai"}


@declares(VARIANTS, "cusparse-sell-spai")
def _cusparse_sell_spai():
    return {"pack": "cusparse_sell", "smoother": "spai"}


@declares(VARIANTS, "mixed-levels")
def _mixed_levels():
    return {"format": "sell16", "precision": "mixed"}


@declares(VARIANTS, "mixed-levels-chebyshev")
def _mixed_levels_chebyshev():
    return {"format": "sell16", "precision": "mixed", "smoother": "chebyshev"}


#: Where tiles and small levels in one launch take longer than a launch saves.
ON_PROCESSORS = ("mixed-levels", "mixed-levels-chebyshev")
#: The numbering that suits caches most, in which they are measured on a GPU, too.
CACHED = "hie"
#: The numbering in which matrices of Q2 suit cuSPARSE's slices most, and what a GPU runs in it with Q2, too.
LEVELLED = "2lv"
IN_LEVELLED = ("unfused", "cusparse-sell", "cusparse-chebyshev", "cusparse-sell-spai", "chebyshev", "spai")
#: Algebraic multigrid on the finest matrix alone: options of `kernels.amg.Solver`, and rivals in solving.
AGGREGATION = {"amg": {}, "amg-jacobi": {"relaxation": "jacobi", "coarsening": "mis"}}
RIVALS = {"amgcl": "amgcl", "hypre": "hypre-extended"}
ALIKE = {("circle", "strong")}  # there it is `chebyshev`
#: On BLOOD these solve a second problem: its u = 1, and constants are what aggregation's coarse levels have exactly.
GENERAL = ("amg", "amg-jacobi", "amgcl", "strong", "mixed-chebyshev")
#: Solvers on the host whose long solves are timed by some of their cycles, as the paper's cycle on a processor is.
BY_CYCLES = ("cpu-1", "cpu-all", "scipy", "pyamg")
SAME = 1e-8  # as far as rounding parts the norm of one cycle's defect
#: Names of the solvers in figures.
NAMES = {
    "ellpack_r": "ELLPACK-R, Jacobi", "sell": "SELL, Jacobi", "unfused": "ELLPACK-R, not fused",
    "direct": "SELL, direct transfer", "chebyshev": "SELL, Chebyshev", "spai": "SELL, SPAI",
    "strong": "SELL, Chebyshev of degree 24", "small": "SELL, small levels by tiles", "mixed": "mixed, Jacobi",
    "mixed-chebyshev": "mixed, Chebyshev", "mixed-spai": "mixed, SPAI", "cusparse": "cuSPARSE CSR, Jacobi",
    "mixed-levels": "mixed, Jacobi, level by level", "mixed-levels-chebyshev": "mixed, Chebyshev, level by level",
    "cusparse-sell": "cuSPARSE SELL, Jacobi", "cusparse-chebyshev": "cuSPARSE SELL, Chebyshev",
    "cusparse-spai": "cuSPARSE CSR, SPAI", "cusparse-sell-spai": "cuSPARSE SELL, SPAI",
    "cpu-1": "Numba, 1 thread", "cpu-all": "Numba, all threads", "scipy": "SciPy", "pyamg": "PyAMG",
    "amgcl": "AMGCL, all threads", "hypre": "hypre, all cores", "amg": "AMG on patches", "amg-jacobi": "AMG, Jacobi",
}  # fmt: skip
MEANING = {
    "ellpack_r": "the paper's: ELLPACK-R, Jacobi; here products are fused with the vector operations around them",
    "sell": "the same cycle in slices of 32 rows",
    "unfused": "ELLPACK-R, each operation a kernel of its own",
    "direct": "transfer without matrices, in no set order of additions",
    "chebyshev": "Chebyshev polynomials in place of Jacobi's",
    "spai": "the sparse approximate inverse with A's pattern in place of D⁻¹",
    "strong": "Chebyshev polynomials of a degree from which on cycles do not depend on the level",
    "small": "`sell`, levels of up to {tiled:,} unknowns by tiles, of up to {small:,} in one launch".format(**AT_ONCE),
    "mixed": "`small`, and corrections in single precision with columns of 16 bits",
    "mixed-chebyshev": "`mixed` with Chebyshev polynomials: on CIRCLE of `chebyshev`, on BLOOD of `strong`",
    "mixed-spai": "`spai`, and corrections in single precision with columns of 16 bits",
    "mixed-levels": "`mixed` without tiles and without small levels in one launch, on processors",
    "mixed-levels-chebyshev": "`mixed-levels` with the polynomials of `chebyshev`",
    "cusparse": "cuSPARSE's CSR, preprocessed, under the same cycle",
    "cusparse-sell": "cuSPARSE's sliced ELLPACK under the same cycle",
    "cusparse-chebyshev": "`cusparse-sell` with the polynomials of `chebyshev`",
    "cusparse-spai": "`cusparse` with the approximate inverse of `spai`, which cuSPARSE multiplies by, too",
    "cusparse-sell-spai": "`cusparse-sell` with the approximate inverse of `spai`",
    "cpu-1": "the same cycle in loops compiled by Numba, one thread",
    "cpu-all": "the same cycle in loops compiled by Numba, all threads",
    "scipy": "the same cycle out of SciPy's products, one thread",
    "pyamg": "PyAMG's conjugate gradients with Ruge and Stüben's multigrid on the finest matrix; it has no threads",
    "amgcl": "AMGCL's conjugate gradients with smoothed aggregation on the finest matrix, all threads",
    "hypre": "hypre's BoomerAMG with conjugate gradients on the finest matrix, a process for every core",
    "amg": "our conjugate gradients with smoothed aggregation on patches on the finest matrix",
    "amg-jacobi": "`amg` with Jacobi's relaxation on standard aggregates",
}


def cells(mesh: str, scale: str):
    """Return each level in every numbering by the paper's columns, on a GPU in slices, too, and in the best by all."""
    found = convergence.cells(mesh, scale)
    for element in ELEMENTS:
        for level in LEVELS[convergence.TABLES[mesh]][scale][element]:
            for numbering in NUMBERINGS:
                found += [cell_of(mesh, level, element, numbering, name, backend)
                          for name, backend in _variants(element, numbering) if (mesh, name) not in ALIKE]  # fmt: skip
    return sorted(found, key=lambda cell: cell.backend == "cuda")  # a device's set-up is its own


def _variants(element, numbering):
    """Yield the variants that are measured with an element in a numbering, with where each runs."""
    if numbering in ONE_THREAD:
        yield "cpu-1", "host"
    yield from ((name, backend) for name, backends in COLUMNS for backend in backends)
    if numbering != BEST:
        yield "sell", "cuda"
    if numbering == CACHED:
        here = [name for name in VARIANTS if name != "sell"]  # which is in every numbering
        yield from ((name, "cuda") for name in here if name not in ON_PROCESSORS)
    if (element, numbering) == ("q2", LEVELLED):
        yield from ((name, "cuda") for name in IN_LEVELLED)
    if numbering == BEST:
        for name, settings in VARIANTS.items():
            some = ("cuda",) if "pack" in settings else ("openmp",) if name in ON_PROCESSORS else DEVICES
            yield from ((name, backend) for backend in some)
        yield from ((name, backend) for name in AGGREGATION for backend in DEVICES)
        yield from ((name, "host") for name in ("scipy", "pyamg", *RIVALS))


def measure(cell, run, seconds: float) -> None:
    """Time a solve, after its solution has been checked, and record cycles and the rate of convergence."""
    from experiments.geveler2011.problems import general, of_run

    element, numbering, name = (cell.parameters[key] for key in ("element", "numbering", "variant"))
    if name in convergence.VARIANTS:
        convergence.measure(cell, run)
        return
    mesh = PLACES[cell.case].mesh
    grids = of_run(run, element, cell.parameters["level"]).numbered(numbering)
    convergence.record(run, _time(run, grids, name, mesh, seconds))
    run.value("dof", len(grids[-1].rhs), "count")
    if mesh == "blood" and name in GENERAL:
        outcome = _time(run, general(grids, run.rng), name, mesh, seconds, "solve_general")
        run.value("cycles_general", outcome.cycles, "count")


def _time(run, grids, name, mesh, seconds, metric="solve"):
    """Time a solve, after its solution has been checked, and return how it ended."""
    from experiments.geveler2011.problems import TOLERANCE, defect
    from experiments.reported import ReportedClock

    device = None if run.cell.backend == "host" else run.device
    solver, outcomes = _solver(name, device, grids, mesh), []

    def solve():
        outcomes[:] = [solver.solve(TOLERANCE)]

    def error():
        # The solvers' own norms and SciPy's differ by rounding, which cancellation enlarges.
        u = device.to_host(solver.solution) if device else solver.solution
        return defect(grids[-1], u) if outcomes[0].converged else float("inf")

    if name in BY_CYCLES or (device and not device.is_gpu and hasattr(solver, "cycle_work")):
        seconds, outcome = _by_some_cycles(run, name, solver, grids, mesh, device)
        if seconds is not None:
            run.value(metric, seconds, "s")
            return outcome
    is_counted = device is not None and hasattr(solver, "cycle_work")
    clock = ReportedClock(solver) if getattr(solver, "seconds", None) is not None else None
    run.time(metric, solve, check=error, tolerance=1.01 * TOLERANCE, max_seconds=seconds, capture=False, device=clock,
             work=(lambda: _work(solver, outcomes)) if is_counted else None)  # fmt: skip
    return outcomes[0]


def _by_some_cycles(run, name, solver, grids, mesh, device):
    """Return the seconds of a long solve, None of a short one, and how a whole one ended, which has been checked.

    The paper's cycle is the same in SciPy's products as in compiled loops: these do the whole solve, on all threads.
    """
    from experiments.geveler2011.problems import TOLERANCE, defect

    whole = solver if device or name in ("pyamg", "cpu-all") else _solver("cpu-all", None, grids, mesh)
    outcome = whole.solve(TOLERANCE)
    u = device.to_host(whole.solution) if device else whole.solution
    gap = defect(grids[-1], u) if outcome.converged else float("inf")
    run.check(gap, 1.01 * TOLERANCE, "defect by SciPy")
    if device or name == "pyamg":
        return by_some(run, "cycles", lambda count: solver.solve(TOLERANCE, count), outcome.cycles), outcome
    first = solver.solve(TOLERANCE, 1).history[1]
    run.check(abs(first / outcome.history[1] - 1), SAME, "defect after a cycle by compiled loops")
    return by_some(run, "cycles", solver.go_on, outcome.cycles), outcome


def _work(solver, outcomes):
    """Return the least work of a solve: as many cycles as the last one took, and the first defect."""
    from repro import Work

    cycle, first, cycles = solver.cycle_work(), solver.outer.operator.work(1), outcomes[0].cycles
    return Work(cycles * cycle.bytes + first.bytes, cycles * cycle.flops + first.flops)


def _solver(name, device, grids, mesh):
    """Return what solves, with `solve` and `solution`."""
    from experiments.geveler2011.problems import SMOOTHING, TOLERANCE

    jacobi = SMOOTHING[mesh]["jacobi"]
    if device is not None:
        from kernels.multigrid import Multigrid
        from kernels.multigrid.algebraic import Algebraic as Aggregation

        if name in AGGREGATION:
            return Aggregation(device, grids, **AGGREGATION[name])
        settings = dict(VARIANTS.get(name, {"format": name}))
        if "pack" in settings:
            from baselines import spmv as rivals

            rival = settings["pack"]
            settings["pack"] = lambda csr: rivals.pack(rival, csr)
        smoothing = SMOOTHING[mesh][settings.pop("smoothing", settings.get("smoother", "jacobi"))]
        return Multigrid(device, grids, **settings, **smoothing)
    from baselines.multigrid import Algebraic, ClassicalAmg, NumbaCycle, SciPyCycle, threads_there

    if name == "pyamg":
        return ClassicalAmg(grids)
    if name in RIVALS:
        return Algebraic(grids, RIVALS[name], TOLERANCE)
    if name == "scipy":
        return SciPyCycle(grids, **jacobi)
    return NumbaCycle(grids, threads=1 if name == "cpu-1" else threads_there(), **jacobi)
