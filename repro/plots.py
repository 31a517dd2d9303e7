"""Figures: legible in a two-column paper, safe for the colour-blind, the same file from the same data.

Figures are built without pyplot, so that no window system is needed and no figure outlives its function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from repro.looks import colour, marker, style, styled
from repro.results import is_missing
from repro.units import convert

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from repro.results import Results

__all__ = [
    "COLUMN", "FORMATS", "PAGE", "bars", "caption", "colour", "figure", "label", "lines", "marker", "save",
    "style",
]  # fmt: skip

FORMATS = {
    "png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer"),
}  # fmt: skip
"""Formats of figures, and what is left out of each so that the same figure gives the same bytes."""
COLUMN, PAGE = 3.4, 7.0  # widths in inches of a column and of both


def figure(width: float = COLUMN, height: float | None = None, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes, side by side.

    Parameters
    ----------
    width : float
        In inches: `COLUMN` or `PAGE`.
    height : float, optional
        In inches; default: 0.7 of a panel's width, at least 2.2.
    panels : int
        Number of axes.
    """
    from matplotlib.figure import Figure

    with style():
        made = Figure(figsize=(width, height or max(2.2, 0.7 * width / panels)), layout="constrained")
        axes = made.subplots(1, panels, squeeze=False)[0]
    return made, list(axes)


def caption(made: Figure, results: Results, note: str = "") -> None:
    """Write below the figure where it was measured, which devices, and at what scale."""
    names = sorted({device for device in results.done["device"] if isinstance(device, str) and device})
    parts = [f"{results.artefact}, scale {results.scale}, machine {results.machine}", *names, *([note] if note else [])]
    text = (" · " if made.get_figwidth() > 5 else "\n").join(parts)
    made.supxlabel(text, fontsize=5.5, color="#555555", x=0.99, ha="right")


def label(quantity: str, unit: str) -> str:
    """Return the text of an axis: quantity and unit."""
    return f"{quantity} [{unit}]" if unit not in ("", "count", "x") else quantity


def _measured(results: Results, case: str, method: str, metric: str, unit: str, backend: str | None):
    """Return value, and distances to the ends of its interval, in the unit; None when not measured."""
    row = results.row(case, method, metric, backend)
    if row is None or is_missing(row["value"]):
        return None
    value, *ends = (
        None if is_missing(end) else convert(end, row["unit"] or "", unit)
        for end in (row["value"], row["ci_low"], row["ci_high"])
    )
    low, high = ends
    return value, 0.0 if low is None else value - low, 0.0 if high is None else high - value


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
    backend: str | None = None,
    log: bool = True,
) -> None:
    """Draw a group of bars for each case, one for each method, with intervals, and the paper's values as open marks.

    What was not measured leaves a gap.

    Parameters
    ----------
    axes : Axes
    results : Results
    metric : str
    methods : sequence or mapping
        In order; a mapping gives labels for the legend.
    unit, quantity : str
        Of the vertical axis.
    cases : mapping of str to str, optional
        Case to label, in order. Default: the cases of the results, capitalised.
    published : mapping of str to str, optional
        The paper's method for each of ours whose published values are drawn; default: the same names.
    backend : str, optional
        Default: the best that has the method.
    log : bool
        Logarithmic vertical axis.
    """
    cases = cases or {case: case[:1].upper() + case[1:] for case in results.cases}
    methods = methods if isinstance(methods, Mapping) else {method: method for method in methods}
    published = {method: method for method in methods} if published is None else published
    width = 0.8 / max(1, len(methods))
    printed = False
    for i, (method, name) in enumerate(methods.items()):
        where = results.backends(method, metric)
        used = backend or (where[0] if where else None)
        text = f"{name} ({used})" if used not in (None, "host") else name
        points = [_measured(results, case, method, metric, unit, backend) for case in cases]
        positions = [j + (i - (len(methods) - 1) / 2) * width for j in range(len(points))]
        drawn = [(x, *point) for x, point in zip(positions, points, strict=True) if point is not None]
        if drawn:
            x, value, low, high = map(list, zip(*drawn, strict=True))
            axes.bar(x, value, 0.92 * width, color=colour(method), edgecolor="black", linewidth=0.4, label=text)
            axes.errorbar(x, value, [low, high], fmt="none", ecolor="black", elinewidth=0.7, capsize=1.5)
        for x, case in zip(positions, cases, strict=True):
            number = results.published.get(case, published.get(method, ""), metric)
            if number is not None:
                axes.plot(
                    x, convert(number.value, number.unit, unit), marker=marker(method), mfc="white", mec="black",
                    mew=0.9, ls="none", zorder=4, label=None if printed or drawn else f"{name} (paper)",
                )  # fmt: skip
                printed = printed or bool(drawn)
    if printed:
        axes.plot([], [], marker="o", mfc="white", mec="black", ls="none", label=paper_label(results.scale))
    axes.set_xticks(range(len(cases)), list(cases.values()))
    axes.tick_params(axis="x", length=0)
    if log:
        _logarithmic(axes, "y")
    axes.set_ylabel(label(quantity, unit))
    _legend(axes)


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
) -> None:
    """Draw a line for each method, with intervals, and the paper's values as open marks.

    Parameters
    ----------
    axes : Axes
    series : mapping of str to sequence of tuple
        For each method (x, y) or (x, y, low, high), low and high the ends of the interval, None where there is none.
    x, y : str
        Text of the axes, with units.
    names : mapping of str to str, optional
        Labels for the legend.
    published : mapping of str to sequence of (float, float), optional
        The paper's points for each method.
    log_x, log_y : bool
        Logarithmic axes.
    whole_x : bool
        Put a tick at each abscissa, which are few whole numbers.
    """
    names = names or {}
    for method, points in series.items():
        points = sorted(points, key=lambda point: point[0])
        if not points:
            continue
        abscissae, ordinates = [point[0] for point in points], [point[1] for point in points]
        ends = [point[2:4] if len(point) > 3 else (None, None) for point in points]
        below = [0.0 if low is None else value - low for value, (low, _) in zip(ordinates, ends, strict=True)]
        above = [0.0 if high is None else high - value for value, (_, high) in zip(ordinates, ends, strict=True)]
        axes.plot(abscissae, ordinates, color=colour(method), marker=marker(method), label=names.get(method, method))
        axes.errorbar(abscissae, ordinates, [below, above], fmt="none", ecolor=colour(method), elinewidth=0.7)
    for method, points in (published or {}).items():
        if points:
            look = {"color": colour(method), "marker": marker(method), "mfc": "none", "mew": 1.0, "ms": 7.5}
            axes.plot(*zip(*sorted(points), strict=True), ls=":", lw=0.8, zorder=4, **look)
    if any((published or {}).values()):
        axes.plot([], [], marker="o", mfc="white", mec="black", color="black", ls=":", lw=0.8, label="paper")
    if log_x:
        _logarithmic(axes, "x")
    if log_y:
        _logarithmic(axes, "y")
    if whole_x:
        axes.set_xticks(sorted({point[0] for points in series.values() for point in points}))
        axes.minorticks_off()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _legend(axes)


