"""The speed-ups of the finite element heart per watt of thermal design power, and by measured energy.

The runs of Figure 15. Their speed-ups are divided by the power that the makers of the processor and of the card print
for them, and by the energy that was read while they ran.

No equation: a speed-up over PETSc on four cores, times the processor's watts over the card's.
Timed, in `wong2015/figure15_speedup.py`: `run.time("run", who)`.
"""

from __future__ import annotations

import math
import os

import pandas

from experiments.wong2015 import heart, labels, stated
from experiments.wong2015.figure15_speedup import ANOTHER, FORMATS, PROCESSES, in_tables, measure, methods_by_group
from experiments.wong2015.figure15_speedup import cells as all_cells
from experiments.wong2015.power import VARIABLE
from repro import ReproError
from repro.show.plots import COLUMN, PAGE, caption, figure, lines
from repro.show.tables import Table, device_notes, trimmed

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.3, "small": 1, "paper": 3.5, "large": 5}
RELATIVE = "Speed-up per watt over the reference's, with the least watts"


def cells(scale):
    """Return the runs of Figure 15 but those with assembly on one core, which the paper leaves out, too.

    Raises
    ------
    ReproError
        Before anything is measured, where the user says of the processor's power what is none.
    """
    given = os.environ.get(VARIABLE)
    try:
        is_power = not given or 0 < float(given) < math.inf
    except ValueError:
        is_power = False
    if not is_power:
        raise ReproError(f"{VARIABLE} is the processor's thermal design power in watts, as 130; {given!r} is none")
    return [cell for cell in all_cells(scale) if cell.parameters.get("assembly") != "host" and cell.method != ANOTHER]


def reference(results, case):
    """Return the method that is compared with: PETSc with block Jacobi on the most of the paper's processes."""
    found = [f"petsc-bjacobi-{n}" for n in reversed(PROCESSES)]
    return next((method for method in found if results.value(case, method, "step", "host")), None)


def design_power(results, case, method, backend):
    """Return the least and the most thermal design power behind a method in watts, and where it is from, or None."""
    least, most = (results.row(case, method, metric, backend) for metric in ("tdp", "tdp_most"))
    return least and (least["value"], (most or least)["value"], least["p_source"])


def effectiveness(results, case, method, backend):
    """Return the speed-up over the reference, each divided by its watts, by their least and by their most.

    None where a power is not known.
    """
    base = reference(results, case)
    own, other = (design_power(results, case, m, b) for m, b in ((method, backend), (base, "host")))
    fast, slow = (
        results.value(case, method, "step", backend),
        results.value(case, base, "step", "host") if base else None,
    )
    if not (own and other and fast and slow):
        return None
    return slow / fast * other[0] / own[0], slow / fast * other[1] / own[1]


def _methods(results):
    titles = dict(FORMATS) | methods_by_group()["PETSc"]
    return [(method, backend, text) for method, text in titles.items() for backend in results.backends(method, "step")]


def tables(results):
    """Return the speed-ups per watt, with the watts and their source, and the measured energy of a step beside them."""
    rows = []
    for case, name in labels(results).items():
        for method, backend, text in _methods(results):
            found = design_power(results, case, method, backend)
            effective = effectiveness(results, case, method, backend) or (None, None)
            rows.append({
                "Heart": name, "Method": text, "Back end": backend,
                RELATIVE: effective[0], "with the most watts": effective[1],
                "Least TDP [W]": found[0] if found else None, "most [W]": found[1] if found else None,
                "TDP from": found[2] if found else "nothing says it",
                "Energy of a step [J]": results.value(case, method, "energy", backend),
                "Power [W]": results.value(case, method, "power", backend),
            })  # fmt: skip
    found = filter(None, (reference(results, case) for case in results.cases))
    most = " or ".join(sorted({method.rpartition("-")[2] for method in found}))
    over = (
        f"Over PETSc with block Jacobi on the most of the paper's one to four processes that were measured: {most}. "
        f"They count as the whole processor."
        + " More than the paper's four are compared with those four, too."
        * bool(in_tables(results)[0])
    )
    notes = [
        *[over] * bool(most),
        f"Published, of a GPU: {stated('power-effectiveness-low')} to {stated('power-effectiveness-high')} "
        f"({stated('gpu-power')} W over {stated('cpu-power')} W).",
        f"{VARIABLE}=WATTS gives the processor's where it does not say, to what is measured from then on; --force "
        "measures again. Energy and power are those of the whole card, or of the processor's packages, while steps "
        "follow one another, by their own counters.",
        heart.SETTING,
        *device_notes(results, "step"),
    ]
    if not any(row[RELATIVE] for row in rows):
        notes.append("No speed-up per watt: it takes the watts of both, and a step of PETSc with block Jacobi.")
    return [trimmed(Table("Figure 16: speed-up per watt", pandas.DataFrame(rows), notes), 3)]


def plot(results):
    """Draw the effectiveness over the nodes, and the energy of a step where it was measured; nothing without either."""
    names, effective, energy = {}, {True: {}, False: {}}, {}
    left_out, note = in_tables(results)
    for method, backend, text in _methods(results):
        on_processor = backend in ("host", "openmp")
        if method in left_out or not (on_processor or backend == results.best_device_backend(metric="step")):
            continue
        names[method] = text
        for case in results.cases:
            nodes, joules = (results.value(case, method, metric, backend) for metric in ("nodes", "energy"))
            thousands = nodes / 1000 if nodes else None
            value = effectiveness(results, case, method, backend)
            if value:
                effective[on_processor].setdefault(method, []).append((thousands, value[0], *sorted(value)))
            if joules:
                energy.setdefault(method, []).append((thousands, joules))
    shown = [(effective[False], "Speed-up per watt"), (effective[True], "Processors' speed-up per watt"),
             (energy, "Energy of a step [J]")]  # fmt: skip
    shown = [(series, text) for series, text in shown if series]
    if not shown:
        return None
    made, panels = figure(PAGE if len(shown) > 1 else COLUMN, 3.2, panels=len(shown))
    for axes, (series, text) in zip(panels, shown, strict=True):
        on_cores = {form: f"{name}, OpenMP, all cores" for form, name in FORMATS.items()}
        titles = names | on_cores if series is effective[True] else names
        lines(axes, series, x="Nodes [thousand]", y=text, names=titles, log_x=True, log_y=True)
    over = sorted({each.rpartition("-")[2] for each in (reference(results, case) for case in results.cases) if each})
    base = f"relative to PETSc with block Jacobi on {' or '.join(over)} processes"
    ranges = [low < high for found in effective.values() for each in found.values() for *_, low, high in each]
    watts = (base + "; bars: by the least and the most watts" * any(ranges)) * bool(ranges)
    caption(made, results, "; ".join(filter(None, [watts, note])))
    return made
