"""What a paper claims, and what the stored results say of it: the types that the command line and the report share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

REPRODUCED, EXCEEDED, WEAKER = "reproduced", "exceeded", "weaker"
CONTRADICTED, UNDECIDED = "contradicted", "not decided"
OUTCOMES = (REPRODUCED, EXCEEDED, WEAKER, CONTRADICTED, UNDECIDED)
RELATIONS = ("up to", "about", "between", "at least", "at most", "more than", "less than")
BETTER = ("more", "less", "neither")


@dataclass(frozen=True)
class Predicate:
    """A condition on measured cells; one value, or one a point (a case, or a combination of what varies).

    Attributes
    ----------
    formula : str
        Over the names that the claim binds, as ``repro.judge.intervals`` evaluates it.
    relation : str
        One of ``RELATIONS``: what the formula's value must be.
    better : str
        One of ``BETTER``: on which side of the number a value exceeds the claim.
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
    better: str = "more"
    says: str = ""
    scales: tuple[str, ...] = ("paper", "large", "small", "smoke")
    where: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "where", MappingProxyType(dict(self.where)))


@dataclass(frozen=True)
class Cause:
    """A hypothesis on why a value is not the paper's, with what it predicts.

    Attributes
    ----------
    says : str
        The cause, as the end of "because": ``one thread draws a tenth of the bandwidth``.
    formula : str
        The claim's value where the cause is taken away, as by rows with the other choice.
    where : mapping of str to str
        Names bound to selectors, where they are not those of the claim.
    """

    says: str
    formula: str
    where: Mapping[str, str] = field(default_factory=dict)


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
        The paper's number, and the direction of the effect behind it.
    today : Predicate or None
        The same against the strongest that one would compare with now; it has a value and no verdict.
    causes : tuple of Cause
        Hypotheses on why the value is not the paper's.
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
    today: Predicate | None = None
    causes: tuple[Cause, ...] = ()
    unmeasured: str = ""

    def __post_init__(self):
        for name in ("where", "each"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclass(frozen=True)
class PointOutcome:
    """What one point of a claim shows.

    Attributes
    ----------
    name : str
        Its case and words; empty where a formula makes one value of all.
    value, low, high : float
        In the predicate's unit.
    published : str
        The paper's number of this point.
    outcome : str
    """

    name: str
    value: float
    low: float
    high: float
    published: str
    outcome: str


@dataclass(frozen=True)
class Judgement:
    """What the stored results say of one predicate.

    Attributes
    ----------
    outcome : str
        One of ``OUTCOMES``.
    value, low, high : float or None
        Measured value in `unit`, and its interval. With several points it is their median, and the interval encloses
        those of all points, or, where a side was timed too few times for an interval, their values alone. None when
        nothing was measured, the interval also when no sample gives one, or not one of each side.
    unit : str
    published : str
        The paper's number or numbers as printed; empty for an effect that needs none.
    requirement : str
        What the value must be: ``at least 87 x``.
    points : tuple of PointOutcome
    missing : tuple of str
        Points, by name, that the paper has or a run had cells of, and that have no value here.
    untestable : tuple of str
        Points, by name, whose data do not resemble the paper's: they test nothing.
    shared : int
        Cells whose processor had other cells to compute at the same time.
    needs : str
        What it would take to decide it; empty where it is decided.
    says : str
        For an effect, what is claimed of it.
    scale : str
        At which it was measured; empty when it was not.
    """

    outcome: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    published: str = ""
    requirement: str = ""
    points: tuple[PointOutcome, ...] = ()
    missing: tuple[str, ...] = ()
    untestable: tuple[str, ...] = ()
    shared: int = 0
    needs: str = ""
    says: str = ""
    scale: str = ""

    @property
    def met(self) -> int:
        """How many points are reproduced or exceeded."""
        return sum(point.outcome in (REPRODUCED, EXCEEDED) for point in self.points)


@dataclass(frozen=True)
class Explanation:
    """A cause that was tested.

    Attributes
    ----------
    says : str
    value : float
        What the claim's value is without it, in the unit of the claim.
    share : float
        How much of the gap between the paper's number and ours it explains, of the logarithms.
    """

    says: str
    value: float
    share: float


@dataclass(frozen=True)
class Verdict:
    """A claim, judged on one machine's results.

    Attributes
    ----------
    claim : Claim
    machine : str
        Folder of the machine in the results; empty when it has none of what decides the claim.
    outcome : str
        One of ``OUTCOMES``.
    needs : str
        What it would take to decide it; empty where it is decided.
    stated, effect : Judgement or None
        The paper's number, and the direction of the effect; None where the claim has no such reading.
    today : Judgement or None
        The value against today's strongest rival.
    explanations : tuple of Explanation
        The causes that explain most of the gap, the one that explains most first.
    is_unexplained : bool
        Whether there is a gap, and no cause explains most of it.
    notes : tuple of str
        What a reader should know of the rows: stand-ins, disturbed samples, numbers that the paper contradicts.
    """

    claim: Claim
    machine: str = ""
    outcome: str = UNDECIDED
    needs: str = ""
    stated: Judgement | None = None
    effect: Judgement | None = None
    today: Judgement | None = None
    explanations: tuple[Explanation, ...] = ()
    is_unexplained: bool = False
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The claim's id within its paper."""
        return self.claim.id

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.claim.paper

    @property
    def judgements(self) -> list[Judgement]:
        """Those of the two readings that the claim has."""
        return [each for each in (self.stated, self.effect) if each is not None]

    @property
    def shown(self) -> Judgement | None:
        """The reading that is shown: the paper's number where that has a value, else the effect where that has one."""
        measured = [each for each in self.judgements if each.value is not None]
        return next(iter(measured or self.judgements), None)

    @property
    def why(self) -> str:
        """Why the value is not the paper's, or that no cause is known, or what would decide it; in one line."""
        if self.outcome == UNDECIDED:
            return self.needs
        told = [f"{each.says} (explains {100 * each.share:.0f} %)" for each in self.explanations]
        return "; ".join(told) if told else "unexplained" * self.is_unexplained

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        readings = {
            name: asdict(each) if (each := getattr(self, name)) else None for name in ("stated", "effect", "today")
        }
        return {
            "paper": self.paper, "id": self.id, "place": self.claim.place, "statement": self.claim.says,
            "condition": self.claim.condition, "artefacts": list(self.claim.artefacts), "machine": self.machine,
            "outcome": self.outcome, "needs": self.needs, "why": self.why, **readings,
            "explanations": [asdict(each) for each in self.explanations], "notes": list(self.notes),
        }  # fmt: skip
