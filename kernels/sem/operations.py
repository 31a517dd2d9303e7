"""Counts of the operations of this folder's kernels: additions, products, divisions; a sign's change is none.

They are what the kernels' text says, which a test counts by compiling it with a type that counts. The paper's own
counts are others: its geometry takes 242 operations a node where this one takes a third of that, and its O_P counts a
product with its addition as one where its O_R counts two. On tensor cores tiles are filled up with zeros, whose
products are not counted.
"""

from __future__ import annotations

# Of a node, between the derivatives and the divergence: products with six factors, or the metric made anew.
METRIC = {"stored": 15, "affine": 15, "trilinear": 82}
MASS = {"stored": 3, "affine": 3, "trilinear": 4}
PENCIL = 36  # of the trilinear map, for each pencil along ζ
WEIGHTS = 3  # of a node, at the end


def stiffness(order: int, geometry: str, has_mass: bool) -> int:
    """Return the operations of ``stiffness.c`` for an element."""
    q = order + 1
    node = METRIC[geometry] + WEIGHTS + (MASS[geometry] if has_mass else 0)
    return 12 * q**4 + node * q**3 + (PENCIL * q**2 if geometry == "trilinear" else 0)


def pencils(order: int, geometry: str, has_mass: bool) -> int:
    """Return the operations of ``pencils.c`` for an element: less a node, and more a pencil, than ``stiffness.c``'s."""
    q = order + 1
    half, is_odd = q // 2, q % 2
    along = 4 * half + 4 * half**2 + 4 * half * is_odd  # sums along a pencil, by what is even and odd in it
    metric, pencil = (66, 127) if geometry == "trilinear" else (METRIC[geometry], 1)
    node = metric + WEIGHTS + 1 + (MASS[geometry] - 1 if has_mass else 0)
    return q**2 * (6 * along + node * q + pencil)


def schwarz(order: int) -> int:
    """Return the operations of ``schwarz.c`` for a subdomain."""
    q = order + 3
    half, even = q // 2, q - q // 2
    to_modes, to_nodes = 2 * half + 2 * (even**2 + half**2), 2 * even * (q + 1)
    return q**2 * (3 * (to_modes + to_nodes) + 4 * q + 4)
