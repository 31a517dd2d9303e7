"""A row's fraction of what its device allows, computed when it is shown: from its work and the device's roof."""

from collections.abc import Mapping
from typing import Any

from repro.judge.roofs import Roofs
from repro.model import ReproError, Work
from repro.units import is_missing, is_time, split


def fraction(row: Mapping[str, Any], roofs: Roofs, *, of_problem: bool = False, cores: Any = None) -> float | None:
    """Return the least time that a row's work can take on its device over the time measured; 1 is the limit.

    None where the row is no time, its work is not known, or what its device allows has not been measured.

    Parameters
    ----------
    of_problem : bool
        Whether to count the bytes that any format must move, not the bytes of the row's own format: this ranks kernels.
    cores : int, optional
        Of the processor; by default the row's own, where it has a column of them.
    """
    moved = row.get("problem_bytes" if of_problem else "work_bytes")
    if not is_time(row["unit"] or "") or is_missing(moved) or is_missing(row["value"]) or not row["value"] > 0:
        return None
    cores = row.get("cores") if cores is None else cores
    roof = roofs.of(row["device"], None if is_missing(cores) else cores)
    if roof is None:
        return None
    flops = 0.0 if is_missing(row["work_flops"]) else float(row["work_flops"])
    work = Work(float(moved), flops, row["work_precision"] or "float64")
    is_cold = not is_missing(row["cold"]) and bool(row["cold"])
    try:
        least = roof.ceilings.bound_seconds(work, cold=is_cold)
    except ReproError:  # that bandwidth, or that precision, has not been measured
        return None
    return least / (float(row["value"]) * split(row["unit"])[0])
