"""The functions of an artefact's methods, each declared by its method's name.

A dictionary of them is part of the key of every cell that looks into it, with all that it names. Of `Methods` a key has
the function that ran, with the name that it is declared by.
"""

from __future__ import annotations

from collections.abc import Callable


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
