"""The stored results of one machine, and how a selector of a claim finds its rows in them.

A selector is ``<table> <method> <metric> [<case>] [@<where>]``, as in ``table2 patch assembly regular @gpu``. Methods
may be alternatives, ``a|b``, or a pattern with ``*``. `where` is a back end (``cuda``, ``opencl``, ``openmp``,
``host``), ``gpu`` or ``cpu`` for the kind of processor, ``kernels`` for anything but the host's baselines; without it
anything counts. Where several rows answer the best counts: the least time, the highest rate, of other values that of
the first back end in the order of ``repro.results.PREFERENCE``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from repro.model import BACKENDS, DONE, SCALES, ReproError
from repro.results import PREFERENCE, is_missing
from repro.units import is_rate, is_time

PLACES = (*BACKENDS, "gpu", "cpu", "kernels")
_EMULATED = re.compile(r"(pthread|cpu|basic|tbb|omp)\b")  # PoCL's devices that are processors


@dataclass(frozen=True)
class Selector:
    """What a selector asks for; `case` and `place` may be empty."""

    stem: str
    methods: tuple[str, ...]
    metric: str
    case: str = ""
    place: str = ""

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Return the selector that a text gives.

        Raises
        ------
        ReproError
            When it is none.
        """
        words = text.split()
        place = words.pop()[1:] if words and words[-1].startswith("@") else ""
        if len(words) not in (3, 4) or place not in ("", *PLACES):
            raise ReproError(f"{text!r} is no selector: <table> <method> <metric> [<case>] [@{'|'.join(PLACES)}]")
        return cls(words[0], tuple(words[1].split("|")), words[2], words[3] if len(words) == 4 else "", place)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row's method and metric are among what is asked for."""
        return row["metric"] == self.metric and self.takes(row["method"])

    def takes(self, method: str) -> bool:
        """Return whether a method is among those asked for."""
        return any(fnmatchcase(method, each) for each in self.methods)


class Stored:
    """The results of one machine.

    Parameters
    ----------
    results : Path
        The results folder.
    machine : str
        The machine's folder in it.
    """

    def __init__(self, results: Path, machine: str):
        self.folder, self.machine = Path(results) / machine, machine
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def rows(self, artefact: str) -> list[dict[str, Any]]:
        """Return every row of an artefact, of all scales, each marked as measured on a GPU or not under ``gpu``."""
        if artefact not in self._rows:
            paper, _, stem = artefact.partition("-")
            files = sorted((self.folder / paper).glob(f"{stem}.csv")) + sorted(
                path for scale in SCALES for path in (self.folder / paper).glob(f"{stem}.{scale}.csv")
            )
            self._rows[artefact] = [row for path in files for row in self._read(path)]
        return self._rows[artefact]

    def _read(self, path: Path) -> Iterator[dict[str, Any]]:
        from repro.render import read_csv

        processor = ""
        manifest = path.with_suffix(".json")
        if manifest.is_file():
            processor = json.loads(manifest.read_bytes()).get("machine", {}).get("cpu") or ""
        for row in read_csv(path).to_dict("records"):
            yield {**row, "gpu": _is_gpu(row["backend"], row["device"], processor)}

    @cached_property
    def ceilings(self) -> dict[str, Any]:
        """The measured ceilings, as ``ceilings.json`` holds them, by back end and device."""
        path = self.folder / "ceilings.json"
        return json.loads(path.read_bytes()) if path.is_file() else {}

    def scales(self, artefact: str) -> list[str]:
        """Return the scales at which an artefact has rows."""
        present = {row["scale"] for row in self.rows(artefact)}
        return [scale for scale in SCALES if scale in present]

    def find(self, artefact: str, selector: Selector, scale: str, case: str) -> dict[str, Any] | None:
        """Return the best row that a selector asks for in a case, or None."""
        rows = [
            row for row in self.rows(artefact)
            if row["status"] == DONE and row["scale"] == scale and row["case"] == case and selector.fits(row)
            and in_place(row, selector.place) and not is_missing(row["value"])
        ]  # fmt: skip
        return _best(rows) if rows else None

    def cases(self, artefact: str, selector: Selector, scale: str) -> list[str]:
        """Return the cases in which a selector finds a value, in their order."""
        return list(dict.fromkeys(
            row["case"] for row in self.rows(artefact)
            if row["status"] == DONE and row["scale"] == scale and selector.fits(row) and in_place(row, selector.place)
            and not is_missing(row["value"])
        ))  # fmt: skip


def in_place(row: Mapping[str, Any], place: str) -> bool:
    """Return whether a row was measured where a selector wants it."""
    if place in ("", *BACKENDS):
        return place in ("", row["backend"])
    return row["backend"] != "host" if place == "kernels" else row["gpu"] == (place == "gpu")


def _is_gpu(backend: str, device: str, processor: str) -> bool:
    if backend == "opencl":
        return bool(device) and not _EMULATED.match(device) and not (processor and processor in device)
    return backend == "cuda"


def _best(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    rows = sorted(rows, key=lambda row: PREFERENCE.index(row["backend"]))
    if is_time(rows[0]["unit"]):
        return min(rows, key=lambda row: row["value"])
    return max(rows, key=lambda row: row["value"]) if is_rate(rows[0]["unit"]) else rows[0]
