"""The tables of kernels as Markdown: all of a machine, and the best."""

from collections.abc import Callable, Sequence
from pathlib import Path

from repro.judge.claims.stored import Stored
from repro.judge.claims.table import Link
from repro.published import name_of
from repro.site.showcase.kernels import ENOUGH, Entry, Span, measured
from repro.site.showcase.ledger import Ledger
from repro.units import MISSING, quantity, significant

OPEN = ", undecided"  # which of the two is faster
FIRM = "\u00a0"  # a space that no line is broken at
COLUMNS = {
    "kernel": "---", "on": "---", "time": "---:", "of bound, warm": "---", "cold": "---", "best rival": "---",
    "faster by": "---",
}  # fmt: skip


def kernels(ledgers: Sequence[Ledger], stored: Stored, link: Link) -> str:
    """Return the table of a machine's kernels."""
    lines, absent = [], []
    for family in (family for ledger in ledgers for family in ledger.families):
        scales = measured(family, stored)
        if not scales:
            absent.append(f"{family.name} ({family.paper})")
        for entry in (entry for found in scales for entry in found):
            name = f"{family.name}: " if entry is scales[0][0] else ""
            lines.append("| " + " | ".join(_cells(entry, name, stored.folder, link)) + " |")
    if lines:
        lines[:0] = ["| " + " | ".join(COLUMNS) + " |", "|" + "|".join(COLUMNS.values()) + "|"]
    missing = f"Not measured there: {'; '.join(absent)}." if absent else ""
    return "\n\n".join(filter(None, ["\n".join(lines), missing])) + "\n"


def best(ledgers: Sequence[Ledger], stored: Stored, link: Link, most: int) -> str:
    """Return a table of the kernels that come nearest to their bounds, of each family one, the fastest at its scale."""
    families = [[found[0] for found in measured(family, stored)] for each in ledgers for family in each.families]
    entries = [max(found, key=lambda entry: entry.share) for found in families if found]
    lines = ["| kernel | time | of the bound | against the best rival |", "|---|---:|---:|---:|"]
    for entry in sorted(entries, key=lambda entry: -entry.share)[:most]:
        name = f"{entry.family.name}: {link(f'`{entry.method}`', _page(stored.folder, entry))}"
        faster = f"{significant(entry.faster.value)}{FIRM}×{OPEN * entry.undecided}" if entry.faster else MISSING
        share = f"{significant(100 * entry.share, 2)}{FIRM}%"
        lines.append(f"| {name} | {quantity(entry.seconds, 's').replace(' ', FIRM)} | {share} | {faster} |")
    return "\n".join(lines) + "\n"


def caption() -> str:
    """Return how the tables are read."""
    return "\n".join([
        "- A family is the kernels that compute the same thing. Each kernel has a line for the papers' sizes, and one "
        "for `large` sizes where they are stored.",
        "- The case is the largest that all kernels of the family ran, if possible one that a rival ran as well. The "
        "parentheses behind a share of a bound have the range over all cases.",
        "- The linked table says in which precision a method computes, where the family does not, and on how many "
        "threads. `host` and `openmp` are the processor's cores.",
        "- *Of bound* is the least time over the measured one. The least time is the format's least bytes, or its "
        "operations, at the ceiling measured for that size.",
        "- *Warm*: the cache holds what the call before left there. *Cold*: it was emptied. Above 100 %, the cache "
        "kept more of the kernel's data than of the probe's.",
        "- *Of any format's* is warm as well, by the least bytes that any format must move. It ranks formats.",
        "- *Best rival* is the fastest library or baseline of that algorithm in the same results, warm. *Faster by* is "
        "its time over ours, with the interval in parentheses. Below 1 × the rival is faster.",
        "- Some methods ran in several numberings. A rival counts with its fastest one. Ours count in the numberings "
        "that a rival ran in on the same back end, if one did; the fastest is shown.",
        "- *Undecided*: by the intervals of the two times, either may be the faster one. Such a ratio is neither a win "
        "nor a loss.",
        "- *Disturbed*: other work disturbed the rival's samples, so the ratio may be too high.",
        f"- *Why* leads to the reason where a kernel on a GPU stays under {100 * ENOUGH:g} % of its bound. It names "
        "the GPU that was profiled, where that is another one. *Not profiled*: nobody has looked for the reason.",
    ])  # fmt: skip


def _cells(entry: Entry, name: str, folder: Path, link: Link) -> list[str]:
    kernel = name + link(f"`{entry.method}`", f"kernels/{entry.modules[0]}")
    table = link(f"{entry.family.paper} {name_of(entry.artefact)}", _page(folder, entry))
    place = [table, f"{entry.case}{' (stand-in)' * entry.stands_in}", entry.backend]
    place += [f"scale `{entry.scale}`"] * (entry.scale != "paper")
    faster = _faster(entry) if entry.rival else MISSING
    method, _, backend = entry.rival.partition(" ")
    rival = f"`{method}` {backend}{', disturbed' * entry.hampered}" if entry.rival else "no rival in this run"
    spans = entry.warm, entry.cold, entry.problem
    shares = [_span(each, "%", lambda value: significant(100 * value, 2)) for each in spans]
    if (of_problem := shares.pop()) != MISSING:
        shares[0] += f", {of_problem} of any format's"
    if entry.wants_explanation:
        text = "why" if entry.profiled in entry.device.split() else f"why ({entry.profiled})"
        why = link(text, f"kernels/{entry.explained}") if entry.explained else "not profiled"
        shares[entry.warm is None] += f", {why}"
    return [kernel, ", ".join(place), quantity(entry.seconds, "s").replace(" ", FIRM), *shares, rival, faster]


def _faster(entry: Entry) -> str:
    """Return how many times as fast a kernel is as its best rival, the interval of that, and the range of all cases."""
    span, (low, high) = entry.faster, map(significant, entry.reach)
    text = f"{significant(span.value)}{FIRM}× ({low}{FIRM}to{FIRM}{high}){OPEN * entry.undecided}"
    least, most = significant(span.low), significant(span.high)
    return f"{text}; in all cases {least}{FIRM}to{FIRM}{most}" if least != most else text


def _span(span: Span | None, unit: str, text: Callable[[float], str]) -> str:
    if span is None:
        return MISSING
    low, high = text(span.low), text(span.high)
    return f"{text(span.value)}{FIRM}{unit}" + (f" ({low}{FIRM}to{FIRM}{high})" if low != high else "")


def _page(folder: Path, entry: Entry) -> str:
    """The path of the artefact's Markdown below the root: the machine's usual scale has no suffix."""
    paper, _, stem = entry.artefact.partition("-")
    suffix = f".{entry.scale}" if (folder / paper / f"{stem}.{entry.scale}.md").is_file() else ""
    return f"{folder.parent.name}/{folder.name}/{paper}/{stem}{suffix}.md"
