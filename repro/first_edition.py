"""What files of the first edition hide in names, read as parameters: ``experiments/<paper>/first_edition.toml``.

.. code-block:: toml

    [metrics]  # the name then, and the name now; what stands in braces is a parameter of the row
    "iterations_to_1e{exponent}" = "iterations_to"

    [methods]  # of an artefact, the form of its methods' names; they stay as they are
    table2 = "{element}-{numbering}-{format}"

The first form that fits counts. This module goes with the last file of the first edition.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache.store import read_toml
from repro.model import ReproError
from repro.run.rounds import named

FILE = "first_edition.toml"
PART = re.compile(r"\{(\w+)\}")


def renamed(artefact: str, metric: str) -> tuple[str, dict[str, Any]]:
    """Return a metric's name now, and the row's own parameters that it held."""
    for form, now in _forms(_folder(artefact))["metrics"].items():
        if match := _pattern(form).fullmatch(metric):
            return now, _values(match)
    return metric, {}


def parameters(artefact: str, method: str) -> dict[str, Any]:
    """Return the parameters that a method's name holds."""
    forms = _forms(_folder(artefact))["methods"].get(artefact.partition("-")[2], ())
    for form in [forms] if isinstance(forms, str) else forms:
        if match := _pattern(form).fullmatch(method):
            return _values(match)
    return {}


def with_samples(cell: Mapping[str, Any], artefact: str) -> Mapping[str, Any]:
    """Return the samples of a cell as a file has them, by the names that they have now; of rounds as they are."""
    if "rounds" in cell:
        return cell
    found, held = {}, parameters(artefact, cell["method"])
    for then, taken in cell["samples"].items():
        metric, own = renamed(artefact, then)
        found[named({"metric": metric, "parameters": held | own}, cell["parameters"])] = taken
    return {**cell, "samples": found}


def _values(match: re.Match) -> dict[str, Any]:
    return {name: _value(text) for name, text in match.groupdict().items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@cache
def _pattern(form: str) -> re.Pattern:
    """Return the expression of a form: a name in braces is any text."""
    parts, end = [], 0
    for part in PART.finditer(form):
        parts += [re.escape(form[end : part.start()]), f"(?P<{part[1]}>.+?)"]
        end = part.end()
    return re.compile("".join([*parts, re.escape(form[end:])]))


def _folder(artefact: str) -> Path:
    return environment.experiments_folder() / artefact.partition("-")[0]


@cache
def _forms(folder: Path) -> Mapping[str, Mapping[str, str | Iterable[str]]]:
    path, empty = folder / FILE, {"metrics": {}, "methods": {}}
    found = empty | read_toml(path)
    if found.keys() != empty.keys():
        raise ReproError(f"{path}: it has {' and '.join(empty)}, and nothing else")
    return found
