"""Verdicts as text: numbers with their intervals, counts, and a page a paper with a section a claim."""

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path

from repro import published
from repro.judge import consistency
from repro.judge.claims.model import (
    CITED,
    EXCEEDED,
    MEASUREMENTS,
    MISSED,
    NO_TEST,
    OUTCOMES,
    OWN_DATA,
    Judgement,
    Verdict,
    combinations,
)  # fmt: skip
from repro.judge.claims.notes import first
from repro.judge.claims.numbers import DISTURBED, FEW
from repro.judge.claims.points import selectors_of
from repro.judge.claims.stored import CEILINGS, Selector
from repro.published import name_of
from repro.units import MISSING, significant, split

RULE = """\
| verdict | meaning |
|---|---|
| reproduced | the value is the paper's, within the printed digits and the tolerance beside it; of several points \
none misses it, and at most half of them exceed it |
| exceeded | the effect is larger than the paper says |
| weaker | the effect goes the same way but is smaller, or shows at most of the points but not at every one; \
or the number is met and its effect is not there |
| contradicted | the effect is not there, or goes the other way |
| not decided | the measurements leave it open; the text says what it would take, or why no run can |
"""
"""The meaning of the five verdicts."""

READING = f"""\
- The quotation is the claim in our words. The parentheses in it tell what is compared, and under which conditions.
- *Paper* is a number that the paper prints. *Asked* is a limit that we chose for a claim without one.
- *Here* is the value, with its machine and scale: `paper` is the paper's own sizes. The parentheses have its interval.
  Of several points (meshes, levels, formats) it is the largest where the claim says *up to*, with its own interval.
  Else it is their median, and the parentheses enclose the intervals of all.
- A claim of several points is *reproduced* or *exceeded* only if no point misses it: *exceeded* if more than half
  of them are. It is *weaker* if some miss it and most meet it. The whole interval decides whether a point
  meets a claim. Its value alone decides whether such a point is *reproduced* or *exceeded*.
- If half of the points or more miss a claim, or its one value does, its effect decides: *weaker* where that is there,
  *contradicted* where it is not. An effect is there if most of its points show it.
- The text counts as *missed* all points that do not meet the claim. A point's own outcome is *missed* where its
  interval leaves open whether the effect is there.
- A number that is met counts as *weaker* if its effect is not there, and is *not decided* while that is open or was
  not measured.
- *The effect* is the direction behind a number, which can show at other sizes, too.
- *Today* compares with the strongest of today's methods, and makes no verdict. *Best* names the fastest of several.
- *Why* names causes. *Tested with* tells how the value was measured without the cause. *Explains 65 %*: that brings the
  value so much of the way to the paper's, on a logarithmic scale; of several points the share is the median. Where the
  *intervals* leave open whether that is half, its ends are there. Each of several causes is tested alone, so their
  shares do not add up. *Unexplained*: no cause explains half, or none was tested. *Nearest cause*: the one that
  explains most, if that is a tenth. A cause that was tested at half of the points or fewer explains no claim.
- A faster memory shortens the part of a time that the memory takes for the bytes which must move. It is no cause where
  a GPU's bytes are not known, or the cache holds them. Where a processor's are not, all of its time counts as memory's.
- Short names in lower case are methods and cases, as the tables under *evidence* list them. A *stand-in* is data made
  here in place of a paper's own. Meshes built after a picture of the paper's are no stand-ins, and the claim says so.
- A number printed as 1.2 may be any from 1.15 to 1.25. The tolerance (± 10 %) widens that again, to the *limits*.
- *By request*: a run leaves such cells out unless `--all-cells`, `--only` or `--backend` asks for them.
- A time that was not sampled has no interval, and counts as up to {FEW:g} times longer or shorter. A time whose samples
  other work disturbed counts as up to {DISTURBED:g} times too long.
- *Our own tests* are none of the paper's claims, and are counted apart. They tell where an effect comes from or ends.
- *Cited* is a fact that a paper tells as known, of others' machines or work. No table or figure of the
  paper depends on it, so it has no verdict.
- Some claims count something in the paper's own data: non-zeros, or iterations on a mesh that is not public. Where a
  stand-in meets such a count, the claim is *reproduced*, and a note names the stand-in. Where it misses the count, the
  claim is *not decided*, except if the count contradicts other numbers of the paper. Where a dataset was made to
  have the count, or chosen by it, nothing is tested, and the claim is *not decided*.
"""
"""Guide to reading a section."""

