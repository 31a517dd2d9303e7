"""Values that several cells share: the last one is kept, with what ran to make it, which each cell depends on."""

import functools
from collections.abc import Callable
from typing import Any

from repro.run import tracing


def kept(key: Callable[..., Any] = lambda *arguments: arguments) -> Callable:
    """Return a decorator that keeps the last value of a function, or of a method for each object.

    A cell that finds the value there depends on the same code and kernels as the one that made it, so that its key does
    not tell in which order cells were measured.

    `key`: from the arguments, without a method's object, to what tells one value from another.
    """

    def decorate(function: Callable) -> Callable:
        is_method = "." in function.__qualname__.rpartition("<locals>.")[2]
        shared: dict[str, tuple] = {}
        name = f"_kept_{function.__name__}"

        @functools.wraps(function)
        def keeping(*arguments, **named):
            place = vars(arguments[0]) if is_method else shared
            asked = key(*arguments[is_method:], **named)
            if name not in place or place[name][0] != asked:
                place.pop(name, None)  # its memory is free before the next is made
                with tracing.traced() as ran:
                    value = function(*arguments, **named)
                place[name] = asked, value, ran
            _, value, ran = place[name]
            tracing.again(ran)
            return value

        return keeping

    return decorate
