"""Which sources a measurement is made of: the static closure of an artefact's imports, each source with its hash.

Of the artefact's own module only what `measure` reaches counts, so that a change of a plot measures nothing again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Packages whose modules a measurement is made of; the harness itself enters by `HARNESS` alone.
PACKAGES = ("kernels", "baselines", "datasets")
#: What compiles, launches and times kernels: every cell on a device depends on it, though no artefact imports it.
DEVICE_PACKAGE = "kernels/device"
HARNESS = ("timing.py", "statistics.py", "context.py", "ceilings.py")
KERNEL_SUFFIXES = (".c", ".cu", ".cl", ".h", ".cuh", ".cpp", ".hpp", ".inc")
#: The function of an artefact's module that measures.
ENTRY = "measure"

Import = tuple[int, str, tuple[str, ...]]  # level of a relative import, module, names


def digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()[:16]


def source_hash(path: Path, entry: str = "") -> str:
    """Return the hash of a source file; comments, docstrings and layout of Python sources do not enter it.

    With an `entry`, the name of a function, only that function and what it reaches in its module is hashed.
    """
    return _scan(path, entry, *_stamp(path))[0]


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=4096)
def _scan(path: Path, entry: str, _modified: int, _size: int) -> tuple[str, tuple[Import, ...]]:
    """Hash a file and, for Python, list its imports."""
    content = path.read_bytes()
    if path.suffix != ".py":
        return digest(content), ()
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return digest(content), ()
    if entry:
        tree.body = _reached(tree, entry)
    imports = []
    for node in ast.walk(tree):  # also within functions
        if isinstance(node, ast.Import):
            imports.extend((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.body and _is_text(node.body[0]):
                node.body = node.body[1:] or [ast.Pass()]
    return digest(ast.dump(tree).encode()), tuple(imports)


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


def closure(start: Path, root: Path) -> list[Path]:
    """Return the sources that a module reaches by imports, itself among them.

    Parameters
    ----------
    start : Path
        A Python file, or the folder of a package: then all of its modules.
    root : Path
        The folder that holds the packages.

    Returns
    -------
    list of Path
        Python files of the packages in `root`, and the kernel sources that lie beside the imported modules.
    """
    inside = root / start.relative_to(root).parts[0]
    packages = {inside.name, *PACKAGES}
    todo = sorted(start.glob("*.py")) if start.is_dir() else [start]
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        names = _imported(path, root, ENTRY if path == start else "")
        todo.extend(found for name in names for found in _files(name, root, packages))
    folders = {path.parent for path in seen}
    seen.update(p for folder in folders for p in folder.iterdir() if p.suffix in KERNEL_SUFFIXES and p.is_file())
    return sorted(seen)


def _imported(path: Path, root: Path, entry: str) -> Iterator[str]:
    """Dotted names that a file may import; ``from a import b`` may mean the module ``a.b``."""
    package = path.relative_to(root).parent.parts
    for level, module, names in _scan(path, entry, *_stamp(path))[1]:
        base = ".".join((*package[: len(package) - level + 1], *filter(None, (module,)))) if level else module
        yield base
        yield from (f"{base}.{name}" for name in names)


def _files(name: str, root: Path, packages: Iterable[str]) -> Iterator[Path]:
    """The files that importing a dotted name runs: those of the packages above it, and its own."""
    parts = name.split(".")
    if parts[0] not in packages:
        return
    for depth in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:depth])
        yield from (path for path in (place.with_name(place.name + ".py"), place / "__init__.py") if path.is_file())


def sources(start: Path, root: Path, on_device: bool) -> dict[str, str]:
    """Return the hash of each source that a cell depends on, by its path below the root.

    Parameters
    ----------
    start : Path
        The artefact's module.
    root : Path
    on_device : bool
        Whether the cell runs kernels, and so depends on what compiles and launches them.
    """
    paths = set(closure(start, root))
    device = root / DEVICE_PACKAGE
    if on_device and device.is_dir():
        paths.update(closure(device, root))
    hashes = {
        path.relative_to(root).as_posix(): source_hash(path, ENTRY if path == start else "") for path in sorted(paths)
    }
    here = Path(__file__).parent
    hashes.update({f"repro/{name}": source_hash(here / name) for name in HARNESS if (here / name).is_file()})
    return hashes
