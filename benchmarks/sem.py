"""Poisson's equation on remacle2016's cubes: every preconditioner, precision and order on every back end here."""

from __future__ import annotations

import numpy as np

import datasets
from baselines.sem.sums import Sums
from benchmarks.assembly import SECONDS, device, samples
from experiments.remacle2016.poisson import TOLERANCE, Residual
from kernels.device import BACKENDS
from kernels.sem.solver import Solver
from kernels.sem.stiffness import Operator
from repro import timing

PRECONDITIONERS = ("two-scale", "fine-only", "jacobi")


class Products:
    """The stiffness operator on all nodes: its time, its distance from sums over some elements, and what it keeps."""

    params = (("stored", "trilinear"), ("float64", "float32"), BACKENDS, (3, 7))
    param_names = ("geometry", "precision", "backend", "order")
    timeout = 300

    def setup(self, geometry, dtype, backend, order):
        self.device = device(backend)
        mesh = datasets.load("remacle2016/mesh3-16", "small")
        self.operator = Operator(self.device, mesh.points, mesh.cells, order, dtype=dtype, geometry=geometry)
        host = np.random.default_rng(0).standard_normal(self.operator.nodes).astype(dtype)
        self.x, self.y = self.device.array(host), self.device.empty(self.operator.nodes, dtype)
        self.local = self.device.empty(self.operator.layout.size, dtype)
        self.operator.multiply(self.x, self.y)
        self.operator.apply_local(self.x, self.local)
        chosen = np.arange(0, len(mesh.cells), len(mesh.cells) // 8)
        table = np.asarray(self.device.to_host(self.operator.numbering.table))[chosen]
        self.expected = Sums(mesh.points, mesh.cells, order, mass=0.0).multiply(host[table], chosen)
        self.chosen = chosen

    def track_time(self, *parameters):
        return samples(lambda: self.operator.multiply(self.x, self.y), self.device)

    track_time.unit = "seconds"

    def track_error(self, *parameters):
        ours = self.operator.layout.unpack(np.asarray(self.device.to_host(self.local)), np)[self.chosen]
        return float(np.abs(ours - self.expected).max() / np.abs(self.expected).max())

    track_error.unit = "of the largest entry"

    def track_bytes(self, *parameters):
        return self.operator.local_work().bytes

    track_bytes.unit = "bytes"


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
