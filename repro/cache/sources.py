"""Which sources a measurement is made of: the static closure of an artefact's imports, each source with its hash.

Of the artefact's own module only what `measure` reaches counts, so that a change of a plot measures nothing again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

#: Packages whose modules a measurement is made of; the harness itself enters by `HARNESS` alone.
PACKAGES = ("kernels", "baselines", "datasets")
#: What compiles, launches and times kernels: every cell on a device depends on it, though no artefact imports it.
DEVICE_PACKAGE = "kernels/device"
HARNESS = (*(f"run/{name}.py" for name in ("timing", "statistics", "context", "ceilings", "measure")), "units.py")
#: Those of the harness that measure ceilings.
PROBING = tuple(f"run/{name}.py" for name in ("timing", "statistics", "ceilings"))
KERNEL_SUFFIXES = (".c", ".cu", ".cl", ".h", ".cuh", ".cpp", ".hpp", ".inc")
#: The function of an artefact's module that measures.
ENTRY = "measure"


class Scan(NamedTuple):
    """What a source file holds.

    Attributes
    ----------
    hash : str
    imports : tuple of (int, str, tuple of str)
        Level of a relative import, module, names.
    places : tuple of str
        Packages in which modules are found by name while the program runs; ``"."`` is the file's own.
    """

    hash: str
    imports: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    places: tuple[str, ...] = ()


def digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()[:16]


def source_hash(path: Path, entry: str = "") -> str:
    """Return the hash of a source file; comments, docstrings and layout of Python sources do not enter it.

    With an `entry`, the name of a function, only that function and what it reaches in its module is hashed.
    """
    return scan(path, entry).hash


def scan(path: Path, entry: str = "") -> Scan:
    """Read a source file, once for as long as it does not change."""
    status = path.stat()
    return _scan(path, entry, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _scan(path: Path, entry: str, _modified: int, _size: int) -> Scan:
    content = path.read_bytes()
    if path.suffix != ".py":
        return Scan(digest(content))
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return Scan(digest(content))
    if entry:
        tree.body = _reached(tree, entry)
    tree = _WithoutEffect().visit(tree)
    imports, places = [], set()
    for node in ast.walk(tree):  # also within functions
        if isinstance(node, ast.Import):
            imports.extend((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Call):
            fixed, place = _found_by_name(node)
            imports.extend((0, name, ()) for name in fixed)
            places.update(place)
    return Scan(digest(_dump(tree).encode()), tuple(imports), tuple(sorted(places)))


def _dump(tree: ast.AST) -> str:
    """Return a tree as text, by every Python alike as 3.12 has it: another Python voids no measurement by itself.

    Before 3.12 definitions have no `type_params`; 3.13 leaves out what is empty.
    """
    if "type_params" not in ast.FunctionDef._fields:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node._fields, node.type_params = (*node._fields, "type_params"), []
    return ast.dump(tree, show_empty=True) if sys.version_info >= (3, 13) else ast.dump(tree)


class _WithoutEffect(ast.NodeTransformer):
    """Takes out what does nothing when the program runs: docstrings, and imports for type checkers."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if _is_text(node) else node

    def visit_If(self, node: ast.If) -> ast.AST:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = []
        return self.generic_visit(node)


def _found_by_name(call: ast.Call) -> tuple[list[str], list[str]]:
    """The module that a call imports, when it says which, else the package in which it looks for modules."""
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if called in ("iter_modules", "walk_packages"):
        return [], ["."]
    if called not in ("import_module", "__import__") or not call.args:
        return [], []
    name = call.args[0]
    if isinstance(name, ast.Constant):
        return [str(name.value)], []
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else None
    package, dot, _ = str(first.value).rpartition(".") if isinstance(first, ast.Constant) else ("", "", "")
    return [], [package if dot else "."]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _reached(tree: ast.Module, entry: str) -> list[ast.stmt]:
    """The statements of a module that the function `entry` reaches by names, in their order.

    Statements that bind no name, such as calls and conditions, are kept whenever they are there.
    """
    bound = [_bound(node) for node in tree.body]
    kept = {k for k, names in enumerate(bound) if not names and not _is_text(tree.body[k])}
    if not any(entry in names for names in bound):
        return tree.body
    wanted, todo = set(), [entry]
    todo += [n.id for k in kept for n in ast.walk(tree.body[k]) if isinstance(n, ast.Name)]
    while todo:
        name = todo.pop()
        if name in wanted:
            continue
        wanted.add(name)
        for k, names in enumerate(bound):
            if name in names and k not in kept:
                kept.add(k)
                todo.extend(n.id for n in ast.walk(tree.body[k]) if isinstance(n, ast.Name))
    return [tree.body[k] for k in sorted(kept)]


