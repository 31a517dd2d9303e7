"""What sorting the rows by length brings K1: padding and time against rows in their own order."""

from __future__ import annotations

import pandas

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.matrices import NOTE, marks, named
from experiments.wong2015.variants import CACHES, UNCACHED, drawn, seconds, times, variant_cells
from repro.tables import Table

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k1-unsorted", "k1")


def cells(scale):
    """Return the matrices of section 7 with rows sorted and not."""
    return variant_cells(scale, METHODS)


def tables(results):
    """Return Table 6, matrices in columns as in the paper, and the times."""
    names = named(results)
    rows = []
    for text, metric, value in (
        ("Padding difference [%]", "padding_difference", _padding),
        ("Time difference, x through the cache [%]", "time_difference_textured", _gain("")),
        ("Time difference, x past it [%]", "time_difference", _gain("-uncached")),
    ):
        printed = {case: results.published.get(case, "k1", metric) for case in names}
        rows.append({"": text} | {name: value(results, case) for case, name in names.items()})
        rows.append({"": "published"} | {names[case]: number and number.printed for case, number in printed.items()})
    notes = ["Of the unsorted kernel: positive where sorting saves padding, or time.",
             "The paper calls the hearts Heart, HeartCoarse and HeartRefined; which is which is our reading.",
             UNCACHED, *marks(results), NOTE]  # fmt: skip
    return [Table("Table 6: what sorting brings K1", pandas.DataFrame(rows), notes),
            times(results, f"Times, {' and '.join(CACHES.values())}", METHODS)]  # fmt: skip


def _padding(results, case):
    ours, unsorted = (results.value(case, method, "stored") for method in ("k1", "k1-unsorted"))
    return 100 * (1 - ours / unsorted) if ours and unsorted else None


def _gain(uncached):
    def gain(results, case):
        ours, unsorted = (seconds(results, case, method, uncached) for method in ("k1", "k1-unsorted"))
        return 100 * (1 - ours / unsorted) if ours and unsorted else None

    return gain


def plot(results):
    """Draw the times."""
    return drawn(results, METHODS)
