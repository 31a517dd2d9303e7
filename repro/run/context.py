"""The `run` of an artefact's `measure(cell, run)`: the device, the data, and how times and facts are recorded."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from repro import environment
from repro.machine import named
from repro.model import Cell, CheckFailed, ReproError, Row, Skip, Work
from repro.run import memory, tracing
from repro.run.rounds import sampled
from repro.run.stages import Stages
from repro.units import convert, is_time

#: Longest time to sample one function, in seconds, by scale.
SAMPLING_SECONDS = {"smoke": 0.1, "small": 3.0, "paper": 10.0, "large": 10.0}
#: The longest call, in seconds, that is sampled several times whatever the cap says, by scale.
SEVERAL_TIMES = {"smoke": 0.0, "small": 30.0, "paper": 30.0, "large": 30.0}
WARM_UP = 0.05  # seconds, but a tenth of the sampling time at most


class Run:
    """One measurement of one cell."""

    def __init__(
        self, cell: Cell, artefact: str, scale: str, seed: int = 0, overrides: Mapping[str, str] | None = None
    ):
        self.cell, self.artefact, self.scale, self.seed = cell, artefact, scale, seed
        self.overrides = dict(overrides or {})
        self.rows: list[Row] = []
        self.samples: dict[str, dict] = {}
        self.checks: list[dict] = []
        self.state: dict[str, dict] = {}
        self.notes: list[str] = []
        self.digests: dict[str, str] = {}
        self.clocks: dict[str, dict] = {}
        self.failing: tuple[str, float | None] = ("", None)
        self._opened: Any = None
        self.bounded: dict[str, Any] = {}
        self.stages = Stages()

    @functools.cached_property
    def rng(self):
        """Random generator of this cell: the same numbers however the cells are ordered or resumed."""
        import numpy

        identity = json.dumps(self.cell.identity(), sort_keys=True, default=str)
        return numpy.random.default_rng([self.seed, *hashlib.sha256(identity.encode()).digest()[:16]])

    @property
    def device(self):
        """The device of the cell's back end; when it is not there, the cell is skipped with the reason."""
        if self.cell.backend == "host":
            raise ReproError("a cell of back end 'host' has no device; time it without one")
        if self._opened is None:
            with self.stages.of("start"), tracing.paused():  # the first cell of a process opens it
                self._opened = environment.device(self.cell.backend)
            self._note(self._opened)
        return self._opened

    def _note(self, clock: Any) -> None:
        """Remember a device for the manifest, a processor by its model."""
        clock.name, backend = named(clock.name), getattr(clock, "backend", "host")
        self.clocks[f"{backend}: {clock.name}"] = {
            "name": clock.name, "backend": backend,
            "details": dict(getattr(clock, "details", None) or {}),
        }  # fmt: skip

    def dataset(self, name: str):
        """Return a dataset that the cell declares in `data`, at this scale, or the user's own file in its place."""
        if name not in self.cell.data:
            # Undeclared data would be missing from the cell's key, and a change of it would go unnoticed.
            raise ReproError(f"dataset {name!r} is not declared in the cell's data: {list(self.cell.data)}")
        override = self.overrides.get(name)
        with self.stages.of("data"), tracing.paused():  # a cell depends on what it reads by the recipe's key
            data = environment.dataset(name, self.scale, override)
            self.digests[name] = environment.dataset_digest(name, self.scale, override)
        return data

    def skip(self, reason: str, remedy: str = "") -> NoReturn:
        """Give the cell up because something is not on this machine."""
        raise Skip(reason, remedy)

    def need(self, what: str, *, host: float = 0.0, device: float = 0.0) -> None:
        """Ask for memory before it is taken: where it is not free, the cell is skipped with the sizes named.

        Parameters
        ----------
        what : str
            Purpose of the memory, for the reason.
        host, device : float
            Bytes at the peak, on the host and on the cell's device. On a device without memory of its own the two
            add up.
        """
        if device and self.device.is_gpu:
            memory.require(what, device, self.device.free_bytes(), self.device.name)
        else:
            host += device
        if host:
            memory.require(what, host, memory.host_available(), "the host")

    def check(self, error: float, tolerance: float, what: str) -> None:
        """Require a result to agree with an independent reference.

        Raises `CheckFailed` if `error` is larger than `tolerance` or no number.
        """
        self._require(float(error), tolerance, what, metric="")

    def _require(self, error: float, tolerance: float, what: str, metric: str) -> None:
        # 'not <=' so that NaN fails.
        if not error <= tolerance:
            self.failing = (metric, error)
            raise CheckFailed("{}: error {} exceeds the tolerance {}".format(what, *_told_apart(error, tolerance)))
        self.checks.append({"what": what, "error": error, "tolerance": float(tolerance)})

    def value(
        self, metric: str, value: float, unit: str = "", error: float | None = None, **parameters: Any
    ) -> None:  # fmt: skip
        """Record a fact that is not a time, as a count of iterations, with parameters of its own."""
        device = self._opened.name if self._opened is not None else ""
        self._record(metric, parameters, value=float(value), unit=unit, error=_float(error), device=device)

    def _record(self, metric: str, own: Mapping[str, Any], error: float | None = None, **columns: Any) -> None:
        cell = self.cell
        parameters = {**cell.parameters, **own}
        if any(row.metric == metric and row.parameters == parameters for row in self.rows):
            raise ReproError(f"metric {metric!r} is recorded twice in one cell")
        self.rows.append(Row(
            self.artefact, self.scale, cell.case, cell.method, cell.backend, metric=metric, parameters=parameters,
            error=_in_short(error), **columns,
        ))  # fmt: skip

    def time(
        self, metric: str, function: Callable[[], Any], *, check: Callable[[], float] | None = None,
        tolerance: float | None = None, work: Work | Callable[[], Work] | None = None, device: Any = None,
        cold: bool = False, unit: str = "s", max_seconds: float | None = None, capture: bool = True,
        repeats: int | None = None, parameters: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        """Check and time a function, and record its median with the confidence interval.

        Raises `CheckFailed` if the result is wrong before or after timing.

        Parameters
        ----------
        function : callable
            The timed function, without arguments. It may be called any number of times.
        check : callable, optional
            Returns the relative error of what `function` has just computed against an independent reference. It is
            called after the first call and again after the last; no time is recorded when it exceeds `tolerance`.
        work : Work, or callable that returns it, optional
            The least the function must move and compute, from which its fraction of the bound is computed when shown. A
            callable is asked after the timing, as when the work goes by the iterations that were taken.
        device : clock, optional
            By default the cell's device, or the host's clock for a baseline.
        cold : bool
            Record a second metric ``<metric>_cold`` with the last-level cache evicted before each sample.
        max_seconds : float, optional
            Cap of the sampling time; by default of the scale.
        capture : bool
            False for a function that waits for the device itself, so that all of its time counts, the host's too.
        repeats : int, optional
            Calls in each warm sample, back to back; by default as many as last a millisecond.
        parameters : mapping, optional
            The row's own, beside the cell's: a metric may be timed several times if they differ.

        Returns
        -------
        repro.run.statistics.Summary
            Of the warm samples, in seconds.
        """
        from repro.run import state, statistics, timing

        if not is_time(unit):
            raise ReproError(f"{metric}: {unit!r} is no unit of time")
        if (check is None) != (tolerance is None):
            raise ReproError(f"{metric}: a check needs a tolerance and a tolerance a check")
        clock = device or (timing.HostClock() if self.cell.backend == "host" else self.device)
        self._note(clock)
        limit = SAMPLING_SECONDS[self.scale] if max_seconds is None else max_seconds
        # A smoke run takes seconds, and nobody compares its times: its cores' pace is not looked at.
        watched = state.watch(clock, paced=self.scale != "smoke")

        checked = timing.timed(clock, function)
        error = self._verify(check, tolerance, metric, "")
        taken = []
        for name, evict in ((metric, False), (f"{metric}_cold", True))[: 2 if cold else 1]:
            with self.stages.of("sampling"), tracing.paused():
                samples = timing.sample(
                    function, clock, cold=evict, max_seconds=limit, warm_up_seconds=min(WARM_UP, limit / 10),
                    called_before=True, capture=capture, batch=None if evict else repeats, checked=checked,
                    once=SEVERAL_TIMES[self.scale], watched=watched,
                )  # fmt: skip
            taken.append((name, samples, statistics.summarise(samples.seconds)))
        error = _worst(error, self._verify(check, tolerance, metric, " after timing"))

        for name, samples, summary in taken:
            place = sampled(name, parameters)
            self.samples[place] = {
                "seconds": [float(s) for s in samples.seconds], "batch": int(samples.batch), "mode": str(samples.mode),
                "cold": bool(samples.cold), "disturbed": int(samples.disturbed),
                **({"pace": [float(f"{factor:.3g}") for factor in samples.pace]} if samples.pace else {}),
            }  # fmt: skip
            self.state[place] = samples.state
            if samples.note:
                self.notes.append(f"{name} of {self.cell.method} on {self.cell.backend} was {samples.note}")
            median, low, high = (_in(unit, x) for x in (summary.median, summary.ci_low, summary.ci_high))
            self._record(
                name, parameters or {}, value=median, unit=unit, ci_low=low, ci_high=high, n=int(summary.n),
                outliers=int(summary.outliers), error=error, device=clock.name, cold=bool(samples.cold), rounds=1,
            )  # fmt: skip
            if work is not None:
                row, least = self.rows[-1], work() if callable(work) else work
                row.work_bytes, row.work_flops = float(least.bytes), float(least.flops)
                row.work_precision, row.problem_bytes = least.precision, _float(least.problem_bytes)
                self.bounded[clock.name] = clock
        return taken[0][2]

    def _verify(self, check: Callable[[], float] | None, tolerance: float | None, metric: str, when: str):
        if check is None:
            return None
        with self.stages.of("check"):
            error = float(check())
        self._require(error, tolerance, f"{metric}{when}", metric)
        return error

    def finish(self) -> None:
        """Refuse times that nothing has checked.

        Raises `CheckFailed` if something was timed and no result of the cell was compared with a reference.
        """
        if self.samples and not self.checks:
            raise CheckFailed("timed without a check: pass check= and tolerance= to run.time, or call run.check")
        if not self.rows:
            raise ReproError("measure() recorded nothing: call run.time or run.value")


def _in(unit: str, seconds: float | None) -> float | None:
    return None if seconds is None else float(convert(seconds, "s", unit))


def _told_apart(*numbers: float) -> list[str]:
    """Return different numbers with as many digits, three or more, as it takes to see that they are."""
    for digits in range(3, 18):
        found = [f"{number:.{digits}g}" for number in numbers]
        if len({*found}) == len({*numbers}):
            break
    return found


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _in_short(error: float | None) -> float | None:
    """Return an error as rows have it: of rounding no more digits are told than anybody reads."""
    return None if error is None else float(f"{error:.4g}")


def _worst(*errors: float | None) -> float | None:
    known = [error for error in errors if error is not None]
    return max(known) if known else None
