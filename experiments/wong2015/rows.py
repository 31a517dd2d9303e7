"""Panels, and the size of a heart, for figures of many matrices or of hearts of several sizes."""

from __future__ import annotations

from repro.show.plots import figure, style


def two_rows(width: float, height: float, share: bool = True):
    """Return a figure and two axes, one above the other, with the same vertical range where they `share` it."""
    made, (axes,) = figure(width, height)
    axes.remove()
    with style():
        return made, list(made.subplots(2, 1, sharey=share))


def node_counts(results) -> dict[str, str]:
    """Return how many nodes each heart has: at some scales not the number in its name."""
    rows = results.done[results.done["metric"] == "nodes"]
    counts = dict(zip(rows["case"], rows["value"], strict=True))
    return {case: _short(counts[case]) for case in results.cases if case in counts}


def _short(count: float) -> str:
    unit, name = (1e6, " M") if count >= 1e6 else (1e3, " k")
    return f"{count / unit:.2g}{name}" if count < 10 * unit else f"{count / unit:.0f}{name}"
