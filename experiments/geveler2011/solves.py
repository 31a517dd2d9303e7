"""What Tables 3 and 4 measure alike: solving a problem by one of the solvers, from the start to the tolerance."""

from __future__ import annotations

from experiments.geveler2011 import BEST, DEVICES, ELEMENTS, LEVELS, NUMBERINGS, convergence, level_of, solid
from repro import Cell

#: What is measured in every numbering: the paper's three columns, where each runs.
COLUMNS = (("cpu-1", ("host",)), ("cpu-all", ("host",)), ("ellpack_r", DEVICES))
#: What is measured in the best numbering: settings of the solver, by name.
VARIANTS = {
    "sell": {"format": "sell"},
    "unfused": {"format": "ellpack_r", "fuse": False},
    "direct": {"format": "sell", "transfer": "direct"},
    "chebyshev": {"format": "sell", "smoother": "chebyshev"},
    "spai": {"format": "sell", "smoother": "spai"},
    "cusparse": {"pack": "cusparse_csr"},
}
#: What figures call them.
NAMES = {
    "ellpack_r": "ELLPACK-R, Jacobi", "sell": "SELL, Jacobi", "unfused": "ELLPACK-R, not fused",
    "direct": "SELL, direct transfer", "chebyshev": "SELL, Chebyshev", "spai": "SELL, SPAI",
    "cusparse": "cuSPARSE, Jacobi", "cpu-1": "Numba, 1 thread", "cpu-all": "Numba, all threads", "scipy": "SciPy",
    "pyamg": "PyAMG",
}  # fmt: skip
MEANING = {
    "ellpack_r": "the paper's: ELLPACK-R, Jacobi; here products are fused with the vector operations around them",
    "sell": "the same cycle in slices of 32 rows",
    "unfused": "ELLPACK-R, each operation a kernel of its own",
    "direct": "transfer without matrices, in no set order of additions",
    "chebyshev": "Chebyshev polynomials in place of Jacobi's",
    "spai": "the sparse approximate inverse with A's pattern in place of D⁻¹",
    "cusparse": "cuSPARSE's CSR, preprocessed, under the same cycle",
    "cpu-1": "the same cycle in loops compiled by Numba, one thread",
    "cpu-all": "the same on all threads",
    "scipy": "the same cycle out of SciPy's products, one thread",
    "pyamg": "PyAMG's conjugate gradients with Ruge and Stüben's multigrid on the finest matrix; it has no threads",
}


def cells(mesh: str, scale: str):
    """Return each level in every numbering by the paper's columns, on a GPU in slices, too, and in the best by all."""
    found = convergence.cells(mesh, scale)
    for element in ELEMENTS:
        for level in LEVELS[convergence.TABLES[mesh]][scale][element]:
            for numbering in NUMBERINGS:
                made = [(name, backend) for name, backends in COLUMNS for backend in backends]
                if numbering == BEST:
                    made += [(name, backend) for name in VARIANTS if name != "cusparse" for backend in DEVICES]
                    made += [("cusparse", "cuda"), ("scipy", "host"), ("pyamg", "host")]
                else:
                    made.append(("sell", "cuda"))
                found += [Cell(f"{mesh}-l{level}", f"{element}-{numbering}-{name}", backend,
                               data=(f"geveler2011/{mesh}",)) for name, backend in made]  # fmt: skip
    return sorted(found, key=lambda cell: cell.backend == "cuda")  # a device's set-up is its own


def measure(cell, run, seconds: float) -> None:
    """Time a solve, after its solution has been checked, and record cycles and the rate of convergence."""
    from experiments.geveler2011.problems import TOLERANCE, defect, of_run

    if cell.method.endswith(f"-{convergence.RATE}"):
        convergence.measure(cell, run)
        return
    device = None if cell.backend == "host" else run.device
    mesh = cell.case.partition("-")[0]
    element, numbering, name = cell.method.removeprefix(solid.PREFIX).split("-", 2)
    found = of_run(run, element, level_of(cell.case))
    grids = found.numbered(numbering)
    solver = _solver(name, device, grids, mesh)
    outcomes = []

    def solve():
        outcomes[:] = [solver.solve(TOLERANCE)]

    def error():
        # The solvers' own norms and SciPy's differ by rounding, which cancellation enlarges.
        u = device.to_host(solver.solution) if device else solver.solution
        return defect(grids[-1], u) if outcomes[0].converged else float("inf")

    work = _work(solver, device, solve, outcomes)
    run.time("solve", solve, check=error, tolerance=1.01 * TOLERANCE, work=work, max_seconds=seconds, capture=False)
    convergence.record(run, outcomes[0])
    run.value("dof", len(grids[-1].rhs), "count")


def _work(solver, device, solve, outcomes):
    """Return the least work of as many cycles as it takes, and of the first defect."""
    if device is None:
        return None
    solve()
    from repro import Work

    cycle, first = solver.cycle_work(), solver.levels[-1].operator.work(1)
    cycles = outcomes[0].cycles
    return Work(cycles * cycle.bytes + first.bytes, cycles * cycle.flops + first.flops)


def _solver(name, device, grids, mesh):
    """Return what solves, with `solve` and `solution`."""
    from experiments.geveler2011.problems import SMOOTHING

    jacobi = SMOOTHING[mesh]["jacobi"]
    if device is not None:
        from kernels.multigrid import Multigrid

        settings = dict(VARIANTS.get(name, {"format": name}))
        if "pack" in settings:
            from baselines import spmv as rivals

            rival = settings["pack"]
            settings["pack"] = lambda csr: rivals.pack(rival, csr)
        return Multigrid(device, grids, **settings, **SMOOTHING[mesh][settings.get("smoother", "jacobi")])
    from baselines.multigrid import ClassicalAmg, NumbaCycle, SciPyCycle, threads_there

    if name == "pyamg":
        return ClassicalAmg(grids)
    if name == "scipy":
        return SciPyCycle(grids, **jacobi)
    return NumbaCycle(grids, threads=1 if name == "cpu-1" else threads_there(), **jacobi)
