"""Zhang, Zhang: CUDA polynomial preconditioned conjugate gradients for the finite elements of elasticity (2013)."""

from __future__ import annotations

from experiments import labels as names
from repro import published

MESHES = ("tri", "quad", "tet", "hex")
DEVICES = ("cuda", "opencl", "openmp")
LOADS = "Supports, load and material are not published: a cantilever, clamped at x = 0, under its own weight."


def labels(results) -> dict[str, str]:
    """Return the name of every mesh that the results have."""
    return names.labels(results, "zhang2013", MESHES)


def speed(results, case: str, method: str, backend: str | None = None, metric: str = "spmv") -> float | None:
    """Return GFLOP/s of a product as the paper counts them, two for each entry, from the median time."""
    seconds = results.value(case, method, metric, backend)
    entries = results.value(case, method, "nonzeros", backend)
    return None if not seconds or entries is None else 2e-9 * entries / seconds


def stated(statement: str) -> str | None:
    """Return the digits that the paper's text prints for a statement, or None."""
    found = {number.case: number.printed for number in published.load("zhang2013-text")}
    return found.get(statement)
