"""Stored results as the report shows them: what lies in the results folders, read back from the files of each run."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from repro import published
from repro.cache.store import ARCHIVE, as_stored, content, read_json, tables
from repro.judge.roofs import Roofs
from repro.model import DONE, SCALES, ReproError
from repro.rows import read_file
from repro.show.results import PREFERENCE, Results, disturbed_cells

ALL_CELLS = re.compile(r"^- measured: .*; \d+ of (\d+) cells$", re.MULTILINE)  # as `repro.show.render` has it
SCALE_ORDER = ("paper", "large", "small", "smoke")  # which of several stands for a machine


def require_results(folder: Path) -> None:
    """Check that a folder is one of results: a folder a machine, in it one a paper. An empty one is.

    An empty file is no sign of another's folder: it is told where it is read.

    Raises `ReproError` when it is not there, is the folder of one machine, or holds tables that are no results.
    """
    if not folder.is_dir():
        raise ReproError(f"there is no folder of results {folder}")
    papers = published.papers()
    if any(_has_results(path) for paper in papers for path in tables(folder, f"{paper}/*")):
        raise ReproError(f"{folder} has the results of one machine: name the folder that it is in")
    there = [path for paper in papers for path in tables(folder, f"*/{paper}/*") if as_stored(path).stat().st_size]
    if there and not any(map(_has_results, there)):
        raise ReproError(f"{folder} is no folder of results: {there[0]} holds none")


def _has_results(path: Path) -> bool:
    try:
        heading = content(path).partition(b"\n")[0]
    except OSError:  # what is damaged is told elsewhere
        return False
    return {b"scale", b"backend"} <= set(heading.strip().split(b","))


@dataclass(frozen=True)
class Measurement:
    """One artefact's files of one machine at one scale."""

    #: `artefact`, `machine`: as in ``fu2014-table2``, and the machine's folder.
    artefact: str
    machine: str
    csv: Path  #: the tidy CSV, without ``.xz`` where it is compressed; the other files lie beside it

    def beside(self, suffix: str) -> Path | None:
        """Return the file with another suffix, None when there is none."""
        path = self.csv.with_suffix(suffix)
        return path if path.is_file() else None

    @property
    def key(self) -> str:
        """A name that no other measurement has: ``h200-zhang2013-table2.large``."""
        return f"{self.machine}-{self.artefact.partition('-')[0]}-{self.csv.stem}"

    @cached_property
    def frame(self) -> Any:
        """The rows, as a pandas.DataFrame.

        Raises `ReproError` when the file is damaged.
        """
        return read_file(self.csv)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest; empty when there is none.

        Raises `ReproError` when it is damaged.
        """
        path = self.beside(".json")
        return {} if path is None else read_json(path)

    @property
    def archive(self) -> dict[str, Any]:
        """The file of samples, with the cells and their keys."""
        return json.loads(content(self.csv.with_suffix(ARCHIVE)))

    @cached_property
    def scale(self) -> str:
        """The scale, by the manifest, or by the rows."""
        return self.manifest.get("scale") or next(iter(self.frame["scale"]), "")

    @cached_property
    def roofs(self) -> Roofs:
        """The roofs of its machine's devices."""
        return Roofs.read(self.csv.parents[1])

    @property
    def overrides(self) -> dict[str, str]:
        """The user's own files in place of datasets."""
        return self.manifest.get("overrides") or {}

    @cached_property
    def statuses(self) -> Counter:
        """Cells by status."""
        cells = self.manifest.get("cells")
        return Counter(cell["status"] for cell in cells) if cells else Counter(self.frame["status"])

    @property
    def done(self) -> int:
        """Cells that are done."""
        return self.statuses[DONE]

    @cached_property
    def cells(self) -> int:
        """All cells of the scale, measured or not, by the page; the files' cells where it does not tell."""
        page = self.beside(".md")
        told = ALL_CELLS.search(page.read_text(encoding="utf-8")) if page else None
        return int(told[1]) if told else self.statuses.total()

    @cached_property
    def backends(self) -> list[str]:
        """Back ends that measured something, best first."""
        present = set(self.frame[self.frame["status"] == DONE]["backend"])
        return [backend for backend in PREFERENCE if backend in present]

    @property
    def cores(self) -> int | None:
        """Number of cores that its cells had on the processor, by the manifest."""
        return (self.manifest.get("machine") or {}).get("cores")

    def reasons(self, status: str) -> list[tuple[str, int]]:
        """Return why cells were skipped or failed, and how many, the most frequent first."""
        rows = self.frame[self.frame["status"] == status]
        return Counter(reason for reason in rows["reason"] if reason).most_common()

    @cached_property
    def commits(self) -> list[str]:
        """Commits of the sources that measured; one with uncommitted changes ends in a ``+``."""
        found = {}
        for cell in self.manifest.get("cells") or []:
            revision = cell.get("revision") or {}
            if cell["status"] == DONE and revision.get("commit"):
                found[revision["commit"][:10] + ("+" if revision.get("dirty") else "")] = None
        return list(found)

    def results(self) -> Results:
        """Return the rows as artefacts' `tables` and `plot` take them."""
        return Results(
            self.frame, self.scale, self.machine, self.artefact, self.overrides, self.cores, self.roofs,
            self.csv.parents[2], disturbed_cells(self.manifest.get("cells", ())),
        )  # fmt: skip


def measurements(folder: Path, known: Iterable[str]) -> list[Measurement]:
    """Return everything that is stored of some artefacts, best first: GPUs, then larger scales, then by machine.

    Raises `ReproError` when a folder is none of results, or a file in it is damaged.
    """
    require_results(folder)
    return sorted(unread(folder, known), key=_rank)


def unread(folder: Path, known: Iterable[str]) -> Iterator[Measurement]:
    """Yield what is stored of some artefacts, of which nothing has been read."""
    for artefact in known:
        paper, _, stem = artefact.partition("-")
        for path in sorted([*tables(folder, f"*/{paper}/{stem}"), *tables(folder, f"*/{paper}/{stem}.*")]):
            yield Measurement(artefact, path.parents[1].name, path)


def _rank(each: Measurement) -> tuple:
    scale = SCALE_ORDER.index(each.scale) if each.scale in SCALES else len(SCALES)
    return (not each.done, "cuda" not in each.backends, bool(each.overrides), scale, each.machine, each.csv.name)


def machines(found: Sequence[Measurement]) -> list[str]:
    """Return the machines, those with a GPU's results first."""
    gpu = {each.machine for each in found if "cuda" in each.backends}
    return sorted({each.machine for each in found}, key=lambda name: (name not in gpu, name))
