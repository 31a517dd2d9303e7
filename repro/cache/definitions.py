"""A module taken apart into its definitions, each with its hash and the names in its code."""

import ast
import functools
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from repro import syntax
from repro.cache.glance import state

#: Decorators of functions whose code does not run, or not each time that they are called.
SILENT = frozenset({"cache", "once", "lru_cache", "cached_property", "njit", "jit", "vectorize", "guvectorize"})
FILE = re.compile(r"\w[\w/-]*\.[a-z]+")
NAMELESS = ""  # of a module: the statements that bind no name, as calls and conditions


@dataclass
class Module:
    """A source file, taken apart into definitions by qualified name."""

    #: By definition the plain names in it, each with the attribute behind it, empty without one.
    names: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)  # by definition what it names that may be a file
    digests: dict[str, str] = field(default_factory=dict)
    bound: dict[str, list[str]] = field(default_factory=dict)  # the definitions that bind a top-level name
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # by name: absolute module, and name in it
    methods: dict[str, list[str]] = field(default_factory=dict)  # of each class
    functions: set[str] = field(default_factory=set)  # definitions that are functions or methods
    silent: set[str] = field(default_factory=set)  # functions that may not be seen to run: see `SILENT`


def module_of(path: Path) -> Module:
    """Return a source file taken apart, once for as long as it does not change."""
    return _module(path, *state(path))


@functools.lru_cache(maxsize=8192)
def _module(path: Path, _modified: int, _size: int) -> Module:
    return take_apart(path.read_text(encoding="utf-8"), _package(path))


@functools.lru_cache(maxsize=8192)
def whole(path: Path, _modified: int, _size: int) -> str:
    """Return the hash of a whole file of Python, without what has no effect."""
    text = path.read_bytes()
    try:
        text = syntax.dumped(_without_effect(ast.parse(text))).encode()
    except (SyntaxError, ValueError):
        pass  # it does not run, whatever it says
    return hashlib.sha256(text).hexdigest()[:16]


def _package(path: Path) -> tuple[str, ...]:
    """Return the package that a file is in, for its relative imports."""
    parts, folder = [], path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return tuple(parts)


def take_apart(text: str, package: tuple[str, ...] = ()) -> Module:
    """Return the definitions of a module's source. Comments, docstrings and layout do not enter their hashes."""
    module, tree = Module(), _without_effect(ast.parse(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, source in _imports(node, package).items():
                module.imported[name] = source
                _add(module, importing(name), " ".join(source))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _define_function(module, node.name, node, node.name)
        elif isinstance(node, ast.ClassDef):
            _define_class(module, node)
        elif names := _bound(node):
            _define(module, "=".join(sorted(names)), node, *names)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            _define(module, NAMELESS, node)
    return module


def _define_class(module: Module, node: ast.ClassDef) -> None:
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    for each in methods:  # a property has several of one name
        _define_function(module, f"{node.name}.{each.name}", each)
    module.methods[node.name] = list(dict.fromkeys(f"{node.name}.{each.name}" for each in methods))
    node.body = [each for each in node.body if each not in methods]
    _define(module, node.name, node, node.name)


def _define_function(module: Module, unit: str, node: ast.FunctionDef | ast.AsyncFunctionDef, *names: str) -> None:
    module.functions.add(unit)
    decorators = (each for decorator in node.decorator_list for each in ast.walk(decorator))
    if any(getattr(each, "attr", getattr(each, "id", "")) in SILENT for each in decorators):
        module.silent.add(unit)
    _define(module, unit, node, *names)


def _define(module: Module, unit: str, node: ast.stmt, *names: str) -> None:
    """Add a statement to a definition, which has several where its name is bound again further down."""
    named, files = _add(module, unit, syntax.dumped(node))
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            named.add((each.id, ""))
        elif isinstance(each, ast.Attribute):
            named.add((getattr(each.value, "id", ""), each.attr))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and FILE.fullmatch(each.value):
            files.add(each.value)
    for name in names:
        if unit not in module.bound.setdefault(name, []):
            module.bound[name].append(unit)


def _add(module: Module, unit: str, text: str) -> tuple[set[tuple[str, str]], set[str]]:
    """Add a text to a definition; return where its names and its files go."""
    text = module.digests.get(unit, "") + text
    module.digests[unit] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return module.names.setdefault(unit, set()), module.files.setdefault(unit, set())


def importing(name: str) -> str:
    """Return the definition that says where an imported name is from."""
    return f"import {name}"


def _imports(node: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    if isinstance(node, ast.Import):
        whole = [(each.asname, each.name) for each in node.names]
        return {
            bound or name.partition(".")[0]: (name if bound else name.partition(".")[0], "") for bound, name in whole
        }
    base = package[: len(package) - node.level + 1] if node.level else ()
    of = ".".join((*base, *filter(None, (node.module,))))
    return {each.asname or each.name: (of, each.name) for each in node.names}


def _bound(node: ast.stmt) -> set[str]:
    """Names that a top-level assignment binds; empty for any other statement."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    else:
        targets = [node.name] if type(node).__name__ == "TypeAlias" else []
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _without_effect(tree: ast.Module) -> ast.Module:
    """Take out docstrings, and imports for type checkers."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_text(each)]
            node.body = kept or ([] if isinstance(node, ast.Module) else [ast.Pass()])
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = [ast.Pass()]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
