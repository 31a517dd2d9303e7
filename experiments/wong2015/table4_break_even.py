"""After how many products reordering pays: CSR values put into K1's and K2's order, on the device and on the host.

Assembly gives values in the order of CSR; a kernel wants them in its own, which costs a reordering for each matrix. The
table has the number of products α from which on that pays. On a machine without cuSPARSE, Numba's product with CSR
stands in.

Equation 14: t_reorder + α t_wpk ≤ α t_cusparse, so that α = t_reorder / (t_cusparse - t_wpk), rounded up.
Timed: `run.time("reorder", lambda: packed.refill(values))`, `run.time("product", lambda: packed.multiply(given, y))`
and `run.time("csr_product", lambda: rival.multiply(given, result))`.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas

from baselines import spmv as rivals
from experiments.processors import with_c
from experiments.wong2015 import stated
from experiments.wong2015.matrices import NOTE, cases, data, marks, named, system
from experiments.wong2015.products import BACKENDS, SECONDS, TOLERANCE
from kernels import spmv
from repro import Cell
from repro.run.timing import HostClock
from repro.show.panels import slanted
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import Column, Table, device_notes, paper_table, with_ours

MINUTES = {"smoke": 0.2, "small": 1.5, "paper": 1.5, "large": 5}
FORMS = {"k1": "ellwarp", "k2": "ellwarp2"}
REPEATS = 50
COUNTED_BY_TIMING = ("break_even",)


def cells(scale):
    """Return every matrix with K1 and K2."""
    return with_c(Cell(case, method, backend, {"form": form}, data(case), ("cores",))
                  for case in cases(scale) for backend in BACKENDS for method, form in FORMS.items())  # fmt: skip


def measure(cell, run):
    """Time packing, reordering on device and host, the product and its rival; check all against SciPy's product."""
    made, device, form = system(run), run.device, cell.parameters["form"]
    matrix, limit = made.matrix, SECONDS[run.scale]
    options = spmv.tuned(form, device, matrix, repeats=REPEATS)
    csr = spmv.canonical(device, matrix)
    packed = spmv.pack(form, device, csr, **options)
    x = run.rng.uniform(-1, 1, matrix.shape[1])
    given, y, values = device.array(x), device.zeros(matrix.shape[0], "float64"), device.array(matrix.data.copy())

    def wrong():
        packed.multiply(given, y)
        return made.error(x, np.array(device.to_host(y)))

    def pack():
        spmv.pack(form, device, csr, **options)
        device.synchronize()

    packing = run.time("packing", pack, device=HostClock(), max_seconds=limit).median
    device.fill(packed.arrays["values"], 0.0)
    seconds = {"gpu": run.time("reorder", lambda: packed.refill(values), check=wrong, tolerance=TOLERANCE,
                               max_seconds=limit, parameters={"where": "gpu"}).median}  # fmt: skip
    host = np.zeros(packed.stored)
    places = np.array(device.to_host(packed.places)).astype(np.uint32)
    seconds["cpu"] = run.time("reorder", lambda: rivals.scatter(places, matrix.data, host), device=HostClock(),
                              max_seconds=limit, parameters={"where": "cpu"}).median  # fmt: skip
    found = np.array(device.to_host(packed.arrays["values"]))
    run.check(float(np.abs(found - host).max()), 0, "values by the device and by the host")
    product = run.time("product", lambda: packed.multiply(given, y), check=wrong, tolerance=TOLERANCE,
                       max_seconds=limit, work=packed.least_work(), repeats=REPEATS).median  # fmt: skip
    gain = _rival(run, made, x) - product
    for where, reorder in seconds.items():
        run.value("break_even", math.ceil(reorder / gain) if gain > 0 else math.inf, where=where)
        run.value("reordering_factor", reorder / product, "x", where=where)
    run.value("packing_factor", packing / product, "x")