def _logarithmic(axes: Axes, which: str) -> None:
    """Make an axis logarithmic, with plain numbers at its ticks, and three a decade where there are few decades."""
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
    plain = FuncFormatter(lambda value, position: f"{value:,.10g}")
    axis.set_major_formatter(plain if low > 1e-3 and high < 1e6 else LogFormatterMathtext(minor_thresholds=(9, 9)))
    axis.set_minor_formatter(NullFormatter())


def paper_label(scale: str) -> str:
    """Name the paper's marks, which at other scales are not of what is drawn beside them."""
    return "paper" if scale == "paper" else "paper, its own sizes"


def _legend(axes: Axes) -> None:
    """Put the legend above the axes, where it hides nothing, in as many columns as fit; the paper's marks come last."""
    entries = sorted(
        zip(*axes.get_legend_handles_labels(), strict=True), key=lambda entry: entry[1].startswith("paper")
    )
    if entries:
        handles, names = zip(*entries, strict=True)
        made = axes.get_figure()
        points = 72 * made.get_figwidth() / len([each for each in made.axes if each.get_visible()])
        longest = max(map(len, names))
        columns = max(1, min(len(names), int(points / (4.0 * longest + 26))))
        axes.legend(handles, names, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, borderaxespad=0,
                    handlelength=1.4, columnspacing=1.2)  # fmt: skip


def save(made: Figure, path_stem: str | Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write the figure, by default as PNG and SVG; the same figure gives the same bytes.

    Parameters
    ----------
    made : Figure
    path_stem : str or path
        Path without the suffix, which may itself hold dots.
    formats : sequence of str
        Of `FORMATS`.

    Returns
    -------
    list of Path
        The files written.
    """
    stem = str(path_stem)
    Path(stem).parent.mkdir(parents=True, exist_ok=True)
    written = [Path(f"{stem}.{each}") for each in formats]
    with style():
        for path, each in zip(written, formats, strict=True):
            made.savefig(path, metadata=dict.fromkeys(FORMATS[each]))
    return written
