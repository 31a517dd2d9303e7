"""SpMV by format on all four matrices, double precision: our formats and libraries' formats.

The matrices are Table 1's; a product has two operations for each entry (section 5.2). It alone is timed, with the
vectors and the matrix in place, warm and with the cache evicted before.

SELL and SBELL are there twice: sorted by length over all rows, as the paper has it, and within a window that is chosen
by what is stored, as we would. cuSPARSE's SELL gets the sorted matrix, too.

Equation, section 3: y = A x.
Timed, in `zhang2013/products.py`: `run.time("spmv", lambda: packed.multiply(given, result))`.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pandas

from baselines import spmv as rivals
from experiments import disturbed
from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed, stated
from experiments.zhang2013.products import GLOBAL, measure, product_cell
from kernels import spmv
from repro.show.plots import PAGE, bars, caption, figure, style
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import Table, device_notes, trimmed, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.5, "small": 2.5, "paper": 4, "large": 18}
SORTED = {"sell-global": "sell", "sbell-global": "sbell"}  # the paper's rows, by what they are in
OURS = (*spmv.FORMATS, *SORTED)
SORTED_RIVALS = {"cusparse_sell-sorted": "cusparse_sell"}
THEIRS = (*rivals.RIVALS, *SORTED_RIVALS)
BLOCKED = ("cusparse_bsr", "mkl_bsr")
ON_GPU = {  # the paper's six, and the fastest of ours and of the libraries; tables have them all
    "cusparse_csr": "cuSPARSE's CSR", "csr_vector": "CSR, vector", "ellpack": "ELLPACK", "bell": "BELL",
    "sell-global": "SELL, sorted", "sbell-global": "SBELL, sorted", "sbell16": "SBELL, 16-bit columns",
    "cusparse_sell-sorted": "cuSPARSE's SELL, sorted",
}  # fmt: skip
ON_PROCESSOR = {
    "csr_scalar": "our CSR", "sell": "our SELL", "sbell": "our SBELL", "sbell16": "our SBELL, 16-bit columns",
    "mkl_csr": "MKL's CSR", "mkl_bsr": "MKL's BSR", "numba_csr": "Numba's CSR", "scipy_csr": "SciPy's CSR",
}  # fmt: skip


def cells(scale):
    """Return every matrix in every format on every back end, and with every rival."""
    found = []
    for mesh in MESHES:
        for backend in DEVICES:
            found += [product_cell(mesh, form, backend, form=form, dtype="float64") for form in spmv.FORMATS]
            found += [product_cell(mesh, name, backend, form=form, dtype="float64", **GLOBAL)
                      for name, form in SORTED.items()]  # fmt: skip
        found += [rival_cell(mesh, name, name, "float64") for name in THEIRS]
    return found


def rival_cell(mesh, method, name, dtype):
    """Return the cell of one of `THEIRS`, under the name of a method."""
    rival = SORTED_RIVALS.get(name, name)
    more = GLOBAL if name in SORTED_RIVALS else {"blocks": True} if name in BLOCKED else {}
    return product_cell(mesh, method, rivals.backend(rival), rival=rival, dtype=dtype, **more)


def tables(results):
    """Return GFLOP/s by format as the figure has them, the best of ours and of the rivals, and every cell."""
    names, found = labels(results), []
    for title, metric in (("warm", "spmv"), ("the last-level cache evicted before each product", "spmv_cold")):
        best = {backend for backend in results.backends(metric=metric) if backend != "host"}
        for backend in [each for each in DEVICES if each in best][:1]:
            found += [
                _by_format(results, names, metric, backend, title),
                _ours_and_theirs(results, names, metric, title),
            ]
    rows = []
    for row in results.done[results.done["metric"] == "spmv"].to_dict("records"):
        key = row["case"], row["method"], row["backend"]
        cold = results.row(key[0], key[1], "spmv_cold", key[2])
        rows.append({"Matrix": names[row["case"]], "Format": row["method"], "Back end": row["backend"],
                     "Time [µs]": 1e6 * row["value"], "GFLOP/s": speed(results, *key),
                     "Of bound [%]": results.of_bound(row),
                     "Of any format's [%]": results.of_bound(row, of_problem=True),
                     "Cold [µs]": 1e6 * cold["value"] if cold else None,
                     "Cold, of bound [%]": results.of_bound(cold)})  # fmt: skip
    notes = ["Bound: the least bytes of the format, without padding, at the bandwidth measured at that size; warm and "
             "cold have their own. Any format has to move the values and both vectors.", LOADS,
             *_meanings({row["Format"] for row in rows}), *device_notes(results, "spmv")]  # fmt: skip
    every = trimmed(Table("All formats and back ends", pandas.DataFrame(rows), notes), 3)
    return with_ours([*found, *_statements(results, names), every])


def _meanings(shown):
    """Return a note on each format that is shown and has a docstring, by its first line; nothing is imported."""
    folder = Path(spmv.__file__).parent
    texts = {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in spmv.FORMATS if name in shown}
    meanings = {name: ast.get_docstring(ast.parse(text)) for name, text in texts.items()}
    notes = [f"`{name}`: {text.splitlines()[0].rstrip('.')}." for name, text in meanings.items() if text]
    whole = ", ".join(f"`{name}`" for name in (*SORTED, *SORTED_RIVALS) if name in shown)
    return [*notes, *[f"Sorted by length over all rows, as the paper's: {whole}."] * bool(whole)]


def _by_format(results, names, metric, backend, title):
    rows = {"Matrix": list(names.values())}
    for method in (*OURS, *THEIRS):
        rates = [speed(results, case, method, backend, metric) for case in names]
        if any(rates):
            rows[method] = rates
    return Table(f"Figure 8: GFLOP/s on {backend}, {title}", pandas.DataFrame(rows))


def _ours_and_theirs(results, names, metric, title):
    """The fastest of ours, on any device, beside the fastest rival of all and the fastest on a GPU."""

    def fastest(case, methods, backends):
        rows = [results.row(case, method, metric, backend) for method in methods for backend in backends]
        known = [row for row in rows if row and (row["value"] or 0) > 0]
        return min(known, key=lambda row: (row["value"], row["method"], row["backend"]), default=None)

    def ends(row):
        return row and point(results, row["case"], row["method"], metric, "s", row["backend"])

    rows, best = [], []
    for case, name in names.items():
        ours, theirs = fastest(case, OURS, DEVICES), fastest(case, THEIRS, ("cuda", "host"))
        best.append(theirs)
        rows.append({"Matrix": name, "Our best": _place(ours), "Time [µs]": 1e6 * ours["value"] if ours else None,
                     "Best rival": theirs and disturbed.marked(results, _place(theirs), theirs),
                     "Its time [µs]": 1e6 * theirs["value"] if theirs else None,
                     "Its time over ours": quotient_text(quotient(ends(theirs), ends(ours)))})  # fmt: skip
    return trimmed(
        Table(f"Our best and the best rival, {title}", pandas.DataFrame(rows), disturbed.note(results, best))
    )


def _place(row):
    return row and f"{row['method']} ({row['backend']})"


def _statements(results, names):
    """SBELL over SELL and over cuSPARSE's CSR, which the paper states in its text, by either way of sorting."""
    found = []
    for text, first, second in (("sorted over all rows, as in the paper", "sbell-global", "sell-global"),
                                ("sorted within a window", "sbell", "sell")):  # fmt: skip
        rows = []
        for case, name in names.items():
            sbell, sell, vendor = (speed(results, case, method) for method in (first, second, "cusparse_csr"))
            rows.append({
                "Matrix": name,
                "SBELL [GFLOP/s], ours": sbell, "SBELL [GFLOP/s], paper": stated(f"sbell-{case}"),
                "faster than SELL [%], ours": sbell and sell and 100 * (sbell / sell - 1),
                "faster than SELL [%], paper": stated(f"sbell-over-sell-{case}"),
                "SBELL / cuSPARSE, ours": sbell and vendor and sbell / vendor,
                "SBELL / cuSPARSE, paper": stated(f"sbell-over-cusparse-{case}"),
            })  # fmt: skip
        notes = [
            "By their bytes alone blocks of 2 × 2 make a product 1.33 times as fast, of 3 × 3 1.42 times, where both "
            "formats come as near to the memory's rate. Where SBELL gains more, SELL stays farther below it."
        ]
        found.append(trimmed(Table(f"SBELL beside the numbers in the text, {text}", pandas.DataFrame(rows), notes)))
    return found


