"""Multigrid on BLOOD: speed-ups at the largest level.

The cycle of Table 3 with 64 steps of damped Jacobi, for elements that are stretched. Beside the paper's two columns, in
the best numbering: what stronger smoothers make of these steps, and the other solvers of Table 3.

Equation, section 4.2: -Δu = 0, with u = 1 on the boundary.
Timed, in `geveler2011/solves.py`: `run.time(metric, solve)`, where `solve` is `solver.solve(TOLERANCE)`.
"""

from __future__ import annotations

import pandas

from experiments.geveler2011 import (
    BEST,
    ELEMENTS,
    LEVELS,
    NUMBERINGS,
    TITLES,
    case_of,
    convergence,
    label,
    level_of,
    method_of,
    solves,
)
from experiments.geveler2011.algebraic import table as beside_algebraic
from experiments.geveler2011.layout import (
    beside_best,
    by_numbering,
    by_some_cycles,
    meanings,
    variants,
)
from experiments.geveler2011.rates import noted
from repro.show.panels import alike, logarithmic
from repro.show.plots import PAGE, caption, colour, lines, paper_label, point, style
from repro.show.quotients import quotient, quotient_text
from repro.show.tables import Table, trimmed, with_ours

MINUTES = {"smoke": 0.5, "small": 2, "paper": 40, "large": 40}

# Each over the hardware before it, as columns have it, and the paper's method and metric.
GAINS = {"all threads": ("cpu-4", "speedup_over_cpu_1"), "device": ("gpu", "speedup_over_cpu_4")}
SECONDS = {"smoke": 0.01, "small": 0.02, "paper": 0.5, "large": 1}  # of sampling each solve


def cells(scale):
    """Return BLOOD's largest level by every solver."""
    return solves.cells("blood", scale)


def measure(cell, run):
    """Time a solve; see `solves.measure`."""
    solves.measure(cell, run, SECONDS[run.scale])


def tables(results):
    """Return the paper's table, the times behind it, and everything in the best numbering."""
    made = []
    name = label("blood", results)
    for element in ELEMENTS:
        rows = variants(results, element, solves.MEANING)
        title = f"{name}: solvers in numbering {TITLES[BEST]}, {element.upper()}"
        made.append(trimmed(Table(title, pandas.DataFrame(rows), [*meanings("blood", rows), *_flattered(rows)]), 3))
        made += beside_best(results, element, f"{name}: solvers")
        made.append(by_numbering(results, f"{name}: times", element, "solve", "s"))
    beside = beside_algebraic(results, f"Geometric and algebraic multigrid on {name}")
    return with_ours([_speedups(results, name), beside, noted(convergence.table(results)), *_general(results), *made])


def _flattered(rows):
    """Say for which of some solvers the paper's problem is no measure."""
    told = [f"`{name}`" for name in solves.AGGREGATION if name in {row["Variant"] for row in rows}]
    return [f"The solution is u = 1, and the coarse levels of {' and '.join(told)} hold constants exactly: the table "
            "with a random right-hand side compares them."] if told else []  # fmt: skip


def _general(results):
    """Return the second problem of some of the solvers beside the paper's, in the best numbering."""
    rows, done = [], results.done
    for row in done[(done["metric"] == "solve_general") & (done["p_numbering"] == BEST)].to_dict("records"):
        facts = {metric: results.value(row["case"], row["method"], metric, row["backend"])
                 for metric in ("solve", "cycles", "cycles_general")}  # fmt: skip
        rows.append({
            "Element": row["p_element"].upper(), "L": level_of(row["case"]), "Variant": row["p_variant"],
            "Back end": row["backend"], "u = 1 [ms]": facts["solve"] and 1e3 * facts["solve"],
            "Cycles, u = 1": facts["cycles"] and int(facts["cycles"]),
            "Random [ms]": 1e3 * row["value"],
            "Cycles, random": facts["cycles_general"] and int(facts["cycles_general"]),
        })  # fmt: skip
    notes = ["Random: the same matrix with a random right-hand side. The coarse levels of aggregation hold constants, "
             "as the paper's u = 1, exactly. Its time with u = 1 says nothing about other sides."]  # fmt: skip
    frame = pandas.DataFrame(rows, dtype=object)
    return [trimmed(Table("With a random right-hand side, by solver", frame, notes), 4)] if rows else []


def _device(results):
    return next((b for b in results.backends() if b != "host"), "cuda")


def speedup_rows(results) -> list[dict]:
    """Return a row a numbering: all threads over one, and the device over all threads, ours and the paper's.

    Ours have the ends of their intervals.
    """
    backend = _device(results)
    rows = []
    for numbering in NUMBERINGS:
        row = {"Numbering": TITLES[numbering]}
        for element in ELEMENTS:
            case = case_of("blood", LEVELS["table4"][results.scale][element][-1])
            printed = case_of("blood", LEVELS["table4"]["paper"][element][-1])
            times = [point(results, case, method_of(element, numbering, each), "solve", "s", where)
                     for each, where in (("cpu-1", "host"), ("cpu-all", "host"), ("ellpack_r", backend))]  # fmt: skip
            for k, (heading, paper) in enumerate(GAINS.items()):
                column = f"{element.upper()} {heading}"
                row[column] = quotient(times[k], times[k + 1])
                number = results.published.get(printed, method_of(element, numbering, paper[0]), paper[1])
                row[f"{column}, paper"] = None if number is None else number.value
        rows.append(row)
    return rows


