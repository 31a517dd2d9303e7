"""A solve of one of the paper's systems: on a device in a storage format, or by baselines on the host."""

from __future__ import annotations

from baselines.polynomial_cg import library, loops
from experiments.zhang2013.spectra import prepared
from experiments.zhang2013.systems import system
from kernels import polynomial
from kernels.spmv import Unsuitable
from repro import Cell

TOLERANCE = 1e-5  # of the scaled system's residual over its right-hand side; the paper's own is not legible
CRITERION = (
    f"Stopped at a relative residual of {TOLERANCE:g}; the paper's criterion is not legible in the copy at hand, and "
    "with this one Jacobi's iterations come nearest."
)
SECONDS = {"smoke": 0.02, "small": 0.2, "paper": 0.3, "large": 1}
MAX_ITERATIONS = 50_000


def solve_cell(case, method, backend, mesh, **parameters):
    """Return the cell of a solve; `measure` says what the parameters mean."""
    return Cell(case, method, backend, parameters, (f"zhang2013/{mesh}",))


def measure(cell, run):
    """Solve a system, time it, and compute the residual afresh by SciPy.

    Parameters of the cell: `polynomial` (empty is Jacobi) and `order`; on a device `form`, `precision` and `bound` of
    the spectrum, on the host `threads` of the compiled loops, all where it is 0, or `library` for SciPy's own solver.
    """
    asked, made = cell.parameters, system(run)
    ready = prepared(made)
    name = asked["polynomial"] or None
    if cell.backend == "host":
        series = polynomial.fitted(name, asked["order"], ready.spectrum()) if name else None
        if asked.get("library"):
            solver = library.Solver(made.host, series)
        else:
            solver = loops.Solver(made.host, series, threads=asked["threads"] or None)
        solver.load(made.host_rhs)
    else:
        spectrum = ready.spectrum(asked.get("bound", "lanczos")) if name else None
        try:
            solver = polynomial.Solver(
                made.device, ready.scaled, form=asked["form"], polynomial=name, order=asked["order"],
                precision=asked["precision"], spectrum=spectrum,
            )  # fmt: skip
        except Unsuitable as refused:
            run.skip(str(refused))
        solver.load(made.rhs)
    outcomes, work = [], None

    def solve():
        outcomes[:] = [solver.run(TOLERANCE, MAX_ITERATIONS)]

    if (
        cell.backend != "host" and made.device.is_gpu
    ):  # what it has to move is known once it has run; there that is cheap
        solve()
        work = solver.least_work(outcomes[0].iterations)
    run.time(
        "solve", solve, check=lambda: made.residual(solver.solution()), tolerance=1.01 * TOLERANCE, capture=False,
        max_seconds=SECONDS[run.scale], work=work,
    )  # fmt: skip
    (outcome,) = outcomes
    run.check(outcome.residual, TOLERANCE, f"{outcome.status} after {outcome.iterations} iterations, residual")
    run.value("iterations", outcome.iterations, "count")
    run.value("products", outcome.iterations * (1 + asked["order"]), "count")
