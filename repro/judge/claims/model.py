"""Claims of a paper, and verdicts on them by stored results: the types that the command line and the report share."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

REPRODUCED, EXCEEDED, WEAKER = "reproduced", "exceeded", "weaker"
CONTRADICTED, UNDECIDED = "contradicted", "not decided"
OUTCOMES = (REPRODUCED, EXCEEDED, WEAKER, CONTRADICTED, UNDECIDED)
MISSED = "missed"  # of a point: its interval leaves open whether that is weaker or contradicted
MEASUREMENTS, OWN_DATA, NO_TEST = "measurements", "the paper's own data", "no test"
CITED = "cited"
#: Reasons that claims without a predicate have in its place, and what these claims wait for.
REASONS = {"unmeasured": MEASUREMENTS, "not_public": OWN_DATA, "no_test": NO_TEST, "cited": CITED}
NEEDS_DATA = f"it needs {OWN_DATA} of"
RELATIONS = ("up to", "about", "between", "at least", "at most", "more than", "less than")
BETTER = ("more", "less", "neither")
MOST, PART = 0.5, 0.1  # of a gap: a cause that explains less is not its explanation, or not named at all


@dataclass(frozen=True)
class Predicate:
    """A condition on measured cells; one value, or one a point (a case, or a combination of what varies)."""

    formula: str  #: over the names that the claim binds, as ``repro.judge.intervals`` evaluates it
    relation: str  #: one of ``RELATIONS``: what the formula's value must be
    #: References to the paper's own numbers that bound it (``text <id>``, ``<table> <method> <metric> [<case>]``): one,
    #: or for ``between`` two; empty when `than` is given.
    published: tuple[str, ...] = ()
    than: float | None = None  #: A bound that is no number of the paper, in `unit`: 1, where something is faster
    unit: str = "x"  #: of the value: ``x``, ``%``, ``s``, ``count``, ...
    tolerance: float = 0.0  #: relative, beyond the printed digits
    better: str = "more"  #: one of ``BETTER``: on which side of the number a value exceeds the claim
    says: str = ""  #: for an effect, what is claimed of it
    scales: tuple[str, ...] = ("paper", "large", "small", "smoke")  #: at which it may be judged
    #: Names bound to selectors, where they differ from the claim's.
    where: Mapping[str, str] = field(default_factory=dict)
    at: str = ""  #: of today's rivals: the size of its cases in words, where these are others than the claim's


@dataclass(frozen=True)
class Cause:
    """A hypothesis on why a value is not the paper's, with what it predicts."""

    says: str  #: the cause, as the end of "because": ``one thread draws a tenth of the bandwidth``
    formula: str  #: the claim's value where the cause is taken away, as by rows with the other choice
    #: Names bound to selectors, where they differ from the claim's.
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A quantitative claim of a paper, as ``published/<paper>/claims.toml`` gives it."""

    #: `id`, `paper`: as in ``assembly-speedup`` and ``fu2014``; the pair is unique.
    id: str
    paper: str
    place: str  #: section and sentence, every place where the paper makes it
    says: str  #: the claim in our words, its numbers as the paper prints them
    condition: str = ""  #: on what and against what; may be empty
    artefacts: tuple[str, ...] = ()  #: ids of the tables and figures whose results decide it; empty when none can
    #: Names bound to selectors, ``<table> <method> <metric> [<case>] [@<where it ran>]``.
    where: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[str, ...] = ()  #: restricts the cases; all that every selector has, when empty
    users_cases: tuple[str, ...] = ()  #: cases for a user's own data, which no claim of the paper is about
    added_cases: tuple[str, ...] = ()  #: cases that the paper has not: points where they were measured, missing nowhere
    of_size: tuple[str, ...] = ()  #: tables and figures for which data need have the paper's size alone
    #: Words in braces of the selectors, and what they stand for; every combination is a point.
    each: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: `stated`, `effect`: the paper's number, and the direction of the effect behind it.
    stated: Predicate | None = None
    effect: Predicate | None = None
    #: The same against the strongest that one would compare with now; it has a value and no verdict.
    today: Predicate | None = None
    causes: tuple[Cause, ...] = ()  #: hypotheses on why the value is not the paper's
    unmeasured: str = ""  #: why no artefact decides it; empty when one can
    waits: str = ""  #: what it then waits for, one of the values of ``REASONS``
    #: Whether its numbers count the paper's own data: a stand-in that misses them contradicts nothing.
    of_data: bool = False
    fitted: bool | tuple[str, ...] = False  #: the datasets that were made to have its numbers, or chosen by them, so
    #: that on them it tests nothing; True for all stand-ins
    ours: bool = False  #: whether the paper does not make it: a test of this project, counted apart


def combinations(claim: Claim) -> Iterator[dict[str, str]]:
    """Yield every combination of the words that a claim varies; words of one name go together, as their values do."""
    for values in itertools.product(*claim.each.values()):
        found: dict[str, str] = {}
        for name, value in zip(claim.each, values, strict=True):
            words = name.split()
            found |= zip(words, value.split() if len(words) > 1 else [value], strict=True)
        yield found


@dataclass(frozen=True)
class PointOutcome:
    """The outcome at one point of a claim."""

    name: str  #: its case and words; empty where a formula makes one value of all
    #: `value`, `low`, `high`: in the predicate's unit.
    value: float
    low: float
    high: float
    published: str  #: the paper's number of this point
    outcome: str  #: one of ``OUTCOMES``, or ``MISSED``


@dataclass(frozen=True)
class Judgement:
    """A judgement on one predicate by the stored results."""

    outcome: str  #: one of ``OUTCOMES``
    #: `value`, `low`, `high`: measured value in `unit`, and its interval. With several points it is their median, and
    #: the interval encloses all points' intervals, or, where a side was timed too few times for one, their values
    #: alone. None when nothing was measured, the interval also when no sample gives one, or not one of each side.
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    published: str = ""  #: the paper's number or numbers as printed; empty for an effect that needs none
    requirement: str = ""  #: what the value must be: ``at least 87 x``
    points: tuple[PointOutcome, ...] = ()
    #: Points, by name, that the paper has or a run had cells of, and that have no value here.
    missing: tuple[str, ...] = ()
    #: Points, by name, that a run measures by request alone, and that have no value here.
    spared: tuple[str, ...] = ()
    is_there: bool = False  #: whether most points are met, whatever the points are that are left open
    tested: int = 0  #: points of which a sum counts the ones that fulfil something; 0 where the value is no such sum
    untestable: tuple[str, ...] = ()  #: points, by name, whose data do not resemble the paper's: they test nothing
    needs: str = ""  #: what it would take to decide it; empty where it is decided
    says: str = ""  #: for an effect, what is claimed of it
    scale: str = ""  #: at which it was measured; empty when it was not
    extremes: tuple[tuple[str, float], ...] = ()  #: the lowest and highest point where one alone makes the value
    winners: tuple[str, ...] = ()  #: of today's rivals: the methods that were the best of each side that has several

    @property
    def met(self) -> int:
        """The number of points that are reproduced or exceeded."""
        return sum(point.outcome in (REPRODUCED, EXCEEDED) for point in self.points)

    @property
    def missed(self) -> int:
        """The number of points that are weaker or contradicted, or one of the two."""
        return sum(point.outcome in (WEAKER, CONTRADICTED, MISSED) for point in self.points)


@dataclass(frozen=True)
class Explanation:
    """A cause that was tested."""

    says: str
    value: float  #: what the claim's value is without it, in the unit of the claim
    #: Share of the gap between the paper's number and ours that it explains, in logarithms: the median of the points.
    share: float
    #: `low`, `high`: the share by the intervals of what it was worked out from, the medians of the points; 0 to 1.
    low: float = 1.0
    high: float = 1.0
    points: int = 1  #: that have a gap, and rows without the cause
    most: int = 1  #: the points at which it explains more than half
    untested: int = 0  #: points that have a gap, and no such rows

    @property
    def told(self) -> str:
        """The cause with what it explains, and between which ends where that may be less than half, or more."""
        where = f"; more than half at {self.most or 'none'} of {self.points} points" if self.points > 1 else ""
        low, high = (f"{100 * end:.0f}" for end in (self.low, self.high))
        span = f", by the intervals {low} to {high} %" if self.low < MOST <= self.high and low != high else ""
        at = f" at the {self.points} of {self.points + self.untested} points where it was tested" * bool(self.untested)
        return f"{self.says} (explains {100 * self.share:.0f} % of the gap{at}{span}{where})"


@dataclass(frozen=True)
class Verdict:
    """A claim, judged on one machine's results."""

    claim: Claim
    machine: str = ""  #: folder of the machine in the results; empty when it has none of what decides the claim
    outcome: str = UNDECIDED  #: one of ``OUTCOMES``
    needs: str = ""  #: what it would take to decide it; empty where it is decided
    #: `stated`, `effect`: the paper's number, and the direction of the effect; None where the claim has no such
    #: reading.
    stated: Judgement | None = None
    effect: Judgement | None = None
    today: Judgement | None = None  #: the value against today's strongest rival
    #: The causes that could be tested, the one that explains most of the gap first.
    tested: tuple[Explanation, ...] = ()
    is_on_bound: bool = False  #: whether every value that misses is the bound itself, so that no cause has a gap
    #: Facts that a reader should know of the rows: stand-ins, disturbed samples, numbers that the paper contradicts.
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
    def waits(self) -> str:
        """The value of ``REASONS`` that a claim waits for while it is not decided; empty where it is decided."""
        if self.outcome != UNDECIDED:
            return ""
        return self.claim.waits or (OWN_DATA if NEEDS_DATA in self.needs else MEASUREMENTS)

    @property
    def label(self) -> str:
        """The outcome, or that the claim is a fact which the paper cites."""
        return CITED if self.waits == CITED else self.outcome

    @property
    def judgements(self) -> list[Judgement]:
        """The readings that the claim has, of `stated` and `effect`."""
        return [each for each in (self.stated, self.effect) if each is not None]

    @property
    def shown(self) -> Judgement | None:
        """The reading that is shown: the paper's number where that has a value, else the effect where that has one."""
        measured = [each for each in self.judgements if each.value is not None]
        return next(iter(measured or self.judgements), None)

    @property
    def has_gap(self) -> bool:
        """Whether the value is decided, and is not the paper's."""
        return self.outcome in (EXCEEDED, WEAKER, CONTRADICTED)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """The causes that explain half of the gap or more, at most of its points; the one that explains most first."""
        explain = (each for each in self.tested if each.share >= MOST and each.points > each.untested)
        return tuple(explain) if self.has_gap else ()

    @property
    def partly(self) -> Explanation | None:
        """The cause that explains most of the gap, where none explains half of it."""
        first = next(iter(self.tested), None)
        return first if self.has_gap and not self.explanations and first and first.share >= PART else None

    @property
    def why(self) -> str:
        """Why the value is not the paper's, or that no cause is known, or what would decide it; in one line."""
        if self.outcome == UNDECIDED:
            return self.needs
        if self.has_gap and not self.explanations:
            if self.is_on_bound:
                which = "every point that misses" if len(self.shown.points) > 1 else "the value"
                return f"unexplained; {which} lies on the bound, which leaves no gap to explain"
            if not self.tested:
                return "unexplained; no cause was tested"
            if self.partly:
                return f"unexplained. Nearest cause: {self.partly.told}"
            return "unexplained; no tested cause explains a tenth of the gap"
        if len(self.explanations) == 1:
            return self.explanations[0].told
        told = "; ".join(f"({i}) {each.told}" for i, each in enumerate(self.explanations, 1))
        return f"{len(self.explanations)} causes, each tested alone: {told}" if told else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        readings = {
            name: asdict(each) if (each := getattr(self, name)) else None for name in ("stated", "effect", "today")
        }
        return {
            "paper": self.paper, "id": self.id, "place": self.claim.place, "statement": self.claim.says,
            "condition": self.claim.condition, "artefacts": list(self.claim.artefacts), "machine": self.machine,
            "ours": self.claim.ours, "outcome": self.outcome, "needs": self.needs, "waits": self.waits,
            "why": self.why, **readings, "explanations": [asdict(each) for each in self.explanations],
            "partly": asdict(self.partly) if self.partly else None,
            "notes": list(self.notes),
        }  # fmt: skip
