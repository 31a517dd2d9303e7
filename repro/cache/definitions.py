"""A module taken apart into its definitions, each with its hash and the names in its code."""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from repro.cache.glance import state

FINDERS = ("iter_modules", "walk_packages")
IMPORTERS = ("import_module", "__import__")
#: Decorators of functions whose code does not run, or not each time that they are called.
SILENT = frozenset({"cache", "once", "lru_cache", "cached_property", "njit", "jit", "vectorize", "guvectorize"})
NAMELESS = ""  # of a module: the statements that bind no name, as calls and conditions


@dataclass(frozen=True)
class Uses:
    """The names in a piece of code."""

    #: `names`, `attributes`, `texts`: plain names, names behind a dot, and texts that could be either or a file's name.
    names: frozenset[str]
    attributes: frozenset[str]
    texts: frozenset[str]
    chains: frozenset[tuple[str, str]]  #: A plain name with the attribute behind it, as of a module
    #: Name that is bound, absolute module, name in it, empty for the module itself.
    imports: tuple[tuple[str, str, str], ...]
    packages: tuple[str, ...]  #: packages in which modules are found while the program runs; ``"."`` is the file's own


@dataclass
class Module:
    """A source file, taken apart into definitions by qualified name."""

    uses: dict[str, Uses] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    bound: dict[str, list[str]] = field(default_factory=dict)  # the definitions that bind a top-level name
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # by top-level imports: module and name in it
    methods: dict[str, dict[str, str]] = field(default_factory=dict)  # of each class, by name
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
        text = _dump(_without_effect(ast.parse(text))).encode()
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
    module, nameless = Module(), []
    for node in _without_effect(ast.parse(text)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module.imported |= {bound: (of, item) for bound, of, item in _imports(node, package)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _define_function(module, node.name, [node], package, node.name)
        elif isinstance(node, ast.ClassDef):
            _define_class(module, node, package)
        elif names := _bound(node):
            _define(module, "=".join(sorted(names)), [node], package, *names)
        else:
            nameless.append(node)
    if nameless:
        _define(module, NAMELESS, nameless, package)
    return module


def _define_class(module: Module, node: ast.ClassDef, package: tuple[str, ...]) -> None:
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    kinds: dict[str, list[ast.stmt]] = {}
    for each in methods:  # a property has several of one name
        kinds.setdefault(each.name, []).append(each)
    for name, same in kinds.items():
        _define_function(module, f"{node.name}.{name}", same, package)
    module.methods[node.name] = {name: f"{node.name}.{name}" for name in kinds}
    node.body = [each for each in node.body if each not in methods]
    _define(module, node.name, [node], package, node.name)


def _define_function(module: Module, unit: str, nodes: list, package: tuple[str, ...], *names: str) -> None:
    module.functions.add(unit)
    decorators = (each for node in nodes for decorator in node.decorator_list for each in ast.walk(decorator))
    if any(getattr(each, "attr", getattr(each, "id", "")) in SILENT for each in decorators):
        module.silent.add(unit)
    _define(module, unit, nodes, package, *names)


def _define(module: Module, unit: str, nodes: list[ast.stmt], package: tuple[str, ...], *names: str) -> None:
    texts = "\n".join(map(_dump, nodes))
    if unit in module.digests:  # bound again further down
        texts = module.digests[unit] + texts
        nodes = [*nodes]
    uses = _uses(nodes, package)
    if unit in module.uses:
        uses = _joined(module.uses[unit], uses)
    module.digests[unit] = hashlib.sha256(texts.encode()).hexdigest()[:16]
    module.uses[unit] = uses
    for name in names:
        if unit not in module.bound.setdefault(name, []):
            module.bound[name].append(unit)


def _joined(one: Uses, other: Uses) -> Uses:
    return Uses(*(getattr(one, name) | getattr(other, name) for name in ("names", "attributes", "texts", "chains")),
                one.imports + other.imports, one.packages + other.packages)  # fmt: skip


def _uses(nodes: Iterable[ast.stmt], package: tuple[str, ...]) -> Uses:
    names, attributes, texts, chains = set(), set(), set(), set()
    imports: list[tuple[str, str, str]] = []
    packages: list[str] = []
    for node in (each for top in nodes for each in ast.walk(top)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
            if isinstance(node.value, ast.Name):
                chains.add((node.value.id, node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            texts.add(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports += _imports(node, package)
        elif isinstance(node, ast.Call):
            packages += _looked_in(node, package, imports)
    return Uses(*map(frozenset, (names, attributes, texts, chains)), tuple(imports), tuple(packages))


def _imports(node: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> list[tuple[str, str, str]]:
    if isinstance(node, ast.Import):
        whole = [(each.asname, each.name) for each in node.names]
        first = [(bound, name if bound else name.partition(".")[0]) for bound, name in whole]
        return [(bound or name, name, "") for bound, name in first]
    base = package[: len(package) - node.level + 1] if node.level else ()
    of = ".".join((*base, *filter(None, (node.module,))))
    return [(each.asname or each.name, of, each.name) for each in node.names]


def _looked_in(call: ast.Call, package: tuple[str, ...], imports: list[tuple[str, str, str]]) -> list[str]:
    """Return the package in which a call looks for a module whose name the program makes; of a fixed one the import."""
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if called in FINDERS:
        return ["."]
    if called not in IMPORTERS or not call.args:
        return []
    name = call.args[0]
    if isinstance(name, ast.Constant):
        imports.append(("", str(name.value), ""))
        return []
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else None
    stem = str(first.value).rpartition(".")[0] if isinstance(first, ast.Constant) else ""
    return [stem or "."]


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


def _dump(tree: ast.AST) -> str:
    """Return a tree as text, by every Python alike as 3.12 has it: another Python voids no measurement by itself."""
    if "type_params" not in ast.FunctionDef._fields:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node._fields, node.type_params = (*type(node)._fields, "type_params"), []
    return ast.dump(tree, show_empty=True) if sys.version_info >= (3, 13) else ast.dump(tree)
