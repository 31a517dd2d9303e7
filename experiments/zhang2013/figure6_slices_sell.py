"""Slice size of SELL: GFLOP/s of the product with slices of 32 to 512 rows."""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed
from experiments.zhang2013.figure8_formats import measure
from experiments.zhang2013.products import product_cell
from repro.show.plots import COLUMN, caption, figure, lines, point
from repro.show.tables import Table, device_notes

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 1, "paper": 3, "large": 8}
SLICES = (32, 64, 128, 256, 512)
FORMAT = "sell"


def cells(scale):
    """Return every matrix with every slice size on every back end."""
    return sweep(FORMAT)


def sweep(form):
    """Return the cells of a format over meshes, slice sizes and back ends."""
    return [product_cell(mesh, f"slice-{size}", backend, form=form, dtype="float64", slice_size=size)
            for mesh in MESHES for backend in DEVICES for size in SLICES]  # fmt: skip


def tables(results):
    """Return GFLOP/s by slice size."""
    return shown(results, "Figure 6: GFLOP/s of SELL by slice size")


def shown(results, title):
    """Return the table of a sweep, warm and cold."""
    rows = []
    for backend in results.backends(metric="spmv"):
        for case, name in labels(results).items():
            for cache, metric in (("warm", "spmv"), ("cold", "spmv_cold")):
                rates = {f"{size}": speed(results, case, f"slice-{size}", backend, metric) for size in SLICES}
                if any(rates.values()):
                    rows.append({"Matrix": name, "Back end": backend, "Cache": cache, **rates})
    stored = [{"Matrix": name, **{f"{size}": results.value(case, f"slice-{size}", "padding") for size in SLICES}}
              for case, name in labels(results).items()]  # fmt: skip
    return [Table(title, pandas.DataFrame(rows), [LOADS, *device_notes(results, "spmv")]),
            Table("Entries stored, over non-zeros, by slice size", pandas.DataFrame(stored))]  # fmt: skip


def plot(results):
    """Draw GFLOP/s over the slice size."""
    return drawn(results, "SELL, double precision")


def drawn(results, text):
    """Draw a sweep on the best back end."""
    made, (axes,) = figure(COLUMN, 2.6)
    backend, names = results.best_device_backend(metric="rate"), labels(results)
    series, sizes = {}, SLICES if backend else ()
    for case in names:
        found = [(size, point(results, case, f"slice-{size}", "rate", "GFLOP/s", backend)) for size in sizes]
        series[case] = [(size, *each) for size, each in found if each is not None]
    lines(axes, series, x="Rows a slice", y=f"{text} [GFLOP/s]", names=names, log_x=True, whole_x=True)
    axes.set_xticks(SLICES, [str(size) for size in SLICES])
    axes.set_ylim(0, 1.06 * max(axes.dataLim.y1, 1))
    caption(made, results)
    return made
