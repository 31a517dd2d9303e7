"""Kernels that were launched since a point, and what their compiler was given: all that a time of theirs depends on.

A text is compared as it is, and where it differs after the preprocessor, so that a comment, a branch that is not taken
or a macro that is not used makes no other kernel.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kernels.device import cache
from kernels.device import source as sources
from kernels.device.errors import BuildError

now: object = None  # another one each time that a recording begins; None while there is none
_launched: dict[str, tuple] = {}
_thread = 0


def begin_record() -> None:
    """Forget what was launched; from now on each kernel is noted at its first launch by this thread.

    A graph notes its kernels when it is captured, and not when it is replayed.
    """
    global now, _thread
    now, _thread = object(), threading.get_ident()
    _launched.clear()


def note(origin: tuple | None) -> object:
    """Note a kernel's device and source; return what tells the kernel that it need not be noted again."""
    if now is None or origin is None:
        return now
    if threading.get_ident() != _thread:
        return None
    device, source = origin
    _launched.setdefault(_name(device.backend, source), origin)
    return now


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Note no launch in the block, as of a search that only the first cell of many makes."""
    global now
    before, now = now, None
    try:
        yield
    finally:
        now = before and object()  # kernels of the block are noted when they are next launched


def recorded() -> dict[str, tuple]:
    """Return what was launched since `begin_record`, as `record` and `described` take it."""
    return dict(_launched)


def record(launched: Mapping[str, tuple]) -> None:
    """Note what `recorded` returned as launched, too."""
    _launched.update(launched)


def _name(backend: str, source: sources.Source) -> str:
    block = "x".join(map(str, source.block))
    return f"{source.label} {backend} {block} {cache.key(source.defines)[:8]}"


def described(launched: Mapping[str, tuple]) -> dict[str, dict[str, Any]]:
    """Return of each kernel source that was launched its hashes and what it was built with, as JSON values."""
    found = {}
    for name, (device, source) in sorted(launched.items()):
        text = source.text(device.prelude)
        found[name] = {
            "text": cache.key(text)[:16], "preprocessed": preprocessed(text, device.prelude),
            "flags": type(device).built_with(),
            "defines": {each: _plain(value) for each, value in source.settings.items()}, "block": list(source.block),
            **({"portable": True} if _special(sources.ROOT / source.label, type(device)) else {}),
        }  # fmt: skip
    return found


def _special(path: Path, device: type) -> Path | None:
    """Return the source beside another that a back end prefers to it, where there is one."""
    found = path.with_suffix(device.extension)
    return found if found != path and found.exists() else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def current(name: str, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what an entry of `described` is now; None where its source is gone, or cannot be read. Opens no device."""
    label, backend, *_ = name.split()
    device = importlib.import_module(f"kernels.device.{backend}").Device
    path, settings = sources.ROOT / label, json.dumps(entry["defines"], sort_keys=True)
    if not entry.get("portable"):  # asked for in place of what lies beside it
        path = _special(path, device) or path
    try:
        state = tuple(
            sources.state(each) for each in (*_included(path, sources.state(path)), sources.PRELUDES / device.prelude)
        )
        text, raw = _text(path, tuple(entry["block"]), settings, device.prelude, state)
    except (OSError, ValueError, TypeError, BuildError):
        return None
    same = raw == entry["text"]
    return {
        **entry, "text": raw, "preprocessed": entry["preprocessed"] if same else preprocessed(text, device.prelude),
        "flags": device.built_with(),
    }  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _included(path: Path, _state: tuple) -> tuple[Path, ...]:
    """Return a source and the files that it includes."""
    seen: set[Path] = set()
    sources.expand(path, seen)
    return tuple(sorted(seen))


@functools.lru_cache(maxsize=8192)
def _text(path: Path, block: tuple, settings: str, prelude: str, _state: tuple) -> tuple[str, str]:
    defines = {name: value for name, value in json.loads(settings).items() if name != "block"}
    text = sources.load(path, block, defines, defines.pop("shared_bytes", None)).text(prelude)
    return text, cache.key(text)[:16]


def preprocessed(text: str, prelude: str) -> str:
    """Return the hash of a text after the preprocessor; it is kept on disk until that is another."""
    path = cache.folder("preprocessed") / cache.key(text, prelude, _preprocessor())
    if found := cache.load(path):
        return found.decode()
    from kernels.device import macros  # which imports a preprocessor

    made = cache.key(macros.expanded(text, prelude))[:16]
    cache.store(path, made.encode())
    return made


@functools.cache
def _preprocessor() -> str:
    return Path(__file__).with_name("macros.py").read_text(encoding="utf-8")
