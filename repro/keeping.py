"""Values that several cells share: the last are kept, with what ran to make them, which each cell depends on."""

import functools
from collections.abc import Callable
from typing import Any

from repro.run import tracing


def kept(key: Callable[..., Any] = lambda *arguments: arguments, most: int = 1) -> Callable:
    """Return a decorator that keeps the last value of a function, or of a method for each object.

    A cell that finds the value there depends on the same code and kernels as the one that made it, so that its key does
    not tell in which order cells were measured.

    `key`: from the arguments, without a method's object, to what tells one value from another. `most`: values that are
    kept, the ones asked for last.
    """

    def decorate(function: Callable) -> Callable:
        is_method = "." in function.__qualname__.rpartition("<locals>.")[2]
        shared: dict[str, list[tuple]] = {}
        name = f"_kept_{function.__name__}"

        @functools.wraps(function)
        def keeping(*arguments, **named):
            place = vars(arguments[0]) if is_method else shared
            found = place.setdefault(name, [])
            asked = key(*arguments[is_method:], **named)
            at = next((at for at, (known, *_) in enumerate(found) if known == asked), None)
            if at is None:
                del found[: max(0, len(found) - most + 1)]  # their memory is free before the next is made
                with tracing.traced() as ran:
                    value = function(*arguments, **named)
                found.append((asked, value, ran))
            else:
                found.append(found.pop(at))
            _, value, ran = found[-1]
            tracing.again(ran)
            return value

        return keeping

    return decorate
