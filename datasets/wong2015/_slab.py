"""The slab of the N-version benchmark of cardiac electrophysiology (Niederer and others 2011), 20 by 7 by 3 mm."""

from datasets import structured

SIZE = (20.0, 7.0, 3.0)  # millimetres, along the fibres first


def mesh(spacing):
    """Return points and cells of cubes so many millimetres wide, six tetrahedra each."""
    return structured.kuhn(tuple(round(length / spacing) for length in SIZE), size=SIZE)
