"""The types that artefacts, the runner and the store share. Standard library only, so that listing stays fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

SCALES = ("smoke", "small", "paper", "large")
BACKENDS = ("cuda", "opencl", "openmp", "host")
DONE, SKIPPED, FAILED = "done", "skipped", "failed"

COLUMNS = (
    "artefact", "scale", "case", "method", "backend", "device", "metric", "value", "unit", "ci_low", "ci_high", "n",
    "rounds", "outliers", "work_bytes", "work_flops", "work_precision", "problem_bytes", "cold", "error", "status",
    "reason", "commit", "host", "date", "disturbed",
)  # fmt: skip


class ReproError(Exception):
    """An error whose message is for the user: one line that says what is wrong and what to do."""


class Skip(ReproError):
    """Something that a cell needs is not on this machine."""

    def __init__(self, reason: str, remedy: str = ""):
        super().__init__(f"{reason} ({remedy})" if remedy else reason)
        self.reason, self.remedy = reason, remedy


class CheckFailed(ReproError):
    """A result differs from its independent reference by more than its tolerance."""


@dataclass(frozen=True)
class Cell:
    """One combination of parameters of an artefact: the unit that is measured, cached and resumed."""

    case: str  #: the row of the paper's table, most often a mesh or a matrix
    method: str  #: the algorithm that is measured, under the name that tables and plots use
    #: One of ``cuda``, ``opencl``, ``openmp`` (the project's kernels) or ``host`` (a baseline without kernels).
    backend: str = "host"
    parameters: Mapping[str, Any] = field(default_factory=dict)  #: everything else that the measurement depends on
    data: tuple[str, ...] = ()  #: names of the datasets that the cell reads, as in ``fu2014/regular``
    #: Other dependencies of the measurement: ``cores`` where the processor does a part of what a cell on a GPU times,
    #: names of libraries that a rival calls.
    uses: tuple[str, ...] = ()
    cores: int = 0  #: without as many of the processor's the cell is skipped; by default it runs on any

    def __post_init__(self):
        if self.backend not in BACKENDS:
            raise ValueError(f"backend {self.backend!r} is none of {', '.join(BACKENDS)}")
        object.__setattr__(self, "parameters", MappingProxyType(dict(sorted(self.parameters.items()))))

    def identity(self) -> dict[str, Any]:
        """Return what names the cell, as plain JSON values; two cells of an artefact never share it."""
        return {
            "case": self.case, "method": self.method, "backend": self.backend,
            "parameters": dict(self.parameters), "data": list(self.data),
        }  # fmt: skip

    def __hash__(self):
        return hash(repr(self.identity()))

    def __reduce__(self):  # so that it goes to other processes
        return Cell, (self.case, self.method, self.backend, dict(self.parameters), self.data, self.uses, self.cores)


@dataclass
class Row:
    """One metric of one cell, a line of the tidy CSV. Times are medians in seconds unless `unit` says otherwise."""

    artefact: str
    scale: str
    case: str
    method: str
    backend: str
    device: str = ""
    metric: str = ""
    value: float | None = None
    unit: str = ""
    #: `ci_low`, `ci_high`: where the median of another round is meant to lie, in `unit`, see `repro.judge.spread`.
    ci_low: float | None = None
    ci_high: float | None = None
    #: `n`, `outliers`: samples taken, and how many lie more than 1.5 interquartile ranges outside the quartiles.
    n: int | None = None
    outliers: int | None = None
    #: Difference from the independent reference, relative, as the check of this metric defines it.
    error: float | None = None
    status: str = DONE  #: one of 'done', 'skipped', 'failed'
    reason: str = ""  #: why a row is skipped or failed; empty when done
    parameters: dict[str, Any] = field(default_factory=dict)  #: the cell's parameters and the row's own
    rounds: int | None = None  #: processes that the samples come from
    #: `work_bytes`, `work_flops`, `work_precision`, `problem_bytes`, `cold`: see `Work`, and whether the cache was
    #: evicted before each sample.
    work_bytes: float | None = None
    work_flops: float | None = None
    work_precision: str = ""
    problem_bytes: float | None = None
    cold: bool | None = None
    #: `commit`, `host`, `date`: where and when the row was measured, of the last round; a commit with uncommitted
    #: changes ends in ``+``.
    commit: str = ""
    host: str = ""
    date: str = ""
    disturbed: int | None = None  #: samples that something disturbed: they were thrown away and taken again

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Work:
    """The least a computation must do: bytes moved through memory (each input read once, each output written once)
    and floating-point operations at the given precision; of a format also the least bytes that any format needs."""

    bytes: float
    flops: float = 0.0
    precision: str = "float64"
    problem_bytes: float | None = None

    @classmethod
    def of_product(cls, packed: Any, beta: float = 0.0) -> Work:
        """Return the work of y = alpha A x + beta y with a sparse matrix that is packed in some format.

        Its `bytes` are the format's: what it stores without padding, x read once, y written once, and read where beta
        is not 0. Its `problem_bytes` are of any format: as many numbers as the matrix has entries, and the same
        vectors, all of the precision in hand. Columns of x that no row uses count, too. No index is counted, since
        blocks, differences and stencils store ever fewer of them, and what is known of the entries beforehand, as
        symmetry or a constant, is not used. Over the time of a product they rank formats, where the format's own bytes
        tell how well its kernel does.

        `packed`: with `shape`, `nonzeros`, `dtype`, `bytes`, and the values it has `stored` of `entry_bytes` each.
        """
        rows, columns = packed.shape
        item, vectors = packed.dtype.itemsize, columns + rows * (2 if beta else 1)
        padding = (packed.stored - packed.nonzeros) * packed.entry_bytes
        return cls(packed.bytes - padding + vectors * item, 2.0 * packed.nonzeros, packed.dtype.name,
                   problem_bytes=float((packed.nonzeros + vectors) * item))  # fmt: skip


@dataclass(frozen=True)
class Presence:
    """Something a machine may have: a device, a back end, a baseline."""

    #: `name`, `kind`: as in ``opencl``, ``backend`` or ``PyAMG``, ``baseline``.
    name: str
    kind: str
    available: bool
    detail: str = ""  #: version and device when available, else why not
    remedy: str = ""  #: what to install; empty when available
