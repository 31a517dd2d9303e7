"""Time that a run spent, by paper, back end and stage: the log beside the results, to which each run adds its own."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.cache.store import Store, write_atomically
from repro.run.stages import STAGES

NAME = "minutes.csv"
COLUMNS = ("ended", "commit", "scale", "paper", "backend", "stage", "cells", "seconds")
Place = tuple[str, str, str]  # paper, back end and stage; empty where it is of all papers or of no cell


@dataclass
class Minutes:
    """Seconds by paper, back end and stage, and how many cells the first two had."""

    seconds: Counter[Place] = field(default_factory=Counter)
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, stage: str, seconds: float, paper: str = "", backend: str = "") -> None:
        """Count seconds of a stage."""
        self.seconds[paper, backend, stage] += seconds

    def measured(self, paper: str, record: Mapping[str, Any], seconds: float) -> None:
        """Count a cell that took so long, with what its record tells; the rest is the start of its process."""
        backend = record["identity"]["backend"]
        stages = record.get("stages", {})
        for stage, spent in stages.items():
            self.add(stage, spent, paper, backend)
        self.add("start", max(0.0, seconds - sum(stages.values())), paper, backend)
        self.cells[paper, backend] += 1

    def total(self, paper: str | None = None, backend: str | None = None, stage: str | None = None) -> float:
        """Return the seconds of a paper, back end and stage, or of all where one is not given."""
        wanted = paper, backend, stage
        return sum(spent for place, spent in self.seconds.items() if all(w in (None, p) for w, p in zip(wanted, place)))

    def places(self) -> list[tuple[str, str]]:
        """Return the papers and back ends, in their order; what is of no cell comes last."""
        return sorted({place[:2] for place in self.seconds}, key=lambda place: (place[0] == "", *place))

    def append(self, store: Store, ended: str, commit: str, scale: str) -> Path:
        """Add them to the log of a machine, and return it."""
        path = store.folder / NAME
        with store.lock("minutes"):
            _, _, rows = path.read_text(encoding="utf-8").partition("\n") if path.is_file() else ("", "", "")
            stream = io.StringIO()
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            stream.write(rows)
            order = {stage: number for number, stage in enumerate(STAGES)}
            for place, spent in sorted(self.seconds.items(), key=lambda each: (*each[0][:2], order[each[0][2]])):
                writer.writerow([ended, commit, scale, *place, self.cells[place[:2]], f"{spent:.3f}"])
            write_atomically(path, stream.getvalue())
        return path


def read(folder: Path, scale: str) -> Minutes:
    """Return what all runs of a machine's log spent at a scale; nothing where there is no log."""
    path, found = folder / NAME, Minutes()
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as stream:
            next(stream, "")  # the names, of which older logs call the first `begun`
            for row in csv.DictReader(stream, COLUMNS):
                place = row["paper"], row["backend"]
                if row["scale"] == scale:
                    found.add(row["stage"], float(row["seconds"]), *place)
                    if row["stage"] == "start":  # of which each run has one row a place that has cells
                        found.cells[place] += int(row["cells"])
    return found


def expected(seconds: Iterable[tuple[str, str, float]], known: Minutes) -> Minutes:
    """Return what cells should take: by paper and back end as is given, by stage in the shares of earlier runs."""
    found = Minutes()
    for paper, backend, each in seconds:
        found.cells[paper, backend] += 1
        total = known.total(paper, backend)
        shares = {stage: known.total(paper, backend, stage) / total for stage in STAGES} if total else {"": 1.0}
        for stage, share in shares.items():
            found.add(stage, each * share, paper, backend)
    return found
