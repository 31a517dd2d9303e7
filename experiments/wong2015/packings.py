"""What a matrix was packed with for a number of repeats, of which cells record the best parameters."""

from __future__ import annotations

from experiments.wong2015.products import FOUND, REPEATS


def packed_as_last(results, case, method, count):
    """Return whether a matrix is packed for `count` repeats as for the most, which padding and bytes are of."""
    last = REPEATS[results.scale][-1]
    found = ([results.value(case, method, f"{name}_at_{each}") for each in (count, last)] for name in FOUND.values())
    return all(ours == latest or latest is None for ours, latest in found)
