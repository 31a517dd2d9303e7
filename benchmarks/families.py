"""A case of each further family of kernels, beside what one would run instead on a processor: for `benchmarks.rivals`.

Takers are functions that make ready: each returns a call to time, and a function that tells facts of the call
before it. Among these is ``error``, by SciPy or NumPy, which may be `Case.tolerance` at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import datasets
from baselines import spmv as products
from baselines.assembly import coordinates, mapped, serial
from baselines.monodomain import residual as of_heart
from baselines.monodomain import serial as loops_of_heart
from baselines.monodomain.system import system as system_of_heart
from baselines.multigrid import Algebraic, ClassicalAmg, NumbaCycle
from baselines.polynomial_cg import library, loops
from baselines.sem import assembled, libceed
from baselines.sem.sums import Sums
from datasets import grids, structured
from datasets.mesh import Mesh
from experiments.fu2014 import problems as fu2014
from experiments.fu2014 import table2_assembly
from experiments.geveler2011 import BEST
from experiments.geveler2011 import problems as geveler2011
from experiments.remacle2016 import rivals as remacle2016
from experiments.wong2015 import heart as wong2015
from experiments.zhang2013 import solves as zhang2013
from experiments.zhang2013.spectra import MOST_ITERATIONS, Prepared
from experiments.zhang2013.systems import System
from kernels import assembly, polynomial
from kernels.assembly import elasticity
from kernels.monodomain import Heart, Model
from kernels.multigrid import Multigrid
from kernels.sem.stiffness import Operator

POLYNOMIAL, DEGREE, SPECTRAL_ORDER = "least-squares", 6, 3
HEART, ROUNDED = "heart-5k", 1.01  # what rounding adds to a defect that a solver stops by
ONE_THREAD = "one thread"


@dataclass(frozen=True)
class Case:
    """A computation, and who does it."""

    title: str
    what: str  #: what the time is of: a column of the table
    unknowns: int
    takers: Mapping[str, Callable[[], tuple[Callable[[], object], Callable[[], dict]]]]
    tolerance: float  #: of the error
    notes: tuple[str, ...] = ()


def of_assembly(opened, by) -> Case:
    """Return the Helmholtz matrix on tetrahedra: ours, and the loops of fu2014's Table 2."""
    mesh = Mesh(*structured.kuhn(40 // by))
    problem, reference = fu2014.helmholtz(mesh), fu2014.Reference(mesh)
    by_scipy = fu2014.Reference(mesh, "serial")  # of which SciPy's own sum is no reference

    def told(result, threads, expected=reference):
        return lambda: {"threads": threads, "error": expected.error(*result())}

    def ours(method):
        made = assembly.prepare(method, opened, problem)
        return made.launch, told(made.result, opened.compute_units)

    def loop(prepare, threads):
        launch, result = prepare(problem, threads)
        return launch, told(result, threads)

    def coo():
        kept = []
        return (lambda: kept.__setitem__(slice(None), coordinates.assemble(problem))), told(lambda: kept, 1, by_scipy)

    takers = {method: lambda method=method: ours(method) for method in assembly.METHODS} | {
        "serial": lambda: loop(serial.prepare, 1), "mapped": lambda: loop(mapped.prepare, 1),
        "serial-threaded": lambda: loop(serial.prepare, opened.compute_units),
        "threaded": lambda: loop(mapped.prepare, opened.compute_units), "coo": coo,
    }  # fmt: skip
    notes = tuple(f"{name}: {table2_assembly.TITLES[name]}" for name in takers)
    tolerance = table2_assembly.TOLERANCE
    return Case(f"assembly, {len(mesh.cells):,} tetrahedra", "assembly", len(mesh.points), takers, tolerance, notes)


def of_polynomials(opened, by) -> Case:
    """Return conjugate gradients with a polynomial preconditioner: ours, and zhang2013's on the host."""
    made = elasticity.system(opened, elasticity.cantilever(*grids.hexes(30 // by - 1)))
    ready = Prepared(System(made.matrix, made.rhs, opened))
    spectrum = ready.spectrum()
    fitted = polynomial.fitted(POLYNOMIAL, DEGREE, spectrum)

    def ours(form, precision):
        return taking(polynomial.Solver(opened, ready.scaled, form=form, polynomial=POLYNOMIAL, order=DEGREE,
                                        precision=precision, spectrum=spectrum), opened.compute_units)  # fmt: skip

    def taking(solver, threads):
        outcomes = []
        solver.load(ready.system.rhs)
        return lambda: outcomes.__setitem__(slice(None), [solver.run(zhang2013.TOLERANCE, MOST_ITERATIONS)]), lambda: {
            "threads": threads, "iterations": outcomes[0].iterations, "error": ready.system.residual(solver.solution()),
        }  # fmt: skip

    def numba(threads):
        return taking(loops.Solver(ready.system.host, fitted, threads=threads), threads)

    takers = {
        "sbell16, mixed": lambda: ours("sbell16", "mixed"), "sbell, double": lambda: ours("sbell", "double"),
        "Numba": lambda: numba(opened.compute_units), f"Numba, {ONE_THREAD}": lambda: numba(1),
        "SciPy": lambda: taking(library.Solver(ready.system.host, fitted), 1),
    }  # fmt: skip
    title = f"elasticity, hexahedra, to {zhang2013.TOLERANCE:g} by CG with a {POLYNOMIAL} polynomial of order {DEGREE}"
    return Case(title, "solve", len(made.rhs), takers, zhang2013.HELD_TO)


def of_hearts(opened, by) -> Case:
    """Return a step of wong2015's heart from a front half-way: ours, and Numba's loops."""
    mesh, fibres = wong2015.tissue(HEART, "small" if by == 1 else "smoke")
    model, start = Model(), wong2015.front(mesh.points)
    given = mesh.points, mesh.cells, fibres, model, wong2015.DT

    def told(made, steps, threads):
        error = of_heart.residual(*given, start, 0.0, np.asarray(made.phi))
        return {"threads": threads, "iterations": steps[0].linear_iterations, "error": error}

    def beating(made, threads):
        steps = []

        def step():
            made.load(start)
            steps[:] = made.run(1)

        return step, lambda: told(made, steps, threads)

    takers = {form: lambda form=form: beating(Heart(opened, *given, format=form), opened.compute_units)
              for form in ("ellwarp", "sell", "csr_vector")}  # fmt: skip
    takers["Numba"] = lambda: beating(loops_of_heart.Heart(system_of_heart(*given)), 1)
    title = f"a step of the beating heart, {len(mesh.cells):,} tetrahedra"
    return Case(title, "step", len(mesh.points), takers, wong2015.TOLERANCE, (wong2015.SETTING,))


def of_spectral(opened, by) -> Case:
    """Return remacle2016's operator, assembled to assembled vector: ours, libCEED's, and the assembled matrix."""
    points, cells = grids.hexes(16 // by)
    one = Operator(opened, points, cells, SPECTRAL_ORDER, outputs=("both",))
    table, x = np.asarray(one.numbering.table), opened.array(np.random.default_rng(0).uniform(-1, 1, one.nodes))
    parts = Sums(points, cells, SPECTRAL_ORDER, mass=0.0).multiply(np.asarray(x)[table])
    expected, y = np.bincount(table.ravel(), weights=parts.ravel()), opened.empty(one.nodes, "float64")

    def told(threads):
        return {"threads": threads, "error": float(abs(y - expected).max() / abs(expected).max())}

    def taking(multiply, threads):
        y.fill(np.nan)  # what another left there is no product of this one
        return lambda: multiply(x, y), lambda: told(threads)

    def ours(geometry):
        made = Operator(opened, points, cells, SPECTRAL_ORDER, geometry=geometry, numbering=one.numbering)
        return taking(made.multiply_fast, opened.compute_units)

    def matrix(rival):
        whole = assembled.matrix(points, cells, SPECTRAL_ORDER, table, np.ones(one.nodes, bool))
        made = products.pack(rival, whole)
        return taking(made.multiply, getattr(made, "threads", opened.compute_units))

    takers = {f"{geometry} factors": lambda geometry=geometry: ours(geometry) for geometry in ("stored", "trilinear")}
    takers["libCEED"] = lambda: taking(
        libceed.Product(points, cells, SPECTRAL_ORDER, table, one.nodes, "host").multiply, 1
    )
    takers |= {rival: lambda rival=rival: matrix(rival) for rival in ("mkl_csr", "numba_csr")}
    title = f"spectral stiffness, {len(cells):,} hexahedra of order {SPECTRAL_ORDER}"
    return Case(title, "product", one.nodes, takers, remacle2016.TOLERANCE, ("mkl_csr, numba_csr: assembled",))


def of_multigrid(opened, by) -> Case:
    """Return geometric multigrid on geveler2011's cube of hexahedra: ours, Numba's, and algebraic in its place."""
    level = 6 if by == 1 else 3
    mesh, tolerance = datasets.load("geveler2011/cube", "small"), geveler2011.TOLERANCE
    levels = geveler2011.Problem(mesh, "q1", level, *geveler2011.set_up_by(opened)).numbered(BEST)
    smoothing = geveler2011.SMOOTHING["cube"]

    def taking(solver, threads):
        outcomes = []
        return lambda: outcomes.__setitem__(slice(None), [solver.solve(tolerance)]), lambda: {
            "threads": threads, "iterations": outcomes[0].cycles,
            "error": geveler2011.defect(levels[-1], np.asarray(solver.solution)),
        }  # fmt: skip

    def ours(smoother):
        made = Multigrid(opened, levels, format="sell", smoother=smoother, **smoothing[smoother])
        return taking(made, opened.compute_units)

    takers = {f"sell, {smoother}": lambda smoother=smoother: ours(smoother) for smoother in ("jacobi", "chebyshev")} | {
        "Numba, jacobi": lambda: taking(
            NumbaCycle(levels, threads=opened.compute_units, **smoothing["jacobi"]), opened.compute_units
        ),
        "PyAMG": lambda: taking(ClassicalAmg(levels), 1),
        "AMGCL": lambda: taking(Algebraic(levels, "amgcl", tolerance), opened.compute_units),
    }
    title = f"-Δu = 1 to {tolerance:g} on a cube of distorted hexahedra, {level} levels"
    return Case(title, "solve", len(levels[-1].rhs), takers, ROUNDED * tolerance, ("no set-up is in these times",))


CASES = (of_assembly, of_polynomials, of_hearts, of_spectral, of_multigrid)


def ready(case: Case, name: str):
    """Return the call of one who takes part, and its facts; a wrong result ends the run."""
    call, told = case.takers[name]()
    call()
    facts = told()
    if not facts["error"] <= case.tolerance:
        raise SystemExit(f"rivals: {name}, {case.title}: the error is {facts['error']:.2g}, over {case.tolerance:.2g}")
    return call, facts
