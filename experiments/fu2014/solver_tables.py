"""Columns, speed-ups and the table of all solvers, which Tables 3, 5 and 6 share."""

from __future__ import annotations

import pandas

from experiments.fu2014 import solvers
from experiments.notes import STARTED_BY_HOST
from repro.show.looks import word
from repro.show.tables import Column, Ratio, Table, trimmed

HEADINGS = {
    "patch-pcgamg": "patchPCGAMG", "hypre-pcgamg": "Hypre-PCGAMG", "jacobi-pcgamg": "jacobiPCGAMG", "cg": "CG",
    "hypre-cg": "Hypre-CG",
}  # fmt: skip
UNSMOOTHED = "amgx-aggregation"
STANDS_IN = "jacobiPCGAMG stands in for CUSP-PCGAMG, whose numbers from the paper stand beside it"
S1 = Ratio("S1", HEADINGS["hypre-pcgamg"], HEADINGS["patch-pcgamg"], ("patch-pcgamg", "speedup_over_hypre"), True,
           "the speed-up over Hypre-PCGAMG")  # fmt: skip
S2 = Ratio("S2", HEADINGS["jacobi-pcgamg"], HEADINGS["patch-pcgamg"], ("patch-pcgamg", "speedup_over_cusp"), True,
           "the speed-up over CUSP-PCGAMG, ours over jacobiPCGAMG")  # fmt: skip
S3 = Ratio("S3", HEADINGS["hypre-cg"], HEADINGS["cg"], ("cusp-cg", "speedup_over_hypre"), True,
           "the speed-up of CG over Hypre-CG")  # fmt: skip


def of_caption(results, drawn) -> str:
    """Return for a figure's caption whose times the paper's marks are, and which of its methods have one thread."""
    alone = [word(method) for method in drawn
             if {results.value(case, method, "threads", "host") for case in results.cases} - {None} == {1}]  # fmt: skip
    cusps = [word(method) for method in ("jacobi-pcgamg", "cg") if method in drawn] * (results.scale == "paper")
    told = [f"the paper's {' and '.join(cusps)} {'are' if len(cusps) > 1 else 'is'} CUSP's"] * bool(cusps)
    return "; ".join([*told, *[f"on one thread: {'; '.join(alone)}"] * bool(alone)])


def columns(metric, unit, methods=("patch-pcgamg", "hypre-pcgamg", "jacobi-pcgamg", "cg", "hypre-cg")):
    """Return the paper's columns of a metric; the stand-ins are named as such."""
    return [Column(HEADINGS[m], m, metric, unit, published=solvers.PUBLISHED.get(m)) for m in methods]


def threads(results, metric) -> list[str]:
    """Return a note on the threads of the paper's columns that were measured on a CPU, if any."""
    counts = {}
    for method, heading in HEADINGS.items():
        for backend in results.backends(method, metric)[:1]:
            found = [results.value(case, method, "threads", backend) for case in results.cases]
            used = sorted({int(count) for count in found if count is not None})
            if used:
                counts[heading] = " or ".join(map(str, used))
    return [f"Threads on the CPU: {', '.join(f'{name} {count}' for name, count in counts.items())}."] if counts else []


def everything(results, names):
    """All solvers on all back ends, with threads and the true residual."""
    rows = []
    done = results.done[results.done["metric"] == "solve"]
    for row in done.to_dict("records"):
        case, method, backend = row["case"], row["method"], row["backend"]
        value = {
            metric: results.value(case, method, metric, backend)
            for metric in ("setup", "iterations", "time_per_iteration", "threads", "operator_complexity")
        }
        rows.append({
            "Mesh": names[case], "Method": method, "Back end": backend,
            "Threads": "GPU" if value["threads"] is None else int(value["threads"]),
            "Set-up [ms]": value["setup"] and 1e3 * value["setup"], "Solve [ms]": 1e3 * row["value"],
            "Together [ms]": value["setup"] and 1e3 * (value["setup"] + row["value"]),
            "Iterations": int(value["iterations"]), "ms an iteration": 1e3 * value["time_per_iteration"],
            "Of bound [%]": results.of_bound(row),
            "Operator complexity": value["operator_complexity"], "True residual": row["error"],
        })  # fmt: skip
    notes = [f"`{method}`: {solvers.title(method)}." for method in dict.fromkeys(row["Method"] for row in rows)]
    if counts := [row["Iterations"] for row in rows if row["Method"] == UNSMOOTHED]:
        notes.append(f"`{UNSMOOTHED}` does not smooth its transfers and took {min(counts):,} to {max(counts):,} "
                     "iterations: its set-up time alone says little.")  # fmt: skip
    if ("opencl", "GPU") in {(row["Back end"], row["Threads"]) for row in rows}:
        notes.append(STARTED_BY_HOST)
    return trimmed(Table("All solvers", pandas.DataFrame(rows, dtype=object), notes), 4)
