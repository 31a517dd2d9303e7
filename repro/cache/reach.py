"""Dependencies of functions that ran, across modules, by the names in their code.

A definition is a function, a class without its methods, a method, or a statement that binds names at a module's top
level. Functions that ran are known, and so functions that they name are left out. Functions that ran depend on the
constants and classes that they name, and on what runs unseen: `SILENT` functions, and whatever ran when a module was
imported.
"""

import functools
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from repro.cache.definitions import NAMELESS, importing, module_of

Unit = tuple[Path, str]  # a file, and the qualified name of a definition in it


def by_file(units: Iterable[Unit]) -> dict[Path, list[str]]:
    """Return the names of definitions by their files."""
    found: dict[Path, list[str]] = {}
    for path, name in sorted(units):
        found.setdefault(path, []).append(name)
    return found


def reached(root: Path, packages: Collection[str], ran: Collection[Unit]) -> set[Unit]:
    """Return the functions that ran, and all that they depend on in some packages below a root."""
    find = functools.partial(_file, root=root, packages=frozenset(packages))
    called = {attribute for path, name in ran for _, attribute in module_of(path).names[name]}
    seen, todo = set(ran), [(path, unit) for path in {path for path, _ in ran} for unit in _unseen(path, called)]
    for path, name in ran:
        for other, unit in _named(path, name, find):
            if not _is_python(other) or unit in module_of(other).silent or unit not in module_of(other).functions:
                todo.append((other, unit))
    while todo:
        unit = path, name = todo.pop()
        if unit in seen:
            continue
        seen.add(unit)
        if not _is_python(path):
            continue
        module = module_of(path)
        todo += [(path, unit) for unit in _unseen(path, ())]
        found = list(_named(path, name, find))
        todo += found
        if name not in module.methods:  # what a class names of others are bases, whose methods ran or did not
            python = [unit for unit in found if _is_python(unit[0])]
            todo += [(other, method) for other, each in python for method in module_of(other).methods.get(each, ())]
    return seen


def _unseen(path: Path, called: Collection[str]) -> Iterator[str]:
    """Yield what of a module runs that is not told: statements without a name, silent methods that are asked for."""
    module = module_of(path)
    yield from {NAMELESS} & module.names.keys()
    yield from (unit for unit in module.silent if "." in unit and unit.rpartition(".")[2] in called)


def _is_python(path: Path) -> bool:
    return path.suffix == ".py"


def _named(path: Path, name: str, find) -> Iterator[Unit]:
    """Yield the definitions that a definition names; all of a file beside it that it names."""
    module = module_of(path)
    for base, attribute in module.names[name]:
        for unit in module.bound.get(base, ()):
            yield path, unit
        if base in module.imported:
            yield path, importing(base)
            yield from _imported(*module.imported[base], attribute, find)
        if base == "self" and (method := f"{name.partition('.')[0]}.{attribute}") in module.functions:
            yield path, method
    for file in (path.parent / each for each in module.files[name]):
        if file.is_file():
            yield from ((file, unit) for unit in (module_of(file).names if _is_python(file) else [NAMELESS]))


def _imported(of: str, item: str, attribute: str, find) -> Iterator[Unit]:
    """Yield the definitions that an imported name is, or one behind a dot where it is a module."""
    if item and (file := find(f"{of}.{item}")) is None:
        file, attribute = find(of), item
    elif not item:
        file = find(of)
    if file is None or not attribute:
        return
    module = module_of(file)
    if attribute in module.bound:
        yield from ((file, unit) for unit in module.bound[attribute])
    elif attribute in module.imported:
        yield file, importing(attribute)
        yield from _imported(*module.imported[attribute], "", find)
    else:
        yield from ((file, unit) for unit in module.bound.get("__getattr__", ()))


@functools.lru_cache(maxsize=65536)
def _file(name: str, root: Path, packages: frozenset[str]) -> Path | None:
    """Return the file of a module of the packages that are followed."""
    parts = name.split(".")
    if parts[0] not in packages:
        return None
    place = root.joinpath(*parts)
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
