"""Machines with a GPU side by side: the ceilings of each, how their times compare, and the claims that change."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from repro.judge import claims
from repro.judge.claims.model import Judgement, PointOutcome
from repro.judge.claims.table import amount, measured
from repro.judge.compare import compare_results, other_data
from repro.judge.difference import FASTER, SAME, SLOWER, UNDECIDED
from repro.judge.peaks import Peak
from repro.run.statistics import median
from repro.show.measurements import SCALE_ORDER, Measurement
from repro.show.tables import Table
from repro.units import is_time

READING = """\
- A [page](results.md) says which commits measured each machine. `repro verify` says whether HEAD has their code.
- A line of *times* compares all times of a card that both machines have of a paper at a scale, by one back end. Times
  of their processors and times without an interval are left out.
- *Typical* is the median of the second machine's times over the first's.
- A time is shorter or longer if the interval of the ratio excludes 1, and the change exceeds 2 %. It is the same if
  that interval lies within 2 % of 1. `repro compare --with` shows each time.
- Each claim is judged twice, by the rows of either machine alone. Our own tests are among the claims. The claims' own
  pages go by the machine that fits a claim best: between two cards mostly by the one with more of its points.
- A claim with two verdicts has the points that differ. Each point has the paper's number, both machines' numbers, and
  whether their intervals overlap. *Exceeded* is more of the paper's effect, whether the number is larger or smaller.
  The reasons of both verdicts follow.
- Where one machine alone decides a claim, the parentheses have the number of its points."""
"""Text above the tables: it says how to read them."""

ALONE = "Decided on {name} alone: {count}. `repro claims --machine {other}` says of each why {other} does not."
VERDICTS = FASTER, SAME, SLOWER, UNDECIDED
HEADINGS = ["paper", "scale", "back end", "times", "typical", "shorter", "the same", "longer", "not decided"]
Judged = Mapping[str, Sequence[claims.Verdict]]  # by machine, a verdict a claim in the same order


def page(found: Sequence[Measurement], judged: Judged, *head: str) -> str:
    """Return a page that compares each two of the judged machines, which have a GPU, each by its own results."""
    parts = ["# Cards side by side", *head]
    parts.append(READING if len(judged) > 1 else "No two machines with a GPU have results.")
    for first, second in itertools.combinations(sorted(judged), 2):
        parts += [f"## {first} and {second}", _ceilings(found, first, second), _times(found, first, second)]
        parts += _claims(judged, first, second)
    return "\n\n".join(filter(None, parts)) + "\n"


def _ceilings(found: Sequence[Measurement], *machines: str) -> str:
    roofs = [next(each.roofs for each in found if each.machine == machine) for machine in machines]
    cards = [next((roof for roof in each.all if roof.gpu), Peak("not measured", 0.0)) for each in roofs]
    named = [
        ("memory, GB/s", [card.bandwidth for card in cards]),
        *((f"{name}, GFLOP/s", [card.rates.get(name, 0.0) for card in cards]) for name in ("float64", "float32")),
    ]
    lines = [
        [name, *(each / 1e9 if each else None for each in pair), pair[1] / pair[0] if all(pair) else None]
        for name, pair in named
    ]
    return _table("Measured ceilings", ["ceiling", *(card.device for card in cards), "second over first"], lines)


def _table(title: str, headings: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    import pandas

    return Table(title, pandas.DataFrame(lines, columns=headings, dtype=object)).to_markdown().strip() if lines else ""


def _times(found: Sequence[Measurement], first: str, second: str) -> str:
    """Return how the times of two cards compare, by paper, scale and back end; a time of two artefacts once."""
    known = {(each.machine, each.artefact, each.scale): each for each in found if not each.overrides}
    pairs: dict[tuple, dict[tuple, tuple[float, str]]] = {}
    for (machine, artefact, scale), before in known.items():
        after = known.get((second, artefact, scale))
        if machine != first or after is None:
            continue
        frames = [_sampled(each) for each in (before, after)]
        others = other_data(before.manifest, after.manifest)
        for row in compare_results(*frames, others=others).to_dict("records"):
            if is_time(row["unit"]) and row["verdict"] in VERDICTS and not row["reason"]:
                paper = artefact.partition("-")[0]
                own = tuple(str(row[name]) for name in ("case", "method", "metric", "old", "new"))
                pairs.setdefault((paper, scale, row["backend"]), {})[own] = 1 + row["change"], row["verdict"]
    lines = []
    for key in sorted(pairs, key=lambda key: (key[0], SCALE_ORDER.index(key[1]), key[2])):
        ratios, verdicts = zip(*pairs[key].values(), strict=True)
        counts = Counter(verdicts)
        paper, scale, backend = key
        told = (counts[verdict] for verdict in VERDICTS)
        lines.append([f"`{paper}`", f"`{scale}`", backend, len(ratios), median(list(ratios)), *told])
    return _table("Times", HEADINGS, lines)


def _sampled(each: Measurement):
    """The rows of a machine's card with intervals of their own: a time worked out from another is no second one."""
    return each.frame[each.frame["device"].isin(_cards(each)) & each.frame["ci_low"].notna()]


