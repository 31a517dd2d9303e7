"""Parts of a panel that plots share: intervals, logarithmic axes, legends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro.show.looks import colour, marker, size, style
from repro.units import split

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from repro.show.results import Results

MOST = 8  # methods in a panel: more colours cannot be told apart
LEFT_OUT = "_not drawn: "  # no legend has a name that begins so
ABOVE = "legend-above"  # of a panel, by `legend`


def intervals(axes: Axes, points: Sequence[tuple[float, ...]], ink: str, cap: float, aside: float = 0) -> None:
    """Draw the intervals of points (x, y, low, high) that have one, some printer's points aside of them."""
    points = [each for each in points if None not in each[2:4]]
    if points:
        x, y, low, high = zip(*points, strict=True)
        below = [value - end for value, end in zip(y, low, strict=True)]
        above = [end - value for value, end in zip(y, high, strict=True)]
        # Above lines (2), as those from ours to the paper's, which would hide a stem, and below marks (3).
        drawn = axes.errorbar(x, y, [below, above], fmt="none", ecolor=ink, elinewidth=0.7, capsize=cap, zorder=2.5)
        beside(aside, *filter(None, drawn.get_children()))


def beside(aside: float, *artists: Artist) -> None:
    """Draw artists that hold data some printer's points aside of their abscissae, which stay as they are."""
    from matplotlib.transforms import ScaledTranslation

    for each in artists if aside else ():
        each.set_transform(each.get_transform() + ScaledTranslation(aside / 72, 0, each.get_figure().dpi_scale_trans))


def asides(axes: Axes, series: Mapping[str, Sequence[tuple]], categories: Sequence[str]) -> dict[tuple, float]:
    """Return how far aside of its abscissa a point's stem is drawn, in points, by method and abscissa.

    Points are drawn aside where their intervals would overprint one another. Among categories it is every point of a
    panel whose methods have some in common, and its mark goes with the stem.
    """
    groups, step = [], 1.6
    if categories:
        methods = [method for method, points in series.items() if points]
        places = [{point[0] for point in series[method]} for method in methods]
        step = min(6, 0.6 * _width(axes) / len(categories) / max(1, len(methods)))
        if len(set().union(*places)) < sum(map(len, places)):
            groups = [[(method, place) for method in methods] for place in range(len(categories))]
    else:
        order = [*series]
        stems = sorted((point[0], *point[2:4], order.index(method)) for method, points in series.items()
                       for point in points if len(point) > 3 and None not in point[2:4])  # fmt: skip
        last, top = math.nan, math.nan
        for x, low, high, k in stems:
            meets = x == last and low <= top
            if not meets:
                groups.append([])
            groups[-1].append((order[k], x))
            last, top = x, max(top, high) if meets else high
        groups = [sorted(group, key=lambda at: order.index(at[0])) for group in groups]
    return {at: step * (k - (len(group) - 1) / 2) for group in groups for k, at in enumerate(group) if len(group) > 1}


def _width(axes: Axes) -> float:
    """Return about how wide a panel is with all around it, in points."""
    place = axes.get_subplotspec()
    return 72 * axes.get_figure().get_figwidth() / (place.get_gridspec().ncols if place is not None else 1)


def hollow(
    axes: Axes, x: Sequence[float], y: Sequence[float], method: str, label: str | None = None, *, ls: str = "none",
    edge: str | None = None, is_below: bool = False, aside: float = 0,
) -> None:  # fmt: skip
    """Draw the paper's values of a method: hollow marks, wider than ours, which are seen within where both are equal.

    Without values it is an entry of the legend.

    Parameters
    ----------
    ls : str
        Of the line that joins the values.
    edge : str, optional
        Its colour; default: the method's.
    is_below : bool
        Below our marks, which may be many; else white on both sides of the edge tells it from what it lies on.
    aside : float
        Of the abscissae, in points.
    """
    from matplotlib.patheffects import withStroke

    ink = edge or colour(method)
    if ls != "none" and len(x):
        axes.plot(x, y, ls=ls, lw=0.8, color=ink, zorder=2)
        ls = "none"
    halo = [withStroke(linewidth=2, foreground="white")] if len(x) and not is_below else []
    points = wider(method) if len(x) else 1.2 * size(method)  # lines of a legend are low
    marks = axes.plot(x, y, marker=marker(method), ms=points, mfc="none", mec=ink, mew=0.9, ls=ls, lw=0.8, color=ink,
                      zorder=2.4 if is_below else 4, label=label, path_effects=halo)  # fmt: skip
    beside(aside, *marks)


