"""The heart as the figures beat it: meshes with fibres, where a measured run starts, and who computes it."""

from __future__ import annotations

import functools
import statistics

import numpy as np
import scipy.sparse

import datasets
from baselines.monodomain import petsc, serial, torchcor
from baselines.monodomain import residual as residuals
from baselines.monodomain.system import pattern, system
from baselines.spmv import pack as pack_rival
from datasets import heart_fibres
from experiments.reported import ReportedClock
from experiments.wong2015 import dataset
from kernels.monodomain import MILLISECONDS, Heart, Hybrid, Model
from repro.run.timing import HostClock

DT = 0.1  # 1.3 ms
STEPS = {"smoke": 2, "small": 4, "paper": 5, "large": 1}  # of a measured run
HALF_WAY, FRONT = -1.0, 0.2  # centimetres: height, and width, of the front from which measured runs start
WAVE, WAVES_APART = 40, 0.15  # steps of a wave, and how far two schemes' waves may be apart, of its time
ASSEMBLIES = 16  # on the host, whose median is an assembly's time
TOLERANCE = 1e-7  # of the potential, between implementations; Newton's method has 1e-8, of two different norms
# At the peak, an element: of a heart on a device; of the loops on one core, with which it is compared. The residual
# without a matrix, which takes their place for the largest, needs less.
DEVICE_BYTES, HOST_BYTES = 850, 800
SETTING = (
    f"Steps of {DT * MILLISECONDS:.2g} ms; Newton iterations end when their residual is 1e-8 of a unit "
    "potential's. Conjugate gradients end when theirs is 1e-6 of the Newton iteration's."
)
START = (
    "Measured runs start with a plane front half-way from apex to base, the same for all. Every other result is "
    "compared with the loops on one core, whose own error is the residual of their last step."
)
ON_PROCESSORS = (
    "On processors our elements write two numbers each, and sums add what is constant: conduction, and its product "
    "with the potential."
)
CONSTANTS = (
    "Constants are not published: Aliev and Panfilov's model as by Göktepe and Kuhl (2009), conduction such that a "
    "plane wave travels at 0.6 m/s along the fibres and 0.3 m/s across."
)


@functools.lru_cache(maxsize=2)
def tissue(case: str, scale: str, override: str | None = None):
    """Return a heart's mesh, and the directions of its fibres at the elements."""
    mesh = datasets.load(dataset(case), scale, override)
    centres = mesh.points[mesh.cells].mean(axis=1)
    return mesh, heart_fibres.of_mesh(dataset(case), scale, centres)


def of_run(run):
    """Return the same for the heart of a run's cell, which notes what was read."""
    name = dataset(run.cell.case)
    run.dataset(name)
    return tissue(run.cell.case, run.scale, run.overrides.get(name))


def fitting(run):
    """Return the same, once there is memory for what is computed with it."""
    elements = len(run.dataset(dataset(run.cell.case)).cells)
    on_device = 0 if run.cell.backend == "host" else DEVICE_BYTES * elements
    run.need(f"the heart of {elements} elements", device=on_device, host=HOST_BYTES * elements)
    return of_run(run)


def front(points) -> np.ndarray:
    """Return the potential of a plane front half-way: excited below, at rest above."""
    return 1 / (1 + np.exp((points[:, 2] - HALF_WAY) / FRONT))


@functools.lru_cache(maxsize=1)
def _system(case, scale, override):
    mesh, fibres = tissue(case, scale, override)
    return system(mesh.points, mesh.cells, fibres, Model(), DT)


@functools.lru_cache(maxsize=1)
def _reference(case, scale, override):
    """The potential after a measured run, by the loops on one core."""
    mesh, _ = tissue(case, scale, override)
    heart = serial.Heart(_system(case, scale, override))
    heart.load(front(mesh.points))
    heart.run(STEPS[scale])
    return heart.phi


