"""SpMV by format on all four matrices, double precision: every format here, cuSPARSE, SciPy and Numba."""

from __future__ import annotations

import pandas

from baselines import spmv as rivals
from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, speed, stated
from experiments.zhang2013.products import measure, product_cell
from kernels import spmv
from repro.show.plots import PAGE, bars, caption, figure, style
from repro.show.tables import Table, device_notes, trimmed, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.4, "small": 2, "paper": 3, "large": 15}


def cells(scale):
    """Return every matrix in every format on every back end, and with every rival."""
    found = []
    for mesh in MESHES:
        found += [product_cell(mesh, form, backend, form=form, dtype="float64")
                  for backend in DEVICES for form in spmv.FORMATS]  # fmt: skip
        found += [product_cell(mesh, name, rivals.backend(name), rival=name, dtype="float64") for name in rivals.RIVALS]
    return found


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
                     "Of bound [%]": results.of_bound(row), "Cold [µs]": 1e6 * cold["value"] if cold else None,
                     "Cold, of bound [%]": results.of_bound(cold)})  # fmt: skip
    notes = ["Bound: the least bytes of the format, without padding, at the bandwidth measured at that size; warm and "
             "cold have their own.", LOADS, *device_notes(results, "spmv")]  # fmt: skip
    every = trimmed(Table("All formats and back ends", pandas.DataFrame(rows), notes), 3)
    return with_ours([*found, *_statements(results, names), every])


def _by_format(results, names, metric, backend, title):
    rows = {"Matrix": list(names.values())}
    for method in [*spmv.FORMATS, *(name for name in rivals.RIVALS if rivals.backend(name) == backend)]:
        rows[method] = [speed(results, case, method, backend, metric) for case in names]
    return Table(f"Figure 8: GFLOP/s on {backend}, {title}", pandas.DataFrame(rows))


def _ours_and_theirs(results, names, metric, title):
    """The fastest of ours, on any device, beside the fastest rival of all and the fastest on a GPU."""

    def fastest(case, methods, backends):
        times = [(results.value(case, method, metric, backend), method, backend)
                 for method in methods for backend in backends]  # fmt: skip
        return min((entry for entry in times if entry[0]), default=None)

    rows = []
    for case, name in names.items():
        ours, theirs = fastest(case, spmv.FORMATS, DEVICES), fastest(case, rivals.RIVALS, ("cuda", "host"))
        rows.append({"Matrix": name, "Our best": f"{ours[1]} ({ours[2]})" if ours else None,
                     "Time [µs]": 1e6 * ours[0] if ours else None,
                     "Best rival": f"{theirs[1]} ({theirs[2]})" if theirs else None,
                     "Its time [µs]": 1e6 * theirs[0] if theirs else None,
                     "Ours is faster by": theirs[0] / ours[0] if ours and theirs else None})  # fmt: skip
    return trimmed(Table(f"Our best and the best rival, {title}", pandas.DataFrame(rows)))


def _statements(results, names):
    """SBELL over SELL and over cuSPARSE's CSR, which the paper states in its text."""
    rows = []
    for case, name in names.items():
        sbell, sell, vendor = (speed(results, case, method) for method in ("sbell", "sell", "cusparse_csr"))
        rows.append({
            "Matrix": name,
            "SBELL [GFLOP/s], ours": sbell, "SBELL [GFLOP/s], paper": stated(f"sbell-{case}"),
            "SBELL / SELL, ours": sbell and sell and sbell / sell,
            "over SELL [%], paper": stated(f"sbell-over-sell-{case}"),
            "SBELL / cuSPARSE, ours": sbell and vendor and sbell / vendor,
            "SBELL / cuSPARSE, paper": stated(f"sbell-over-cusparse-{case}"),
        })  # fmt: skip
    return [trimmed(Table("What the text says of SBELL", pandas.DataFrame(rows)))]


def plot(results):
    """Draw GFLOP/s of every format on its best back end; a line across a bar is the rate with a cold cache."""
    made, (axes,) = figure(PAGE, 3.2)
    methods = [method for method in (*spmv.FORMATS, *rivals.RIVALS) if results.backends(method, "rate")]
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
    caption(made, results, "line across a bar: cold cache" if results.backends(metric="spmv_cold") else "")
    return made
