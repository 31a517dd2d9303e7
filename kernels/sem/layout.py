"""Where the nodes of elements lie in memory: slab after slab of a group of elements, as a block of threads reads them.

A field of all elements is [group][k][element of the group][j][i], or interleaved [group][k][j][i][element]. With one
element a group that is the natural order, node i + q (j + q k) of element after element. Elements fill up the last
group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REGISTER = 64  # bytes of the longest vectors of processors; others take groups in parts, see parts.h


def lanes(q: int, dtype: str) -> int:
    """Return how many elements a processor takes at a time; half as many at high orders, whose fields are large."""
    return REGISTER // np.dtype(dtype).itemsize // (1 if q <= 12 else 2)


@dataclass(frozen=True)
class Layout:
    """Layout of fields of `elements` elements with q³ nodes each, in groups of `group` elements."""

    elements: int
    q: int
    group: int
    interleaved: bool = False

    @property
    def groups(self) -> int:
        return -(-self.elements // self.group)

    @property
    def lanes(self) -> int:
        """Nodes of a slab of a group, and threads that have work."""
        return self.group * self.q**2

    @property
    def size(self) -> int:
        """Entries of a field, including the elements that fill up the last group."""
        return self.groups * self.q * self.lanes

    @property
    def surface(self) -> int:
        """Nodes on the surface of an element."""
        return 6 * self.q**2 - 12 * self.q + 8

    def on_surface(self):
        """Return an element's nodes in the order of surface vectors, (surface,) int: the faces across ζ, η and ξ."""
        local = np.arange(self.q**3).reshape(self.q, self.q, self.q)  # [k, j, i]
        faces = (
            [local[k] for k in (0, -1)] + [local[1:-1, j] for j in (0, -1)] + [local[1:-1, 1:-1, i] for i in (0, -1)]
        )
        return np.concatenate([face.ravel() for face in faces])

    def pack(self, field, xp, fill=0):
        """Return a field given in natural order, (elements, q³), in this layout, flat."""
        whole = xp.full((self.groups * self.group, self.q**3), fill, dtype=field.dtype)
        whole[: self.elements] = field
        parts = whole.reshape(self.groups, self.group, self.q, self.q**2)
        axes = (0, 2, 3, 1) if self.interleaved else (0, 2, 1, 3)
        return xp.ascontiguousarray(parts.transpose(axes)).reshape(-1)

    def unpack(self, flat, xp):
        """Return a field in natural order, (elements, q³)."""
        if self.interleaved:
            parts = flat.reshape(self.groups, self.q, self.q**2, self.group).transpose(0, 3, 1, 2)
        else:
            parts = flat.reshape(self.groups, self.q, self.group, self.q**2).transpose(0, 2, 1, 3)
        return xp.ascontiguousarray(parts).reshape(-1, self.q**3)[: self.elements]