def _bound(node: ast.stmt) -> set[str]:
    """Names that a top-level definition, import or assignment binds; empty for any other statement."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return set()


def closure(start: Path, root: Path, names: Collection[str] = (), entry: str = "") -> list[Path]:
    """Return the sources that a module reaches by imports, itself among them.

    Where a package finds modules by name as the program runs, those count that `names` has; if it has none, all do.

    Parameters
    ----------
    start : Path
        A Python file.
    root : Path
        The folder that holds the packages.
    names : collection of str
        Method, back end and parameters of a cell.
    entry : str
        Follow `start` from this function only.

    Returns
    -------
    list of Path
        Python files of the packages in `root`, and the kernel sources beside them, but for those of another module.
    """
    packages = frozenset((start.relative_to(root).parts[0], *PACKAGES))
    wanted, state = {name.lower().replace("-", "_") for name in names}, _state(root, packages)
    todo, seen = list(_parents(start, root)), set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        found = scan(path, entry if path == start else "")
        todo.extend(_imported_files(path, found.imports, root, packages, state))
        for place in found.places:
            modules = _modules(path.parent if place == "." else root.joinpath(*place.split(".")), state)
            todo.extend([module for module in modules if module.stem in wanted] or modules)
    kernels = [pair for folder in {path.parent for path in seen} for pair in _kernel_sources(folder, state)]
    return sorted(seen.union(path for path, module in kernels if module is None or module in seen))


#: Per root and packages: their folders' times when they were last looked at, and how often those had changed.
_states: dict[tuple[Path, frozenset[str]], tuple[dict[str, int], int]] = {}


def _state(root: Path, packages: frozenset[str]) -> int:
    """Return a number that changes whenever a file comes to the packages' folders, or leaves them.

    Planning asks which files there are some thousand times a cell: what was found holds for as long as this number.
    """
    times, count = _states.get((root, packages), ({}, 0))
    try:
        now = {folder: os.stat(folder).st_mtime_ns for folder in times}
    except FileNotFoundError:
        now = {}
    if not now or now != times:
        folders = [
            folder for package in packages for folder, _, _ in os.walk(root / package) if "__pycache__" not in folder
        ]
        _states[root, packages] = {folder: os.stat(folder).st_mtime_ns for folder in folders}, count + 1
    return _states[root, packages][1]


def _parents(path: Path, root: Path) -> Iterator[Path]:
    """A module and the packages that are imported before it."""
    yield path
    for folder in path.parents:
        if folder == root:
            return
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


@functools.lru_cache(maxsize=4096)
def _modules(folder: Path, _state: int) -> list[Path]:
    """The modules in a folder, in which some are found by name."""
    return [module for module in folder.glob("*.py") if module.name != "__init__.py"]


@functools.lru_cache(maxsize=4096)
def _kernel_sources(folder: Path, _state: int) -> list[tuple[Path, Path | None]]:
    """The kernel sources in a folder, each with the module of its name, or None where there is none, as for headers."""
    paths = [path for path in folder.iterdir() if path.suffix in KERNEL_SUFFIXES and path.is_file()]
    return [(path, module if (module := path.with_suffix(".py")).is_file() else None) for path in paths]


@functools.lru_cache(maxsize=8192)
def _imported_files(path: Path, imports: tuple, root: Path, packages: frozenset[str], _state: int) -> list[Path]:
    """The files that the imports of a file run."""
    names = _imported(imports, path.relative_to(root).parent.parts)
    return list(dict.fromkeys(file for name in names for file in _files(name, root, packages)))


def _imported(imports: tuple, package: tuple[str, ...]) -> Iterator[str]:
    """Dotted names that a file may import; ``from a import b`` may mean the module ``a.b``."""
    for level, module, names in imports:
        base = ".".join((*package[: len(package) - level + 1], *filter(None, (module,)))) if level else module
        yield base
        yield from (f"{base}.{name}" for name in names)


def _files(name: str, root: Path, packages: Collection[str]) -> Iterator[Path]:
    """The files that importing a dotted name runs: those of the packages above it, and its own."""
    parts = name.split(".")
    if parts[0] not in packages:
        return
    for depth in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:depth])
        yield from (path for path in (place.with_name(place.name + ".py"), place / "__init__.py") if path.is_file())


def sources(
    start: Path, root: Path, names: Collection[str], on_device: bool, entry: str = ENTRY,
    harness: Collection[str] = HARNESS,
) -> dict[str, str]:  # fmt: skip
    """Return the hash of each source that a measurement depends on, by its path below the root.

    Parameters
    ----------
    start : Path
        The artefact's module, or the environment's for ceilings.
    root : Path
    names : collection of str
        Method, back end and parameters of the cell; see `closure`.
    on_device : bool
        Whether the cell runs kernels, and so depends on what compiles and launches them.
    entry : str
        The function of `start` that measures.
    harness : collection of str
        Files of the harness that measure, too.
    """
    paths = set(closure(start, root, names, entry))
    device = root / DEVICE_PACKAGE / "__init__.py"
    if on_device and device.is_file():
        paths.update(closure(device, root, names))
    hashes = {
        path.relative_to(root).as_posix(): source_hash(path, entry if path == start else "") for path in sorted(paths)
    }
    here = Path(__file__).parents[1]
    hashes.update({f"repro/{name}": source_hash(here / name) for name in harness if (here / name).is_file()})
    return hashes


def probing(start: Path, root: Path, backend: str, entry: str) -> dict[str, str]:
    """Return the hash of each source that the ceilings of a back end's device depend on, by its path below the root.

    Of the kernel sources those alone that another of them names: a ceiling stands for as long as its probes do.
    """
    found = sources(start, root, [backend], backend != "host", entry, PROBING)
    others = {path for path in found if path.endswith(KERNEL_SUFFIXES)}
    todo = [path for path in found if path not in others and (root / path).is_file()]
    while todo:
        text = (root / todo.pop()).read_text(encoding="utf-8")
        named = {path for path in others if path.rpartition("/")[2] in text}
        others -= named
        todo += named
    return {path: value for path, value in found.items() if path not in others}
