"""A solve of one of the paper's systems: on a device in a storage format, or by baselines on the host."""

from __future__ import annotations

import time

import numpy as np

from baselines.polynomial_cg import library, loops
from experiments.partly import WHOLE, by_some
from experiments.zhang2013.spectra import MOST_ITERATIONS, prepared
from experiments.zhang2013.systems import system
from kernels import polynomial
from kernels.polynomial.lanczos import STEPS
from kernels.spmv import Unsuitable
from repro import Cell, CheckFailed

TOLERANCE = 1e-5  # of the scaled system's residual over its right-hand side; the paper's own is not legible
ROUNDING = 0.01  # of it: as far as rounding parts the residual that a solver stops by from the one computed afresh
HELD_TO = (1 + ROUNDING) * TOLERANCE
SECONDS = {"smoke": 0.02, "small": 0.2, "paper": 0.3, "large": 1}
LONGEST = 30  # seconds of a solve that is sampled several times
LEAST = 4  # iterations of a part of a solve
SAME = 1e-9  # as far as rounding parts as many iterations of two solvers
CRITERION = (
    f"Stopped at a relative residual of {TOLERANCE:g}; the paper's criterion is not legible in the copy at hand, and "
    "with this one Jacobi's iterations come nearest. Where a solve on a processor takes more than "
    f"{WHOLE} s, a part of its iterations is timed. The time of the whole solve, and its interval, are "
    "the part's, scaled to all iterations."
)
TIGHT = (
    "The spectrum of the polynomials is bounded tightly, by Lanczos steps alone. The paper adds a safeguard, by which "
    "they take more iterations. The tables of iterations and of times by order have both."
)


def solve_cell(case, method, backend, mesh, **parameters):
    """Return the cell of a solve; `measure` says what the parameters mean."""
    return Cell(case, method, backend, parameters, (f"zhang2013/{mesh}",))


def measure(cell, run):
    """Solve a system and time it; every solver's answer is held to one residual, computed afresh by SciPy.

    Parameters of the cell: `polynomial` (empty is Jacobi), `order`, and of the spectrum `bound` and Lanczos `steps`; on
    a device `form` and `precision`, on the host `threads` of the compiled loops, all where it is 0, or `library` for
    SciPy's own solver. A long solve on a processor is some of its iterations, times over; they are recorded.
    """
    asked, made = cell.parameters, system(run)
    ready, name = prepared(made), asked["polynomial"] or None
    spectrum = ready.spectrum(asked.get("bound", "lanczos"), asked.get("steps", STEPS)) if name else None
    try:
        solver = _solver(cell, asked, made, ready, name, spectrum)
    except Unsuitable as refused:
        run.skip(str(refused))
    outcomes, work = [], None

    def solve():
        outcomes[:] = [solver.run(TOLERANCE, MOST_ITERATIONS)]

    seconds, taken = None, 0.0
    if cell.backend == "host":
        seconds = _by_some_iterations(run, solver, ready.whole(name, asked["order"], spectrum, TOLERANCE), outcomes)
    if seconds is None:
        begun = time.perf_counter()
        solve()
        taken = time.perf_counter() - begun
    if taken > WHOLE and cell.backend != "host" and not made.device.is_gpu:
        run.check(made.residual(solver.solution()), HELD_TO, "residual by SciPy")
        seconds = by_some(run, "iterations", lambda count: solver.run(TOLERANCE, count), outcomes[0].iterations, LEAST)
    if seconds is None:
        limit = max(SECONDS[run.scale], 2 * taken if taken < LONGEST else 0)  # several take longer, but are taken
        if cell.backend != "host" and made.device.is_gpu:  # what it has to move is known once it has run
            work = solver.least_work(outcomes[0].iterations)
        run.time(
            "solve", solve, check=lambda: made.residual(solver.solution()), tolerance=HELD_TO, capture=False,
            max_seconds=limit, work=work,
        )  # fmt: skip
    (outcome,) = outcomes
    if outcome.status != "converged":
        raise CheckFailed(f"{outcome.status} after {outcome.iterations} iterations, residual {outcome.residual:.6g}")
    if seconds is not None:
        run.value("solve", seconds, "s")
    run.value("iterations", outcome.iterations, "count")
    run.value("products", outcome.iterations * (1 + asked["order"]), "count")
    if name:
        run.value("upper_bound", spectrum.upper / ready.largest, "x")


def _by_some_iterations(run, solver, solved, outcomes) -> float | None:
    """Return the seconds of a long solve after a whole one on all threads has been checked; None of a short one.

    SciPy's solver iterates as the compiled loops do, which do the whole solve, and is held to their iterates.
    """
    whole, outcome, solution = solved
    outcomes[:] = [outcome]
    run.check(system(run).residual(solution), HELD_TO, "residual by SciPy")
    some = [each.run(TOLERANCE, LEAST) and each.solution() for each in (whole, solver)]
    run.check(np.linalg.norm(some[1] - some[0]) / np.linalg.norm(some[0]), SAME, "iterate on all threads")
    return by_some(run, "iterations", lambda count: solver.run(TOLERANCE, count), outcome.iterations, LEAST)


def _solver(cell, asked, made, ready, name, spectrum):
    """Return the solver of a cell with its right-hand side."""
    if cell.backend == "host":
        series = polynomial.fitted(name, asked["order"], spectrum) if name else None
        if asked.get("library"):
            solver = library.Solver(made.host, series)
        else:
            solver = loops.Solver(made.host, series, threads=asked["threads"] or None)
        solver.load(made.host_rhs)
        return solver
    solver = polynomial.Solver(
        made.device, ready.scaled, form=asked["form"], polynomial=name, order=asked["order"],
        precision=asked["precision"], spectrum=spectrum,
    )  # fmt: skip
    solver.load(made.rhs)
    return solver
