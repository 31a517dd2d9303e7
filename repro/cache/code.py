"""The code that a measurement ran, as hashes: of whole files, and of the experiments the definitions that count alone.

Comments, docstrings and layout do not enter them.
"""

import functools
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from repro.cache import definitions, reach
from repro.cache.glance import once, state
from repro.cache.reach import Unit

EDITED = "edited while it was measured"
Code = dict[str, Any]  # by path below the root: a hash, or the names that count and their hash


def digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()[:16]


def of(
    codes: Iterable[CodeType], root: Path, packages: Collection[str], leaving: Collection[str] = (),
    sources: Collection[str] = (),
) -> Code:  # fmt: skip
    """Return what some functions that ran, and what they depend on, are now.

    Parameters
    ----------
    root : Path
        The folder that holds the packages.
    packages : sequence of str
        Whose code counts. Of the first, the experiments', the definitions are told apart.
    leaving : collection of str
        Folders and files of which nothing counts, as the environment accounts for it otherwise.
    sources : collection of str
        Folders of which Python alone counts: other files there are kernels' sources, which count by their texts.
    """
    folders = [root / folder for folder in leaving]
    by_path: dict[Path, list[CodeType]] = {}
    for code in codes:
        by_path.setdefault(Path(code.co_filename), []).append(code)
    for path in [path for path in by_path if any(path.is_relative_to(folder) for folder in folders)]:
        del by_path[path]  # what it leads to is no cell's either
    stale = {path for path, ran in by_path.items() if not _plain(path, ran) <= _codes(path, *state(path))}
    units = {unit for path, ran in by_path.items() for each in ran if (unit := _unit(path, each))}
    found = reach.by_file(reach.reached(root, packages, units))
    result: Code = {}
    for path in sorted({*found, *by_path}):
        if any(path.is_relative_to(folder) for folder in folders):
            continue
        if path.suffix != ".py" and any(path.is_relative_to(root / folder) for folder in sources):
            continue
        name, names = path.relative_to(root).as_posix(), sorted(set(found.get(path, ())))
        if path in stale:
            result[name] = EDITED
        elif name.startswith(f"{packages[0]}/") and path.suffix == ".py":
            result[name] = {"names": names, "hash": _hash(path, tuple(names), *state(path))}
        else:
            result[name] = _hash(path, None, *state(path))
    return result


def _unit(path: Path, code: CodeType) -> Unit | None:
    """Return the definition that a function is, or is within."""
    module, name = definitions.module_of(path), code.co_qualname.partition(".<locals>")[0]
    return (path, name) if name in module.names else None


def _plain(path: Path, ran: Collection[CodeType]) -> set[CodeType]:
    """Return the functions that run as Python compiled them: Numba shows others in the place of its own."""
    silent = definitions.module_of(path).silent
    return {code for code in ran if code.co_qualname.partition(".<locals>")[0] not in silent}


@functools.lru_cache(maxsize=1024)
def _codes(path: Path, _modified: int, _size: int) -> frozenset[CodeType]:
    """Every function of a file as it is now, compiled: what ran of an older state is none of them."""

    def within(code: CodeType) -> Iterator[CodeType]:
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from within(constant)

    try:
        return frozenset(within(compile(path.read_bytes(), str(path), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError, OSError):
        return frozenset()


def now(stored: Mapping[str, Any], root: Path) -> Code:
    """Return what the code of a stored key is now: a file that is gone has no entry, a name that is gone no hash."""
    found: Code = {}
    where = str(root)
    for name, entry in stored.items():
        names = tuple(entry["names"]) if isinstance(entry, Mapping) else None
        value = once((where, name, names), lambda name=name, names=names: hash_of(root / name, names))
        if value is not None:
            found[name] = value if names is None else {"names": entry["names"], "hash": value}
    return found


def hash_of(path: Path, names: Collection[str] | None = None) -> str | None:
    """Return the hash of a file, or of some definitions in it; None where it is not there."""
    try:
        return _hash(path, None if names is None else tuple(names), *state(path))
    except OSError:
        return None


@functools.lru_cache(maxsize=16384)
def _hash(path: Path, names: tuple[str, ...] | None, modified: int, size: int) -> str:
    if path.suffix != ".py":
        return digest(path.read_bytes())
    if names is None:
        return definitions.whole(path, modified, size)
    digests = definitions.module_of(path).digests
    return digest("\n".join(f"{name} {digests.get(name)}" for name in names).encode())


def protocol_hash(run: Path, timing: Mapping[str, Collection[str] | None]) -> str:
    """Return the hash of what takes times; see `repro.run.protocol`."""
    return digest(" ".join(f"{name} {hash_of(run / name, names)}" for name, names in timing.items()).encode())
