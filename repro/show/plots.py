"""Figures: legible in a two-column paper, safe for the colour-blind, the same file from the same data.

Figures are built without pyplot, so that no window system is needed and no figure outlives its function.
"""

from __future__ import annotations

import math
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.cache.store import write_atomically
from repro.rows import place_of
from repro.show.looks import GRID, colour, marker, size, style, styled, word
from repro.show.panels import (
    asides,
    beside,
    fewer,
    groups,
    hollow,
    intervals,
    left_out,
    legend,
    logarithmic,
    memory,
    not_drawn,
    share_legend,
    tidy,
)
from repro.show.pictures import small
from repro.show.results import PREFERENCE, point
from repro.units import convert, is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from repro.show.results import Results

__all__ = [
    "COLUMN", "FORMATS", "PAGE", "bars", "caption", "colour", "figure", "label", "lines", "marker", "point", "remove",
    "save", "small", "style",
]  # fmt: skip

FORMATS = {
    "png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer"),
}  # fmt: skip
"""Formats of figures, and what is left out of each so that the same figure gives the same bytes."""
COLUMN, PAGE = 3.4, 7.0  # widths in inches of a column and of both
SMALL, LARGE = 7, 8  # points of the least type and of the largest
MANY = 10  # numbers below an axis: every other one is named
FEW = 8.0  # below this ratio of the largest value to the least, bars stand on a linear axis
COUNTED = ("count", "degree")  # units of what no device was timed for
VANISH = 50.0  # from this on they do on none, whatever is asked for


