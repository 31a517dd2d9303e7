"""K2r against K2rs: the columns of each row sorted by the new numbers, so that x is read in order."""

from __future__ import annotations

from experiments.wong2015 import stated
from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.variants import drawn, spread, times, variant_cells

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k2r", "k2rs")
REGULAR = ("qcd", "epidemiology")  # which the text leaves out


def cells(scale):
    """Return the matrices of section 7 with both kernels."""
    return variant_cells(scale, METHODS)


def tables(results):
    """Return the times and the gain."""
    notes = []
    for uncached, text, mark in (("", "through the cache", "-textured"), ("-uncached", "past it", "")):
        printed = " to ".join(stated(f"k2rs{mark}-{end}") for end in ("low", "high"))
        gain = spread(results, *reversed(METHODS), uncached, REGULAR)
        notes.append(f"Gain without QCD and Epidemiology, x {text}: {gain}; published {printed} %.")
    return [times(results, "Figure 22: K2r and K2rs", METHODS, notes)]


def plot(results):
    """Draw the times."""
    return drawn(results, METHODS)
