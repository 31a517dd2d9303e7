"""Single against double precision: the product in SBELL on all four matrices, sorted globally and as we would.

Values and vectors are of either precision, columns alike. The gain from half the bytes says what mixed precision may
bring to a solver (section 4). A table has the libraries' products in single precision beside it.

Equation, section 3: y = A x.
Timed, in `zhang2013/products.py`: `run.time("spmv", lambda: packed.multiply(given, result))`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed, stated
from experiments.zhang2013.figure8_formats import measure, rival_cell
from experiments.zhang2013.products import GLOBAL, product_cell
from repro.show.plots import COLUMN, bars, caption, figure
from repro.show.tables import Table, device_notes, trimmed, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 1.5, "large": 4}
DTYPES = {"single": "float32", "double": "float64"}
SORTED = {"-global": GLOBAL, "": {}}
SINGLE = "-single"  # of a library's product, whose name alone is Figure 8's in double precision
THEIRS = {
    "cusparse_csr": "cuSPARSE's CSR", "cusparse_sell": "cuSPARSE's SELL",
    "cusparse_sell-sorted": "cuSPARSE's SELL, sorted", "cusparse_bsr": "cuSPARSE's BSR", "mkl_csr": "MKL's CSR",
    "mkl_bsr": "MKL's BSR",
}  # fmt: skip
BESIDE = {"cuda": "cuda", "host": "openmp"}  # where ours runs on the device of a library's back end


def cells(scale):
    """Return every matrix in both precisions on every back end, and by the libraries in single precision."""
    ours = [product_cell(mesh, method + ending, backend, form="sbell", dtype=dtype, **window)
            for mesh in MESHES for backend in DEVICES for ending, window in SORTED.items()
            for method, dtype in DTYPES.items()]  # fmt: skip
    return [*ours, *(rival_cell(mesh, name + SINGLE, name, DTYPES["single"]) for mesh in MESHES for name in THEIRS)]


def tables(results):
    """Return rates in both precisions, the share of double in single as the paper states it, and the libraries."""
    titles = {"-global": "sorted over all rows, as in the paper", "": "sorted within a window"}
    shares = [_shares(results, ending, f"Figure 9: SBELL in single and in double precision, {text}")
              for ending, text in titles.items()]  # fmt: skip
    return with_ours([*shares, *_libraries(results)])


def _shares(results, ending, title):
    rows = []
    for backend in [each for each in results.backends(metric="spmv") if each in DEVICES]:
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


def _libraries(results):
    """The libraries' products in single precision beside ours, sorted within a window, on the same device."""
    rows = []
    for case, name in labels(results).items():
        for library, title in THEIRS.items():
            found = results.row(case, library + SINGLE, "spmv")
            if found is None:
                continue
            places = ("single", BESIDE[found["backend"]]), (library + SINGLE, found["backend"])
            row = {"Matrix": name, "Library": title, "Back end": found["backend"]}
            for note, metric in (("", "spmv"), (", cold", "spmv_cold")):
                ours, theirs = (results.value(case, method, metric, backend) for method, backend in places)
                row |= {f"Time{note} [µs]": theirs and 1e6 * theirs,
                        f"Rate{note} [GFLOP/s]": speed(results, case, *places[1], metric),
                        f"Its time over ours{note}": theirs / ours if ours and theirs else None}  # fmt: skip
            rows.append(row)
    notes = ["Ours is SBELL sorted within a window, by CUDA on the same card, or by C beside MKL. The "
             "libraries' products in double precision are Figure 8's.", LOADS]  # fmt: skip
    return [trimmed(Table("Libraries in single precision", pandas.DataFrame(rows), notes), 3)] if rows else []


def plot(results):
    """Draw the rates in both precisions."""
    made, (axes,) = figure(COLUMN, 2.6)
    cases = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    methods = {"single-global": "single precision, sorted", "double-global": "double precision, sorted",
               "single": "single, tuned", "double": "double, tuned"}  # fmt: skip
    bars(axes, results, "rate", methods, unit="GFLOP/s", quantity="SpMV in SBELL", cases=cases, log=False)
    caption(made, results)
    return made
