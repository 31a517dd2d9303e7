"""Verdicts as text: tables in Markdown, and the page of all claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path

from repro import published
from repro.judge.claims.model import STATES, UNMEASURED, Judgement, Verdict
from repro.units import MISSING, significant

RANGE = (
    "Where a claim has several points (meshes, levels, formats) the value is their median, or what the claim is of, as "
    "a mean or a largest value, and the range in parentheses encloses the 95 % intervals of all; of a single value it "
    "is its interval. Where a side was timed too few times for an interval, or not sampled (the reason says so), the "
    "range is that of the points' values, and a single value has none."
)
"""What stands in parentheses beside a measured value."""

SHARED = (
    "Shared: a processor had other cells to compute at the same time, so that times on it may be too long, and ratios "
    "to them too high."
)
"""What the word beside a measured value says."""

RULE = (
    "A reading holds when every point meets the requirement with its whole interval, and does not when none does and "
    "at least one misses it with its whole interval. A point whose interval reaches over the bound is undecided; where "
    "all are, or some points meet the requirement and others do not, it holds in part. With that, 3 of 8 counts the "
    "points that meet it, of all that it is asked of, and says how many of the others are undecided."
)
"""How points make a verdict."""

UNDER_HALF = (
    "In parentheses behind a number of readings that hold in part: those that fewer than half of the points were found "
    "to meet."
)
"""What stands behind a count."""

ALLOWED = "Fractions of what the hardware allows are of the least bytes or operations, by measured ceilings."
"""What a reason measures by."""

BOTH = (
    "A verdict on both readings is what they agree on, and holds in part where they differ; one that is not measured "
    "is left out."
)
"""How the two readings make one verdict."""


def measured(judgement: Judgement | None) -> str:
    """Return what was measured with its interval, ``45 x (39 to 51)``; a dash when nothing was."""
    if judgement is None or judgement.value is None:
        return MISSING
    text = _amount(judgement.value, judgement.unit)
    if judgement.low is None or judgement.high is None or judgement.low == judgement.high:
        return text
    low, high = (_amount(each, judgement.unit) for each in (judgement.low, judgement.high))
    return text if low == high == text else f"{text} ({low.split()[0]} to {high})"


def marked(judgement: Judgement | None) -> str:
    """Return what was measured as `measured` does, with a word that `SHARED` explains where times may be too long."""
    return measured(judgement) + (", shared" if judgement is not None and judgement.shared else "")


def _amount(value: float, unit: str) -> str:
    if unit in ("", "count") and (float(value).is_integer() or (unit and 1e6 <= value < inf)):  # a median
        return significant(round(value))
    return f"{significant(value)} {'' if unit == 'count' else unit}".rstrip()


def state(judgement: Judgement | None) -> str:
    """Return a judgement's state; a dash where the claim has no such reading."""
    return MISSING if judgement is None else judgement.state


def counted(judgements: Iterable[Judgement], of: str) -> str:
    """Return how many judgements are in a state, and behind it how many of these under half of the points meet."""
    found = [each for each in judgements if each.state == of]
    few = sum(each.under_half for each in found)
    return f"{len(found)} ({few})" if few else str(len(found))


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return a Markdown table of how many claims of each paper hold, as stated and in their effect."""
    lines = ["| paper | claims | read | " + " | ".join(STATES) + " |", "|---|---:|---|" + "---:|" * len(STATES)]
    for paper in dict.fromkeys(verdict.paper for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.paper == paper]
        for name, reading in (("stated", "as stated"), ("effect", "effect")):
            found = [each for verdict in own if (each := getattr(verdict, name))]
            found += [Judgement(UNMEASURED) for verdict in own if not verdict.judgements]
            first = f"| `{paper}` | {len(own)} " if name == "stated" else "| | "
            lines.append(f"{first}| {reading} | " + " | ".join(counted(found, each) for each in STATES) + " |")
    return "\n".join(lines) + "\n"


def table(verdicts: Iterable[Verdict]) -> str:
    """Return a Markdown table with a line a reading of each claim."""
    names = ["claim", "reading", "required", "measured", "verdict", "why", "machine"]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for verdict in verdicts:
        condition = f" ({verdict.claim.condition})" if verdict.claim.condition else ""
        claim = f"{verdict.statement}{condition} *{verdict.place}*"
        for name, reading in (("stated", "as stated"), ("effect", "effect")):
            judgement = getattr(verdict, name)
            if judgement is None:
                continue
            says = f"{reading}: {judgement.says}" if judgement.says else reading
            where = f"{verdict.machine}, {judgement.scale}" if judgement.scale else verdict.machine
            answer = [marked(judgement), f"**{judgement.verdict}**", judgement.reason, where]
            lines.append(_line(claim, says, judgement.requirement, *answer))
            claim = ""
        if not verdict.judgements:
            lines.append(_line(claim, "", "", MISSING, f"**{UNMEASURED}**", verdict.reason, ""))
    return "\n".join(lines) + "\n"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def page(verdicts: Sequence[Verdict], root: Path = published.ROOT) -> str:
    """Return the page of all claims, paper by paper."""
    parts = [
        "# Do the claims hold?", "Written by `make readme` from the stored results; do not edit.",
        f"Each claim is judged as stated, by the paper's own number, and as the effect behind it. {RULE} Where points "
        "of the paper were not measured it holds in part at most, unless they cannot change it, as a largest value "
        f"that is too large already. {RANGE} {SHARED} In parentheses beside a claim is what was compared. {ALLOWED} "
        f"{UNDER_HALF}",
        summary(verdicts).strip(),
    ]  # fmt: skip
    for paper in dict.fromkeys(verdict.paper for verdict in verdicts):
        title = published.hardware(paper, root).get("paper", {}).get("title", paper)
        parts += [f"## {paper}", f"*{title}*", table(v for v in verdicts if v.paper == paper).strip()]
    return "\n\n".join(parts) + "\n"
