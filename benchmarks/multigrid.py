"""Geometric multigrid on geveler2011's meshes: every smoother, format and element on every back end of this machine."""

from __future__ import annotations

import datasets
from benchmarks.assembly import device, samples
from experiments.geveler2011 import BEST
from experiments.geveler2011.problems import SMOOTHING, TOLERANCE, defect, problem
from kernels.device import BACKENDS
from kernels.multigrid import SMOOTHERS, Multigrid

LEVELS = {"circle": {"q1": 7, "q2": 6}, "blood": {"q1": 4, "q2": 3}}


class Solves:
    """A solve: its time, cycles, rate of convergence and the defect it leaves by SciPy's product."""

    params = (tuple(SMOOTHERS), ("ellpack_r", "sell"), BACKENDS, ("circle", "blood"), ("q1", "q2"))
    param_names = ("smoother", "format", "backend", "mesh", "element")
    timeout = 300

    def setup(self, smoother, form, backend, name, element):
        self.device = device(backend)
        mesh = datasets.load(f"geveler2011/{name}", "small")
        self.grids = problem(mesh, element, LEVELS[name][element], self.device).numbered(BEST)
        self.solver = Multigrid(self.device, self.grids, format=form, smoother=smoother, **SMOOTHING[name][smoother])
        self.outcome = self.solver.solve(TOLERANCE)

    def track_time(self, *parameters):
        return samples(lambda: self.solver.solve(TOLERANCE), self.device, capture=False)

    track_time.unit = "seconds"

    def track_cycles(self, *parameters):
        return self.outcome.cycles

    def track_rate(self, *parameters):
        return self.outcome.rate

    def track_error(self, *parameters):
        return defect(self.grids[-1], self.device.to_host(self.solver.solution))
