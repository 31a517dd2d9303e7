"""Reads ``experiments/<paper>/derived.toml``: which sampled times the rows without samples of their own come from.

.. code-block:: toml

    step = "run"                          # the metric, and the time of its cell that was divided or divided by
    iteration_rate = "solve|iterations"   # the one that the cell has
    "time_per_iteration*" = "solve*"      # the second star is what the first stands for

A time or a rate that stands there has the interval of that time, scaled: of several the one whose own parameters are
the same. A metric that comes from no sampled time stands nowhere.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from repro import environment
from repro.cache.store import read_toml
from repro.model import ReproError

FILE = "derived.toml"


def sources(artefact: str, metric: str, folder: Path | None = None) -> tuple[str, ...]:
    """Return the names of the times that a metric may come from; none where the paper's file says nothing of it.

    Raises `ReproError` when the file is malformed.
    """
    paper = artefact.partition("-")[0]
    for pattern, times in _read((folder or environment.experiments_folder()) / paper / FILE).items():
        if fnmatchcase(metric, pattern):
            star = metric[len(pattern) - 1 :] if pattern.endswith("*") else ""
            return tuple(each.replace("*", star) for each in times.split("|"))
    return ()


@cache
def _read(path: Path) -> Mapping[str, str]:
    found = read_toml(path)
    if wrong := [name for name, times in found.items() if not isinstance(times, str)]:
        raise ReproError(f'{path}: {wrong[0]} has to name a time, as in step = "run"')
    return found
