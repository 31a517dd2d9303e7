"""Figures of many matrices: panels one above another."""

from __future__ import annotations

from repro.plots import figure, style


def two_rows(width: float, height: float, share: bool = True):
    """Return a figure and two axes, one above the other, with the same vertical range where they `share` it."""
    made, (axes,) = figure(width, height)
    axes.remove()
    with style():
        return made, list(made.subplots(2, 1, sharey=share))
