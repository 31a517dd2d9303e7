"""Solvers: fu2014's multigrid-preconditioned conjugate gradients, zhang2013's with polynomials, and the rivals.

Each has its time, iterations, true residual and what it keeps in the device's memory.
"""

from __future__ import annotations

import numpy as np

import datasets
from baselines import solvers as rivals
from benchmarks.assembly import device, samples
from experiments.fu2014 import solvers as fu2014
from experiments.fu2014.problems import helmholtz_matrix
from experiments.zhang2013.solves import TOLERANCE
from experiments.zhang2013.spectra import MOST_ITERATIONS, Prepared
from experiments.zhang2013.systems import System
from kernels import polynomial, spmv
from kernels.assembly import elasticity
from kernels.device import BACKENDS
from repro import Skip

SCALE = "small"


class Multigrid:
    """fu2014's solvers on a mesh: the paper's, that with Jacobi's relaxation, and plain conjugate gradients."""

    params = (("patch-pcgamg", "jacobi-pcgamg", "cg"), BACKENDS, ("fu2014/regular", "fu2014/irregular"))
    param_names = ("method", "backend", "mesh")
    timeout = 300

    def setup(self, method, backend, name):
        matrix = helmholtz_matrix(datasets.load(name, SCALE))
        self.solver = fu2014.OnDevice(device(backend), matrix, fu2014.SETTINGS[method])
        self.solver.set_up()
        self.solver.solve()

    def track_time(self, method, backend, name):
        return samples(self.solver.solve, self.solver.clock, capture=False)

    track_time.unit = "seconds"

    def track_setup(self, method, backend, name):
        return samples(self.solver.set_up, self.solver.clock, capture=False)

    track_setup.unit = "seconds"

    def track_iterations(self, method, backend, name):
        return self.solver.iterations

    def track_residual(self, method, backend, name):
        return self.solver.residual()

    def track_memory(self, method, backend, name):
        facts = self.solver.facts()
        return sum(value for fact, value in facts.items() if fact.startswith("bytes"))

    track_memory.unit = "bytes"


class Polynomials:
    """zhang2013's solver on a mesh: a polynomial of order 3, in mixed or double precision."""

    params = (
        tuple(polynomial.POLYNOMIALS), ("mixed", "double"), BACKENDS,
        ("zhang2013/hex", "zhang2013/tet", "zhang2013/quad", "zhang2013/tri"),
    )  # fmt: skip
    param_names = ("polynomial", "precision", "backend", "mesh")
    timeout = 300

    def setup(self, name, precision, backend, mesh):
        opened, given = device(backend), datasets.load(mesh, SCALE)
        made = elasticity.system(opened, elasticity.cantilever(given.points, given.cells))
        ready = Prepared(System(made.matrix, made.rhs, opened))
        try:
            self.solver = polynomial.Solver(
                opened, ready.scaled, form="sell", polynomial=name, order=3, precision=precision,
                spectrum=ready.spectrum(),
            )  # fmt: skip
        except spmv.Unsuitable as refused:
            raise NotImplementedError(str(refused)) from None
        self.solver.load(made.rhs)
        self.system, self.clock, self.outcome = ready.system, opened, self.solver.run(TOLERANCE, MOST_ITERATIONS)

    def track_time(self, *parameters):
        return samples(lambda: self.solver.run(TOLERANCE, MOST_ITERATIONS), self.clock, capture=False)

    track_time.unit = "seconds"

    def track_iterations(self, *parameters):
        return self.outcome.iterations

    def track_residual(self, *parameters):
        return self.system.residual(self.solver.solution())


class Rivals:
    """The host's solvers of the same systems."""

    params = (rivals.METHODS, ("fu2014/regular",))
    param_names = ("rival", "mesh")
    timeout = 300

    def setup(self, rival, name):
        matrix = helmholtz_matrix(datasets.load(name, SCALE))
        try:
            self.solver = fu2014.OnHost(
                rivals.prepare(rival, matrix, np.ones(matrix.shape[0]), fu2014.TOLERANCE, fu2014.MAX_ITERATIONS)
            )
            self.solver.set_up()
        except Skip as missing:
            raise NotImplementedError(str(missing)) from None
        self.solver.solve()

    def teardown(self, rival, name):
        if hasattr(self, "solver"):
            self.solver.close()

    def track_time(self, rival, name):
        return samples(self.solver.solve, self.solver.clock, capture=False)

    track_time.unit = "seconds"

    def track_iterations(self, rival, name):
        return self.solver.iterations
