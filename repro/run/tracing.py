"""Functions of the project's packages that run while a cell is measured: the Python that the measurement depends on.

On Python 3.12 and later the interpreter tells of each function's first call alone. Before that a profile hook is told
of every call. Neither is there while times are sampled. Other threads do not count: what they do, as building kernels
ahead, is done again by the one that measures, or is not needed. Nor does what a module does when it is imported, as the
first cell of a process alone imports it; names lead to that, see `repro.cache.code`.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from repro import environment

TOOL = 4  # of the interpreter's numbers, none that debuggers, coverage or profilers take
PACKAGES = ("kernels", "baselines", "datasets")
HAS_MONITORING = hasattr(sys, "monitoring")


def packages() -> tuple[str, ...]:
    """Return the packages whose code a measurement is made of: the experiments', and the packages that these call."""
    return (environment.experiments_folder().name, *PACKAGES)


@dataclass
class Ran:
    """Functions that ran, and the kernels that were launched, as the environment tells them."""

    codes: set[CodeType] = field(default_factory=set)
    kernels: dict[Any, Any] = field(default_factory=dict)

    def add(self, other: Ran) -> None:
        self.codes |= other.codes
        self.kernels |= other.kernels


_current: Ran | None = None  # of the cell that is measured, or of a value of it that is kept
_thread = 0
_folders: tuple[str, ...] = ()


@contextlib.contextmanager
def traced() -> Iterator[Ran]:
    """Note what runs in the block; within another such block it is noted of both."""
    global _current, _thread, _folders
    outer, kernels = _current, environment.recorded() if _current else {}
    _current, _thread = Ran(), threading.get_ident()
    _folders = tuple(f"{environment.root() / package}/" for package in packages())
    environment.begin_record()
    if outer is None:
        _hook()
    elif HAS_MONITORING:
        sys.monitoring.restart_events()
    mine = _current
    try:
        yield mine
    finally:
        if outer is None:
            _unhook()
        mine.kernels |= environment.recorded()
        _current = outer
        if outer is not None:
            environment.record(kernels)
            outer.add(mine)


def again(ran: Ran) -> None:
    """Note what ran when a value was made that is kept, where that is asked for."""
    if _current is not None:
        _current.codes |= ran.codes
        environment.record(ran.kernels)


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Take the hook out for the block, in which times are sampled."""
    if _current is None:
        yield
        return
    _unhook()
    try:
        yield
    finally:
        _hook()


def _note(code: CodeType) -> bool:
    """Note a function, and return whether it need not be told again."""
    if not code.co_filename.startswith(_folders):
        return True
    if _current is None or threading.get_ident() != _thread:
        return False
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(_folders):
            return False
        frame = frame.f_back
    _current.codes.add(code)
    return True


def _hook() -> None:
    if not HAS_MONITORING:
        sys.setprofile(_told)
        return
    monitoring = sys.monitoring
    monitoring.use_tool_id(TOOL, "repro")
    monitoring.restart_events()
    monitoring.register_callback(TOOL, monitoring.events.PY_START, _began)
    monitoring.set_events(TOOL, monitoring.events.PY_START)


def _unhook() -> None:
    if not HAS_MONITORING:
        sys.setprofile(None)
        return
    sys.monitoring.set_events(TOOL, 0)
    sys.monitoring.free_tool_id(TOOL)


def _began(code: CodeType, _offset: int) -> Any:
    return sys.monitoring.DISABLE if _note(code) else None


def _told(frame, event: str, _argument: Any) -> None:
    if event == "call" and frame.f_code not in _current.codes:
        _note(frame.f_code)
