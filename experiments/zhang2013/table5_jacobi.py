"""Jacobi's preconditioner and the least-squares polynomial of order 6 on the CPU, on all meshes.

The paper's columns are one thread of compiled loops over CSR; all threads, SciPy's solver and our kernels on a
processor are beside them.

Equation, section 2.3: z = s(A) r, where A is scaled by its diagonal; for Jacobi s is 1.
Timed, in `zhang2013/solves.py`: `run.time("solve", solve)`, where `solve` is `solver.run(TOLERANCE, MOST_ITERATIONS)`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import LOADS, MESHES, labels
from experiments.zhang2013.solves import CRITERION, TIGHT, solve_cell
from experiments.zhang2013.table3_iterations import measure
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import Column, Table, device_notes, paper_table, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.3, "small": 2.5, "paper": 20, "large": 90}
METHODS = {"jacobi": ("", 0), "least-squares-6": ("least-squares", 6)}
VARIANT_NOTES = {
    "-threads": "the same loops on all threads", "-scipy": "SciPy's own solver",
    "openmp": "our solver with SBELL and a polynomial in single precision",
}  # fmt: skip
VARIANTS = {"": {"threads": 1}, "-threads": {"threads": 0}, "-scipy": {"library": True}}


def host_cells(mesh, methods=METHODS, variants=VARIANTS):
    """Return the solves of a mesh on the host: one thread, all threads, SciPy."""
    return [
        solve_cell(mesh, name + suffix, "host", mesh, polynomial=chosen[0], order=chosen[1], **variant)
        for name, chosen in methods.items()
        for suffix, variant in variants.items()
    ]


def cells(scale):
    """Return every mesh with both preconditioners on the host, and on the processor's own back end."""
    found = []
    # SciPy's products take one thread and its vectors many passes: minutes, where a small run shall take one.
    variants = {suffix: chosen for suffix, chosen in VARIANTS.items() if scale != "small" or suffix != "-scipy"}
    for mesh in MESHES:
        found += host_cells(mesh, variants=variants)
        found += [solve_cell(mesh, name, "openmp", mesh, polynomial=chosen[0], order=chosen[1], form="sbell",
                             precision="mixed") for name, chosen in METHODS.items()]  # fmt: skip
    return found


def tables(results):
    """Return Table 5, and all variants."""
    paper = paper_table(
        results,
        "Table 5: times on the CPU, Jacobi and the least-squares polynomial",
        [
            Column("Jacobi", "jacobi", "solve", "s", backend="host"),
            Column("L-S (order = 6)", "least-squares-6", "solve", "s", backend="host"),
        ],
        cases=labels(results),
        notes=[CRITERION, TIGHT, LOADS],
    )
    rows = []
    for row in results.done[results.done["metric"] == "solve"].to_dict("records"):
        iterations, products = (
            results.value(row["case"], row["method"], metric, row["backend"]) for metric in ("iterations", "products")
        )
        rows.append({"Mesh": labels(results)[row["case"]], "Method": row["method"], "Back end": row["backend"],
                     "Time [s]": row["value"], "Iterations": int(iterations), "Products": int(products)})  # fmt: skip
    notes = [f"`{name}`: {text}." for name, text in VARIANT_NOTES.items()
             if any(name in (row["Back end"], f"-{row['Method'].rpartition('-')[2]}") for row in rows)]  # fmt: skip
    notes += device_notes(results, "solve")
    return with_ours([paper, Table("All variants", pandas.DataFrame(rows), notes)])


def plot(results):
    """Draw the times of both preconditioners."""
    made, (axes,) = figure(PAGE, 2.6)
    cases = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    titles = {"jacobi": "Jacobi", "least-squares-6": "L-S of order 6"}
    suffixes = {"": "one thread", "-threads": "all threads"}
    names = {name + suffix: f"{title}, {text}" for name, title in titles.items() for suffix, text in suffixes.items()}
    bars(axes, results, "solve", names, unit="s", quantity="Time on the CPU", cases=cases, backend="host")
    caption(made, results)
    return made