def _cards(each: Measurement) -> list[str]:
    """The names of a machine's cards."""
    return list((each.manifest.get("machine") or {}).get("gpu") or ())


def _claims(judged: Judged, first: str, second: str) -> list[str]:
    """Return the claims that both machines decide, differently, and the claims that one alone decides."""
    pairs = list(zip(judged[first], judged[second], strict=True))
    decided = [pair for pair in pairs if claims.UNDECIDED not in {each.outcome for each in pair}]
    changed = [pair for pair in decided if pair[0].outcome != pair[1].outcome]
    said = f"Claims that both machines decide: {len(decided)}. Claims with two different verdicts: {len(changed)}."
    lines = [f"- [{one.paper}: {one.id}](claims/{one.paper}.md): {_told(one)}, and {_told(two)}. {_why(one, two)}."
             for one, two in changed]  # fmt: skip
    parts = [said, "\n".join(lines)]
    others = {first: second, second: first}
    for number, name in enumerate(others):
        alone = [pair[number] for pair in pairs if pair[number].outcome != claims.UNDECIDED
                 and pair[1 - number].outcome == claims.UNDECIDED]  # fmt: skip
        if alone:
            papers = itertools.groupby(alone, key=lambda each: each.paper)
            told = [f"- {paper}: {', '.join(map(_with_points, own))}" for paper, own in papers]
            parts.append("\n".join([ALONE.format(name=name, count=len(alone), other=others[name]), "", *told]))
    return parts


def _with_points(verdict: claims.Verdict) -> str:
    count = len(verdict.shown.points)
    return f"{verdict.id} ({count})" if count > 1 else verdict.id


def _told(verdict: claims.Verdict) -> str:
    return f"{measured(verdict.shown)} on {verdict.machine} at `{verdict.shown.scale}`, {verdict.outcome}"


def _why(one: claims.Verdict, two: claims.Verdict) -> str:
    reasons = [f"On {each.machine}: {each.why}" for each in (one, two) if each.why]
    return ". ".join([_apart(one.shown, two.shown), *reasons])


def _apart(one: Judgement, two: Judgement) -> str:
    """Say at which points two readings of a claim differ, and whether the intervals overlap there."""
    if (one.requirement, one.scale) != (two.requirement, two.scale):
        return "The two are of different readings or scales"
    there = {point.name: point for point in two.points}
    both = [(point, there[point.name]) for point in one.points if point.name in there]
    said = [_overlap(*pair, one.unit) for pair in both if pair[0].outcome != pair[1].outcome]
    return "Where they differ: " + "; ".join(said) if said else "No point that both have has two verdicts"


def _overlap(one: PointOutcome, two: PointOutcome, unit: str) -> str:
    if one.low == one.high or two.low == two.high:
        how = "not both with an interval"
    else:
        how = f"the intervals {'overlap' if one.low <= two.high and two.low <= one.high else 'lie apart'}"
    paper = f"the paper's {one.published}, here " if one.published else ""
    return f"{one.name or 'the value'}, {paper}{amount(one.value, unit)} and {amount(two.value, unit)}, {how}"