def wider(method: str) -> float:
    """Return the size of a mark around a method's, in points: marks with sharp corners leave less room within."""
    return (1.5 if marker(method) in "osDphH8" else 1.75) * size(method)


def fewer(methods: Mapping[str, str], printed: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the methods that are drawn, the paper's own before others, and the names of the methods left out."""
    first = sorted(methods, key=lambda method: method not in printed)[:MOST]
    return ({method: name for method, name in methods.items() if method in first},
            [name for method, name in methods.items() if method not in first])  # fmt: skip


def not_drawn(axes: Axes, names: Sequence[str]) -> None:
    """Leave to the caption which methods are not drawn."""
    if names:
        axes.plot([], [], ls="none", label=LEFT_OUT + "; ".join(names))


def left_out(made: Figure) -> list[str]:
    """Return what a caption says of the methods that are not drawn."""
    told = dict.fromkeys(line.get_label() for axes in made.axes for line in axes.lines)
    return [label.removeprefix("_") for label in told if label.startswith(LEFT_OUT)]


def groups(axes: Axes, names: Sequence[str], every: int = 1) -> None:
    """Name the groups at 0, 1, ... below an axis, or some of them; names that would meet are slanted."""
    axes.set_xticks(range(0, len(names), every), names[::every])
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    texts = axes.get_xticklabels()
    if not texts:
        return
    letters, group = 0.5 * texts[0].get_fontsize() * longest, _width(axes) / len(texts)  # points
    if letters > 0.9 * group:
        slanted(axes)


def slanted(axes: Axes, degrees: float = 40) -> None:
    """Slant the names below an axis, each with its end at its tick."""
    for text in axes.get_xticklabels():
        text.set(rotation=degrees, ha="right", va="top" if degrees < 90 else "center", rotation_mode="anchor")


MEMORY = "memory, measured"  # names the line of its bandwidth


def memory(axes: Axes, results: Results, metric: str, used: Iterable[tuple[str, str]], unit: str, most: float) -> None:
    """Draw the bandwidth of the device's memory where a rate is above it; nothing where it is not, or not known."""
    if split(unit)[1] != "B/s":
        return
    done, places = results.done[results.done["metric"] == metric], set(used)
    rows = [row for row in done.to_dict("records") if (row["method"], row["backend"]) in places]
    roofs = [results.roofs.of(device, results.cores) for device in {row["device"] for row in rows}]
    if len(roofs) == 1 and roofs[0] and most > (bandwidth := roofs[0].bandwidth / split(unit)[0]):
        axes.axhline(bandwidth, color="black", lw=0.8, ls="--", zorder=1, label=MEMORY)


def logarithmic(axes: Axes, which: str) -> None:
    """Make an axis logarithmic, with plain numbers at its ticks, and three a decade where there are few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    few = MaxNLocator(3) if high / low < 3 else None  # else matplotlib takes many, whose numbers meet
    axis.set_major_locator(few or LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
    is_plain = low > 1e-3 and high < 1e6
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}" if is_plain else _power(value)))
    axis.set_minor_formatter(NullFormatter())


def alike(panels: Sequence[Axes]) -> None:
    """Give panels of one quantity the same vertical axis, logarithmic where one of them is."""
    if any(axes.get_yscale() == "log" for axes in panels):
        for axes in panels:
            axes.set_yscale("log")
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        if axes.get_yscale() == "log":
            logarithmic(axes, "y")  # its ticks go by the limits


def _power(value: float) -> str:
    """Return a number as a multiple of a power of ten."""
    mantissa, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if mantissa == "1" else f"${mantissa}\\times{power}$"


def legend(axes: Axes) -> None:
    """Put the legend above the axes, where it hides nothing, in as many columns as fit; the paper's marks come last."""
    entries = sorted(
        zip(*axes.get_legend_handles_labels(), strict=True), key=lambda entry: entry[1].startswith("paper")
    )
    if entries:
        handles, names = zip(*entries, strict=True)
        made = axes.get_figure()
        columns = legend_columns(names, made.get_figwidth() / len([each for each in made.axes if each.get_visible()]))
        placed = axes.legend(handles, names, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, borderaxespad=0,
                    handlelength=1.4, columnspacing=1.2)  # fmt: skip
        placed.set_gid(ABOVE)


def share_legend(made: Figure) -> None:
    """Put one legend above all panels, where no name stands for two looks: the panels need the room."""
    panels = [axes for axes in made.axes if axes.get_visible() and axes.get_legend_handles_labels()[1]]
    entries = [entry for axes in panels for entry in zip(*reversed(axes.get_legend_handles_labels()), strict=True)]
    if made.legends or made.subfigs or len(made.axes) < 2 or not entries or not _agree(entries):
        return
    for axes in panels:
        if axes.get_legend() is not None:
            axes.get_legend().remove()
    handles = dict(reversed(entries))  # of the first panel that has it
    names = sorted(dict(entries), key=lambda name: name.startswith("paper"))
    with style():
        made.legend([handles[name] for name in names], names, loc="outside upper left", borderaxespad=0,
                    ncols=legend_columns(names, made.get_figwidth()), handlelength=1.4, columnspacing=1.2)  # fmt: skip


def _agree(entries: Sequence[tuple[str, Any]]) -> bool:
    """Return whether entries of legends with one name have one look, but for the paper's, whose marks are its methods'.

    A bar and a mark may be the same method's.
    """
    from matplotlib.cbook import flatten
    from matplotlib.colors import to_hex

    looks: dict[str, list[set]] = {}
    for name, handle in entries:
        # A group of bars, or of a mark with its stem; stems alone have no mark.
        first = next(filter(None, flatten([handle])))
        shade = first.get_color() if hasattr(first, "get_color") else first.get_facecolor()
        colours, markers = looks.setdefault(name, [set(), set()])
        colours.add(to_hex(shade) if isinstance(shade, str) or len(shade) in (3, 4) else str(shade))
        markers |= {first.get_marker()} if hasattr(first, "get_marker") else set()
    return all(len(each) < 2 for name, found in looks.items() if not name.startswith("paper") for each in found)


def legend_columns(names: Sequence[str], width: float) -> int:
    """Return in how many columns a legend fits a width in inches, no more than its rows take: columns fill up first."""
    most = max(1, min(len(names), int(72 * width / (4.0 * max(map(len, names)) + 26))))
    rows = -(-len(names) // most)
    return -(-len(names) // rows)


def tidy(made: Figure) -> None:
    """Lift legends above the titles of panels, break the axes' texts that are longer than theirs, show marks whole."""
    from matplotlib.transforms import ScaledTranslation

    for axes in made.axes:
        own = axes.get_legend()
        if (
            own is not None
            and own.get_gid() == ABOVE
            and any(axes.get_title(where) for where in ("left", "center", "right"))
        ):
            lifted = axes.transAxes + ScaledTranslation(0, 13 / 72, made.dpi_scale_trans)
            own.set_bbox_to_anchor((0, 1.01), transform=lifted)
    for _ in range(3):  # a text of more lines leaves its axis another length
        made.draw_without_rendering()
        if not any([_broken(axes) for axes in made.axes if axes.get_visible()]):
            break
    for line in (line for axes in made.axes for line in axes.lines if line.get_marker() not in ("", "None", None)):
        if _is_within(line):
            line.set(clip_on=False, in_layout=False)


def _is_within(line: Line2D) -> bool:
    """Return whether all marks of a line are within its axes' limits, if at their edge."""
    (left, right), (bottom, top) = sorted(line.axes.get_xlim()), sorted(line.axes.get_ylim())
    return all(left <= x <= right and bottom <= y <= top for x, y in line.get_xydata() if x == x and y == y)


def _broken(axes: Axes) -> bool:
    """Break the text of a vertical axis that is longer than the axis, and return whether it was."""
    text, label = axes.get_ylabel(), axes.yaxis.label
    room, length = axes.get_window_extent().height, label.get_window_extent().height
    if length <= room or not text or not room:
        return False
    letters = int(max(map(len, text.split("\n"))) * room / length)
    axes.set_ylabel(
        textwrap.fill(" ".join(text.split()), max(1, letters), break_long_words=False, break_on_hyphens=False)
    )
    return axes.get_ylabel() != text
