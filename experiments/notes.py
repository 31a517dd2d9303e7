"""Notes that tables of several papers have in common."""

from __future__ import annotations

STARTED_BY_HOST = (
    "Through OpenCL the host starts each kernel, and waits after each iteration to see whether the solve has ended; "
    "through CUDA, where the driver has loops in graphs, a graph repeats iterations without it."
)