OURS, NOT_CLAIMED = "our own tests", "cited, not claimed"
WANT = {
    MEASUREMENTS: "measurements or downloads are lacking", OWN_DATA: "the authors alone have the data",
    NO_TEST: "nothing that exists can test them",
}  # fmt: skip
Link = Callable[[str, str], str]  # of a text and a path below the root


def measured(judgement: Judgement | None) -> str:
    """Return what was measured with its interval, ``45 x (39 to 51)``, or ``7 (6 to 8), of 8``; else a dash."""
    if judgement is None or judgement.value is None:
        return MISSING
    return _with_interval(judgement) + f", of {judgement.tested}" * bool(judgement.tested)


def _with_interval(judgement: Judgement) -> str:
    text = amount(judgement.value, judgement.unit)
    if judgement.low is None or judgement.high is None or judgement.low == judgement.high:
        return text
    low, high = (amount(each, judgement.unit) for each in (judgement.low, judgement.high))
    return text if low == high == text else f"{text} ({low.split()[0]} to {high})"


def _most(judgement: Judgement | None) -> str:
    """Return ``up to`` before the largest value of several points, which says less of the others than a median."""
    most = judgement.extremes[-1][1] if judgement and judgement.extremes else None
    return "up to " if most is not None and judgement.value == most else ""


def _at(verdict: Verdict) -> str:
    """Return at which cases today's methods are compared, where these are others than the claim's own."""
    if verdict.today is None or verdict.today.value is None:
        return ""
    claim, words = verdict.claim, next(combinations(verdict.claim))
    today, own = ({Selector.parse(text.format(**words)).case: None for text in texts}
                  for texts in (selectors_of(claim, claim.today).values(), claim.where.values()))  # fmt: skip
    cases = [case for case in today if case and case not in own]
    return f", at {claim.today.at or ' and '.join(cases)}" if cases else ""


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, a count in full."""
    if unit in ("", "count") and (float(value).is_integer() or (unit and 1e6 <= value < inf)):  # a median
        return significant(round(value))
    return f"{significant(value)} {'' if unit == 'count' else unit}".rstrip()


def summary(verdicts: Sequence[Verdict], link: str = "") -> str:
    """Return a Markdown table of papers by outcomes, and why the others are not decided.

    Our own tests are apart in it, and what a paper cites.

    `link`: where the papers' pages are, with ``{}`` for a paper.
    """
    lines = ["| paper | claims | " + " | ".join(OUTCOMES) + " |", "|---|---:|" + "---:|" * len(OUTCOMES)]
    groups = {}
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.waits == CITED, verdict.claim.ours)):
        paper = f"[{verdict.paper}]({link.format(verdict.paper)})" if link else verdict.paper
        name = NOT_CLAIMED if verdict.waits == CITED else OURS if verdict.claim.ours else paper
        groups.setdefault(name, []).append(verdict.outcome)
    for name, found in groups.items():
        counts = [MISSING if name == NOT_CLAIMED else str(found.count(each)) for each in OUTCOMES]
        lines.append(f"| {name} | {len(found)} | {' | '.join(counts)} |")
    kinds = [verdict.waits for verdict in verdicts if not verdict.claim.ours]
    told = "; ".join(f"{want} ({kinds.count(kind)})" for kind, want in WANT.items() if kind in kinds)
    return "\n".join(lines) + "\n" + f"\nWhy claims of the papers are not decided: {told}.\n" * bool(told)


def absolute(verdicts: Sequence[Verdict]) -> str:
    """Say how many of the exceeded numbers are no quotients, which newer hardware exceeds by itself; empty if none."""
    exceeded = [each.stated for each in verdicts if each.outcome == EXCEEDED and each.stated and not each.claim.ours]
    count = sum(split(each.unit)[1] != "" for each in exceeded)
    return (
        f"{len(exceeded)} claims of the papers have an exceeded number. {count} of these numbers are times, rates or "
        "sizes, which newer hardware may exceed by itself. A quotient of two times on one machine is a stronger test."
    ) * bool(count)


def numbers(verdicts: Sequence[Verdict], names: Sequence[tuple[str, str]], address: str) -> str:
    """Return a table of some claims: the paper's number, ours, today's rival, and the machine that they are of.

    Parameters
    ----------
    names : sequence of (str, str)
        Paper and id of the claims.
    address : str
        Where a claim is told, with ``{paper}`` and ``{id}``.
    """
    lines = [
        "| claim | asked | here, as the paper compared | our best against today's best | machine, scale | verdict |",
        "|---|---|---|---|---|---|",
    ]
    known = {(verdict.paper, verdict.id): verdict for verdict in verdicts}
    for verdict in (known[name] for name in names):
        shown = verdict.shown
        cells = [
            f"[{verdict.paper}]({address.format(paper=verdict.paper, id=verdict.id)}): {verdict.claim.says}",
            shown.requirement.partition(" (")[0] if shown else MISSING,
            _most(shown) + measured(shown),
            _most(verdict.today) + measured(verdict.today) + _at(verdict) + _lost(verdict.today),
            f"{verdict.machine}, `{shown.scale}`" if shown and verdict.machine else verdict.machine or MISSING,
            f"**{verdict.outcome}**",
        ]  # fmt: skip
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def page(verdicts: Sequence[Verdict], link: Link, note: str = "", last: str = "", root: Path = published.ROOT) -> str:
    """Return the page of one paper's claims, with a note before how to read them, and a last one behind that.

    `link`: makes a link of a text and the path of an artefact's page below the root.
    """
    paper = verdicts[0].paper
    facts = published.paper(paper, root)
    head = [f"# {paper}", f"*{facts.get('title', paper)}*", note]
    parts = [*head, RULE, summary(verdicts), absolute(verdicts), READING, last]
    parts += [section(verdict, link) for verdict in verdicts]
    if found := contradictions(paper, root):
        parts += ["## Numbers that contradict one another", found]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def contradictions(paper: str, root: Path = published.ROOT) -> str:
    """Return a list of the paper's numbers that do not follow from its others; empty where there are none."""
    found = consistency.check(paper, root)
    says = (
        "These relations between numbers of the paper do not hold. Some of the numbers follow from others all the same."
    )
    return "\n\n".join([says, "\n".join(f"- {str(each).partition(', ')[2]}" for each in found)]) if found else ""


