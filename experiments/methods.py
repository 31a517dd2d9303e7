"""The functions of an artefact's methods, each declared by its method's name.

A dictionary of them is part of the key of every cell that looks into it, with all that it names. Of `Methods` a key has
the function that ran, with the name that it is declared by. `declares` adds such a row to a dictionary that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Methods(dict):
    """Functions by method, in the order of their declarations: ``@METHODS("serial")`` above a function declares it.

    A measurement looks up its own method and no other's: those are no part of its key.
    """

    def __call__(self, method: str) -> Callable[[Callable], Callable]:
        """Return what declares a function, and leaves it as it is; `ValueError` if the method has one."""

        def declare(function):
            if method in self:
                raise ValueError(f"method {method!r} is declared twice")
            self[method] = function
            return function

        return declare


class Settings(Mapping):
    """Settings that a function returns. Each look calls it: the key of a cell that looks has it, and no other key."""

    def __init__(self, made: Callable[[], Mapping[str, Any]]):
        self._made = made

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


def declares(rows: dict[str, Mapping[str, Any]], name: str) -> Callable[[Callable], Callable]:
    """Return what adds a function's settings to a dictionary of rows; `ValueError` if it has such a row."""

    def declare(function):
        if name in rows:
            raise ValueError(f"row {name!r} is declared twice")
        rows[name] = Settings(function)
        return function

    return declare
