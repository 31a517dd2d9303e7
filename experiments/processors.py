"""Cells of the C back end, by which a machine without a GPU measures the kernels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from repro import Cell


def with_c(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells and, after each one through OpenCL, the same one by the C back end."""
    found = []
    for cell in cells:
        found += [cell, replace(cell, backend="openmp")] if cell.backend == "opencl" else [cell]
    return found
