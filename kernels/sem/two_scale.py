"""The two-scale preconditioner P = P^c + P^f (remacle2016, section 4), its coarse part on the device or on the host.

The parts are independent of each other. Under CUDA the coarse one, many small kernels that wait for one another, runs
in a stream of its own beside the local solves, in a graph too. On the host it runs while the device solves locally, as
the paper has it (section 5.3).
"""

from __future__ import annotations

from kernels.device import open_device
from kernels.device.passage import passage
from kernels.sem.coarse import CoarseSpace
from kernels.sem.kcycle import COARSEST, KCycle
from repro import Work


class DeviceCoarse:
    """P^c = Vᵀ P_0 V on the device.

    Parameters
    ----------
    operator : kernels.sem.stiffness.Operator
    common : kernels.sem.common.Common
        Of the same problem.
    dtype : {'float32', 'float64'}
        Of coarse vectors and matrices.
    **cycle
        Of `KCycle`: coarsest, steps, corrections.

    Attributes
    ----------
    space : CoarseSpace
    cycle : KCycle
    """

    def __init__(self, operator, common, dtype, **cycle):
        self.device = device = operator.device
        self.space = CoarseSpace(operator, common.fixed, dtype)
        self._b, self._x = (device.empty(self.space.unknowns, dtype) for _ in range(2))
        on = self._cycling()
        hierarchy = common.hierarchy(on, dtype, cycle.get("coarsest", COARSEST))
        self.cycle = KCycle(on, hierarchy, dtype, **cycle)

    def _cycling(self):
        """Return the device that cycles."""
        return self.device

    def begin(self, r) -> None:
        """Enqueue what does not touch z: x = P_0 V r."""
        self.space.restrict(r, self._b)
        self.cycle.apply(self._b, self._x)

    def end(self, z) -> None:
        """Enqueue z += Vᵀ x."""
        self.space.prolong_add(self._x, z)

    def work(self) -> Work:
        """Return the least work of an application."""
        parts = self.space.work(), self.cycle.work()
        return Work(sum(part.bytes for part in parts), sum(part.flops for part in parts), parts[0].precision)


class HostCoarse(DeviceCoarse):
    """The same with P_0 on the host's cores, by the OpenMP back end: `begin` brings V r there, `end` cycles."""

    def _cycling(self):
        size, dtype = self.space.unknowns, self.space.dtype
        self._residual, self._correction = (passage(self.device, size, dtype) for _ in range(2))
        return open_device("openmp")

    def begin(self, r) -> None:
        """Enqueue V r and its copy to the host."""
        self.space.restrict(r, self._b)
        self._residual.bring(self._b)

    def end(self, z) -> None:
        """Cycle while the device works on what was enqueued since V r, then z += Vᵀ x."""
        self._residual.wait()
        self.cycle.apply(self._residual.values, self._correction.values)
        self._x = self._correction.send(self._x)
        self.space.prolong_add(self._x, z)


PLACES = {"device": DeviceCoarse, "host": HostCoarse}


class TwoScale:
    """z = P^c r + P^f r.

    Parameters
    ----------
    fine : kernels.sem.schwarz.Schwarz
    coarse : DeviceCoarse or HostCoarse
    """

    def __init__(self, fine, coarse):
        self.fine, self.coarse = fine, coarse
        self._beside = None
        if coarse.device.backend == "cuda" and type(coarse) is DeviceCoarse:
            self._beside = _Beside(coarse.device.xp.cuda)

    def apply(self, r, z) -> None:
        """Enqueue z = P r."""
        if self._beside is None:
            self.coarse.begin(r)
            self.fine.apply(r, z)
        else:
            self._beside(lambda: self.coarse.begin(r), lambda: self.fine.apply(r, z))
        self.coarse.end(z)


class _Beside:
    """Two things at once: one in a CUDA stream of its own, before all others, and one in the current stream."""

    def __init__(self, cuda):
        self._cuda = cuda
        self._stream = cuda.Stream(non_blocking=True, priority=-1)
        self._forked, self._joined = (cuda.Event(disable_timing=True) for _ in range(2))

    def __call__(self, aside, here) -> None:
        current = self._cuda.get_current_stream()
        self._forked.record(current)
        self._stream.wait_event(self._forked)
        with self._stream:
            aside()
            self._joined.record(self._stream)
        here()
        current.wait_event(self._joined)
