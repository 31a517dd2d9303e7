"""Single against double precision: the product in SBELL on all four matrices."""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed, stated
from experiments.zhang2013.figure8_formats import measure
from experiments.zhang2013.products import product_cell
from repro.show.plots import COLUMN, bars, caption, figure
from repro.show.tables import Table, device_notes

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 1.5, "large": 4}
DTYPES = {"single": "float32", "double": "float64"}


def cells(scale):
    """Return every matrix in both precisions on every back end."""
    return [product_cell(mesh, method, backend, form="sbell", dtype=dtype)
            for mesh in MESHES for backend in DEVICES for method, dtype in DTYPES.items()]  # fmt: skip


def tables(results):
    """Return rates in both precisions, warm and cold, and the share of double in single as the paper states it."""
    rows = []
    for backend in results.backends(metric="spmv"):
        for case, name in labels(results).items():
            row = {"Matrix": name, "Back end": backend}
            for note, metric in (("", "spmv"), (", cold", "spmv_cold")):
                single, double = (speed(results, case, method, backend, metric) for method in DTYPES)
                row |= {f"Single{note} [GFLOP/s]": single, f"Double{note} [GFLOP/s]": double,
                        f"Double / single{note} [%]": 100 * double / single if single and double else None}  # fmt: skip
            if rows and not any(list(row.values())[2:]):
                continue  # of a back end that has other matrices
            rows.append(row | {"Double / single [%], paper": stated(f"double-over-single-{case}")})
    notes = ["By least bytes the share is 53 % for blocks of 3 × 3 and 56 % for 2 × 2, vectors left out.", LOADS,
             *device_notes(results, "spmv")]  # fmt: skip
    return [Table("Figure 9: SBELL in single and in double precision", pandas.DataFrame(rows), notes)]


def plot(results):
    """Draw the rates in both precisions."""
    made, (axes,) = figure(COLUMN, 2.6)
    cases = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    bars(axes, results, "rate", {"single": "single precision", "double": "double precision"}, unit="GFLOP/s",
         quantity="SpMV in SBELL", cases=cases, log=False)  # fmt: skip
    caption(made, results)
    return made
