"""A glance at the sources: while it lasts, how a file, a kernel or a dataset stands is asked once, whoever asks.

Thousands of cells depend on the same few hundred files. Outside a glance everything is asked each time.
"""

import contextlib
import gc
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

_seen: dict[Hashable, Any] | None = None


@contextlib.contextmanager
def glance() -> Iterator[None]:
    """Keep what is asked in the block; a block within another is part of it.

    Garbage is not collected in it: thousands of records are read, all of them to stay, and a collection would go
    through each of them, time and again.
    """
    global _seen
    outer, is_collecting = _seen, gc.isenabled()
    if outer is None:
        _seen = {}
    gc.disable()
    try:
        yield
    finally:
        _seen = outer
        if is_collecting:
            gc.enable()


def once(what: Hashable, ask: Callable[[], Any]) -> Any:
    """Return what `ask` returns, or within a glance what it returned there before of the same `what`."""
    if _seen is None:
        return ask()
    if what not in _seen:
        _seen[what] = ask()
    return _seen[what]


def state(path: Path) -> tuple[int, int]:
    """Tell one state of a file from another; (0, 0) where it is not there, which is told by who reads it."""
    return once(("state", path), lambda: _looked_at(path))


def _looked_at(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
