"""Slice size of SELL: GFLOP/s of the product with slices of 32 to 512 rows.

SELL pads the rows of a slice to its longest. Rows are sorted by length over the whole matrix, as the paper has it,
whatever the slices, so that the size alone varies. Beside that stands what we would take: rows sorted within the
smallest window that stores little.

Equation, section 3: y = A x.
Timed, in `zhang2013/products.py`: `run.time("spmv", lambda: packed.multiply(given, result))`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed
from experiments.zhang2013.figure8_formats import measure
from experiments.zhang2013.products import GLOBAL, product_cell
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.tables import Table, device_notes, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.4, "small": 2, "paper": 6, "large": 16}
SLICES = (32, 64, 128, 256, 512)
FORMAT = "sell"
SORTED = {"global": ("sorted over all rows, as in the paper", GLOBAL), "slice": ("sorted within a window", {})}


def cells(scale):
    """Return every matrix with every slice size on every back end, sorted either way."""
    return sweep(FORMAT)


def sweep(form):
    """Return the cells of a format over meshes, slice sizes and back ends."""
    return [product_cell(mesh, f"{name}-{size}", backend, form=form, dtype="float64", slice_size=size, **window)
            for mesh in MESHES for backend in DEVICES for name, (_, window) in SORTED.items()
            for size in SLICES]  # fmt: skip


def tables(results):
    """Return GFLOP/s by slice size."""
    return shown(results, "Figure 6: GFLOP/s of SELL by slice size")


def shown(results, title):
    """Return the tables of a sweep, warm and cold, and what is stored."""
    found, names = [], labels(results)
    for name, (text, _) in SORTED.items():
        rows = []
        for backend in results.backends(metric="spmv"):
            for case, matrix in names.items():
                for cache, metric in (("warm", "spmv"), ("cold", "spmv_cold")):
                    rates = {f"{size}": speed(results, case, f"{name}-{size}", backend, metric) for size in SLICES}
                    if any(rates.values()):
                        rows.append({"Matrix": matrix, "Back end": backend, "Cache": cache, **rates})
        stored = [{"Matrix": matrix, **{f"{n}": results.value(case, f"{name}-{n}", "padding") for n in SLICES}}
                  for case, matrix in names.items()]  # fmt: skip
        notes = [f"Rows are {text}.", LOADS, *device_notes(results, "spmv")]
        found += [Table(f"{title}, {text}", pandas.DataFrame(rows), notes),
                  Table(f"Entries stored, over non-zeros, {text}", pandas.DataFrame(stored))]  # fmt: skip
    return with_ours(found)


def plot(results):
    """Draw GFLOP/s over the slice size."""
    return drawn(results, "SELL, double precision")


def drawn(results, text):
    """Draw a sweep on the best back end, warm and cold as the paper sorts, and warm as we do."""
    made, axes = figure(PAGE, 2.6, panels=3)
    backend, names = results.best_device_backend(metric="rate"), labels(results)
    shown = (("global", "rate", "sorted globally"), ("global", "spmv_cold", "the same, cold cache"),
             ("slice", "rate", "sorted in a window"))  # fmt: skip
    for panel, (name, metric, title) in zip(axes, shown, strict=True):
        series = {}
        for case in names:
            found = {size: _point(results, case, f"{name}-{size}", metric, backend) for size in SLICES if backend}
            series[case] = [(size, *each) for size, each in found.items() if each is not None]
        lines(panel, series, x="Rows a slice", y=f"{text} [GFLOP/s]", names=names, log_x=True, whole_x=True)
        panel.set_xlim(SLICES[0] / 1.2, SLICES[-1] * 1.2)
        panel.set_xticks(SLICES, [str(size) for size in SLICES])
        panel.set_title(title.capitalize())
    top = max(1, *(1.06 * panel.dataLim.y1 for panel in axes if panel.lines), 1)
    for panel in axes:
        panel.set_ylim(0, top)
    alike(axes)
    caption(made, results)
    return made


def _point(results, case, method, metric, backend):
    if metric == "rate":
        return point(results, case, method, metric, "GFLOP/s", backend)
    found = speed(results, case, method, backend, metric)
    return None if found is None else (found, None, None)
