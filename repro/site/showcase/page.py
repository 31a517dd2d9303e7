"""The parts of the README that are computed from stored results, and the pages in ``docs/`` that have all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from repro import discovery, published
from repro.cache.store import write_atomically
from repro.judge.claims import FAILS, HOLDS, PART, UNMEASURED, Judgement, Verdict, verdicts
from repro.judge.claims import table as claims_table
from repro.judge.claims.stored import Stored
from repro.judge.verify import told as told_unverified
from repro.model import ReproError
from repro.show.measurements import Measurement, machines, measurements
from repro.site.report.wall import catalogue
from repro.site.showcase import elsewhere, status, tables
from repro.site.showcase.ledger import ledgers
from repro.units import MISSING

HEADLINES = ("Abstract", "Summary", "Second abstract")  # places whose claims stand in the README
FIGURES = 4  # at most
COMMAND = "make readme"


class Showcase:
    """Everything that is shown of a results folder.

    Parameters
    ----------
    results : Path
        With a folder a machine.
    """

    def __init__(self, results: Path):
        self.results = Path(results)
        self.ledgers = ledgers()
        self.found = measurements([self.results], catalogue()) if self.results.is_dir() else []
        self.machines = machines(self.found)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """A verdict a claim, on the machine that says most of it."""
        return verdicts(self.results)

    @cached_property
    def elsewhere(self) -> list[elsewhere.Elsewhere]:
        """The claims whose shared baselines another machine ran faster."""
        return elsewhere.elsewhere(self.results, self.verdicts, self.machines)

    @property
    def gpus(self) -> list[str]:
        """The machines that have measured something on a GPU."""
        return list(dict.fromkeys(each.machine for each in self.found if "cuda" in each.backends))

    @cached_property
    def unverified(self) -> str:
        """What is said of results that nothing proves."""
        text = told_unverified(self.results)
        return f"**{text}**" if text else ""

    def blocks(self) -> dict[str, str]:
        """Return the parts of the README by the names of their markers."""
        return {"results": self._results(), "status": status.table(self.found, self.results.name)}

    def pages(self) -> dict[str, str]:
        """Return the pages in ``docs/`` by their names."""
        return {"claims.md": self._claims_page(), "kernels.md": self._kernels_page()}

    def _results(self) -> str:
        shown = next(iter(self.gpus or self.machines), "")
        parts = [
            self.unverified,
            "### Do the claims hold?",
            "Each claim is judged by the paper's own number, and as the effect behind it, since a number about the "
            "hardware of 2012 says little of today's: [all of them, with reasons](docs/claims.md).",
            self.counts(), claims_table.UNDER_HALF,
            "Those of the abstracts, in parentheses beside each what was compared: "
            f"{claims_table.RANGE[:1].lower()}{claims_table.RANGE[1:]} "
            f"{claims_table.SHARED}", headlines(self.verdicts),
            elsewhere.told([each for each in self.elsewhere if _is_headline(each.verdict)]),
            status.cores(self.found), *self.figures(),
        ]  # fmt: skip
        if shown:
            parts += [f"### Kernels on {_device(self.found, shown)}",
                      f"{tables.caption()} [Every kernel, on every machine](docs/kernels.md).",
                      tables.kernels(self.ledgers, Stored(self.results, shown), _link(""))]  # fmt: skip
        return "\n\n".join(part.strip() for part in parts if part)

    def counts(self) -> str:
        """Return how many claims of each paper hold on each machine that has measured any of them."""
        lines = [
            "| paper | claims | machine | as stated: hold | in part | do not | as an effect: hold | in part | do not |",
            "|---|---:|---|" + "---:|" * 6,
        ]
        judged = {machine: verdicts(self.results, machine=machine) for machine in self.machines}
        for paper in published.papers():
            first = None
            for machine, found in judged.items():
                own = [verdict for verdict in found if verdict.paper == paper]
                # What runs in seconds, to see that it runs, says nothing of a claim.
                readings = [[each for verdict in own if (each := getattr(verdict, name)) and each.scale != "smoke"]
                            for name in ("stated", "effect")]  # fmt: skip
                if all(each.state == UNMEASURED for judgements in readings for each in judgements):
                    continue
                numbers = " | ".join(claims_table.counted(judgements, state) for judgements in readings
                                     for state in (HOLDS, PART, FAILS))  # fmt: skip
                name = "" if first else f"`{paper}` | {len(own)}"
                lines.append(f"| {name or ' | '} | {machine} | {numbers} |")
                first = machine
        return "\n".join(lines)

    def figures(self) -> list[str]:
        """Return a figure of each of the newest papers, measured on a GPU, with a caption."""
        made = []
        for ledger in sorted(self.ledgers, key=lambda each: -published.paper(each.paper).get("year", 0)):
            drawn = (each for artefact in ledger.figures for each in self.found  # git has pictures of this scale alone
                     if each.artefact == artefact and "cuda" in each.backends and each.scale == "paper"
                     and each.beside(".png"))  # fmt: skip
            if len(made) < FIGURES and (each := next(drawn, None)):
                made.append(self._figure(each))
        return made

    def _figure(self, each: Measurement) -> str:
        written = next((artefact for artefact in discovery.find() if artefact.id == each.artefact), None)
        title = written.title if written else each.artefact
        device = _device(self.found, each.machine)
        paper = each.artefact.partition("-")[0]
        folder = f"{self.results.name}/{each.machine}/{paper}"
        counts = Counter(verdict.state for verdict in self.verdicts if each.artefact in verdict.artefacts)
        words = {HOLDS: ("holds", "hold"), PART: ("holds in part", "hold in part"), FAILS: ("does not", "do not")}
        judged = [f"{counts[state]} {words[state][counts[state] > 1]}" for state in words if counts[state]]
        said = f" Of the {sum(counts.values())} claims that it decides {_and(judged)}." if judged else ""
        return "\n\n".join([
            f"![{title}, on {device}]({folder}/{each.beside('.png').name})",
            f"{paper}'s {status.name_of(each.artefact)} on {device}: {_within(title)}.{said} "
            f"[All numbers]({folder}/{each.beside('.md').name}).",
        ])  # fmt: skip

    def _claims_page(self) -> str:
        found = [part for part in (status.cores(self.found), elsewhere.told(self.elsewhere)) if part]
        heading, _, rest = claims_table.page(self.verdicts).strip().partition("\n\n")
        parts = [heading, self.unverified, rest, *["## Processors"] * bool(found), *found]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _kernels_page(self) -> str:
        parts = [
            "# Kernels",
            *[self.unverified] * bool(self.unverified),
            f"Written by `{COMMAND}` from the stored results; do not edit.",
            tables.caption(every=True),
        ]
        for machine in self.machines:
            stored = Stored(self.results, machine)
            table = tables.kernels(self.ledgers, stored, _link("../"), every=True).strip()
            parts += [f"## {machine}: {_device(self.found, machine)}", table]
        return "\n\n".join(parts) + "\n"


def headlines(found: Sequence[Verdict]) -> str:
    """Return a table of the claims of the abstracts, a line a claim: what was compared, and each reading's value."""
    lines = ["| paper | claim | as stated | as an effect | machine |", "|---|---|---|---|---|"]
    for verdict in found:
        if _is_headline(verdict):
            condition = f" ({verdict.claim.condition})" * bool(verdict.claim.condition)
            cells = [f"`{verdict.paper}`", verdict.statement + condition,
                     _judged(verdict.stated), _judged(verdict.effect),
                     verdict.machine if verdict.state != UNMEASURED else MISSING]  # fmt: skip
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _is_headline(verdict: Verdict) -> bool:
    return verdict.place.startswith(HEADLINES)


