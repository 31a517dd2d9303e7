"""Ours beside the paper's, and one set of results beside another, decided by their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro import published as papers
from repro.grouping import grouped
from repro.judge.difference import SAME, SLOWER, THRESHOLD, UNDECIDED, of_intervals
from repro.judge.peaks import DOUBLE, least_seconds, of_published
from repro.judge.roofs import Roofs
from repro.model import DONE
from repro.published import Number, Published
from repro.rows import PARAMETER, place_of, text_of
from repro.run.rounds import FROM_TIMES, OF_A_PART
from repro.show.results import interval_behind, times_behind
from repro.units import convert, is_missing, is_rate, is_time, split

if TYPE_CHECKING:
    from pathlib import Path

    import pandas

PUBLISHED_COLUMNS = (
    "artefact", "case", "method", "backend", "device", "metric", "ours", "ci_low", "ci_high", "published", "unit",
    "ratio", "of_peak", "published_of_peak", "place",
)  # fmt: skip
RESULTS_COLUMNS = (
    "artefact", "scale", "case", "method", "backend", "metric", "old", "old_low", "old_high",
    "new", "new_low", "new_high", "unit", "change", "verdict", "reason",
)  # fmt: skip
KEY = ("artefact", "scale", "case", "method", "backend", "metric")
CHANGED, LOST, ADDED, OTHER = "changed", "lost", "added", "other data"
REGRESSIONS = (SLOWER, LOST)
ALIKE = 0.02  # relative: two counts of the same operations


def compare(
    frame: pandas.DataFrame, published: Published, methods: Mapping[str, str] | None = None,
    roofs: Roofs | None = None,
) -> pandas.DataFrame:  # fmt: skip
    """Return what was measured beside what the paper prints, for everything that has both.

    Raises `ReproError` when the two are in units that measure different things.

    Parameters
    ----------
    methods : mapping of str to str, optional
        The paper's method for each of ours that has another name, as a stand-in has.
    roofs : Roofs, optional
        What our devices allow. At scale ``paper`` the least work of a row is taken for the published number as well,
        which then says how much of its own hardware the paper used.

    Returns
    -------
    pandas.DataFrame
        Columns ``PUBLISHED_COLUMNS``; ours, its interval and the published value in the paper's unit; `ratio` is ours
        over published, `of_peak` ours as a fraction of what our device allows by its measured ceilings, and
        `published_of_peak` the paper's of its own device's peak by the vendor. None where that cannot be told.
    """
    import pandas

    methods, roofs = methods or {}, roofs or Roofs()
    lines = []
    rows = frame[frame["status"] == DONE].to_dict("records") if len(published) else []
    cells = grouped((place_of(row), row) for row in rows)
    for row in rows:
        own = {name.removeprefix(PARAMETER): value for name, value in row.items() if name.startswith(PARAMETER)}
        theirs = row["method"] if published.get(row["case"], row["method"], row["metric"], **own) else None
        theirs = theirs or methods.get(row["method"], row["method"])
        number = published.get(row["case"], theirs, row["metric"], **own)
        value = _number(row["value"])
        if number is None or value is None:
            continue
        ours, low, high = (
            None if each is None else convert(each, row["unit"] or "", number.unit)
            for each in (value, _number(row["ci_low"]), _number(row["ci_high"]))
        )
        ratio = ours / number.value if number.value else math.nan
        metric = text_of(row["metric"], number.parameters)
        where = (published.artefact, *(row[name] for name in ("case", "method", "backend", "device")), metric)
        cell = cells[place_of(row)]
        fractions = _fractions(row, cell, number, theirs, published.artefact, roofs)
        lines.append((*where, ours, low, high, number.value, number.unit, ratio, *fractions, number.place))
    return pandas.DataFrame(lines, columns=list(PUBLISHED_COLUMNS))


def beside_the_paper(
    artefact: str, csv: Path, frame: pandas.DataFrame, manifest: Mapping[str, Any]
) -> pandas.DataFrame:
    """Return what `compare` does of a stored table of a machine, with the roofs of its machine."""
    stands_for = papers.stand_ins(artefact.partition("-")[0], frame["method"].unique())
    compared = compare(frame, papers.load(artefact), stands_for, Roofs.read(csv.parents[1]))
    if manifest.get("overrides"):
        compared["published_of_peak"] = None  # the work is of other data
    return compared


def _fractions(
    row: Mapping[str, Any], cell: Sequence[Mapping[str, Any]], number: Number, theirs: str, artefact: str,
    roofs: Roofs,
) -> tuple[float | None, float | None]:  # fmt: skip
    """Return how much of their hardware our row and the published number use; None where that cannot be told."""
    peak = of_published(artefact, theirs) if row["scale"] == "paper" else None  # the work is of another size
    ours, printed = row["value"] * split(row["unit"])[0], number.value * split(number.unit)[0]
    roof = roofs.of(row["device"], row.get("cores"))
    if split(number.unit)[1] == "B/s":  # which counts bytes of its own
        return ours / roof.bandwidth if roof else None, printed / peak.bandwidth if peak else None
    # A rate counts by the time that it comes from; a time other than the work's is of more, or of less.
    behind = times_behind(row, cell) if is_rate(row["unit"]) else []
    timed = [each for each in (row, *behind) if not is_missing(each.get("work_bytes"))]
    if len(timed) != 1 or min(ours, printed) <= 0:
        return None, None
    (time,) = timed
    if is_rate(number.unit):
        seconds, flops = time["value"] * split(time["unit"])[0], time["work_flops"]
        if not flops or abs(flops / seconds / ours - 1) >= ALIKE:  # it counts others than the work has
            rates = (each.rates.get(time["work_precision"] or DOUBLE) if each else None for each in (roof, peak))
            shares = [each / rate if rate else None for each, rate in zip((ours, printed), rates, strict=True)]
            if flops and ours * seconds > flops:  # ours leaves some of what it counts out
                shares[0] = None
            return tuple(shares)
        printed = flops / printed
    least = least_seconds(time, peak) if peak else None
    return roofs.fraction(time), least and least / printed


def other_data(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return the cells, by case, method and back end, that two manifests have of other data or seeds, and why."""
    before, after = (manifest.get("data", {}) for manifest in (old, new))
    differ = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    seeds = [manifest.get("seed") for manifest in (old, new)]
    is_reseeded = None not in seeds and seeds[0] != seeds[1]
    found = {}
    for cell in (*old.get("cells", ()), *new.get("cells", ())):
        if is_reseeded:  # random vectors and orders are drawn by it, for whichever cell asks
            found[place_of(cell)] = f"seed {seeds[0]} and seed {seeds[1]}"
        elif names := sorted(differ.intersection(cell.get("data", ()))):
            found[place_of(cell)] = f"{', '.join(names)} is not the same"
    return found


