"""Dependencies of a built mesh, as a hash: its recipe's code, the code that it uses, and the meshers' versions.

Comments, docstrings and layout do not count, so that they can be mended without building a mesh again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from importlib import metadata
from pathlib import Path

from repro import syntax

ROOT = Path(__file__).parent
# Modules, and the packages that mesh or draw random numbers for them.
MESHERS = {
    "mesher.py": "tetgen", "triangles.py": "scipy", "fu2014/irregular.py": "scipy", "wong2015/_irregular.py": "numpy",
}  # fmt: skip
# Read by every recipe or by none: whatever these do, they do not change what is built.
PASSIVE = {"errors.py", "cache.py", "recipe_keys.py", "recipes.py", "fetched.py"}


def key(name: str, scale: str, variant: str = "") -> str:
    """Return the hash of the recipe of `name`, or of one of its variants, at a scale, in hexadecimal."""
    files = closure(ROOT / f"{name}.py")
    state = hashlib.sha256(f"{' '.join(filter(None, (name, variant, scale)))}\n".encode())
    for path in files:
        state.update(f"{path.relative_to(ROOT)} {_meaning(path)}\n".encode())
    for package in packages(name):
        state.update(f"{package} {_version(package)}\n".encode())
    return state.hexdigest()


def packages(name: str) -> tuple[str, ...]:
    """Return the packages that mesh or draw random numbers for a recipe."""
    files = closure(ROOT / f"{name}.py")
    return tuple(package for module, package in MESHERS.items() if ROOT / module in files)


@functools.cache
def closure(path: Path) -> list[Path]:
    """Return the file and the modules of this package that it imports, directly or through others."""
    found, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        waiting += [module for module in _imports(current) if module.name not in PASSIVE]
        if current == ROOT / "mesher.py":
            waiting.append(ROOT / "_tetgen_worker.py")
    return sorted(found)


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _imports(path):
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "datasets":
            base = ROOT.joinpath(*node.module.split(".")[1:])
            for candidate in (base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)):
                if candidate.is_file():
                    yield candidate


@functools.cache
def _meaning(path: Path) -> str:
    """Return the hash of a module's syntax tree without its docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(syntax.dumped(tree).encode()).hexdigest()


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
