"""Notes on what the numbers say of the limit in the table of `convergence`: part of Tables 3 and 4."""

from __future__ import annotations

import dataclasses

from repro.show.results import is_missing
from repro.show.tables import Table, trimmed
from repro.units import significant

LIMIT = (
    "Limit: local Fourier analysis of Q1 on the element where two levels are slowest. Waves must fit between elements "
    "of other shapes, so that on coarse levels factors stay below it."
)


def noted(table: Table) -> Table:
    """Return the table of factors by level with a note on how the last of them stand to their limit."""
    if table.frame.empty:
        return table
    return trimmed(dataclasses.replace(table, notes=[table.notes[0], *_notes(table.frame), *_degree(table.frame)]), 2)


def _degree(frame) -> list[str]:
    """Say what the last column is, where it is there."""
    column = "Cycles, degree 24"
    there = column in frame and not all(is_missing(value) for value in frame[column])
    return [f"{column}: with Chebyshev polynomials in place of Jacobi's steps."] if there else []


def _notes(frame) -> list[str]:
    """Say which factors exceed the limit, and by how much; nothing where no limit is known."""
    known = [row for row in frame.to_dict("records") if not is_missing(row["Limit"])]
    if not known:
        return []
    above = [row for row in known if row["Last factor"] > row["Limit"]]
    if not above:
        return [f"{LIMIT} None of Q1's last factors exceeds it."]
    gaps = ", ".join(f"{significant(row['Last factor'] - row['Limit'], 2)} on level {row['L']}" for row in above)
    return [
        f"{LIMIT} The last factor exceeds it by {gaps}: it is the limit of two levels, the coarser of which is solved "
        "exactly; a cycle over more of them solves none but the coarsest exactly, and may converge worse."
    ]