def compare_results(
    old: pandas.DataFrame, new: pandas.DataFrame, threshold: float = THRESHOLD,
    others: Mapping[tuple[str, str, str], str] | None = None,
) -> pandas.DataFrame:  # fmt: skip
    """Return two sets of results side by side, with a verdict on each metric.

    Times and rates are judged by ``repro.judge.difference.of_intervals``; the reason says where one has no interval.
    One that was worked out from a time, as a long solve's from a part, has the time's interval. Such parts themselves
    are left out, since two of them may be of other lengths.
    Values that both sets have of one measurement are the same. Other values are ``changed`` when they differ by more
    than `threshold`, whole numbers at any difference. A value that the old set alone has is ``lost``, with the new
    row's reason; one that only the new set has is ``added``.

    Parameters
    ----------
    others : mapping, optional
        The cells that are of other data in the two, by case, method and back end, with a reason: nothing is slower or
        faster there.

    Returns
    -------
    pandas.DataFrame
        Columns ``RESULTS_COLUMNS``, after the metric the columns of the rows' own parameters; `change` is new over
        old less one, and values are in the old row's unit.
    """
    import pandas

    parameters = _telling(old, new)
    before, after = _by_key(old, parameters), _by_key(new, parameters)
    failed = new[new["status"] != DONE].to_dict("records")
    reasons = {_key(row, ())[:-1]: row["reason"] for row in failed}
    lines = []
    for key in [*before, *(key for key in after if key not in before)]:
        was, now = before.get(key), after.get(key)
        if was is None or now is None:
            unit = (was or now)["unit"] or ""
            verdict, reason = (
                (ADDED, "") if was is None else (LOST, reasons.get(key[: len(KEY) - 1]) or "not in the new results")
            )
            ends = [each and each[name] for each in (was, now) for name in ("value", "ci_low", "ci_high")]
            lines.append((*key, *ends, unit, None, verdict, reason))
            continue
        unit = was["unit"] or ""
        now = {
            name: None if _number(now[name]) is None else convert(now[name], now["unit"] or "", unit)
            for name in ("value", "ci_low", "ci_high")
        }
        change = _change(was["value"], now["value"])
        ends = [each[name] for each in (was, now) for name in ("value", "ci_low", "ci_high")]
        other = (others or {}).get(key[2:5])
        verdict = (OTHER, other) if other else _verdict(was, now, unit, change, threshold)
        lines.append((*key, *ends, unit, change, *verdict))
    return pandas.DataFrame(lines, columns=[*KEY, *parameters, *RESULTS_COLUMNS[len(KEY) :]])


