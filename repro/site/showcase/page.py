"""The parts of the README that are computed from stored results, and the pages in ``docs/`` that have all of it."""

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

from repro import discovery, published
from repro.cache.store import write_atomically
from repro.judge import claims, same_code, verify
from repro.judge.claims import table as claims_table
from repro.judge.claims.stored import Stored
from repro.model import ReproError
from repro.show.measurements import Measurement, machines, measurements
from repro.site.report.wall import catalogue
from repro.site.showcase import cards, pages_of_kernels, repeats, status, times
from repro.site.showcase.ledger import headlines, ledgers
from repro.site.showcase.runs import EMBEDDED, OnCores

FIGURES = 4  # at most
COMMAND = "make readme"
MEASURED = (
    "Each entry counts the tables and figures of a paper that a machine has measured at a scale, and their cells. "
    "A cell is one case by one method on one back end, and counts in each artefact that shows it. The other cells were "
    "left out, skipped or failed: each result's page says which it lacks, and why."
)
COMMITS = (
    "The key of a cell has a hash of each file, kernel and dataset that the cell depends on. Commits whose keys have "
    "the same hash of a file ran the same code of it. [`repro verify`](proof.md) recomputes each key from its commit. "
    "It also says how many cells are of the code of HEAD."
)
ROUNDS = (
    "A round is one process that measures a cell. With one round the interval is as wide as rows of its kind usually "
    "need. Further rounds narrow it, or widen it where they differ ([how times are taken](measurement.md)). A cell "
    "that several artefacts show counts once here. The minutes are of each cell's last round. The days are those of "
    "the first and the last round."
)
HOSTS = (
    "A second table has the hosts of a machine, with the times (UTC) at which each began its first cell and its last "
    "one. It counts the rounds that a host measured: how many cells have their first one from it, their second, or a "
    "later one. Rows of results have the host of their last round in the column `host`."
)
REPEATS = (
    "The interval of some rounds should hold nine of ten medians of the next round, also on another host of that kind. "
    "The table counts the medians of all rounds but the first, and how many of them lay in the interval that the "
    "rounds before gave. The change is the median of later medians over those before, less one: below zero, later "
    "rounds were quicker. Where a median lies outside, all rounds together have a wider interval.\n\n"
    "Samples are of four kinds. Kernels are *replayed* many times in a graph, or once (*single*), or *called* one by "
    "one, or launched *cold*, with the cache evicted. Calls on a GPU include the parts of set-ups that the host's "
    "processor does. A share below 90 % means that intervals are too narrow there: processors of one model differ "
    "between hosts, and other work on a host slows them. Cells with a single round are not counted.\n\n"
    "A line of two machines, as *a, then b*, compares the first rounds of both. Their processors are of one model, "
    "with as many cores. "
    "[`repro repeat`](campaign.md#do-the-numbers-repeat) draws medians by lot instead."
)
WRITTEN = f"Written by `{COMMAND}` from the stored results; do not edit."


