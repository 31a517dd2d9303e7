"""Gains of K1 from rows sorted by length: padding and time against rows in their own order.

A warp of K1 takes as many steps as its longest row has entries. Sorted rows have neighbours of their own length.

Equation 9: y_p(i) = Σ_j A_p(i),j x_j, where p sorts the rows by length; a thread has a row, a warp 32 of like length.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

import pandas

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.matrices import NOTE, marks, named
from experiments.wong2015.variants import CACHES, GAINS, UNCACHED, gain, gain_text, times, variant_cells
from repro.show.panels import alike, intervals, legend, slanted
from repro.show.plots import PAGE, caption, colour, figure, paper_label, style
from repro.show.tables import Table
from repro.units import MISSING

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k1-unsorted", "k1")


def cells(scale):
    """Return the matrices of section 7 with rows sorted and not."""
    return variant_cells(scale, METHODS, anatomy=True)


def tables(results):
    """Return Table 6, matrices in columns as in the paper, and the times."""
    names = named(results)
    rows = []
    for text, _, metric, uncached in _lines():
        printed = {case: results.published.get(case, "k1", metric) for case in names}
        rows.append(
            {"": text}
            | {
                name: _padding(results, case)
                if uncached is None
                else gain_text(results, case, "k1", "k1-unsorted", uncached)
                for case, name in names.items()
            }
        )
        rows.append({"": "published"} | {names[case]: number and number.printed for case, number in printed.items()})
    notes = ["Of the unsorted kernel: positive where sorting saves padding, or time.",
             "The paper calls the hearts Heart, HeartCoarse and HeartRefined; which is which is our reading.",
             "Anatomy: a published template of the ventricles, meshed at the sizes of Heart 30K and 50K.",
             GAINS, UNCACHED, *marks(results), NOTE]  # fmt: skip
    return [Table("Table 6: what sorting brings K1", pandas.DataFrame(rows), notes),
            times(results, f"Times, {' and '.join(CACHES.values())}", METHODS)]  # fmt: skip


def _lines():
    """The lines of the table: text, name of the axis, metric of the published, and which times; None for padding."""
    return (
        ("Padding difference [%]", "Padding saved [%]", "padding_difference", None),
        ("Time difference, x through the cache [%]", f"Time saved, {CACHES['']} [%]", "time_difference_textured", ""),
        ("Time difference, x past it [%]", f"Time saved, {CACHES['-uncached']} [%]", "time_difference", "-uncached"),
    )


def _padding(results, case):
    """Return which part of its stored entries sorting saves the unsorted kernel, percent."""
    ours, unsorted = (results.value(case, method, "stored") for method in ("k1", "k1-unsorted"))
    return 100 * (1 - ours / unsorted) if ours and unsorted else None


def _drawn(results, case, uncached):
    """Return what sorting saves, of the padding or of the time, and the ends of its interval; None without it."""
    if uncached is not None:
        return gain(results, case, "k1", "k1-unsorted", uncached)
    padding = _padding(results, case)
    return None if padding is None else (padding, None, None)


def plot(results):
    """Draw the lines of the table that were measured, ours as bars and the paper's as open marks."""
    names = named(results)
    found = [
        (text, metric, {case: _drawn(results, case, uncached) for case in names})
        for _, text, metric, uncached in _lines()
    ]
    found = [line for line in found if any(ours is not None for ours in line[2].values())]
    if not found:
        return None
    made, panels = figure(PAGE, 2.8, panels=len(found))
    with style():
        for axes, (text, metric, ours) in zip(panels, found, strict=True):
            places = [(i, *ours[case]) for i, case in enumerate(names) if ours[case] is not None]
            x, y, *_ = zip(*places, strict=True)
            axes.bar(x, y, 0.7, color=colour("k1"), edgecolor="black", linewidth=0.4, label="K1")
            intervals(axes, places, "black", 1.5)
            for i in {*range(len(names))} - {*x}:
                axes.annotate(MISSING, (i, 0), (0, 2), textcoords="offset points", ha="center", va="bottom")
            printed = [results.published.get(case, "k1", metric) for case in names]
            there = [(i, number.value) for i, number in enumerate(printed) if number is not None]
            if there:
                axes.plot(*zip(*there, strict=True), "o", mfc="none", mec="black", mew=0.9, zorder=4, clip_on=False,
                          label=paper_label(results.scale))  # fmt: skip
            axes.axhline(0, color="black", lw=0.6)
            axes.set_ylabel(text)
            axes.set_label(" ".join(results.backends("k1")[:1]))  # the caption names it
            axes.set_xticks(range(len(names)), list(names.values()))
            axes.set_xlim(-0.6, len(names) - 0.4)
            axes.tick_params(axis="x", length=0)
            slanted(axes, 60)
            legend(axes)
        alike([axes for axes, line in zip(panels, found, strict=True) if line[1] != "padding_difference"])
    gaps = [f"{MISSING}: not measured"] if any(None in ours.values() for _, _, ours in found) else []
    caption(made, results, "; ".join(["positive where sorting saves", *gaps, *marks(results)]))
    return made
