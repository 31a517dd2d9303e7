"""The parameters that were found best for each matrix: tables as the paper's, and a figure."""

from __future__ import annotations

from typing import NamedTuple

import pandas

from experiments.processors import with_c
from experiments.wong2015.matrices import marks, named
from experiments.wong2015.products import REPEATS, product_cells
from repro.show.looks import GRID
from repro.show.panels import legend, logarithmic
from repro.show.plots import PAGE, caption, colour, figure, marker, paper_label, style
from repro.show.tables import Column, Table, paper_table

COUNTS = (1, 50, 1200)
WINDOWS = "The paper sorts all rows together. Within windows, rows that are neighbours stay near each other."


class Parameter(NamedTuple):
    """A parameter of a kernel, the paper's method that it is of, the kernel and its own name."""

    method: str
    metric: str
    published: str
    kernel: str
    name: str
    unit: str = ""  #: what is counted, where the name does not say


VALUES = Parameter("csr_merge", "values_per_thread", "mgpu", "merge-path CSR", "values per thread")
BLOCK = Parameter("k1", "block_size", "k1", "K1", "block size", "threads")
THRESHOLD = [Parameter("k2", "threshold", "k2", "K2", "threshold", "entries"),
             Parameter("k2", "block_size", "k2", "K2", "block size", "threads")]  # fmt: skip


def searched(scale, methods):
    """Return the cells of methods whose parameters are searched for."""
    return with_c(product_cells(scale, methods))


def compared(results, title, parameters, counts):
    """Return the paper's table of parameters, ours beside published, and the parameters of K2 sorted in windows.

    Parameters
    ----------
    counts : sequence of int
        Repeats.
    """
    have = [count for count in counts if count in REPEATS[results.scale]]
    columns = [Column(f"{p.kernel}, {p.name}" + f" [{count}]" * (len(counts) > 1), p.method, p.metric, "count",
                      published=p.published, parameters={"repeats": count})
               for count in have for p in parameters]  # fmt: skip
    notes = ["Ours: K1's block sizes from 32 to 256 in steps of 32; K2's with thresholds in a geometric "
             "sequence up to the longest row; many parameters are as good within the noise of timing.",
             *marks(results)]  # fmt: skip
    found = [paper_table(results, title, columns, cases=named(results), row="Matrix", notes=notes)]
    rows = []
    for case, name in named(results).items():
        for count in have:
            threshold, block, window = (
                results.value(case, "k2-window", metric, repeats=count)
                for metric in ("threshold", "block_size", "window")
            )
            if threshold is not None:
                rows.append({"Matrix": name, "Repeats": str(count),
                             "Window [rows]": f"{window:.0f}" if window else "all",
                             "Threshold": int(threshold), "Block size": int(block)})  # fmt: skip
    if rows:
        found.append(Table("K2 with rows sorted within windows: best window, threshold and block size",
                           pandas.DataFrame(rows), [WINDOWS]))  # fmt: skip
    return found


def drawn(results, parameters, counts):
    """Draw the parameters over the matrices, ours filled and the paper's open."""
    have = [count for count in counts if count in REPEATS[results.scale]]
    names = named(results)
    made, panels = figure(PAGE, 3.2 if len(have) < 2 else 5.6, panels=len(parameters))
    with style():
        for axes, parameter in zip(panels, parameters, strict=True):
            _draw(axes, results, parameter, have, names)
        for axes in panels[1:]:
            axes.set_yticklabels([])
    caption(made, results, "; ".join(marks(results)))
    return made


def _draw(axes, results, parameter, counts, names):
    for shift, count in enumerate(counts):
        look = f"repeats-{count}"
        y = [i + 0.3 * (shift - (len(counts) - 1) / 2) for i in range(len(names))]
        ours = [results.value(case, parameter.method, parameter.metric, repeats=count) for case in names]
        there = [(value, at) for value, at in zip(ours, y, strict=True) if value is not None]
        if there:
            label = f"{count} repeats" if count > 1 else "1 repeat"
            axes.plot(*zip(*there, strict=True), marker(look), color=colour(look), ls="none", label=label)
        printed = results.published
        published = [printed.get(case, parameter.published, parameter.metric, repeats=count) for case in names]
        theirs = [(number.value, at) for number, at in zip(published, y, strict=True) if number is not None]
        if theirs:
            axes.plot(*zip(*theirs, strict=True), marker(look), mfc="none", mec="black", ms=6, mew=0.7,
                      ls="none", label=paper_label(results.scale) if not shift else "")  # fmt: skip
    axes.set_label(" ".join(results.backends(parameter.method)[:1]))  # the caption names it
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    axes.set_xlabel(f"{parameter.name.capitalize()}\nof {parameter.kernel}{unit}")
    if parameter.metric == "threshold":
        logarithmic(axes, "x")
    else:
        axes.set_xlim(left=0)
    axes.set_yticks(range(len(names)), names.values())
    axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="both" if len(counts) < 2 else "x", color=GRID, lw=0.5)
    if len(counts) > 1:
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(names)):
            axes.axhline(edge - 0.5, color=GRID, lw=0.5, zorder=0)
    legend(axes)