class Showcase:
    """Everything that is shown of a results folder."""

    def __init__(self, results: Path):
        self.results = Path(results)
        self.ledgers = ledgers()
        self.found = measurements(self.results, catalogue()) if self.results.is_dir() else []
        self.machines = machines(self.found)

    @cached_property
    def verdicts(self) -> list[claims.Verdict]:
        """A verdict a claim, on the machine that says most of it."""
        return claims.verdicts(self.results, stores=list(self.stores.values()))

    @cached_property
    def stores(self) -> dict[str, Stored]:
        """The results of each machine."""
        return {name: Stored(self.results, name) for name in claims.machines(self.results)}

    @property
    def gpus(self) -> list[str]:
        """The machines that have measured something on a GPU."""
        return list(dict.fromkeys(each.machine for each in self.found if "cuda" in each.backends))

    def unverified(self, machines: Collection[str] | None = None) -> str:
        """Return what is said of results that nothing proves, of all machines or of some."""
        text = verify.told(self.results, machines)
        return f"**{text}**" if text else ""

    def blocks(self) -> dict[str, str]:
        """Return the parts of the README by the names of their markers."""
        numbers = claims_table.numbers(self.verdicts, headlines(), "docs/claims/{paper}.md")
        front = next(filter(None, (self._drawn(each.front) for each in self.ledgers)), None)
        return {
            "verdicts": claims_table.summary(self.verdicts, "docs/claims/{}.md"),
            "numbers": f"{self.unverified()}\n\n{numbers}",
            "picture": self._picture(front, "") if front else "",
        }

    def pages(self) -> dict[str, str]:
        """Return the pages in ``docs/`` by their names."""
        each_gpu = {name: claims.verdicts(self.results, stores=[self.stores[name]]) for name in self.gpus}
        opening, link = [self.unverified(), WRITTEN], claims_table.linked("../../")
        return {
            "claims/index.md": self._claims_index(), **self._claims_pages(), "results.md": self._results_page(),
            "cards.md": cards.page(self.found, each_gpu, *opening),
            **pages_of_kernels.pages(self.ledgers, self.judged(), opening, link),
        }  # fmt: skip

    def figures(self) -> list[str]:
        """Return a figure of each of the newest papers, measured on a GPU, with a caption."""
        made = []
        for ledger in sorted(self.ledgers, key=lambda each: -published.paper(each.paper).get("year", 0)):
            drawn = next(filter(None, map(self._drawn, ledger.figures)), None)
            if drawn and len(made) < FIGURES:
                made.append(self._figure(drawn))
        return made

    def _drawn(self, artefact: str) -> Measurement | None:
        """Return an artefact as a GPU measured it and git has its picture, which is of this scale alone."""
        found = (each for each in self.found if each.artefact == artefact and "cuda" in each.backends)
        return next((each for each in found if each.scale == "paper" and each.beside(".png")), None)

    def _figure(self, each: Measurement) -> str:
        paper, title, device = each.artefact.partition("-")[0], _title(each), _device(self.found, each.machine)
        return "\n\n".join([
            self._picture(each, "../"),
            f"{paper}'s {published.name_of(each.artefact)} on {device}: {_within(title)}. "
            f"[All numbers](../{self._folder(each)}/{each.beside('.md').name}).",
        ])  # fmt: skip

    def _picture(self, each: Measurement, up: str) -> str:
        device = _device(self.found, each.machine)
        return f"![{_title(each)}, on {device}]({up}{self._folder(each)}/{each.beside('.png').name})"

    def _folder(self, each: Measurement) -> str:
        return f"{self.results.name}/{each.machine}/{each.artefact.partition('-')[0]}"

    def _claims_index(self) -> str:
        parts = [
            "# Do the claims hold?", self.unverified(), WRITTEN,
            "Each claim has one verdict, computed from the stored results.", claims_table.RULE,
            claims_table.summary(self.verdicts, "{}.md"), claims_table.absolute(self.verdicts),
            claims_table.READING, status.cores(self.found),
            "\n".join(["```{toctree}", ":hidden:", "", *dict.fromkeys(each.paper for each in self.verdicts), "```"]),
        ]  # fmt: skip
        return "\n\n".join(part.strip() for part in parts if part) + "\n"

    def _claims_pages(self) -> dict[str, str]:
        link, made = claims_table.linked("../../"), {}
        for paper in dict.fromkeys(verdict.paper for verdict in self.verdicts):
            own = [verdict for verdict in self.verdicts if verdict.paper == paper]
            note = self.unverified({verdict.machine for verdict in own})
            made[f"claims/{paper}.md"] = claims_table.page(own, link, note, status.cores(self.found))
        return made

    def _results_page(self) -> str:
        parts = [
            "# What is measured", self.unverified(), WRITTEN,
            MEASURED,
            status.table(self.found, f"../{self.results.name}"), self._commits(), *self.figures(), self._rounds(),
        ]  # fmt: skip
        return "\n\n".join(part.strip() for part in parts if part) + "\n"

    def _commits(self) -> str:
        """Say which commits measured, and whether by the same code."""
        said = same_code.of_commits(verify.measured(self.results))
        lines = [f"- {machine}: {said[machine]}" for machine in self.machines if machine in said]
        return "\n".join([COMMITS, "", *lines]) if lines else ""

    def _rounds(self) -> str:
        cells = times.cells_of(self.found)
        often, again = times.tables(cells), repeats.table(cells | repeats.across(cells))
        parts = ["## How often", ROUNDS, HOSTS, often] if often else []
        parts += ["## Whether numbers repeat", REPEATS, again] if again else []
        return "\n\n".join(parts)

    def judged(self) -> dict[str, Stored]:
        """Return the results whose kernels have tables, by their headings: each machine's, and its processor's apart.

        A processor has its own where a GPU's kernels would answer for ours on it.
        """
        named = {}
        for each in self.machines:
            named[f"{each}: {_device(self.found, each)}"] = self.stores[each]
            if each in self.gpus and (processor := _processor(self.found, each)):
                named[f"{each}, its processor: {processor}"] = OnCores(self.results, each)
        return named