def figure(width: float = COLUMN, height: float | None = None, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, side by side.

    Parameters
    ----------
    width : float
        In inches: `COLUMN` or `PAGE`.
    height : float, optional
        In inches; default: 0.7 of a panel's width, at least 2.2.
    """
    from matplotlib.figure import Figure

    with style():
        made = Figure(figsize=(width, height or max(2.2, 0.7 * width / panels)), layout="constrained")
        axes = made.subplots(1, panels, squeeze=False)[0]
    return made, list(axes)


def caption(made: Figure, results: Results, note: str = "") -> None:
    """Finish a figure: below it where it was measured, which devices, at what scale; one legend for all panels.

    The rows that the figure has asked for name them, or all rows where it has asked for none. The caption
    has the processor's number of cores where times on it are drawn.

    It is called last. Panels whose legends say different things keep their own.
    """
    panels = [{*PREFERENCE} & {*axes.get_label().split()} for axes in made.axes if axes.get_visible()]
    named = set().union(*panels)
    drawn = sorted(named - {"host"})
    shown = named if all(panels) else {*drawn, "host"} if drawn else {*PREFERENCE}
    done = results.done
    asked = [row for row in results.asked.values() or done.to_dict("records") if row["backend"] in shown]
    rows = sorted(asked, key=lambda row: PREFERENCE.index(row["backend"]))
    # Ratios and times that were worked out come from their cell's times, which another device may have taken.
    behind = [[row] if row["unit"] in COUNTED or not is_missing(row["n"]) else results.cell(row) for row in rows]
    there = [row["device"] for each in behind for row in each]
    devices = dict.fromkeys(device for device in there if isinstance(device, str) and device)
    cells = {place_of(row) for row in rows}
    is_told = [at in cells for at in zip(done["case"], done["method"], done["backend"], strict=True)]
    cores = results.cores_of(done.loc[is_told])
    parts = [f"{results.artefact}, scale {results.scale}, machine {results.machine}{cores}", *devices]
    parts += [f"kernels through {' and '.join(drawn)}"] * bool(drawn) + [note] * bool(note) + left_out(made)
    per_line = int(72 * made.get_figwidth() / (SMALL * 0.57))
    text = textwrap.fill(" · ".join(parts), per_line, break_long_words=False, break_on_hyphens=False)
    for each in made.findobj(lambda artist: hasattr(artist, "get_fontsize")):  # whatever an artefact asked for
        each.set_fontsize(min(LARGE, max(SMALL, each.get_fontsize())))
    made.supxlabel(text, fontsize=SMALL, color="#555555", x=0.99, ha="right")
    share_legend(made)
    tidy(made)


def label(quantity: str, unit: str) -> str:
    """Return the text of an axis: quantity and unit."""
    return f"{quantity} [{unit}]" if unit not in ("", "count", "x") else quantity


@styled
def bars(
    axes: Axes,
    results: Results,
    metric: str,
    methods: Sequence[str] | Mapping[str, str],
    *,
    unit: str = "s",
    quantity: str = "Time",
    cases: Mapping[str, str] | None = None,
    published: Mapping[str, str] | None = None,
    published_metric: str | None = None,
    backend: str | None = None,
    log: bool = True,
    parameters: Mapping[str, Any] | None = None,
    beside: Iterable[str] = (),
) -> None:
    """Draw a group of bars for each case, one for each method, with intervals, and the paper's values as open marks.

    On a logarithmic axis, which has no zero for bars to stand on, marks take their place, with a line to the paper's.
    A missing value leaves a gap, and a method that was not measured at all leaves none. Methods that ran on a device
    are named with their back end where figures mix several; else the caption has it. Of more than eight methods some
    are not drawn, and the caption names them. Where a rate of bytes is above the memory's, as by a cache, a line shows
    it.

    Parameters
    ----------
    methods : sequence or mapping
        In order; a mapping gives labels for the legend, which else come from ``experiments/looks.toml``.
    cases : mapping of str to str, optional
        Case to label, in order. Default: the cases of the results, capitalised.
    published : mapping of str to str, optional
        The paper's method for each of ours whose published values are drawn; default: the same names.
    published_metric : str, optional
        The paper's metric, where it is not ours.
    backend : str, optional
        Default: the best that has the method.
    log : bool
        Logarithmic vertical axis, where the values spread enough for one; where bars would vanish, it is one anyway.
    parameters : mapping, optional
        Of the rows themselves, ours and published, where a cell has several of the metric.
    beside : iterable of str, optional
        The cases of panels with the same vertical axis, which are drawn alike.
    """
    own = parameters or {}
    cases = cases or {case: case[:1].upper() + case[1:] for case in results.cases}
    methods = methods if isinstance(methods, Mapping) else {method: word(method) for method in methods}
    published = {method: method for method in methods} if published is None else published
    ours = {
        method: [point(results, case, method, metric, unit, backend, **own) for case in cases] for method in methods
    }
    theirs = {
        method: [
            results.published.get(case, published.get(method, ""), published_metric or metric, **own) for case in cases
        ]
        for method in methods
    }
    methods = {method: name for method, name in methods.items() if any(ours[method]) or any(theirs[method])}
    methods, left = fewer(methods, [method for method in methods if any(theirs[method])])
    used = {method: backend or next(iter(results.backends(method, metric, **own)), "host") for method in methods}
    through = set(used.values()) - {"host"}
    mixed = len(through) > 1
    axes.set_label("" if mixed else " ".join(sorted({*used.values()})))  # the caption names them
    width = 0.8 / max(1, len(methods))
    if not methods:
        groups(axes, list(cases.values()))
        axes.set_xlim(-0.5, max(1, len(cases)) - 0.5)
        return _unmeasured(axes)
    values = [found[0] for method in methods for found in ours[method] if found]
    others = [point(results, case, method, metric, unit, backend, **own) for case in beside for method in methods]
    spread = _spread(
        values
        + [found[0] for found in others if found]
        + [convert(found.value, found.unit, unit) for method in methods for found in theirs[method] if found],
        FEW if log else VANISH,
    )
    for i, (method, name) in enumerate(methods.items()):
        text = f"{name} ({used[method]})" if mixed and used[method] != "host" else name
        positions = [j + (i - (len(methods) - 1) / 2) * width for j in range(len(cases))]
        drawn = [(x, *found) for x, found in zip(positions, ours[method], strict=True) if found is not None]
        _measured(axes, method, drawn, width, text, spread)
        named = bool(drawn)
        for x, number, found in zip(positions, theirs[method], ours[method], strict=True):
            if number is not None:
                value = convert(number.value, number.unit, unit)
                hollow(axes, [x], [value], method, None if named else f"{name} (paper)",
                     edge=None if spread else "black", is_below=spread)  # fmt: skip
                named = True
                if spread and found is not None:
                    axes.plot([x, x], [found[0], value], color=colour(method), lw=0.7, zorder=2)
    if first := next((method for method in methods if any(ours[method]) and any(theirs[method])), None):
        hollow(axes, [], [], first, paper_label(results.scale), edge="black")
    memory(axes, results, metric, used.items(), unit, max(values, default=0.0))
    not_drawn(axes, left)
    every = 2 if len(cases) > MANY and all(name.isdecimal() for name in cases.values()) else 1
    groups(axes, list(cases.values()), every)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, max(1, len(cases)) - 0.5)  # also of bars, which stand over the names of another panel
    if spread:
        for edge in range(1, len(cases)):
            axes.axvline(edge - 0.5, color=GRID, lw=0.6, zorder=0)
        logarithmic(axes, "y")
    axes.set_ylabel(label(quantity, unit))
    legend(axes)


def _unmeasured(axes: Axes) -> None:
    """Say of axes that hold nothing why they do."""
    axes.set_yticks([])
    axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", va="center", color="#555555")


def _spread(values: Sequence[float], few: float = FEW) -> bool:
    """Return whether values want a logarithmic axis."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) >= few * min(positive)


def _measured(axes: Axes, method: str, drawn: Sequence[tuple], width: float, text: str, spread: bool) -> None:
    """Draw a method's values (x, value, low, high): bars, or marks where the axis has no zero for bars to stand on."""
    if not drawn:
        return
    x, value, _, _ = map(list, zip(*drawn, strict=True))
    if spread:
        look = {"color": colour(method), "marker": marker(method), "ms": size(method), "mec": "black", "mew": 0.3}
        axes.plot(x, value, ls="none", zorder=3, label=text, **look)
    else:
        axes.bar(x, value, 0.92 * width, color=colour(method), edgecolor="black", linewidth=0.4, label=text)
    intervals(axes, drawn, "black", 1.5)


@styled
def lines(
    axes: Axes,
    series: Mapping[str, Sequence[tuple]],
    *,
    x: str,
    y: str,
    names: Mapping[str, str] | None = None,
    published: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    whole_x: bool = False,
    categories: Sequence[str] = (),
    scale: str = "paper",
) -> None:
    """Draw a line for each method, with intervals, and the paper's values as open marks.

    Parameters
    ----------
    series : mapping of str to sequence of tuple
        For each method (x, y) or (x, y, low, high), low and high the ends of the interval, None where there is none.
    names : mapping of str to str, optional
        Labels for the legend.
    published : mapping of str to sequence of (float, float), optional
        The paper's points for each method.
    log_x, log_y : bool
        Logarithmic axes; the vertical where the values spread enough for one.
    whole_x : bool
        Put a tick at each abscissa, which are few whole numbers; a line stops where the paper has one more.
    categories : sequence of str
        Names of the abscissae 0, 1, … where they are no numbers: then no line joins the marks.
    scale : str
        Of what is measured, where the abscissa does not say of which sizes the paper's points are.
    """
    names = {method: word(method) for method in (*series, *(published or ()))} | dict(names or {})
    kept, left = fewer({method: names.get(method, method) for method, points in series.items() if points},
                       [method for method, points in (published or {}).items() if points])  # fmt: skip
    series = {method: points for method, points in series.items() if method in kept}
    aside = asides(axes, series, categories)
    for method, points in series.items():
        points = sorted(points, key=lambda point: point[0])
        abscissae, ordinates = _broken(
            [point[:2] for point in points], (published or {}).get(method, ()) if whole_x else ()
        )
        marks = axes.plot(
            abscissae,
            ordinates,
            ls="none" if categories else "-",
            color=colour(method),
            marker=marker(method),
            ms=size(method),
            label=names.get(method, method),
        )
        beside(aside.get((method, 0), 0) if categories else 0, *marks)
        for each in points:
            if len(each) > 3:
                at = method, each[0]
                intervals(axes, [each], colour(method), 1 if at in aside else 2, aside.get(at, 0))
    joint = "none" if categories else ":"
    for method, points in (published or {}).items():
        if points:
            known = bool(series.get(method))  # else nothing measured names it in the legend
            hollow(axes, *zip(*sorted(points), strict=True), method,
                 None if known else f"{names.get(method, method)} (paper)", ls=joint,
                 aside=aside.get((method, 0), 0) if categories else 0)  # fmt: skip
    if first := next((method for method, points in (published or {}).items() if points and series.get(method)), None):
        hollow(axes, [], [], first, paper_label(scale), ls=joint, edge="black")
    not_drawn(axes, left)
    if log_x:
        logarithmic(axes, "x")
    if log_y and _spread([point[1] for points in (*series.values(), *(published or {}).values()) for point in points]):
        logarithmic(axes, "y")
    if whole_x:
        drawn = [*series.values(), *(published or {}).values()]
        axes.set_xticks(sorted({point[0] for points in drawn for point in points}))
        axes.minorticks_off()
    if categories:
        axes.set_xticks(range(len(categories)), list(categories))
        axes.set_xlim(-0.5, len(categories) - 0.5)  # room for marks that are moved aside
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if not kept and not any((published or {}).values()):
        _unmeasured(axes)
    legend(axes)


def _broken(points, published):
    """Return abscissae and ordinates of a line that stops where the paper has a point and this line has none."""
    known = {x for x, _ in points}
    gaps = [(x, math.nan) for x, _ in published if x not in known and min(known) < x < max(known)]
    return zip(*sorted([*points, *gaps], key=lambda point: point[0]), strict=True)


def paper_label(scale: str) -> str:
    """Name the paper's marks, which at other scales are not of what is drawn beside them."""
    return "paper" if scale == "paper" else "paper, its own sizes"


def save(made: Figure, path_stem: str | Path, formats: Sequence[str] = ("png",)) -> list[Path]:
    """Write the figure, by default as PNG, all formats or none; the same figure gives the same bytes.

    `path_stem`: path without the suffix, which may itself hold dots.
    """
    written = [Path(f"{path_stem}.{each}") for each in formats]
    with tempfile.TemporaryDirectory(prefix="repro-figure-") as folder, style():
        drawn = [Path(folder) / path.name for path in written]
        for path, each in zip(drawn, formats, strict=True):
            made.savefig(path, metadata=dict.fromkeys(FORMATS[each]))
            if each == "png":
                has_images = any(axes.images for axes in made.axes)
                path.write_bytes(small(path.read_bytes(), 256 if has_images else 64, is_smooth=has_images))
        for path, target in zip(drawn, written, strict=True):
            write_atomically(target, path.read_bytes())
    return written


def remove(path_stem: str | Path) -> None:
    """Remove an older figure, in every format, where there is none any longer."""
    for each in FORMATS:
        Path(f"{path_stem}.{each}").unlink(missing_ok=True)
