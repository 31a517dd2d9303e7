"""Sparse matrix-vector products by level and numbering.

The matrices are CIRCLE's in five numberings. The paper's format is ELLPACK-R, a thread a row. Beside its three columns
stand SciPy, sliced ELLPACK and cuSPARSE, on the processor CSR by the same kernels, and it and ELLPACK-R on one thread.
The effect of a numbering on caches is counted in the pattern: the bytes of x that a warp asks for, and the bytes that
come from memory through a cache of some thousand rows.

Equation, section 3.2: y_i = Σ A_i,k x_j(i,k) over the rl_i entries k of row i, whose columns are j(i,k).
Timed: `run.time("spmv", lambda: packed.multiply(given, y))`.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pandas

from experiments.geveler2011 import (
    BEST,
    DEVICES,
    ELEMENTS,
    LEVELS,
    NUMBERINGS,
    TITLES,
    cell_of,
    level_of,
    method_of,
)
from experiments.geveler2011.layout import by_numbering, cases_of, one_legend
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.tables import Table, with_ours
from repro.units import convert

MINUTES = {"smoke": 0.5, "small": 2, "paper": 15, "large": 20}

SECONDS = {"smoke": 0.02, "small": 0.06, "paper": 0.2, "large": 0.3}  # of sampling each product
ONE_THREAD = {"ellpack_r-1": "ellpack_r", "csr-1": "csr"}  # of the processor
ON_PROCESSORS = ("csr", *ONE_THREAD)  # formats that are compared there, in the best numbering
FORMATS = {"ellpack_r": DEVICES, "sell": DEVICES} | dict.fromkeys(ON_PROCESSORS, ("openmp",))  # and where each runs
CUSPARSE = {"cusparse": "cusparse_csr", "cusparse-sell": "cusparse_sell"}
HOST = ("cpu-1", "cpu-all", "scipy", "locality")
TOLERANCE = 1e-12
ORDER = ("hie", "cm", "2lv", "xyz", "sto")  # of figures: x is moved least first
GROUP = 0.6  # of the distance of two numberings: what their levels take
WINDOW = {"warp": 32, "cache": 4096}  # rows whose x is kept


def cells(scale):
    """Return every numbering on every level, by every product."""
    found = []
    for element in ELEMENTS:
        for level in LEVELS["table2"][scale][element]:
            for numbering in NUMBERINGS:
                made = [(name, backend) for name, backends in FORMATS.items() for backend in backends
                        if name not in ON_PROCESSORS or numbering == BEST]  # fmt: skip
                made += [(name, "cuda") for name in CUSPARSE]
                made += [(name, "host") for name in HOST]
                found += [cell_of("circle", level, element, numbering, name, backend) for name, backend in made]
    return sorted(found, key=lambda cell: cell.backend == "cuda")  # a device's set-up is its own


def measure(cell, run):
    """Time a product with a random vector, or count what it touches."""
    from experiments.geveler2011.problems import matrix_on_host, of_run

    device = None if cell.backend == "host" else run.device
    element, numbering, name = (cell.parameters[key] for key in ("element", "numbering", "variant"))
    found = of_run(run, element, cell.parameters["level"])
    grid = found.numbered(numbering)[-1]
    matrix = grid.matrix
    if name == "locality":
        from kernels.multigrid import locality

        for what, rows in WINDOW.items():
            moved = locality.bytes_of_x(matrix, rows, 32 if what == "warp" else 64)
            run.value(f"x_{what}", moved / (8 * matrix.shape[0]), "x")
        run.value("matrix_bandwidth", locality.bandwidth(matrix), "count")
        return
    host = matrix_on_host(grid)
    x = run.rng.standard_normal(host.shape[1])
    # SciPy's product checks the others; itself it is checked by another's.
    expected = host @ x if name != "scipy" else np.add.reduceat(host.data * x[host.indices], host.indptr[:-1])
    packed = _packed(name, device, matrix)
    given, y = (device.array(v) if device else v for v in (x, np.empty(len(expected))))

    def error():
        gap = np.abs((device.to_host(y) if device else y) - expected)
        return float(gap.max() / np.abs(expected).max())

    with _threads(name, device):
        summary = run.time("spmv", lambda: packed.multiply(given, y), check=error, tolerance=TOLERANCE,
                           work=packed.least_work(), max_seconds=SECONDS[run.scale])  # fmt: skip
    run.value("rate", 2 * matrix.nnz / summary.median / 1e6, "MFLOP/s")


def _packed(name, device, matrix):
    """Return what multiplies: a kernel's matrix, or a rival's."""
    if name in FORMATS:
        from kernels import spmv

        # On a GPU blocks of SELL that go through consecutive rows suit some numberings.
        options = spmv.tuned(name, device, matrix) if name == "sell" else {}
        name = ONE_THREAD.get(name, name)
        return spmv.pack("csr_scalar" if name == "csr" else name, device, matrix, **options)
    from baselines import spmv as rivals

    return rivals.pack(({"scipy": "scipy_csr"} | CUSPARSE).get(name, "numba_csr"), matrix)


def _threads(name, device):
    """Return what lets a product on the processor run on its threads."""
    if name in ONE_THREAD:
        return device.limited(1)
    if name not in ("cpu-1", "cpu-all"):
        return nullcontext()
    from baselines.multigrid import threads_there, use_threads

    return use_threads(1 if name == "cpu-1" else threads_there())


def tables(results):
    """Return the paper's table in two halves, all products, and what the numberings touch."""
    made = [by_numbering(results, "Table 2: products", element, "rate", "MFLOP/s") for element in ELEMENTS]
    done = results.done
    rows = [{
        "Element": row["p_element"].upper(), "L": level_of(row["case"]), "Product": row["p_variant"],
        "Back end": row["backend"],
        "Rate [MFLOP/s]": results.value(row["case"], row["method"], "rate", row["backend"]),
        "Of bound [%]": results.of_bound(row),
    } for row in done[(done["metric"] == "spmv") & (done["p_numbering"] == BEST)].to_dict("records")]  # fmt: skip
    made.append(Table(f"All products in numbering {TITLES[BEST]}", pandas.DataFrame(rows)))
    return with_ours([*made, _bounds(results), _locality(results)])


