"""Speed-ups of a device over the CPU: the least-squares polynomial of order 6 with CSR and SBELL, double and mixed.

The device's whole solve is timed against the same one in compiled loops over CSR, to the same residual (section 5.4;
algorithm 6 in mixed precision). Beside the paper's formats stands SBELL with columns of 16 bits. Both sides take one
bound on the spectrum, a tight one.

Equation, section 2.3: z = s(A) r, the preconditioner of conjugate gradients; mixed, s(A) r is in single precision.
Timed, in `zhang2013/solves.py`: `run.time("solve", solve)`, where `solve` is `solver.run(TOLERANCE, MOST_ITERATIONS)`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels, stated
from experiments.zhang2013.solves import CRITERION, TIGHT, solve_cell
from experiments.zhang2013.table3_iterations import measure
from experiments.zhang2013.table5_jacobi import host_cells
from repro.show.looks import size
from repro.show.panels import intervals, logarithmic
from repro.show.plots import PAGE, bars, caption, colour, figure, marker, style
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import Table, device_notes, trimmed, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.3, "small": 2, "paper": 5, "large": 20}
FORMS = {"csr": "csr_vector", "sbell": "sbell", "sbell16": "sbell16"}
NAMES = {"csr": "CSR", "sbell": "SBELL", "sbell16": "SBELL of 16-bit columns"}
PRECISIONS = ("double", "mixed")
POLYNOMIAL = {"polynomial": "least-squares", "order": 6}
HOST = {"": "one thread", "-threads": "all threads"}
REFERENCE = "least-squares-6"


def cells(scale):
    """Return the solves on every back end, and on one and all threads of the host, which are Table 5's."""
    found = []
    for mesh in MESHES:
        found += host_cells(mesh, {REFERENCE: ("least-squares", 6)}, {"": {"threads": 1}, "-threads": {"threads": 0}})
        for backend in DEVICES:
            for name, form in FORMS.items():
                found += [solve_cell(mesh, f"{name}-{precision}", backend, mesh, form=form, precision=precision,
                                     **POLYNOMIAL) for precision in PRECISIONS]  # fmt: skip
    return found


def tables(results):
    """Return the speed-ups, and the times and iterations behind them."""
    names, best = labels(results), results.best_device_backend(metric="solve")
    speedups, gains, rows = {"Mesh": list(names.values())}, {"Mesh": list(names.values())}, []
    for suffix, threads in HOST.items():
        for name in FORMS:
            for precision in PRECISIONS:
                speedups[f"{NAMES[name]}, {precision}, over {threads}"] = [
                    quotient_text(_gain(results, case, (REFERENCE + suffix, "host"), (f"{name}-{precision}", best)))
                    for case in names
                ]
    for backend in results.backends(metric="solve"):
        if backend != "host":
            for name in FORMS:
                gains[f"{NAMES[name]}, {backend}"] = [
                    quotient_text(_gain(results, case, (f"{name}-double", backend), (f"{name}-mixed", backend)))
                    for case in names
                ]
    for row in results.done[results.done["metric"] == "solve"].to_dict("records"):
        iterations = int(results.value(row["case"], row["method"], "iterations", row["backend"]))
        rows.append({"Mesh": names[row["case"]], "Method": row["method"], "Back end": row["backend"],
                     "Time [ms]": 1e3 * row["value"], "Iterations": iterations,
                     "An iteration [µs]": 1e6 * row["value"] / iterations,
                     "Of bound [%]": results.of_bound(row)})  # fmt: skip
    notes = [
        *_published(results),
        f"Device: {best}. CPU: CSR in double precision. In parentheses: the interval.",
        CRITERION,
        TIGHT,
        LOADS,
    ]
    return with_ours([
        trimmed(Table("Figure 10: speed-ups of the device over the CPU", pandas.DataFrame(speedups), notes)),
        trimmed(Table("Mixed precision over double precision", pandas.DataFrame(gains))),
        trimmed(Table("Times and iterations", pandas.DataFrame(rows), device_notes(results, "solve")), 3),
    ])  # fmt: skip


def _gain(results, case, slow, fast):
    """Return how many times as fast a solve is as another, with the ends of the interval; None without the two."""
    return quotient(*(point(results, case, method, "solve", "s", backend) for method, backend in (slow, fast)))


def _published(results):
    """The ranges over the four meshes that the text gives."""
    return [f"The paper's {NAMES[name]} in {precision} precision is {low} to {high} times as fast."
            for (name, precision), (low, high) in _ranges().items()]  # fmt: skip


def _ranges():
    """The text's least and largest speed-up by format and precision."""
    found = {(name, precision): [stated(f"{name}-{precision}-{end}") for end in ("least", "most")]
             for name in FORMS for precision in PRECISIONS}  # fmt: skip
    return {key: ends for key, ends in found.items() if all(ends)}


def plot(results):
    """Draw the speed-ups over one thread, where there are any, and the times behind them."""
    names, best = labels(results), results.best_device_backend(metric="solve")
    methods = {f"{name}-{precision}": f"{NAMES[name]}, {precision}" for name in FORMS for precision in PRECISIONS}
    ratios = {(method, case): _gain(results, case, (REFERENCE, "host"), (method, best)) if best else None
              for method in methods for case in names}  # fmt: skip
    made, axes = figure(PAGE, 2.6, panels=1 + any(ratios.values()))
    right = axes[-1]
    if any(ratios.values()):
        with style():
            _draw(axes[0], ratios, methods, names, f"Speed-up of {best} over one thread")
    host = {REFERENCE: "CPU, one thread", f"{REFERENCE}-threads": "CPU, all threads"}
    bars(right, results, "solve", {**host, **methods}, unit="s", quantity="Time to solve", cases=names)
    without = [names[case] for case in names if any(ratios.values()) and not any(ratios[m, case] for m in methods)]
    caption(made, results, f"no time of one thread: {', '.join(without)}" if without else "")
    return made


def _draw(axis, ratios, methods, names, quantity):
    """Draw the speed-ups, a group a mesh, and beside them the ranges that the paper gives over its meshes."""
    width = 0.8 / len(methods)
    ranges = {f"{name}-{precision}": ends for (name, precision), ends in _ranges().items()}
    for i, (method, text) in enumerate(methods.items()):
        shift = width * (i - (len(methods) - 1) / 2)
        for j, case in enumerate(names):
            if ratios[method, case]:
                look = {"color": colour(method), "marker": marker(method), "ms": size(method), "mec": "black"}
                axis.plot(j + shift, ratios[method, case][0], ls="none", mew=0.3, label="" if j else text, **look)
                intervals(axis, [(j + shift, *ratios[method, case])], "black", 1.5)
        if method in ranges:
            low, high = map(float, ranges[method])
            axis.bar(len(names) + shift, high - low, 0.9 * width, bottom=low, color="white", edgecolor=colour(method),
                     linewidth=1.2)  # fmt: skip
    axis.set_xticks(range(len(names) + 1), [*names.values(), "paper's\nranges"])
    axis.set_xlim(-0.5, len(names) + 0.5)
    logarithmic(axis, "y")
    axis.set_ylim(bottom=min(1, axis.get_ylim()[0]))  # the paper's ranges begin above
    axis.tick_params(axis="x", length=0)
    axis.set_ylabel(quantity)