def _judged(judgement: Judgement | None) -> str:
    if judgement is None:
        return MISSING
    if judgement.state == UNMEASURED:
        return f"{judgement.requirement}: not measured"
    scale = "" if judgement.scale in ("paper", "large") else f", at `{judgement.scale}`"
    return f"{judgement.requirement}: **{judgement.verdict}**, {claims_table.marked(judgement)}{scale}"


def _device(found: Sequence[Measurement], machine: str) -> str:
    """The GPU of a machine, else its processor, else its name."""
    facts = [each.manifest.get("machine") or {} for each in found if each.machine == machine]
    return next((", ".join(dict.fromkeys(each["gpu"])) for each in facts if each.get("gpu")), "") or next(
        (each["cpu"] for each in facts if each.get("cpu")), machine
    )


def _within(title: str) -> str:
    """A title within a sentence: its first letter is small, unless it begins an abbreviation."""
    return title if title[1:2].isupper() or title[2:3].isupper() else title[:1].lower() + title[1:]


def _link(up: str) -> tables.Link:
    return lambda text, path: f"[{text}]({up}{path})"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def markers(name: str) -> tuple[str, str]:
    """Return the lines between which a part of the README stands."""
    return f"<!-- {name}: written by `{COMMAND}` from the stored results -->", f"<!-- end of {name} -->"


def filled(text: str, name: str, part: str) -> str:
    """Return a text with a part between its markers.

    Raises
    ------
    ReproError
        When it has not both markers, in order.
    """
    begin, end = markers(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ReproError(f"README.md has no {begin} ... {end}")
    return f"{before}{begin}\n\n{part.strip()}\n\n{end}{after}"


def texts(root: Path, results: Path) -> dict[str, str]:
    """Return what the README and the pages in ``docs/`` below `root` have to be by the stored results, by their names.

    Raises
    ------
    ReproError
        When there is no README, or it lacks a marker.
    """
    path, shown = root / "README.md", Showcase(results)
    if not path.is_file():
        raise ReproError(f"there is no {path}: the results go into a checkout's README")
    readme = path.read_text(encoding="utf-8")
    for name, part in shown.blocks().items():
        readme = filled(readme, name, part)
    return {"README.md": readme, **{f"docs/{name}": text for name, text in shown.pages().items()}}


def outdated(root: Path, results: Path) -> dict[str, str]:
    """Return those of `texts` that are not what their files have."""
    return {
        name: text for name, text in texts(root, results).items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != text
    }  # fmt: skip


def write(root: Path, results: Path) -> list[str]:
    """Write the README's parts and the pages in ``docs/`` below `root`; return the files that changed."""
    found = outdated(root, results)
    for name, text in found.items():
        write_atomically(root / name, text)
    return list(found)