def _bounds(results):
    """Return how near each product comes to what its bytes allow, a column a numbering."""
    rows = {}
    for row in results.done[results.done["metric"] == "spmv"].to_dict("records"):
        if (bound := results.of_bound(row)) is not None:
            place = row["p_element"].upper(), level_of(row["case"]), row["p_variant"], row["backend"]
            rows.setdefault(place, dict.fromkeys(TITLES.values()))[TITLES[row["p_numbering"]]] = bound
    heads = ("Element", "L", "Product", "Back end")
    found = [dict(zip(heads, place, strict=True)) | fractions for place, fractions in sorted(rows.items())]
    notes = ["The least bytes of a product, x once, over the bandwidth that was measured on an array of as many bytes."]
    return Table("Of what the bytes allow, by numbering [%]", pandas.DataFrame(found, dtype=object), notes)


def _locality(results):
    rows = []
    counted = results.done[results.done["metric"] == "x_warp"]
    for row in counted.to_dict("records"):
        facts = [results.value(row["case"], row["method"], name) for name in ("x_warp", "x_cache", "matrix_bandwidth")]
        rows.append({"Element": row["p_element"].upper(), "L": level_of(row["case"]),
                     "Numbering": TITLES[row["p_numbering"]],
                     "x, by a warp": facts[0], "x, through a cache": facts[1],
                     "Largest distance": int(facts[2])})  # fmt: skip
    notes = [f"Bytes of x that are moved, over those of x: 32-byte sectors that {WINDOW['warp']} rows touch, and "
             f"64-byte lines that {WINDOW['cache']} rows touch, each group for itself. At best 1.",
             "Largest distance: of an entry from the diagonal, in columns."]  # fmt: skip
    return Table("Why numberings differ", pandas.DataFrame(rows), notes)


def plot(results):
    """Draw the device's rate by numbering, levels side by side, and what x costs beside it, where it was counted."""
    backend = next((b for b in results.backends() if b != "host"), "cuda")
    moved = _groups(results, "q1", lambda *at: point(results, *at, "x_cache", "x", "host"), "locality")
    made, axes = figure(PAGE, 2.6, panels=len(ELEMENTS) + any(moved.values()))
    for axis, element in zip(axes, ELEMENTS, strict=False):
        series = _groups(results, element, lambda *at: point(results, *at, "rate", "GFLOP/s", backend), "ellpack_r")
        printed = _groups(results, element, lambda *at: _printed(results, *at), "gpu")
        lines(axis, series, x=element.upper(), y=f"Rate on {backend} [GFLOP/s]", published=printed, names=TITLES,
              log_y=True)  # fmt: skip
    alike(axes[: len(ELEMENTS)])
    if any(moved.values()):
        lines(axes[-1], moved, x="Q1", y="x moved, over its size", names=TITLES, log_y=True)
    for axis in axes:
        axis.set_label(backend)  # the caption names it, and no processor
        axis.set_xticks(range(len(ORDER)), [TITLES[numbering] for numbering in ORDER])
    one_legend(made, axes)
    caption(made, results, "of a numbering each level, the coarsest on the left")
    return made


def _groups(results, element, found, variant):
    """Return a line for each numbering: what `found` returns at each of the element's levels, side by side."""
    cases = cases_of(results, element)
    places = {case: GROUP * ((k + 0.5) / len(cases) - 0.5) for k, case in enumerate(cases)}
    made = {}
    for x, numbering in enumerate(ORDER):
        points = [(x + place, found(case, method_of(element, numbering, variant))) for case, place in places.items()]
        made[numbering] = [(at, *each) for at, each in points if each is not None]
    return made


def _printed(results, case, method):
    number = results.published.get(case, method, "rate")
    return None if number is None else (convert(number.value, number.unit, "GFLOP/s"),)