def error(run, who) -> float:
    """Return by how much a measured run's potential is wrong, the largest at a node.

    Others are compared with the loops on one core; those, and what is too large for them, by the residual of the last
    step, computed without a matrix.
    """
    if who.before is None:
        key = run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case))
        return float(abs(who.phi - _reference(*key)).max())
    mesh, fibres = of_run(run)
    return residuals.residual(mesh.points, mesh.cells, fibres, Model(), DT, *who.before, who.phi)


class OnDevice:
    """Measured runs on the cell's device; see `kernels.monodomain.Heart`.

    Parameters of the cell: `form`, a format of ours, or `rival`; `whole`, where a solve may be one kernel; `assembly`,
    "device" or "host".
    """

    clock = None  # the device's own
    assemblies = 0  # on the host, so far

    def __init__(self, run):
        mesh, fibres = fitting(run)
        asked, device = run.cell.parameters, run.device
        if "rival" in asked:
            solver = {"pack": lambda csr: pack_rival(asked["rival"], csr, "float64")}
        else:
            solver = {"format": asked["form"]}
        self.steps, self._device = STEPS[run.scale], device
        if asked.get("assembly") == "host":
            one = _system(run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case)))
            self._start = front(mesh.points), 0.0
            solver = Hybrid(device, **solver)
            self.heart = serial.Heart(one, solver=solver)
            self._restore = lambda: self.heart.load(*self._start)
            self._phi = lambda: self.heart.phi
            self._assembly = _assembly(run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case)))
            self.clock = ReportedClock(self, device.name)
        else:
            self.heart = Heart(device, mesh.points, mesh.cells, fibres, Model(), DT, whole="whole" in asked, **solver)
            state = self.heart.state(front(mesh.points))
            self._restore = lambda: self.heart.restore(state)
            self._phi = lambda: np.array(device.to_host(self.heart.phi))
        self.taken = []
        self.before = (front(mesh.points), 0.0) if run.scale == "large" else None

    def __call__(self):
        self._restore()
        self.taken = self.heart.run(self.steps)
        self.assemblies += self.newton + self.steps

    @property
    def seconds(self):
        """Seconds of all runs so far where the assembly is on the host, which takes the same for every format."""
        return self._assembly * self.assemblies + self.heart.seconds["solver"]

    def parts(self, whole):
        """Return the seconds of a run in each of its parts; on the device, of a run with the parts apart.

        Parameters
        ----------
        whole : float
            The seconds of a run.
        """
        if isinstance(self.heart, serial.Heart):
            assembly = self._assembly * (self.newton + self.steps)
            return {"assembly": assembly, "solver": whole - assembly}
        self._restore()
        total = {}
        for _ in range(self.steps):
            for part, seconds in self.heart.timed_step()[1].items():
                total[part] = total.get(part, 0.0) + seconds
        return total

    def start(self):
        """Go to where measured runs start."""
        self._restore()

    phi = property(lambda self: self._phi())
    newton = property(lambda self: sum(step.newton_iterations for step in self.taken))
    linear = property(lambda self: sum(step.linear_iterations for step in self.taken))

    def close(self):
        """Nothing is held outside of this process."""


class Assembled:
    """The system at the start of a measured run, assembled by the loops on one core, for comparison."""

    def __init__(self, run):
        mesh, _ = of_run(run)
        one = _system(run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case)))
        own = serial.Heart(one)
        own.load(front(mesh.points))
        own.assemble()
        offsets, columns, _ = pattern(one.cells, one.nodes)
        self.matrix, self.residual = scipy.sparse.csr_array((own.values, columns, offsets)), own.residual

    def error(self, x, y, residual) -> float:
        """Return by how much y differs from K x, and the residual from ours, the larger, relative to the largest."""
        product = self.matrix @ x
        gaps = (
            abs(product - y).max() / abs(product).max(),
            abs(residual - self.residual).max() / abs(self.residual).max(),
        )
        return float(max(gaps))


