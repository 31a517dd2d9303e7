"""Single against double precision: the product in SBELL on all four matrices, sorted globally and as we would.

Values and vectors are of either precision, columns alike. What is gained by half the bytes says what mixed precision
may bring to a solver (section 4).

Equation, section 3: y = A x.
Timed, in `zhang2013/products.py`: `run.time("spmv", lambda: packed.multiply(given, result))`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed, stated
from experiments.zhang2013.figure8_formats import measure
from experiments.zhang2013.products import GLOBAL, product_cell
from repro.show.plots import COLUMN, bars, caption, figure
from repro.show.tables import Table, device_notes, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 1.5, "large": 4}
DTYPES = {"single": "float32", "double": "float64"}
SORTED = {"-global": GLOBAL, "": {}}


def cells(scale):
    """Return every matrix in both precisions on every back end."""
    return [product_cell(mesh, method + ending, backend, form="sbell", dtype=dtype, **window)
            for mesh in MESHES for backend in DEVICES for ending, window in SORTED.items()
            for method, dtype in DTYPES.items()]  # fmt: skip


def tables(results):
    """Return rates in both precisions, warm and cold, and the share of double in single as the paper states it."""
    titles = {"-global": "sorted over all rows, as in the paper", "": "sorted within a window"}
    return with_ours([_shares(results, ending, f"Figure 9: SBELL in single and in double precision, {text}")
                      for ending, text in titles.items()])  # fmt: skip


def _shares(results, ending, title):
    rows = []
    for backend in results.backends(metric="spmv"):
        for case, name in labels(results).items():
            row = {"Matrix": name, "Back end": backend}
            for note, metric in (("", "spmv"), (", cold", "spmv_cold")):
                single, double = (speed(results, case, method + ending, backend, metric) for method in DTYPES)
                row |= {f"Single{note} [GFLOP/s]": single, f"Double{note} [GFLOP/s]": double,
                        f"Double / single{note} [%]": 100 * double / single if single and double else None}  # fmt: skip
            if rows and not any(list(row.values())[2:]):
                continue  # of a back end that has other matrices
            rows.append(row | {"Double / single [%], paper": stated(f"double-over-single-{case}")})
    notes = ["By least bytes the share is 53 % for blocks of 3 × 3 and 56 % for 2 × 2, vectors left out.", LOADS,
             *device_notes(results, "spmv")]  # fmt: skip
    return Table(title, pandas.DataFrame(rows), notes)


def plot(results):
    """Draw the rates in both precisions."""
    made, (axes,) = figure(COLUMN, 2.6)
    cases = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    methods = {"single-global": "single precision, sorted", "double-global": "double precision, sorted",
               "single": "single, tuned", "double": "double, tuned"}  # fmt: skip
    bars(axes, results, "rate", methods, unit="GFLOP/s", quantity="SpMV in SBELL", cases=cases, log=False)
    caption(made, results)
    return made
