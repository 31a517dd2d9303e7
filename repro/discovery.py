"""Find artefacts by their place: ``experiments/<paper>/<table|figure><number>_<slug>.py``.

Modules are parsed and not imported, so that listing takes milliseconds and a module with an error hides no other.
"""

import ast
import difflib
import functools
import importlib
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from repro import environment
from repro.cache.glance import state
from repro.model import SCALES, ReproError

FILE_NAME = re.compile(r"(?P<kind>table|figure)(?P<number>\d+)_(?P<slug>\w+)\.py")
REQUIRED = ("cells", "measure", "tables", "plot")


class UnknownName(ReproError):
    """A name on the command line that nothing has; the message suggests the nearest ones."""


@dataclass(frozen=True)
class Artefact:
    """A table or a figure of a paper."""

    id: str  #: as in ``fu2014-table3``
    #: `paper`, `kind`: as in ``fu2014`` and ``table``.
    paper: str
    kind: str
    number: int
    title: str  #: first line of the module's docstring
    path: Path
    module: str  #: dotted name
    minutes: dict[str, float] = field(default_factory=dict)  #: expected minutes by scale
    error: str = ""  #: why the module cannot be used; empty when it can
    measure: str = ""  #: dotted name of the module that `measure` is imported from; empty when it is defined here

    @property
    def stem(self) -> str:
        """``table3`` or ``figure7``: the name of the artefact's files."""
        return f"{self.kind}{self.number}"


def find(folder: Path | None = None) -> list[Artefact]:
    """Return all artefacts, papers in alphabetical order, tables before figures, by number."""
    folder = folder or environment.experiments_folder()
    found = [
        _parsed(path, folder.name, *state(path))
        for path in folder.glob("*/*.py")
        if FILE_NAME.fullmatch(path.name) and not path.parent.name.startswith((".", "_"))
    ]
    found.sort(key=lambda artefact: (artefact.paper, artefact.kind != "table", artefact.number, artefact.path.name))
    return _without_twins(found)


@functools.lru_cache(maxsize=1024)
def _parsed(path: Path, package: str, _modified: int, _size: int) -> Artefact:
    """Read an artefact's file, once for as long as it does not change."""
    paper, match = path.parent.name, FILE_NAME.fullmatch(path.name)
    title, minutes, error, measure = match["slug"].replace("_", " "), {}, "", ""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError) as problem:  # ValueError: null bytes
        line = f", line {problem.lineno}" if isinstance(problem, SyntaxError) and problem.lineno else ""
        error = f"{paper}/{path.name}{line}: {getattr(problem, 'msg', problem)}"
    else:
        docstring = ast.get_docstring(tree) or ""
        title = docstring.partition("\n")[0].strip().removesuffix(".") or title
        minutes, error = _minutes(tree)
        measure = _measure(tree)
        missing = [name for name in REQUIRED if name not in _functions(tree)]
        if missing:
            error = f"{paper}/{path.name} defines no {', no '.join(missing)}"
    return Artefact(
        id=f"{paper}-{match['kind']}{int(match['number'])}", paper=paper, kind=match["kind"],
        number=int(match["number"]), title=title, path=path, module=f"{package}.{paper}.{path.stem}",
        minutes=minutes, error=error, measure=measure,
    )  # fmt: skip


def _functions(tree: ast.Module) -> set[str]:
    """Names that a module binds at its top level by a definition, an import or an assignment."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names.update((alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def _measure(tree: ast.Module) -> str:
    """The module that `measure` is imported from."""
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return next((n.module or "" for n in imports if any((a.asname or a.name) == "measure" for a in n.names)), "")


def _minutes(tree: ast.Module) -> tuple[dict[str, float], str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == "MINUTES" for target in targets):
            continue
        try:
            minutes = {scale: float(value) for scale, value in ast.literal_eval(node.value).items()}
        except (ValueError, TypeError, AttributeError):
            return {}, "MINUTES is not a literal dictionary of numbers by scale"
        unknown = sorted(set(minutes) - set(SCALES))
        return minutes, f"MINUTES has unknown scales: {', '.join(unknown)}" if unknown else ""
    return {}, ""


def _without_twins(artefacts: list[Artefact]) -> list[Artefact]:
    """Two files for one table would overwrite one another's results: keep the first and call it broken."""
    kept: dict[str, Artefact] = {}
    for artefact in artefacts:
        first = kept.setdefault(artefact.id, artefact)
        if first is not artefact:
            error = f"{first.path.name} and {artefact.path.name} are both {artefact.id}"
            kept[artefact.id] = replace(first, error=error)
    return list(kept.values())


def measured_by(artefact: Artefact) -> Artefact:
    """Return the artefact whose cells this one shows: itself, or the one that it imports `measure` from.

    So two tables of the same measurements measure them once.
    """
    return next((other for other in find() if other.module == artefact.measure), artefact)


def select(
    names: Sequence[str] = (), paper: Sequence[str] = (), kind: str | None = None, folder: Path | None = None
) -> list[Artefact]:
    """Return the artefacts that a command names; all of them when it names none.

    Raises `UnknownName` if a name is none of an artefact's, with the nearest ones.

    `names`: artefact ids (``fu2014-table3``), tables or figures of every paper (``table3``), or papers (``fu2014``).
    """
    artefacts = find(folder)
    if not artefacts:
        raise ReproError(f"there is no artefact in {folder or environment.experiments_folder()}")
    papers = sorted({artefact.paper for artefact in artefacts})
    for name in paper:
        require(name, papers, "paper")
    if kind:
        require(kind, ("table", "figure"), "kind")
    wanted = set()
    for name in names:
        matches = [a.id for a in artefacts if name in (a.id, a.stem, a.paper)]
        if not matches:
            among = [a for a in artefacts if not paper or a.paper in paper]
            known = [a.id for a in among] + papers + sorted({a.stem for a in among})
            raise unknown(name, known, "artefact", "`repro list` shows them all")
        wanted.update(matches)
    chosen = [
        a for a in artefacts
        if (not names or a.id in wanted) and (not paper or a.paper in paper) and (not kind or a.kind == kind)
    ]  # fmt: skip
    if not chosen:
        raise UnknownName("no artefact matches all that was asked for; `repro list` shows them all")
    return chosen


def require(name: str, known: Iterable[str], what: str) -> None:
    """Raise `UnknownName` with the nearest known names unless `name` is one of them."""
    known = list(known)
    if name not in known:
        raise unknown(name, known, what)


def unknown(name: str, known: Iterable[str], what: str, advice: str = "") -> UnknownName:
    """Return the error for a name that is none of the known ones, suggesting the nearest."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif advice:
        hint = advice
    else:
        hint = f"there are: {', '.join(known)}" if known else "there are none"
    return UnknownName(f"no {what} {name!r}; {hint}")


def load(artefact: Artefact) -> ModuleType:
    """Import an artefact's module.

    Raises `ReproError` if the module is broken or its import fails.
    """
    if artefact.error:
        raise ReproError(f"{artefact.id} is broken: {artefact.error}")
    try:
        return importlib.import_module(artefact.module)
    except Exception as error:
        raise ReproError(f"{artefact.id} cannot be imported: {type(error).__name__}: {error}") from error


def by_timing(artefact: Artefact) -> tuple[Collection[str], Collection[str]]:
    """Return the metrics that cells choose by timing, and counts that follow from times: both beside `measure`.

    Raises `ReproError` where `load` does.
    """
    module = sys.modules[load(artefact).measure.__module__]
    return getattr(module, "CHOSEN_BY_TIMING", ()), getattr(module, "COUNTED_BY_TIMING", ())
