"""Where the nodes of elements lie in memory: slab after slab of a group of elements, as a block of threads reads them.

A field of all elements is [group][k][element of the group][j][i]. With one element a group that is the natural order,
node i + q (j + q k) of element after element. Elements fill up the last group.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Layout of fields of `elements` elements with q³ nodes each, in groups of `group` elements."""

    elements: int
    q: int
    group: int

    @property
    def groups(self) -> int:
        return -(-self.elements // self.group)

    @property
    def lanes(self) -> int:
        """Nodes of a slab of a group, and threads that have work."""
        return self.group * self.q**2

    @property
    def size(self) -> int:
        """Entries of a field, those of the elements that fill up the last group included."""
        return self.groups * self.q * self.lanes

    def inner(self, xp):
        """Return which of an element's nodes lie inside it, (q³,) bool."""
        along = xp.arange(self.q)
        one = (along > 0) & (along < self.q - 1)
        return (one[:, None, None] & one[:, None] & one).ravel()

    def pack(self, field, xp, fill=0):
        """Return a field given in natural order, (elements, q³), in this layout, flat."""
        whole = xp.full((self.groups * self.group, self.q**3), fill, dtype=field.dtype)
        whole[: self.elements] = field
        parts = whole.reshape(self.groups, self.group, self.q, self.q**2)
        return xp.ascontiguousarray(parts.transpose(0, 2, 1, 3)).reshape(-1)

    def unpack(self, flat, xp):
        """Return a field in natural order, (elements, q³)."""
        parts = flat.reshape(self.groups, self.q, self.group, self.q**2).transpose(0, 2, 1, 3)
        return xp.ascontiguousarray(parts).reshape(-1, self.q**3)[: self.elements]