def _change(was: float, now: float) -> float:
    if was == now:  # be they zero or without end
        return 0.0
    return now / was - 1 if was and math.isfinite(was) else math.copysign(math.inf, now - was)


def _number(value: Any) -> float | None:
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else float(value)


def _telling(*frames: pandas.DataFrame) -> list[str]:
    """Return the columns of parameters that tell numbers apart: within a cell, or of a cell between two sets.

    A parameter that one of the sets does not have tells nothing: another edition says less, or more, of the same cell.
    """
    names = sorted({name for frame in frames for name in frame.columns if name.startswith(PARAMETER)})
    firsts, found = [], set()
    for frame in frames:
        firsts.append(first := {})
        for row in frame.to_dict("records"):
            given = _key(row, names)[len(KEY) :]
            before = first.setdefault(_key(row, ()), given)
            found |= {name for name, a, b in zip(names, before, given, strict=True) if a != b}
    for key in firsts[0].keys() & firsts[-1].keys():
        ends = zip(names, firsts[0][key], firsts[-1][key], strict=True)
        found |= {name for name, a, b in ends if a != b and "" not in (a, b)}
    return sorted(found)


def _key(row: Mapping[str, Any], parameters: Sequence[str]) -> tuple[Any, ...]:
    """Return what a number is known by, empty where it has no such parameter."""
    given = ("" if is_missing(value := row.get(name)) else value for name in parameters)
    return (*(row[name] for name in KEY), *(str(each) if isinstance(each, list | dict) else each for each in given))


def _by_key(frame: pandas.DataFrame, parameters: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows = frame[frame["status"] == DONE].to_dict("records")
    cells = grouped(((row["artefact"], row["scale"], *place_of(row)), row) for row in rows)
    found = {}
    for row in rows:
        if _number(row["value"]) is not None and not row["metric"].startswith(OF_A_PART):
            cell = cells[row["artefact"], row["scale"], *place_of(row)] if _number(row["ci_low"]) is None else []
            found[_key(row, parameters)] = {**row, **interval_behind(row, cell)}
    return found


def _verdict(
    was: Mapping[str, Any], now: Mapping[str, Any], unit: str, change: float, threshold: float
) -> tuple[str, str]:
    """Return the verdict, and how it was come by where that is not by intervals."""
    if not (is_time(unit) or is_rate(unit) or split(unit)[1] in FROM_TIMES):
        whole = float(was["value"]).is_integer() and float(now["value"]).is_integer()
        return (SAME if abs(change) <= (0 if whole else threshold) else CHANGED), ""
    sides = [tuple(_number(row[name]) for name in ("value", "ci_low", "ci_high")) for row in (was, now)]
    reason = "no interval" if any(None in side for side in sides) else ""
    if sides[0] == sides[1]:
        return SAME, reason
    if min(value for value, *_ in sides) <= 0 or math.inf in (sides[0][0], sides[1][0]):
        return UNDECIDED, "no ratio of these"
    old, new = reversed(sides) if is_rate(unit) else sides  # a rate is better when it is more
    return of_intervals(old, new, threshold).verdict, reason
