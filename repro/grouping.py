"""Things by what they have in common."""

from collections.abc import Iterable
from typing import TypeVar

Key, Member = TypeVar("Key"), TypeVar("Member")


def grouped(pairs: Iterable[tuple[Key, Member]]) -> dict[Key, list[Member]]:
    """Return the members of each key in their order, repeated ones too; the keys come as they first appear."""
    found: dict[Key, list[Member]] = {}
    for key, member in pairs:
        found.setdefault(key, []).append(member)
    return found
