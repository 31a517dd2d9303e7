"""Geometric beside algebraic multigrid, wherever both ran: part of Tables 3 and 4."""

from __future__ import annotations

import pandas

from experiments.geveler2011 import BEST, ELEMENTS, level_of, method_of, solves
from experiments.geveler2011.layout import cases_of
from repro.show.plots import point
from repro.show.quotients import quotient, quotient_text
from repro.show.tables import Table, number_text, trimmed

OURS = tuple(name for name, settings in solves.VARIANTS.items() if "pack" not in settings)
#: By where they run: the paper's cycle, geometric multigrid, and algebraic.
PLACES = {
    "cuda": (("ellpack_r", "cuda"), [(name, "cuda") for name in OURS], [(name, "cuda") for name in solves.AGGREGATION]),
    "all cores": (
        ("cpu-all", "host"), [("ellpack_r", "openmp"), *((name, "openmp") for name in OURS)],
        [*((name, "host") for name in solves.RIVALS), *((name, "openmp") for name in solves.AGGREGATION)],
    ),
    "one thread": (("cpu-1", "host"), [("scipy", "host")], [("pyamg", "host")]),
}  # fmt: skip
METRICS = {"solve": "the paper's", "solve_general": "random"}  # and the right-hand side of each


def table(results, title: str) -> Table:
    """Return by level and place the paper's cycle, the fastest geometric and the fastest algebraic multigrid."""
    rows = []
    for element in ELEMENTS:
        for case in cases_of(results, element):
            for metric, side in METRICS.items():
                for where, (papers, *both) in PLACES.items():
                    geometric, algebraic = (_fastest(results, case, element, metric, each)
                                            for each in ([papers, *both[0]], both[1]))  # fmt: skip
                    if geometric and algebraic:
                        rows.append({
                            "Element": element.upper(), "L": level_of(case), "Right-hand side": side, "On": where,
                            "The paper's cycle [ms]": number_text(_time(results, case, element, metric, papers), "ms"),
                            "Geometric [ms]": number_text(geometric[0], "ms"), "Geometric solver": geometric[1],
                            "Algebraic [ms]": number_text(algebraic[0], "ms"), "Algebraic solver": algebraic[1],
                            "Algebraic over geometric": quotient_text(quotient(algebraic[0], geometric[0])),
                        })  # fmt: skip
    notes = [f"In numbering {BEST.upper()}, without set-up: of either kind the fastest that was measured there. In "
             "parentheses: the interval."]  # fmt: skip
    if any(row["Right-hand side"] == METRICS["solve_general"] for row in rows):
        notes.append("The paper's solution there is a constant, which coarse levels of algebraic multigrid hold "
                     "exactly. The random right-hand side compares the two.")  # fmt: skip
    return trimmed(Table(title, pandas.DataFrame(rows, dtype=object), notes), 4)


def _time(results, case, element, metric, of):
    name, backend = of
    return point(results, case, method_of(element, BEST, name), metric, "ms", backend)


def _fastest(results, case, element, metric, of):
    """Return the least time of some solvers with its interval, and whose it is; None where none was measured."""
    found = [(time, each[0]) for each in of if (time := _time(results, case, element, metric, each))]
    return min(found, key=lambda each: each[0][0], default=None)
