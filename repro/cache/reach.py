"""What functions that ran depend on, across modules, by the names in their code.

A definition is a function, a class without its methods, a method, or a statement that binds names at a module's top
level. It reaches those whose names it uses. Of a class that is reached a method counts once anything reached has its
name as an attribute or a text; so do the members of a module that is found by name while the program runs. That finds
more than runs, and leaves out only what a program names by parts of words.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from pathlib import Path

from repro.cache.definitions import NAMELESS, Module, Uses, module_of

Unit = tuple[Path, str]  # a file, and the qualified name of a definition in it


def by_file(units: Iterable[Unit]) -> dict[Path, list[str]]:
    """Return the names of definitions by their files."""
    found: dict[Path, list[str]] = {}
    for path, name in sorted(units):
        found.setdefault(path, []).append(name)
    return found


class Follow:
    """What functions depend on that have run: the constants and classes that they name, and what runs unseen.

    Functions that they name are left out: those that count have run as well. What is `SILENT` is followed into all that
    it reaches, and so is what constants and the bodies of classes name, as they run when their module is imported.
    """

    def __init__(self, root: Path, packages: Collection[str], ran: Collection[Unit]):
        self.root, self.packages = root, frozenset(packages)
        self.seen: set[Unit] = set()
        self.todo: list[Unit] = []
        self.attributes: set[str] = set()
        self.members: dict[str, list[Unit]] = {}  # of reached classes and found modules, that no attribute names yet
        self._bodies: set[Unit] = set()
        self._is_following = True
        named: set[str] = set()
        for unit in sorted(ran):
            self._follow(unit)
            named |= module_of(unit[0]).uses[unit[1]].attributes
        for path in {path for path, _ in ran}:
            for name in module_of(path).silent:
                if name.rpartition(".")[2] in named:
                    self._start((path, name))
        self._is_following = False
        self.run()
        self.seen |= self._bodies | set(ran)

    def add(self, unit: Unit) -> None:
        path, name = unit
        module = module_of(path)
        if not self._is_following:
            self._reach(unit)
        elif name in module.methods:  # of a class that is named what makes it; of its methods those that ran
            if unit not in self._bodies:
                self._bodies.add(unit)
                self.todo.append(unit)
        elif name != NAMELESS and (name in module.silent or name not in module.functions):
            self._start(unit)

    def _reach(self, unit: Unit) -> None:
        path, name = unit
        module = module_of(path)
        if name in module.uses and unit not in self.seen:
            self.seen.add(unit)
            self.todo.append(unit)
            if module.uses.get(NAMELESS) and (path, NAMELESS) not in self.seen:
                self.add((path, NAMELESS))
            for method, qualified in module.methods.get(name, {}).items():
                self._member(method, (path, qualified))

    def _member(self, name: str, unit: Unit) -> None:
        if name in self.attributes or (name.startswith("__") and name.endswith("__")):
            self.add(unit)
        else:
            self.members.setdefault(name, []).append(unit)

    def _attribute(self, name: str) -> None:
        if name not in self.attributes:
            self.attributes.add(name)
            for unit in self.members.pop(name, ()):
                self.add(unit)

    def _named(self, path: Path, module: Module, uses: Uses) -> dict[str, tuple[str, str]]:
        """Follow what a unit names, and return what it imports by the names that it has there."""
        local = {bound: (of, item) for bound, of, item in uses.imports}
        for used in uses.names:
            self._name(path, module, used, local)
        for base, attribute in uses.chains:
            self._chain(module, base, attribute, local)
        return local

    def run(self) -> None:
        while self.todo:
            path, name = self.todo.pop()
            module = module_of(path)
            uses = module.uses[name]
            for text in (*uses.attributes, *uses.texts):
                self._attribute(text)
            local = self._named(path, module, uses)
            for text in uses.texts:
                if text.endswith(".py") and (path.parent / text).is_file():
                    self._whole(path.parent / text)
            for package in uses.packages:
                self._found_by_name(path, package)
            for of, item in local.values():
                if not item:
                    self._importing(of)

    def _name(self, path: Path, module: Module, name: str, local: dict[str, tuple[str, str]]) -> None:
        for unit in module.bound.get(name, ()):
            self.add((path, unit))
        target = local.get(name) or module.imported.get(name)
        if target:
            self._imported(*target)

    def _chain(self, module: Module, base: str, attribute: str, local: dict[str, tuple[str, str]]) -> None:
        target = local.get(base) or module.imported.get(base)
        if target and (file := self._file(".".join(filter(None, target)))):
            self._in_module(file, attribute)

    def _imported(self, of: str, item: str) -> None:
        """Follow an imported name: a definition, one that the module has from elsewhere, or a module of its own."""
        if not item:
            self._importing(of)
            return
        if submodule := self._file(f"{of}.{item}"):
            self._importing(f"{of}.{item}")
            if submodule.name == "__init__.py" or (file := self._file(of)) is None:
                return
            if item not in module_of(file).bound:
                return
        if file := self._file(of):
            self._importing(of)
            self._in_module(file, item)

    def _in_module(self, file: Path, name: str) -> None:
        module = module_of(file)
        for unit in module.bound.get(name, ()):
            self.add((file, unit))
        if name in module.imported:
            self._imported(*module.imported[name])
        elif "__getattr__" in module.bound and name not in module.bound:
            self.add((file, "__getattr__"))

    def _importing(self, of: str) -> None:
        """Count what importing a module does besides binding names."""
        if file := self._file(of):
            self.add((file, NAMELESS))

    def _whole(self, file: Path) -> None:
        for name in module_of(file).uses:
            self.add((file, name))

    def _found_by_name(self, path: Path, package: str) -> None:
        folder = path.parent if package == "." else self.root.joinpath(*package.split("."))
        if not folder.is_dir() or folder.relative_to(self.root).parts[0] not in self.packages:
            return
        for file in [each for each in folder.glob("*.py") if each.name != "__init__.py"]:
            module = module_of(file)
            self.add((file, NAMELESS))
            for name, units in module.bound.items():
                for unit in units:
                    self._member(name, (file, unit))

    def _file(self, name: str) -> Path | None:
        return _file(name, self.root, self.packages)

    def _start(self, unit: Unit) -> None:
        self._is_following = False
        self._reach(unit)
        self._is_following = True

    def _follow(self, unit: Unit) -> None:
        path, name = unit
        module = module_of(path)
        uses = module.uses[name]
        self._named(path, module, uses)
        for text in uses.texts:
            if text.endswith(".py") and (path.parent / text).is_file():
                self._is_following = False
                self._whole(path.parent / text)
                self._is_following = True


@functools.lru_cache(maxsize=65536)
def _file(name: str, root: Path, packages: frozenset[str]) -> Path | None:
    """Return the file of a module of the packages that are followed."""
    parts = name.split(".")
    if parts[0] not in packages:
        return None
    place = root.joinpath(*parts)
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
