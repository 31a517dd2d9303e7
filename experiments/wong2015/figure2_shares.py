"""Where the time goes: shares of the assembly and of the solver, on one core and on the GPU.

The runs of Figure 15 on one core and on each back end tell how long they assembled and how long they solved.

Equations 1 to 3: φ' = div(D·∇φ) + f^φ(φ, r) and r' = f^r(φ, r), with the potential φ and the recovery r.
Timed, in `wong2015/figure15_speedup.py`: `run.time("run", who)`; the parts are what it tells of itself.
"""

from __future__ import annotations

import pandas

from experiments.wong2015 import heart, labels, stated
from experiments.wong2015.figure15_speedup import BEST, DEVICES, ONE_CORE, measure
from experiments.wong2015.figure15_speedup import FORMATS as TITLES  # apart: what measures has no use for them
from experiments.wong2015.figure15_speedup import cells as all_cells
from experiments.wong2015.rows import node_counts
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 1, "paper": 2, "large": 5}
METHODS = {"petsc-jacobi-1": "PETSc, one process", ONE_CORE: "Numba loops, one core", BEST: "device"}
PARTS = {"assembly": "Assembly", "solver": "Solver", "waiting": "Waiting for the host"}
COLOURS = {"assembly": "#D55E00", "solver": "#0072B2", "waiting": "#999999"}  # the paper's red and blue, and a grey


def cells(scale):
    """Return the runs of Figure 15 on one core with Jacobi, and those with the paper's format on every back end."""
    return [cell for cell in all_cells(scale) if cell.method in METHODS]


def shares(results, case, method, backend):
    """Return the seconds of a step in each part, or None where they were not measured.

    On a device waiting is the control of the iterations and the update that ends a step, as in Figure 3.
    """
    found = {part: results.value(case, method, part, backend) for part in ("assembly", "solver")}
    waiting = [results.value(case, method, part, backend) or 0.0 for part in ("control", "update")]
    return {**found, "waiting": sum(waiting)} if all(found.values()) else None


def _columns(results):
    """The methods and back ends that the results have, with their names."""
    columns = [(method, "host", METHODS[method]) for method in ("petsc-jacobi-1", ONE_CORE)]
    columns += [(BEST, backend, f"{TITLES[BEST]}, {backend}") for backend in DEVICES]
    return [column for column in columns if column[1] in results.backends(column[0], "solver")]


def tables(results):
    """Return the shares in percent, and a step's time."""
    rows = []
    for case, name in labels(results).items():
        for method, backend, title in _columns(results):
            found = shares(results, case, method, backend)
            if found:
                total = sum(found.values())
                row = {"Heart": name, "By": title, "A step [ms]": 1e3 * results.value(case, method, "step", backend)}
                rows.append(row | {f"{PARTS[part]} [%]": 100 * spent / total for part, spent in found.items()})
    notes = [
        heart.SETTING, heart.START, heart.CONSTANTS,
        f"Published of a GPU: products take {stated('spmv-share-of-solver')} % of the solver and "
        f"{stated('spmv-share-of-all')} % of all, so that the solver takes at most three tenths of a step. Where it "
        "takes most of one, products are a larger share of all. Figure 3 has the shares with cuSPARSE, which the paper "
        "took for its own.",
    ]  # fmt: skip
    if results.value("heart-50k", "petsc-jacobi-1", "step", "host"):
        notes.append(
            "On one process the paper's PETSc with Jacobi did not converge on the largest heart; here it does."
        )
    return [Table("Figure 2: where the time goes", pandas.DataFrame(rows), notes)]


def plot(results):
    """Draw a stacked bar for each heart: one core on the left, the device on the right."""
    device = results.best_device_backend(metric="solver")
    sides = [("petsc-jacobi-1", "host", "CPU: PETSc, one process"), (ONE_CORE, "host", "CPU: Numba loops, one core"),
             (BEST, device, f"Device: {TITLES[BEST]}, {device}")]  # fmt: skip
    sides = [side for side in sides if results.backends(side[0], "solver")]
    made, panels = figure(PAGE, 2.5, panels=len(sides))
    cases = node_counts(results)
    with style():
        for axes, (method, backend, title) in zip(panels, sides, strict=True):
            for j, case in enumerate(cases):
                found, below = shares(results, case, method, backend), 0.0
                for part, spent in (found or {}).items():
                    share = 100 * spent / sum(found.values())
                    axes.bar(j, share, 0.7, bottom=below, color=COLOURS[part], edgecolor="black", linewidth=0.4)
                    if share > 8:
                        axes.text(j, below + share / 2, f"{share:.0f}", ha="center", va="center", color="white",
                                  fontsize=6)  # fmt: skip
                    below += share
            axes.set_xticks(range(len(cases)), list(cases.values()))
            axes.tick_params(axis="x", length=0)
            axes.set_xlim(-0.6, len(cases) - 0.4)
            axes.set_ylim(0, 100)
            axes.set_title(title, fontsize=7)
            axes.set_xlabel("Nodes of the heart")
        panels[0].set_ylabel("Share of the time [%]")
        for part, text in PARTS.items():
            panels[0].bar([0], [0], color=COLOURS[part], label=text)
        made.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    caption(made, results)
    return made