def _rival(run, made, x):
    """Time cuSPARSE's product, or Numba's where there is no CUDA, and return its seconds."""
    on_gpu = run.cell.backend == "cuda"
    matrix = run.device.sparse.csr_matrix(made.matrix) if on_gpu else made.matrix
    rival = rivals.pack("cusparse_csr" if on_gpu else "numba_csr", matrix)
    y = np.zeros(made.matrix.shape[0])
    given, result = map(run.device.array, (x, y)) if on_gpu else (x, y)
    return run.time(
        "csr_product", lambda: rival.multiply(given, result), tolerance=TOLERANCE,
        check=lambda: made.error(x, np.array(run.device.to_host(result)) if on_gpu else result),
        device=None if on_gpu else HostClock(), max_seconds=SECONDS[run.scale], repeats=REPEATS,
    ).median  # fmt: skip


def tables(results):
    """Return Table 4, and the times that it is made of."""
    names = named(results)
    columns = [Column(f"α, {where} reorders, {method.upper()}", method, "break_even", "",
                      parameters={"where": where.lower()})
               for method in FORMS for where in ("GPU", "CPU")]  # fmt: skip
    notes = [
        "GPU: reordered on the device; CPU: a loop on one core through the map of places, without the transfer to "
        "the device. ∞ where the product is slower than CSR's, cuSPARSE's on CUDA, else Numba's.",
        f"Published: by {stated('break-even-mean')} products on average on the GPU.",
        *marks(results),
        NOTE,
    ]
    found = [paper_table(results, "Table 4: products after which reordering pays", columns, cases=names, row="Matrix",
                         notes=notes)]  # fmt: skip
    return with_ours([*found, _times(results, names)])


def _times(results, names):
    parts = {
        "Reordering, device": ("reorder", {"where": "gpu"}),
        "Reordering, host": ("reorder", {"where": "cpu"}),
        "Product": ("product", {}),
        "CSR product": ("csr_product", {}),
        "Packing whole, device": ("packing", {}),
    }
    rows, open_ = [], 0
    for backend in results.backends(metric="product"):
        for case, name in names.items():
            for method in FORMS:
                times = {text: results.value(case, method, metric, backend, **own)
                         for text, (metric, own) in parts.items()}  # fmt: skip
                if times["Product"]:
                    faster = quotient(*(point(results, case, method, metric, "s", backend)
                                        for metric in ("csr_product", "product")))  # fmt: skip
                    open_ += None in faster or faster[1] <= 1 <= faster[2]
                    rows.append({"Matrix": name, "Kernel": method.upper(), "Back end": backend}
                                | {f"{text} [µs]": 1e6 * value for text, value in times.items()}
                                | {"CSR product / product": quotient_text(faster)}
                                | {"Packing / product": times["Packing whole, device"] / times["Product"],
                                   "Reordering / product": times["Reordering, device"] / times["Product"]})  # fmt: skip
    notes = ["Packing whole is from CSR: rows sorted, layout made, entries placed; reordering brings new values alone.",
             f"In parentheses: the interval. On {open_} of {len(rows)} lines it leaves open which product is faster, "
             "and so whether reordering ever pays: the table's α is by the medians.",
             *device_notes(results, "product")]  # fmt: skip
    return Table("Times behind Table 4", pandas.DataFrame(rows), notes)


def plot(results):
    """Draw α beside the published; an infinite one has no bar."""
    finite = np.isfinite(results.frame["value"].astype(float))
    results = dataclasses.replace(results, frame=results.frame[finite])
    made, panels = figure(PAGE, 3.4, panels=2)
    for axes, where in zip(panels, ("gpu", "cpu"), strict=True):
        bars(axes, results, "break_even", {"k1": "K1", "k2": "K2"}, unit="", cases=named(results),
             quantity=f"α: products to break even,\nreordered on the {where.upper()}",
             parameters={"where": where})  # fmt: skip
        slanted(axes, 90)
    caption(made, results, " ".join([*marks(results), "An infinite α has no mark."]))
    return made
