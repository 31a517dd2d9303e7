"""A roofline plot: every timed kernel whose work is known, below the measured ceilings of its device.

Work is the least that the computation must move and compute (`repro.Work`), so that intensity is the algorithm's and
not the implementation's, and a point's distance from the roof is what its row calls the fraction of the bound.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from repro.judge.roofs import Roofs, physical
from repro.model import DONE
from repro.run.ceilings import Ceilings
from repro.show.measurements import Measurement
from repro.units import convert

PRECISIONS = {"float64": "double", "float32": "single"}


def points(found: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Return a point a timed row whose work is known and computes something; one that several artefacts show is one.

    Returns
    -------
    list of dict
        ``intensity`` in FLOP/B, ``rate`` in GFLOP/s, ``bandwidth`` in GB/s, ``seconds``, ``bound`` and ``problem``
        (fractions of the bound, the format's and any format's, or None), and what names the row.
    """
    made: dict[tuple, dict[str, Any]] = {}
    for each in found:
        for row in each.frame[each.frame["status"] == DONE].to_dict("records"):
            if row["work_flops"] > 0 and row["work_bytes"] > 0 and row["value"] > 0:  # not of none, which is NaN
                point = _point(each, row)
                made.setdefault(tuple(value for name, value in point.items() if name != "artefact"), point)
    return list(made.values())


def _point(each: Measurement, row: dict[str, Any]) -> dict[str, Any]:
    seconds = convert(float(row["value"]), row["unit"], "s")
    return {
        "machine": each.machine, "device": physical(row["device"]), "artefact": each.artefact,
        "paper": each.artefact.partition("-")[0], "scale": each.scale, "case": row["case"], "method": row["method"],
        "backend": row["backend"], "metric": row["metric"], "precision": PRECISIONS.get(row["work_precision"], ""),
        "cold": bool(row["cold"]), "intensity": row["work_flops"] / row["work_bytes"],
        "rate": row["work_flops"] / seconds / 1e9, "bandwidth": row["work_bytes"] / seconds / 1e9, "seconds": seconds,
        "bound": each.roofs.fraction(row), "problem": each.roofs.fraction(row, of_problem=True),
    }  # fmt: skip


def roofs(folder: Path, shown: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the roof of every device that has points: measured bandwidth up to each measured arithmetic rate.

    The bandwidth is the largest stream's, which no cache holds; kernels whose data a cache holds may lie above.

    Returns
    -------
    list of dict
        Points of lines: ``machine``, ``device``, ``roof`` (its name), ``intensity``, ``rate``.
    """
    made = []
    for machine, device in sorted({(point["machine"], point["device"]) for point in shown}):
        if roof := Roofs.read(folder / machine).of(device):
            mine = [point for point in shown if (point["machine"], point["device"]) == (machine, device)]
            made += _roof(machine, device, roof.ceilings, mine)
    return made


def _roof(machine: str, device: str, ceilings: Ceilings, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    bandwidth = max(curve[-1][1] for curve in ceilings.bandwidths.values() if curve)
    least, most = min(point["intensity"] for point in shown) / 2, max(point["intensity"] for point in shown) * 2
    most = max(most, *(4 * rate / bandwidth for rate in ceilings.rates.values()))
    lines = []
    for precision, rate in sorted(ceilings.rates.items(), key=lambda pair: pair[1]):
        name = f"{PRECISIONS.get(precision, precision)} precision, {rate / 1e9:,.0f} GFLOP/s"
        ridge = rate / bandwidth
        facts = {"machine": machine, "device": device, "roof": name, "bandwidth": bandwidth / 1e9}
        lines += [
            {**facts, "intensity": intensity, "rate": min(rate, intensity * bandwidth) / 1e9}
            for intensity in sorted({least, ridge, most})
        ]
    return lines
