"""wong2015's beating heart: a step and its parts, in every format that holds the matrix, on every back end here."""

from __future__ import annotations

import datasets
from benchmarks.assembly import SECONDS, device, samples
from datasets import heart_fibres
from experiments.wong2015.heart import DT, front
from kernels import spmv
from kernels.device import BACKENDS
from kernels.monodomain import Heart, Model
from repro.run import timing

NAME, SCALE, STEPS = "wong2015/heart_5k", "small", 3


class Hearts:
    """Steps from a front half-way: their time, their parts' time, and their iterations."""

    params = (("sell", "ellwarp", "ellwarp2", "csr_vector", "csr_merge"), BACKENDS)
    param_names = ("format", "backend")
    timeout = 300

    def setup(self, form, backend):
        self.device = device(backend)
        mesh = datasets.load(NAME, SCALE)
        fibres = heart_fibres.of_mesh(NAME, SCALE, mesh.points[mesh.cells].mean(axis=1))
        try:
            self.heart = Heart(self.device, mesh.points, mesh.cells, fibres, Model(), DT, format=form)
        except spmv.Unsuitable as refused:
            raise NotImplementedError(str(refused)) from None
        self.start = self.heart.state(front(mesh.points))

    def _run(self):
        self.heart.restore(self.start)
        return self.heart.run(STEPS)

    def track_time(self, *parameters):
        taken = timing.sample(self._run, self.device, max_seconds=SECONDS, capture=False)
        return {"samples": [seconds / STEPS for seconds in taken.seconds], "number": taken.batch}

    track_time.unit = "seconds"

    def track_assembly(self, *parameters):
        self.heart.restore(self.start)
        self.heart.assembly_part()
        return samples(self.heart.assembly_part, self.device)

    track_assembly.unit = "seconds"

    def track_linear_iterations(self, *parameters):
        return sum(step.linear_iterations for step in self._run()) / STEPS
