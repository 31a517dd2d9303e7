"""Reads ``experiments/<paper>/showcase.toml``: which kernels there are, what times them, and what they compete with.

.. code-block:: toml

    figures = ["figure8", "figure9"]         # for the results' page: the first that a GPU has drawn
    front = "figure8"                        # for the README; one paper has it
    headlines = ["speedup"]                  # ids of claims, for the README

    [[family]]                               # kernels that compute the same thing
    name = "Products, double precision"
    artefacts = ["figure8"]                  # that time them: the first that a machine has
    metric = "spmv"                          # or a sum of a cell's, "setup + solve", or the shorter of some, "a|b"
    cold = "spmv_cold"                       # by default the metric with _cold; of several rows "spmv[repeats=50]"
    on_processors = "spmv[repeats=1]"        # the metric there, where rivals have not the one above
    rivals = "cusparse_*|scipy_csr"          # methods of the same artefact, as a claim's selector names them: all whose
                                             # algorithm is the family's, whoever else of ours may be faster
    judged = false                           # where rivals are shown, but another family answers for what is lost here
    each = { element = ["q1", "q2"] }        # words in braces of methods and rivals: each is a case more
    fastest = { numbering = ["xyz", "hie"] } # further words in braces, of which each method's fastest counts: of ours
                                             # among the words that a rival ran on the same back end, if one ran there
    [family.kernels]                         # method, and the module whose docstring says what binds it: the first of
    sell = "spmv/sell.py"                    # several that speaks of the device
    ellwarp = ["spmv/ellwarp.py", "spmv/_warps.py"]
    [[family.loses]]                         # why a rival may be faster than the best of these
    rival = "cusparse_csr"                   # patterns: of its method, and by default of all back ends and cases
    backend = "cuda"
    cases = ["power-law*"]
    why = "its rows are cut by their entries"
    test = "tests/kernels/spmv/test_csr_merge.py::test_rows_are_cut"
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache.store import read_toml
from repro.model import ReproError

FILE = "showcase.toml"
_FAMILY = {
    "name", "artefacts", "metric", "on_processors", "cold", "rivals", "each", "fastest", "kernels", "loses", "judged"
}  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why rivals are faster than the best of a family's kernels, and the test that holds it."""

    rival: str
    why: str
    test: str  #: ``path::function``
    backend: str = "*"
    cases: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Family:
    """Kernels that compute the same thing."""

    paper: str
    name: str
    artefacts: tuple[str, ...]  #: ids, the first of which that a machine has is read
    #: `metric`, `cold`: of the time warm, and with the last-level cache evicted.
    metric: str
    cold: str
    rivals: tuple[str, ...] = ()  #: methods, patterns with ``*``; none where nothing else there computes it
    each: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  #: words in braces of methods and rivals
    fastest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  #: further words, of which the fastest counts
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  #: paths below ``kernels/`` by method
    reasons: tuple[Reason, ...] = ()
    on_processors: str = ""  #: the metric on processors, where that is another
    judged: bool = True  #: whether it counts where a rival is faster

    def metric_of(self, on_gpu: bool) -> str:
        """Return the metric of a time warm on a GPU, or on a processor."""
        return self.metric if on_gpu else self.on_processors or self.metric

    def words(self) -> list[dict[str, str]]:
        """Return every combination of the words in braces that make a case."""
        return _combined(self.each)

    def choices(self) -> list[dict[str, str]]:
        """Return every combination of the words in braces of which the fastest counts."""
        return _combined(self.fastest)


def _combined(words: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    return [dict(zip(words, values, strict=True)) for values in itertools.product(*words.values())]


@dataclass(frozen=True)
class Ledger:
    """The things of a paper that are shown: figures, headlines and families of kernels."""

    paper: str
    figures: tuple[str, ...] = ()  #: ids of artefacts, the best choice first
    front: str = ""  #: id of the artefact whose picture the README shows, of one paper
    headlines: tuple[str, ...] = ()  #: ids of claims
    families: tuple[Family, ...] = ()


def ledgers(folder: Path | None = None) -> list[Ledger]:
    """Return what every paper shows, papers in alphabetical order.

    Raises `ReproError` when a file is malformed, with its place.
    """
    folder = folder or environment.experiments_folder()
    return [_read(path) for path in sorted(folder.glob(f"*/{FILE}"))]


def headlines() -> list[tuple[str, str]]:
    """Return paper and id of the claims that the papers put first."""
    return [(each.paper, name) for each in ledgers() for name in each.headlines]


def _read(path: Path) -> Ledger:
    paper, content = path.parent.name, read_toml(path)
    try:
        figures = tuple(f"{paper}-{stem}" for stem in content.get("figures", []))
        families = tuple(_family(paper, entry) for entry in content.get("family", []))
        front = f"{paper}-{content['front']}" if "front" in content else ""
        return Ledger(paper, figures, front, tuple(content.get("headlines", [])), families)
    except (KeyError, TypeError, AttributeError, ReproError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ReproError(f"{path}: {what}") from None


def _family(paper: str, entry: Mapping[str, Any]) -> Family:
    if unknown := set(entry) - _FAMILY:
        raise ReproError(f"{', '.join(sorted(unknown))} is not known here; there are {', '.join(sorted(_FAMILY))}")
    rivals = entry.get("rivals", "")
    metrics = (metric.partition("[") for metric in entry["metric"].split("|"))
    cold = "|".join(f"{metric}_cold{bracket}{own}" for metric, bracket, own in metrics)
    return Family(
        paper, entry["name"], tuple(f"{paper}-{stem}" for stem in entry["artefacts"]), entry["metric"],
        entry.get("cold", cold), tuple(rivals.split("|")) if rivals else (),
        *({name: tuple(values) for name, values in entry.get(words, {}).items()} for words in ("each", "fastest")),
        {name: (where,) if isinstance(where, str) else tuple(where) for name, where in entry["kernels"].items()},
        tuple(Reason(**{**each, "cases": tuple(each.get("cases", ["*"]))}) for each in entry.get("loses", [])),
        entry.get("on_processors", ""), entry.get("judged", True),
    )  # fmt: skip