def plot(results):
    """Draw GFLOP/s on the best device and on the processor; a line across a bar is the rate with a cold cache."""
    backends = results.backends(metric="rate")
    device = results.best_device_backend(metric="rate")
    shown = [(replace(results, frame=results.frame[results.frame["backend"] == device]), ON_GPU)]
    if {"openmp", "host"} & {*backends}:
        on_cores = results.frame[results.frame["backend"].isin(["openmp", "host"])]
        shown.append((replace(results, frame=on_cores), ON_PROCESSOR))
    made, axes = figure(PAGE, 3.9, panels=len(shown))
    rates = [float(stated(f"sbell-{case}")) for case in MESHES]
    for panel, (some, methods) in zip(axes, shown, strict=True):
        if methods is ON_PROCESSOR:
            panel.axhspan(min(rates), max(rates), color="0.85", zorder=0, label="paper: SBELL on its GPU")
        _draw(panel, some, methods)
        beside = ", at a scale of its own" if len(shown) > 1 else ""
        there = f"Kernels through {device}" if device else ""
        panel.set_title(f"Processor{beside}" if methods is ON_PROCESSOR else there)
    told = ["line across a bar: cold cache"] * bool(results.backends(metric="spmv_cold"))
    for some, methods in shown:
        left = [each for each in (*OURS, *THEIRS) if each not in methods and some.backends(each, "rate")]
        place = " of the processor" * (methods is ON_PROCESSOR)
        told += [f"in the tables{place} alone: {', '.join(left)}"] * bool(left)
    caption(made, results, "; ".join(told))
    return made


def _draw(axes, results, methods):
    """Draw bars of the methods that there are, and the rates with a cold cache."""
    methods = {method: text for method, text in methods.items() if results.backends(method, "rate")}
    names = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    bars(axes, results, "rate", methods, unit="GFLOP/s", quantity="SpMV, double precision", cases=names, log=False)
    with style():
        width = 0.8 / max(1, len(methods))
        for i, method in enumerate(methods):
            for j, case in enumerate(names):
                cold = speed(results, case, method, metric="spmv_cold")
                if cold:
                    x = j + (i - (len(methods) - 1) / 2) * width
                    for line, thick in (("white", 2.2), ("black", 1.0)):
                        axes.hlines(cold, x - 0.46 * width, x + 0.46 * width, color=line, lw=thick, zorder=5)
