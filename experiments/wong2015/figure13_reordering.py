"""Time to reorder the values over the time of a product, on the device and on the host, K1 and K2.

The cells are Table 4's: values in the order of CSR are put into the kernel's order, on the device by a kernel, on the
host by a loop.

Equation 14: t_reorder + α t_wpk ≤ α t_cusparse; drawn is t_reorder / t_wpk.
Timed, in `wong2015/table4_break_even.py`: `run.time("reorder", lambda: packed.refill(values))` and
`run.time("product", lambda: packed.multiply(given, y))`.
"""

from __future__ import annotations

import pandas

from experiments.wong2015 import stated
from experiments.wong2015.matrices import NOTE, marks, named
from experiments.wong2015.rows import two_rows
from experiments.wong2015.table4_break_even import FORMS, cells, measure
from repro.show.panels import slanted
from repro.show.plots import PAGE, bars, caption
from repro.show.tables import Table

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 1.5, "paper": 1.5, "large": 5}
PLACES = {"gpu": "device", "cpu": "host"}


def tables(results):
    """Return the factors, and how much faster the device reorders."""
    rows, gains = [], []
    for case, name in named(results).items():
        row = {"Matrix": name}
        for method in FORMS:
            for where, place in PLACES.items():
                factor = results.value(case, method, "reordering_factor", where=where)
                row[f"{method.upper()}, {place}"] = factor
            device, host = (results.value(case, method, "reorder", where=where) for where in PLACES)
            if device and host:
                gains.append(host / device)
        rows.append(row)
    notes = [*marks(results), NOTE]
    if gains:
        mean, printed = sum(gains) / len(gains), stated("gpu-over-cpu-reordering")
        notes.insert(0, f"The device reorders {mean:.3g} times as fast as the host on average, {min(gains):.3g} to "
                        f"{max(gains):.3g} times; published {printed}.")  # fmt: skip
    return [Table("Figure 13: reordering over a product", pandas.DataFrame(rows), notes)]


def plot(results):
    """Draw the factors on device and host in two panels."""
    made, panels = two_rows(PAGE, 4.4, share=False)
    for axes, (where, place) in zip(panels, PLACES.items(), strict=True):
        bars(axes, results, "reordering_factor", {"k1": "K1", "k2": "K2"}, unit="", cases=named(results),
             parameters={"where": where}, quantity=f"Reordering on the {place} over a product", log=False)  # fmt: skip
        axes.tick_params(axis="x", labelbottom=axes is panels[-1])
        slanted(axes)
    caption(made, results, "; ".join(marks(results)))
    return made