def _device(found: Sequence[Measurement], machine: str) -> str:
    """The GPU of a machine, else its processor, else its name."""
    facts = [each.manifest.get("machine") or {} for each in found if each.machine == machine]
    return next((", ".join(dict.fromkeys(each["gpu"])) for each in facts if each.get("gpu")), "") or next(
        (each["cpu"] for each in facts if each.get("cpu")), machine
    )


def _processor(found: Sequence[Measurement], machine: str) -> str:
    """The processor of a machine and its cores, where our kernels ran on it; else nothing."""
    ran = (each.manifest.get("machine") or {} for each in found
           if each.machine == machine and EMBEDDED in each.backends)  # fmt: skip
    return next((f"{each['cpu']}, {each['cores']} cores" for each in ran if each.get("cpu")), "")


def _title(each: Measurement) -> str:
    """Return what an artefact shows, without the list after a colon: a picture may lack some that it names."""
    titles = (artefact.title for artefact in discovery.find() if artefact.id == each.artefact)
    return next(titles, each.artefact).partition(":")[0]


def _within(title: str) -> str:
    """A title within a sentence: its first letter is small, unless it begins an abbreviation."""
    return title if title[1:2].isupper() or title[2:3].isupper() else title[:1].lower() + title[1:]


def markers(name: str) -> tuple[str, str]:
    """Return the lines between which a part of the README stands."""
    return f"<!-- {name}: written by `{COMMAND}` from the stored results -->", f"<!-- end of {name} -->"


def filled(text: str, name: str, part: str) -> str:
    """Return a text with a part between its markers.

    Raises `ReproError` when it has not both markers, in order.
    """
    begin, end = markers(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ReproError(f"README.md has no {begin} ... {end}")
    return f"{before}{begin}\n\n{part.strip()}\n\n{end}{after}"


def texts(root: Path, results: Path) -> dict[str, str]:
    """Return what the README and the pages in ``docs/`` below `root` have to be by the stored results, by their names.

    Raises `ReproError` when there is no README, or it lacks a marker.
    """
    path, shown = root / "README.md", Showcase(results)
    if not path.is_file():
        raise ReproError(f"there is no {path}: the results go into a checkout's README")
    readme = path.read_text(encoding="utf-8")
    for name, part in shown.blocks().items():
        readme = filled(readme, name, part)
    return {"README.md": readme, **{f"docs/{name}": text for name, text in shown.pages().items()}}


def outdated(root: Path, results: Path) -> dict[str, str]:
    """Return the `texts` that differ from their files."""
    return {
        name: text for name, text in texts(root, results).items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != text
    }  # fmt: skip


def write(root: Path, results: Path) -> list[str]:
    """Write the README's parts and the pages in ``docs/`` below `root`; return the files that changed."""
    found = outdated(root, results)
    for name, text in found.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / name, text)
    return list(found)