class OnOneCore:
    """Measured runs by the loops of Numba."""

    def __init__(self, run):
        mesh, _ = fitting(run)
        one = _system(run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case)))
        self.heart, self.clock, self._start = serial.Heart(one), HostClock(), front(mesh.points)
        self.steps = STEPS[run.scale]

    def __call__(self):
        self.heart.load(self._start)
        self.heart.seconds = {"assembly": 0.0, "solver": 0.0}
        self.taken = self.heart.run(self.steps - 1)
        self.before = self.heart.phi.copy(), self.heart.recovery.copy()
        self.taken.append(self.heart.step())

    phi = property(lambda self: self.heart.phi)
    newton = property(lambda self: sum(step.newton_iterations for step in self.taken))
    linear = property(lambda self: sum(step.linear_iterations for step in self.taken))

    def parts(self, whole):
        """Return the seconds of the last run in each of its parts."""
        return self.heart.seconds

    def close(self):
        """Nothing is held outside of this process."""


class WithPetsc:
    """Measured runs by PETSc. Parameters of the cell: `processes`, `preconditioner`."""

    before = None

    def __init__(self, run):
        mesh, _ = fitting(run)
        one = _system(run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case)))
        self.steps = STEPS[run.scale]
        self._heart = petsc.Heart(one, front(mesh.points), 0.0, self.steps, limit=120.0, **run.cell.parameters)
        self.clock = ReportedClock(self._heart)

    def __call__(self):
        self._heart.run()

    phi = property(lambda self: self._heart.phi)
    newton = property(lambda self: sum(len(step["norms"]) - 1 for step in self._heart.steps))
    linear = property(lambda self: sum(step["linear"] for step in self._heart.steps))

    def parts(self, whole):
        """Return the seconds of the last run in each of its parts."""
        return self._heart.parts

    def close(self):
        """End its processes."""
        self._heart.close()


class WithTorchCor:
    """Measured runs by TorchCor, which has one constant for α and b: ours is 0.15 of both here.

    It is another scheme, so its check is when nodes are excited by a whole wave, beside ours with the same constants.
    """

    clock, newton = None, 0  # the device's own clock, whose stream the library uses

    def __init__(self, run):
        mesh, fibres = fitting(run)
        model = Model(alpha=Model().b)
        self.steps, self._start = STEPS[run.scale], front(mesh.points)
        self.heart = torchcor.Heart(mesh.points, mesh.cells, fibres, model, DT)
        ours = Heart(run.device, mesh.points, mesh.cells, fibres, model, DT)
        ours.load(self._start)
        ours.run(WAVE)
        self._activation = np.array(run.device.to_host(ours.activation))

    def __call__(self):
        self.heart.load(self._start)
        self.heart.run(self.steps)
        self.heart.synchronize()

    def gap(self):
        """Return the median difference of when nodes are excited, over the time of the wave."""
        self.heart.load(self._start)
        self.heart.run(WAVE)
        theirs = self.heart.activation.cpu().numpy()
        both = (theirs > 0) & (self._activation > 0)
        self()
        return float(np.median(abs(theirs - self._activation)[both])) / (WAVE * DT) if both.any() else np.inf

    linear = property(lambda self: self.heart.iterations)

    def parts(self, whole):
        """Nothing tells them."""
        return {}

    def close(self):
        """Nothing is held outside of this process."""


@functools.lru_cache(maxsize=1)
def _assembly(case, scale, override):
    """The seconds of an assembly on one core, measured once for all formats that solve after it."""
    mesh, _ = tissue(case, scale, override)
    heart = serial.Heart(_system(case, scale, override))
    heart.load(front(mesh.points))
    found = []
    for _ in range(ASSEMBLIES):
        heart.seconds["assembly"] = 0.0
        heart.assemble()
        found.append(heart.seconds["assembly"])
    return statistics.median(found[1:])  # the first compiles