def section(verdict: Verdict, link: Link) -> str:
    """Return a claim as a section: the sentence, the verdict, the numbers, why, the evidence."""
    return f"## {verdict.id}: {verdict.label}\n\n{told(verdict, link)}"


def told(verdict: Verdict, link: Link) -> str:
    """Return a section without its heading."""
    claim, shown = verdict.claim, verdict.shown
    says = f"{claim.says} ({claim.condition})" if claim.condition else claim.says
    lines = []
    if verdict.stated is not None:
        lines.append(("paper" if verdict.stated.published else "asked", _asks(verdict.stated)))
        lines.append(("here", _where(verdict, verdict.stated)))
    if verdict.effect is not None and (shown is verdict.effect or verdict.effect.value is not None):
        effect, asks = verdict.effect.says, verdict.effect.requirement
        if verdict.stated is None:
            lines.append(("asked", _asks(verdict.effect)))
            lines.append(("here", _where(verdict, verdict.effect)))
        else:
            lacks = "" if shown is verdict.effect else _lacks(verdict.effect)
            asked = f"{effect} Asked: {asks}" if effect else asks
            lines.append(("the effect", f"{asked}; here: {_where(verdict, verdict.effect)}{lacks}"))
    if verdict.today is not None and verdict.today.value is not None:
        best = f" (best: {'; '.join(verdict.today.winners)})" if verdict.today.winners else ""
        lines.append((f"today, {verdict.today.says}", f"{measured(verdict.today)}{best}{_without(verdict.today)}"))
    if verdict.why:
        lines.append(("why", verdict.why))
    lines += [("note", each) for each in verdict.notes]
    if links := _evidence(verdict, link):
        lines.append(("evidence", links))
    place = claim.place + "; not a claim of the paper, a test of ours" * claim.ours
    parts = [f"> {says}\n>\n> *{place}*", "\n".join(f"- **{name}**: {text}" for name, text in lines)]
    if shown is not None and len(shown.points) > 1:
        parts.append("Of the effect, " * (shown is verdict.effect and verdict.stated is not None) + points(shown))
    return "\n\n".join(filter(None, parts))


