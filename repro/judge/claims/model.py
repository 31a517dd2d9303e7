"""What a paper claims, and what the stored results say of it: the types that the command line and the report share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

HOLDS, PART, FAILS, UNMEASURED = "holds", "holds in part", "does not hold", "not measured here"
STATES = (HOLDS, PART, FAILS, UNMEASURED)
RELATIONS = ("at least", "at most", "about", "between", "more than", "less than")


@dataclass(frozen=True)
class Predicate:
    """A condition on measured cells; one value, or one a point (a case, or a combination of what varies).

    Attributes
    ----------
    formula : str
        Over the names that the claim binds, as ``repro.judge.intervals`` evaluates it.
    relation : str
        One of ``RELATIONS``: what the formula's value must be.
    published : tuple of str
        References to the paper's own numbers that bound it (``text <id>``, ``<table> <method> <metric> [<case>]``):
        one, or for ``between`` two; empty when `than` is given.
    than : float or None
        A bound that is no number of the paper, in `unit`: 1, where something is faster.
    unit : str
        Of the value: ``x``, ``%``, ``s``, ``count``, ...
    tolerance : float
        Relative, beyond the printed digits.
    says : str
        For an effect, what is claimed of it.
    scales : tuple of str
        At which it may be judged.
    where : mapping of str to str
        Names bound to selectors, where they are not those of the claim.
    """

    formula: str
    relation: str
    published: tuple[str, ...] = ()
    than: float | None = None
    unit: str = "x"
    tolerance: float = 0.0
    says: str = ""
    scales: tuple[str, ...] = ("paper", "large", "small", "smoke")
    where: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "where", MappingProxyType(dict(self.where)))


@dataclass(frozen=True)
class Claim:
    """A quantitative claim of a paper, as ``published/<paper>/claims.toml`` gives it.

    Attributes
    ----------
    id, paper : str
        As in ``assembly-speedup`` and ``fu2014``; the pair is unique.
    place : str
        Section and sentence, every place where the paper makes it.
    says : str
        The claim in our words, its numbers as the paper prints them.
    condition : str
        On what and against what; may be empty.
    artefacts : tuple of str
        Ids of the tables and figures whose results decide it; empty when none can.
    statements : tuple of str
        Ids of ``text.toml`` that the claim's numbers are.
    where : mapping of str to str
        Names bound to selectors, ``<table> <method> <metric> [<case>] [@<where it ran>]``.
    cases : tuple of str
        Restricts the cases; all that every selector has, when empty.
    users_cases : tuple of str
        Cases for a user's own data, which no claim of the paper is about.
    each : mapping of str to tuple of str
        Words in braces of the selectors, and what they stand for; every combination is a point.
    stated, effect : Predicate or None
        The paper's number, and the effect behind it.
    unmeasured : str
        Why no artefact can decide it; empty when one can.
    """

    id: str
    paper: str
    place: str
    says: str
    condition: str = ""
    artefacts: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[str, ...] = ()
    users_cases: tuple[str, ...] = ()
    each: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stated: Predicate | None = None
    effect: Predicate | None = None
    unmeasured: str = ""

    def __post_init__(self):
        for name in ("where", "each"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclass(frozen=True)
class Judgement:
    """What the stored results say of one predicate.

    Attributes
    ----------
    state : str
        One of ``STATES``.
    value, low, high : float or None
        Measured value in `unit`, and its interval. With several points it is their median, and the interval encloses
        those of all points, or, where a side was timed too few times for an interval, their values alone. None when
        nothing was measured, the interval also when no sample gives one, or not one of each side.
    unit : str
    published : str
        The paper's number or numbers as printed; empty for an effect that needs none.
    requirement : str
        What the value must be: ``at least 87 x``.
    points, met : int
        How many values the formula gives, and how many of them meet the requirement with their whole interval.
    undecided : int
        Points whose interval reaches over the bound.
    asked : int
        How many points it is about: those with a value and those that are missing, or 1 where the formula makes one
        value of all.
    shared : int
        Cells on the host whose processor had other cells to compute at the same time.
    missing : tuple of str
        Points, by name, that the paper has or a run had cells of, and that have no value here. With any of them a claim
        on each point holds in part at most.
    failing : tuple of str
        The points that do not meet it, or are undecided, by name.
    reason : str
        One line: why it holds or does not, or why it was not measured here.
    says : str
        For an effect, what is claimed of it.
    scale : str
        At which it was measured; empty when it was not.
    """

    state: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    published: str = ""
    requirement: str = ""
    points: int = 0
    met: int = 0
    undecided: int = 0
    asked: int = 0
    shared: int = 0
    missing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    reason: str = ""
    says: str = ""
    scale: str = ""

    @property
    def verdict(self) -> str:
        """The state, and of what holds in part at how many points: ``holds in part (3 of 8)``."""
        if self.state != PART:
            return self.state
        told = [f"{self.met} of {self.asked}"] * (self.asked > 1)
        told += [f"{self.undecided} undecided" if self.asked > 1 else "undecided"] * bool(self.undecided)
        return f"{self.state} ({', '.join(told)})" if told else self.state

    @property
    def under_half(self) -> bool:
        """Whether it holds in part at fewer than half of its points."""
        return self.state == PART and self.asked > 1 and 2 * self.met < self.asked


@dataclass(frozen=True)
class Verdict:
    """A claim, judged on one machine's results: as stated, and as the effect behind it.

    Attributes
    ----------
    claim : Claim
    machine : str
        Folder of the machine in the results; empty when it has none of what decides the claim.
    stated, effect : Judgement or None
        None where the claim has no such reading.
    """

    claim: Claim
    machine: str = ""
    stated: Judgement | None = None
    effect: Judgement | None = None

    @property
    def id(self) -> str:
        """The claim's id within its paper."""
        return self.claim.id

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.claim.paper

    @property
    def place(self) -> str:
        """Where the paper makes the claim."""
        return self.claim.place

    @property
    def statement(self) -> str:
        """The claim in our words."""
        return self.claim.says

    @property
    def artefacts(self) -> tuple[str, ...]:
        """Ids of the tables and figures that decide it."""
        return self.claim.artefacts

    @property
    def judgements(self) -> list[Judgement]:
        """Those of the two readings that the claim has."""
        return [each for each in (self.stated, self.effect) if each is not None]

    @property
    def state(self) -> str:
        """The verdict on both readings: what they agree on, in part when they differ; an unmeasured one is left out."""
        states = {each.state for each in self.judgements} - {UNMEASURED}
        if not states:
            return UNMEASURED
        return states.pop() if len(states) == 1 else PART

    @property
    def reason(self) -> str:
        """One line: that of the number as stated if it was judged, else of the effect, else why neither was."""
        measured = [each for each in self.judgements if each.state != UNMEASURED]
        chosen = measured or self.judgements
        return chosen[0].reason if chosen else self.claim.unmeasured

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "paper": self.paper, "id": self.id, "place": self.place, "statement": self.statement,
            "condition": self.claim.condition, "artefacts": list(self.artefacts), "machine": self.machine,
            "state": self.state, "reason": self.reason,
            "stated": asdict(self.stated) if self.stated else None,
            "effect": asdict(self.effect) if self.effect else None,
        }  # fmt: skip