def _speedups(results, name):
    """Return the paper's layout."""
    backend = _device(results)
    rows = [{name: quotient_text(value) if isinstance(value, tuple) else value for name, value in row.items()}
            for row in speedup_rows(results)]  # fmt: skip
    beside = any(row[f"{element.upper()} all threads"] is not None for row in rows for element in ELEMENTS)
    about = f"The device, {backend}, over all threads. In parentheses: the interval."
    notes = ["All threads over one. " * beside + about,
             *by_some_cycles(results), f"Machine {results.place}, scale {results.scale}."]  # fmt: skip
    if results.scale != "paper":
        notes.append("The paper's columns hold for its own level.")
    return trimmed(Table(f"Table 4: speed-ups of multigrid on {name}", pandas.DataFrame(rows), notes))


def plot(results):
    """Draw the speed-ups by numbering, ours and the paper's, where there are any, and the time of all solvers."""
    from matplotlib.figure import Figure

    shown = {element: variants(results, element, solves.MEANING)[::-1] for element in ELEMENTS}
    ours = [f"{element.upper()} {what}" for element in ELEMENTS for what in GAINS]
    is_above = any(row[column] is not None for row in speedup_rows(results) for column in ours)
    heights = [2] * is_above + [1.3 + 0.15 * max(map(len, shown.values()))] * any(shown.values())
    if not heights:
        return None
    with style():
        made = Figure(figsize=(PAGE, sum(heights)), layout="constrained")
        axes = made.subplots(len(heights), len(ELEMENTS), squeeze=False, height_ratios=heights)
    for axis, element in zip(axes[0], ELEMENTS, strict=True) if is_above else ():
        _draw_speedups(axis, results, element)
    if is_above:
        alike(axes[0])
    for axis, (element, rows) in zip(axes[-1], shown.items(), strict=True) if any(shown.values()) else ():
        if rows:
            _draw_times(axis, results, element, rows)
        else:
            axis.set_visible(False)
    notes = [f"open marks above: {paper_label(results.scale)}"] * is_above + [f"times in numbering {TITLES[BEST]}"]
    notes += ["cycles then: those of the random right-hand side"] * len(_general(results))
    caption(made, results, "; ".join(notes))
    return made


def _draw_speedups(axis, results, element):
    """Draw the columns of the paper's table, a numbering an abscissa."""
    rows, found = speedup_rows(results), {}
    columns = {"threads-over-one": "all threads", "device-over-threads": "device"}
    for theirs in ("", ", paper"):
        found[theirs] = {name: [(x, *value) if isinstance(value, tuple) else (x, value) for x, row in enumerate(rows)
                                if (value := row[f"{element.upper()} {column}{theirs}"]) is not None]
                         for name, column in columns.items()}  # fmt: skip
    names = {"threads-over-one": "all threads over one", "device-over-threads": "device over all threads"}
    lines(axis, found[""], x=element.upper(), y="Speed-up", names=names, published=found[", paper"], log_y=True,
          categories=[row["Numbering"] for row in rows])  # fmt: skip


OWN = {"marker": "o", "ls": "none"}
GENERAL = {"marker": "|", "ms": 8, "mew": 1.2, "ls": "none"}  # unlike the paper's open marks, which stand above


def _draw_times(axis, results, element, rows):
    from matplotlib.lines import Line2D

    ends, has_general = [], False
    with style():
        for y, row in enumerate(rows):
            place = case_of("blood", row["L"]), method_of(element, BEST, row["Variant"])
            value, low, high = point(results, *place, "solve", "ms", row["Back end"])
            spread = None if low is None else [[value - low], [high - value]]
            axis.errorbar(value, y, xerr=spread, color=colour(row["Back end"]), mec="black", mew=0.4,
                          ecolor="black", elinewidth=0.7, **OWN)  # fmt: skip
            general = point(results, *place, "solve_general", "ms", row["Back end"])
            if general is not None:
                has_general = True
                axis.plot(general[0], y, color=colour(row["Back end"]), zorder=1, **GENERAL)
            ends.append(max(high or value, general[0] if general else 0))
            count = results.value(*place, "cycles_general", row["Back end"])
            told = f"{row['Cycles']} cycles" + (f", then {count:.0f}" if count else "")
            axis.annotate(told, (ends[-1], y), (5, 0), textcoords="offset points", va="center", fontsize=7)
        names = [solves.NAMES[row["Variant"]] for row in rows]
        places = ["" if row["Back end"] == "host" else f", {row['Back end']}" for row in rows]
        axis.set_yticks(range(len(rows)), [a + b for a, b in zip(names, places, strict=True)])
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="both")
        longest, least = max(ends), min(row["Time [ms]"] for row in rows)
        axis.set_xlim(least / 2, longest * (longest / least) ** 0.5 * 2)
        logarithmic(axis, "x")
        if has_general:  # not by labels: those would be in one legend with the panels' above
            marks = Line2D([], [], color="black", **OWN), Line2D([], [], color="black", **GENERAL)
            axis.legend(marks, ("u = 1", "random right-hand side"), loc="lower right", bbox_to_anchor=(1, 1),
                        borderaxespad=2, handlelength=1.4)  # fmt: skip
        axis.set_title(f"{element.upper()}, level {LEVELS['table4'][results.scale][element][-1]}")
    axis.set_xlabel("Time to solve [ms]")
