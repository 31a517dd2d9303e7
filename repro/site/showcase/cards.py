"""Machines with a GPU side by side: the ceilings of each, how their times compare, and the claims that change."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from repro.judge import claims
from repro.judge.claims.table import amount, measured
from repro.judge.compare import compare_results, other_data
from repro.judge.difference import FASTER, SAME, SLOWER, UNDECIDED
from repro.judge.peaks import Peak, of_roof
from repro.run.statistics import median
from repro.show.measurements import Measurement
from repro.units import MISSING, is_time, significant

TITLE = "# Cards side by side"
TIMES = (
    "Each line compares all times that both machines have of a paper, by one back end at one scale. *Typical* is the "
    "median of the second machine's times over the first's. A time is shorter or longer where the two intervals lie "
    "apart, and the same where these are within a fiftieth of each other. `repro compare --with` shows each of them."
)
CLAIMS = (
    "Each claim is judged by the rows of one machine, then by those of the other. *Why* says whether the two intervals "
    "overlap, and repeats the reasons of both verdicts."
)
ALONE = (
    "Decided on {name} alone: {count}. `repro claims --machine {other}` says of each what {other} lacks: rows "
    "of its processor or of another scale, or rounds that narrow an interval."
)
Judged = Mapping[str, Sequence[claims.Verdict]]  # by machine, a verdict a claim in the same order


def page(found: Sequence[Measurement], judged: Judged, written: str) -> str:
    """Return a page that compares each two machines with a GPU: those that were judged, each by its own results."""
    parts = [TITLE, written]
    for first, second in itertools.combinations(sorted(judged), 2):
        parts += [f"## {first} and {second}", _ceilings(found, first, second), TIMES, _times(found, first, second)]
        parts += [CLAIMS, *_claims(judged, first, second)]
    if len(judged) < 2:
        parts.append("Results of two machines with a GPU are not there.")
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]], text: int = 1) -> str:
    """Return a table whose first columns, `text` of them, are words."""
    rule = "---|" * text + "---:|" * (len(headings) - text)
    rows = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return "\n".join(["| " + " | ".join(headings) + " |", "|" + rule, *rows])


def _peak(found: Sequence[Measurement], machine: str) -> Peak:
    """What the GPU of a machine allows, by its own probes; a rate that no probe gave is 0."""
    own = next(each for each in found if each.machine == machine and "cuda" in each.backends)
    device = next(row["device"] for row in own.frame.to_dict("records") if row["backend"] == "cuda" and row["device"])
    return of_roof(own.roofs.of(device)) or Peak(device, 0.0)


def _ceilings(found: Sequence[Measurement], *machines: str) -> str:
    peaks = [_peak(found, machine) for machine in machines]
    named = [
        ("memory, GB/s", [peak.bandwidth / 1e9 for peak in peaks]),
        *((f"{precision}, GFLOP/s", [peak.rates.get(precision, 0.0) / 1e9 for peak in peaks])
          for precision in ("float64", "float32")),
    ]  # fmt: skip
    lines = [[name, *map(significant, pair), _over(*reversed(pair))] for name, pair in named]
    return _table(["measured ceiling", *(peak.name for peak in peaks), "second over first"], lines)


def _over(upper: float, lower: float) -> str:
    return significant(upper / lower) if upper and lower else MISSING


def _times(found: Sequence[Measurement], first: str, second: str) -> str:
    """Return how the times of two machines compare, by paper, scale and back end; a time of two artefacts once."""
    known = {(each.machine, each.artefact, each.scale): each for each in found if not each.overrides}
    pairs: dict[tuple, dict[tuple, tuple[float, str]]] = {}
    for (machine, artefact, scale), before in known.items():
        after = known.get((second, artefact, scale))
        if machine != first or after is None:
            continue
        paper = artefact.partition("-")[0]
        others = other_data(before.manifest, after.manifest)
        for row in compare_results(before.frame, after.frame, others=others).to_dict("records"):
            if is_time(row["unit"]) and row["change"] == row["change"] and row["change"] is not None:
                own = tuple(str(row[name]) for name in row if name in ("case", "method", "metric", "old", "new"))
                pairs.setdefault((paper, scale, row["backend"]), {})[own] = 1 + row["change"], row["verdict"]
    lines = []
    for (paper, scale, backend), compared in sorted(pairs.items()):
        counts = Counter(verdict for _, verdict in compared.values())
        typical = median([ratio for ratio, _ in compared.values()])
        told = (counts[verdict] for verdict in (FASTER, SAME, SLOWER, UNDECIDED))
        lines.append([f"`{paper}`", f"`{scale}`", backend, f"{len(compared):,}", significant(typical),
                      *(f"{count:,}" for count in told)])  # fmt: skip
    headings = ["paper", "scale", "where", "times", "typical", "shorter", "the same", "longer", "not decided"]
    return _table(headings, lines, text=3)


def _claims(judged: Judged, first: str, second: str) -> list[str]:
    """Return the claims that both machines decide, differently, and those that one alone decides."""
    pairs = list(zip(judged[first], judged[second], strict=True))
    decided = [pair for pair in pairs if claims.UNDECIDED not in {each.outcome for each in pair}]
    changed = [pair for pair in decided if pair[0].outcome != pair[1].outcome]
    said = f"Claims that are decided on both machines: {len(decided)}. Those with another verdict: {len(changed)}."
    lines = [[f"[{one.paper}: {one.id}](claims/{one.paper}.md)", _told(one), _told(two), _why(one, two)]
             for one, two in changed]  # fmt: skip
    parts = [said, _table(["claim", first, second, "why"], lines, text=4) if lines else ""]
    others = {first: second, second: first}
    for number, name in enumerate(others):
        alone = [pair[number] for pair in pairs if pair[number].outcome != claims.UNDECIDED
                 and pair[1 - number].outcome == claims.UNDECIDED]  # fmt: skip
        if alone:
            papers = itertools.groupby(alone, key=lambda each: each.paper)
            told = [f"- {paper}: {', '.join(each.id for each in own)}" for paper, own in papers]
            parts.append("\n".join([ALONE.format(name=name, count=len(alone), other=others[name]), "", *told]))
    return parts


def _told(verdict: claims.Verdict) -> str:
    return f"{measured(verdict.shown)}: {verdict.outcome}"


def _why(one: claims.Verdict, two: claims.Verdict) -> str:
    reasons = [f"{each.machine}: {each.why}" for each in (one, two) if each.why]
    return ". ".join([_apart(one, two), *reasons])


def _apart(one: claims.Verdict, two: claims.Verdict) -> str:
    """Say whether the intervals of two verdicts on a claim overlap."""
    a, b = one.shown, two.shown
    if None in (a, b) or None in (a.low, b.low):
        return "one has no interval"
    if len(a.points) != len(b.points):
        return f"they have {len(a.points)} and {len(b.points)} points"
    if a.low <= b.high and b.low <= a.high:
        return "the intervals overlap"
    ratio = amount(b.value / a.value, "x") if a.value and b.value else MISSING
    return f"the second value is {ratio} the first"
