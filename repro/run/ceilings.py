"""Measured ceilings of a device, bandwidth by size and arithmetic rate, and the least time that work can take on it."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repro.model import ReproError, Work
from repro.run import state, tracing
from repro.run.timing import Clock, sample, timed

STREAMS = ("copy", "triad", "read")
KEPT = 9  # of each probe's samples, the fastest: one alone could be an error of the clock


@dataclass(frozen=True)
class CeilingKernel:
    """A probe of what a device can do."""

    name: str
    kind: str  #: one of 'copy', 'triad', 'read', 'flops'
    size_bytes: int  #: memory that the probe works on
    function: Callable[[], Any]  #: enqueues the probe
    #: `bytes`, `flops`: what one call moves and computes.
    bytes: float
    flops: float = 0.0
    precision: str = "float64"  #: ``'float64'`` or ``'float32'``

    def __post_init__(self):
        if self.kind not in (*STREAMS, "flops"):
            raise ValueError(f"{self.name}: kind {self.kind!r} is none of {', '.join(STREAMS)}, flops")


@dataclass(frozen=True)
class Ceilings:
    """Measured ceilings of one device."""

    device: str
    #: For copy, triad and read: (bytes moved, bytes a second), by rising size, each from the fastest of warm repeats.
    #: Data that fit the last-level cache move faster than memory allows, here as in what is compared with it.
    bandwidths: Mapping[str, list[Sequence[float]]] = field(default_factory=dict)
    #: The same with the cache evicted before each sample.
    cold: Mapping[str, list[Sequence[float]]] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)  #: floating-point operations a second by precision
    #: Probes that all of it follows from, by `from_probes`.
    probes: list[Mapping[str, Any]] = field(default_factory=list)

    def bandwidth(self, size: float, cold: bool = False) -> float:
        """Return the highest bandwidth that any probe reached when it moved as much.

        Parameters
        ----------
        size : float
            Bytes moved. Between measured sizes the bandwidth is interpolated linearly in the logarithm of the size;
            outside them it is the nearest one's.
        cold : bool
            With the cache evicted before.

        Returns
        -------
        float
            Bytes a second.
        """
        curves = [curve for curve in (self.cold if cold else self.bandwidths).values() if curve]
        if not curves:
            raise ReproError(f"no {'cold ' if cold else ''}bandwidth of {self.device} has been measured")
        return max(_interpolated(curve, size) for curve in curves)

    def rate(self, precision: str) -> float:
        """Return the measured arithmetic rate in operations a second."""
        if precision not in self.rates:
            raise ReproError(f"no {precision} rate of {self.device} has been measured")
        return self.rates[precision]

    def bound_seconds(self, work: Work, cold: bool = False) -> float:
        """Return the least time the work can take: moving its bytes or doing its operations, whichever lasts longer."""
        moving = work.bytes / self.bandwidth(work.bytes, cold) if work.bytes > 0 else 0.0
        computing = work.flops / self.rate(work.precision) if work.flops > 0 else 0.0
        return max(moving, computing)


def _interpolated(curve: list[Sequence[float]], size: float) -> float:
    """Return a curve's value at a size, linear in the size's logarithm; outside the curve, its nearest end's."""
    if size <= curve[0][0]:
        return curve[0][1]
    for (left, low), (right, high) in itertools.pairwise(curve):
        if size <= right:
            share = math.log(size / left) / math.log(right / left)
            return (1 - share) * low + share * high  # which at a measured size is what was measured, to the last digit
    return curve[-1][1]


def measure(kernels: Iterable[CeilingKernel], clock: Clock, max_seconds: float = 0.2) -> Ceilings:
    """Return the ceilings of a device, each from its fastest sample: whatever else runs only slows a probe.

    Raises `ReproError` when there is no streaming probe.

    `kernels`: streaming probes over a range of sizes, and arithmetic probes. They are taken one at a time, so a
    generator may free the arrays of each before it makes the next.
    """
    probes = []
    for kernel in kernels:
        for cold in (False,) if kernel.kind == "flops" else (False, True):
            timed(clock, kernel.function)  # what runs is noted here, and not while times are taken
            with tracing.paused():
                taken = sample(
                    kernel.function, clock, cold=cold, max_seconds=max_seconds, called_before=True,
                    watched=state.Unwatched(),  # whatever disturbs a probe only slows it
                )  # fmt: skip
            probes.append({
                "kind": kernel.kind, "cold": cold, "precision": kernel.precision, "bytes": float(kernel.bytes),
                "flops": float(kernel.flops), "seconds": sorted(taken.seconds)[:KEPT],
            })  # fmt: skip
    if not any(probe["kind"] in STREAMS for probe in probes):
        raise ReproError(f"no streaming probe for {clock.name}")
    return from_probes(clock.name, probes)


def from_probes(device: str, probes: list[Mapping[str, Any]]) -> Ceilings:
    """Return the ceilings that probes come to.

    `probes`: of each the ``kind``, ``cold`` and ``precision``, the ``bytes`` and ``flops`` of a call, and the fastest
    of its samples, ``seconds`` a call.
    """
    curves: dict[bool, dict[str, dict[float, float]]] = {False: {}, True: {}}
    rates: dict[str, float] = {}
    for probe in probes:
        seconds = min(probe["seconds"])
        if probe["kind"] == "flops":
            rates[probe["precision"]] = max(probe["flops"] / seconds, rates.get(probe["precision"], 0.0))
        else:
            curve = curves[probe["cold"]].setdefault(probe["kind"], {})
            curve[probe["bytes"]] = max(probe["bytes"] / seconds, curve.get(probe["bytes"], 0.0))
    warm, cold = (
        {kind: sorted(map(list, curve.items())) for kind, curve in curves[cold].items()} for cold in (False, True)
    )
    return Ceilings(device, warm, cold, rates, probes)
