"""Checks of stored files against each other: a round is of one machine, facts repeat on others, times have samples.

Facts are compared between devices of one compute capability, on which sizes depend.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro.model import DONE
from repro.rows import place_of
from repro.run.rounds import SLACK, named
from repro.units import is_rate, is_time

SOURCES = ("code", "kernels", "data", "seed")  # of a key: what decides a fact, whatever the machine


class Across:
    """Collects every file's rows and rounds, and then says what cannot be."""

    def __init__(self):
        self._rounds: dict[tuple, dict[str, str]] = defaultdict(dict)  # by machine, the file
        self._moments: dict[tuple, dict[tuple[str, str], str]] = defaultdict(dict)  # by cell and samples, the file
        self._facts: dict[tuple, list[tuple[str, str, Any]]] = defaultdict(list)  # file, what it is of, value
        self._sampled: dict[str, set[str]] = defaultdict(set)  # by artefact: the metrics that some cell sampled
        self._bare: list[tuple[str, str, str, str]] = []  # file, artefact, cell, metric: of cells without rounds

    def add(self, file: str, manifest: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], samples: Sequence) -> None:
        """Add an artefact's files, ``machine/paper/name``."""
        about = manifest["artefact"], manifest["scale"], json.dumps(manifest["overrides"], sort_keys=True)
        cells = {place_of(cell): cell for cell in manifest["cells"]}
        for cell in samples:
            for each in cell["rounds"]:
                self._rounds[*about, *place_of(cell), each["host"], each["finished"]][file.partition("/")[0]] = file
                moment = file.partition("/")[0], each["host"], each["finished"]
                taken = " ".join(place_of(cell)), json.dumps(each["samples"], sort_keys=True)
                self._moments[moment].setdefault(taken, file)
        measured = {place_of(cell) for cell in samples}
        capability = {each["name"]: each["details"].get("compute capability") for each in manifest["devices"]}
        for row in rows:
            place, artefact = place_of(row), manifest["artefact"]
            if row["n"]:
                self._sampled[artefact].add(row["metric"])
            cell = cells.get(place)
            if cell is None or row["status"] != DONE or place in measured:
                continue
            self._bare.append((file, artefact, " ".join(place), row["metric"]))
            if is_time(row["unit"]) or is_rate(row["unit"]):
                continue  # how long a simulation took is the machine's own
            key = manifest["keys"][cell["key"]]
            sources = json.dumps([key[name] for name in SOURCES], sort_keys=True)
            name, able = named(row, cell["parameters"]), capability.get(row["device"])
            what = " ".join((*place, name))
            self._facts[*about, *place, name, row["unit"], able, sources].append((file, what, row["value"]))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a file and what is wrong with it."""
        for (*_, case, method, backend, _host, _finished), files in self._rounds.items():
            for machine, file in files.items() if len(files) > 1 else ():
                others = ", ".join(other for other in files if other != machine)
                yield file, f"{case} {method} {backend} has a round that {others} has, too"
        for taken in self._moments.values():
            ((first, _), file), *others = taken.items()
            yield from ((other, f"{cell} has a round of the moment of another, {first} in {file}")
                        for (cell, _), other in others)  # fmt: skip
        for found in self._facts.values():
            file, what, first = found[0]
            for other, _, value in found[1:]:
                if not _alike(first, value):
                    yield other, f"{what} is {value}, and {first} in {file}, of the same sources"
        for file, artefact, cell, metric in self._bare:
            if metric in self._sampled[artefact]:
                yield file, f"{cell} {metric} has no samples"


def _alike(one: float | None, other: float | None) -> bool:
    """Return whether two facts are the same, but for what rounding does to a count of iterations."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=SLACK, abs_tol=1.0 if float(one).is_integer() else 0.0)
