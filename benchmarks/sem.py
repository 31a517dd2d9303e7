"""Poisson's equation on remacle2016's cubes, heat on its rod: preconditioners, precisions and orders by back end."""

from __future__ import annotations

import numpy as np

import datasets
from baselines.sem.sums import Sums
from benchmarks.assembly import SECONDS, device, samples
from experiments.remacle2016 import rod
from experiments.remacle2016.poisson import TOLERANCE, Residual
from kernels.device import BACKENDS
from kernels.sem.solver import Solver
from kernels.sem.stiffness import Operator
from repro.run import timing

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
        return samples(lambda: self.solver.solve(self.b, TOLERANCE, x=self.x), self.device, capture=False)

    track_time.unit = "seconds"

    def track_iterations(self, *parameters):
        return self.outcome.iterations

    def track_error(self, *parameters):
        return self.residual(self.device.to_host(self.x))


class SetUps:
    """The set-up of a solver: nodes' numbers, factors, subdomains and the coarse levels."""

    params = (PRECONDITIONERS, BACKENDS, (2, 3))
    param_names = ("preconditioner", "backend", "order")
    timeout = 300

    def setup(self, preconditioner, backend, order):
        self.device = device(backend)
        mesh = datasets.load("remacle2016/mesh3-16", "small")
        self.make = lambda: Solver(self.device, mesh.points, mesh.cells, order, preconditioner=preconditioner)
        self.make()

    def track_time(self, *parameters):
        return samples(self.make, self.device, capture=False)

    track_time.unit = "seconds"


class Steps:
    """The heat equation on the rod: a step's time, its iterations, and how far the heat is from what was supplied."""

    params = (("two-scale", "jacobi"), BACKENDS)
    param_names = ("preconditioner", "backend")
    timeout = 300
    steps = 2

    def setup(self, preconditioner, backend):
        self.device = device(backend)
        mesh = datasets.load(rod.MESH, "small")
        self.problem = rod.heat(self.device, mesh, 2, preconditioner=preconditioner)
        self.taken = self._run()

    def _run(self):
        self.problem.reset()
        return [self.problem.advance().iterations for _ in range(self.steps)]

    def track_time(self, *parameters):
        taken = timing.sample(self._run, self.device, max_seconds=SECONDS, called_before=True, capture=False)
        return {"samples": [seconds / self.steps for seconds in taken.seconds], "number": taken.batch}

    track_time.unit = "seconds"

    def track_iterations(self, *parameters):
        return sum(self.taken) / self.steps

    def track_error(self, *parameters):
        self._run()
        supplied = rod.supplied(self.problem, self.steps)
        return abs(self.problem.heat() - supplied) / supplied
