"""Poisson's equation on remacle2016's cubes: every preconditioner, precision and order on every back end here."""

from __future__ import annotations

import numpy as np

import datasets
from benchmarks.assembly import SECONDS, device
from experiments.remacle2016.poisson import TOLERANCE, Residual
from kernels.device import BACKENDS
from kernels.sem.solver import Solver
from repro import timing

PRECONDITIONERS = ("two-scale", "fine-only", "jacobi")


class Solves:
    """A solve: its time, iterations, and the residual that NumPy's sums find in some elements."""

    params = (PRECONDITIONERS, ("float64", "float32"), BACKENDS, ("mesh1-16", "mesh3-16"), (2, 3))
    param_names = ("preconditioner", "precision", "backend", "mesh", "order")
    timeout = 300

    def setup(self, preconditioner, dtype, backend, name, order):
        self.device = device(backend)
        mesh = datasets.load(f"remacle2016/{name}", "small")
        self.solver = Solver(self.device, mesh.points, mesh.cells, order, dtype=dtype, preconditioner=preconditioner)
        self.b = self.solver.load(1.0)
        self.x, self.outcome = self.solver.solve(self.b, TOLERANCE)
        table = np.asarray(self.device.to_host(self.solver.numbering.table))
        rng = np.random.default_rng(0)
        self.residual = Residual(rng, mesh, order, table, self.device.to_host(self.b))

    def track_time(self, *parameters):
        taken = timing.sample(
            lambda: self.solver.solve(self.b, TOLERANCE, x=self.x), self.device, max_seconds=SECONDS,
            called_before=True, capture=False,
        )  # fmt: skip
        return {"samples": taken.seconds, "number": taken.batch}

    track_time.unit = "seconds"

    def track_iterations(self, *parameters):
        return self.outcome.iterations

    def track_error(self, *parameters):
        return self.residual(self.device.to_host(self.x))
