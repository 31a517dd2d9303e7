"""Assembly of the Helmholtz matrix: every method on every back end that this machine has, and the rivals on the host.

Times are the device's own, taken by `repro.run.timing` as the artefacts take them. asv's ``time_*`` benchmarks would
time launches; a ``track_*`` benchmark that returns samples gets asv's median and interval all the same.
"""

from __future__ import annotations

import os

import datasets
from baselines.assembly import coordinates, serial
from experiments.fu2014.problems import helmholtz, reference
from kernels import assembly
from kernels.device import BACKENDS, Unavailable, open_device
from repro.run import timing

MESHES = ("fu2014/regular", "fu2014/irregular")
SCALE = "small"
SECONDS = float(os.environ.get("REPRO_BENCH_SECONDS", 2.0))  # of sampling


def samples(launch, clock, capture: bool = True) -> dict:
    """Return seconds a call in the form of asv's own timings; what the host takes part in cannot be captured."""
    taken = timing.sample(launch, clock, max_seconds=SECONDS, called_before=True, capture=capture)
    return {"samples": taken.seconds, "number": taken.batch}


def device(backend):
    """Return the device of a back end; where there is none asv shows n/a."""
    try:
        return open_device(backend)
    except Unavailable as missing:
        raise NotImplementedError(str(missing)) from None


def processor():
    """Return the device that assembles what libraries on the host are given, whichever there is."""
    try:
        return device("openmp")
    except NotImplementedError:
        return device("opencl")


class Kernels:
    """A prepared assembly on a device: its time, its distance from SciPy's, and the bytes of its lists."""

    params = (assembly.METHODS, BACKENDS, MESHES)
    param_names = ("method", "backend", "mesh")
    timeout = 300

    def setup(self, method, backend, name):
        self.device = device(backend)
        self.mesh = datasets.load(name, SCALE)
        self.assembler = assembly.prepare(method, self.device, helmholtz(self.mesh))
        self.assembler.launch()
        self.device.synchronize()

    def track_time(self, method, backend, name):
        return samples(self.assembler.launch, self.device)

    track_time.unit = "seconds"

    def track_error(self, method, backend, name):
        return reference(self.mesh).error(*self.assembler.result())

    track_error.unit = "of the largest entry"

    def track_plan(self, method, backend, name):
        return self.assembler.facts.get("plan_bytes", float("nan"))

    track_plan.unit = "bytes"


class Preparation:
    """Work that a mesh's topology alone decides: partition, pattern, lists and their transfer, by the host's clock."""

    params, param_names, timeout = Kernels.params, Kernels.param_names, Kernels.timeout

    def setup(self, method, backend, name):
        opened, problem = device(backend), helmholtz(datasets.load(name, SCALE))

        def prepare():
            assembly.prepare(method, opened, problem)
            opened.synchronize()

        self.prepare = prepare
        prepare()  # builds the kernels

    def track_time(self, method, backend, name):
        return samples(self.prepare, timing.HostClock())

    track_time.unit = "seconds"


class Rivals:
    """The baselines on the host."""

    params = (("serial", "coo"), MESHES)
    param_names = ("method", "mesh")
    timeout = 300

    def setup(self, method, name):
        problem = helmholtz(datasets.load(name, SCALE))
        self.launch = serial.prepare(problem)[0] if method == "serial" else lambda: coordinates.assemble(problem)
        self.launch()

    def track_time(self, method, name):
        return samples(self.launch, timing.HostClock())

    track_time.unit = "seconds"