def _asks(judgement: Judgement) -> str:
    return f"{judgement.requirement}. {judgement.says}" if judgement.says else judgement.requirement


def _where(verdict: Verdict, judgement: Judgement) -> str:
    if judgement.value is None:
        return "not measured"
    text = f"{_most(judgement)}{measured(judgement)}, on {verdict.machine} at scale {judgement.scale}"
    ends = [f"{amount(value, judgement.unit)} ({name})" for name, value in judgement.extremes]
    return f"{text}; from {' to '.join(ends)}" if ends else text


def _lacks(judgement: Judgement) -> str:
    """Return of a reading whose points are not listed at how many it is missed, and which have no value."""
    several = len(judgement.points) > 1
    text = f"; missed at {judgement.missed} of {len(judgement.points)} points" if several and judgement.missed else ""
    return text + _without(judgement)


def _without(judgement: Judgement | None) -> str:
    return f"; without a value: {first(judgement.missing)}" if judgement and judgement.missing else ""


def _lost(judgement: Judgement | None) -> str:
    """Return how many points have no value, where there is no room for their names."""
    missing = len(judgement.missing) if judgement else 0
    return f"; {missing} point{'s' * (missing > 1)} without a value" if missing else ""


def _evidence(verdict: Verdict, link: Link) -> str:
    """Links to what decides a claim: tables and figures, of the machine and the scale, and the machine's ceilings."""
    shown, made = verdict.shown, []
    for artefact in verdict.claim.artefacts:
        stem = artefact.partition("-")[2]
        pages = f"results/{verdict.machine}/{verdict.paper}/{stem}"
        suffix = "" if shown is None else f".{shown.scale}"
        here = (published.ROOT.parent / f"{pages}{suffix}.md").is_file()  # a machine's usual scale has no suffix
        made.append(link(name_of(artefact), f"{pages}{suffix if here else ''}.md"))
    readings = filter(None, (verdict.claim.stated, verdict.claim.effect))
    selectors = [*verdict.claim.where.values(), *(text for each in readings for text in each.where.values())]
    if any(text.startswith(f"{CEILINGS} ") for text in selectors):
        made.append(link("the ceilings", f"results/{verdict.machine}/{CEILINGS}.json"))
    return ", ".join(made)


def linked(up: str) -> Link:
    """Return what links to the paths that are there, from a page from which `up` leads to the checkout."""
    return lambda text, path: f"[{text}]({up}{path})" if (published.ROOT.parent / path).exists() else text


def points(judgement: Judgement, most: int = 40) -> str:
    """Return a table of a judgement's points; of many those alone that are not as most are, with how many those are."""
    counts = {each: sum(point.outcome == each for point in judgement.points) for each in (*OUTCOMES, MISSED)}
    common = max(counts, key=counts.__getitem__)
    chosen = [each for each in judgement.points if len(judgement.points) <= 12 or each.outcome != common][:most]
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    head = f"{len(judgement.points)} points: {told}."
    if judgement.missing:
        head += f" Without a value: {', '.join(judgement.missing)}."
    if judgement.untestable:
        head += f" Not testable without the paper's own data: {', '.join(judgement.untestable)}."
    if not chosen:
        return head
    rows = [["point", "paper", "here", "verdict"], ["---", "---:", "---", "---"]]
    for each in chosen:
        interval = Judgement("", each.value, each.low, each.high, judgement.unit)
        rows.append([each.name, each.published, measured(interval), each.outcome])
    if not judgement.published:  # what is asked of each point is said above, and is no number of the paper
        rows = [[name, *shown] for name, _, *shown in rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    left = len(judgement.points) - len(chosen)
    return "\n\n".join([head, "\n".join(lines), f"The other {left} are {common}." if left else ""]).strip()
