"""Ours beside the paper's, and one set of results beside another, decided by their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from repro.model import DONE
from repro.published import Published
from repro.units import convert, is_rate, is_time

if TYPE_CHECKING:
    import pandas

PUBLISHED_COLUMNS = (
    "artefact", "case", "method", "backend", "device", "metric", "ours", "ci_low", "ci_high", "published", "unit",
    "ratio", "place",
)  # fmt: skip
RESULTS_COLUMNS = (
    "artefact", "scale", "case", "method", "backend", "metric", "old", "new", "unit", "change", "verdict", "reason",
)  # fmt: skip
KEY = ("artefact", "scale", "case", "method", "backend", "metric")
SAME, FASTER, SLOWER, CHANGED, UNDECIDED, LOST, ADDED = (
    "same", "faster", "slower", "changed", "undecided", "lost", "added",
)  # fmt: skip
REGRESSIONS = (SLOWER, LOST)


def compare(
    frame: pandas.DataFrame, published: Published, methods: Mapping[str, str] | None = None
) -> pandas.DataFrame:
    """Return what was measured beside what the paper prints, for everything that has both.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of one artefact, with the columns ``repro.model.COLUMNS``.
    published : Published
        The paper's numbers of the same artefact.
    methods : mapping of str to str, optional
        The paper's method for each of ours that has another name, as a stand-in has.

    Returns
    -------
    pandas.DataFrame
        Columns ``PUBLISHED_COLUMNS``; ours, its interval and the published value in the paper's unit; `ratio` is ours
        over published.

    Raises
    ------
    ReproError
        When the two are in units that measure different things.
    """
    import pandas

    methods = methods or {}
    lines = []
    for row in frame[frame["status"] == DONE].to_dict("records"):
        number = published.get(row["case"], methods.get(row["method"], row["method"]), row["metric"])
        value = _number(row["value"])
        if number is None or value is None:
            continue
        ours, low, high = (
            None if each is None else convert(each, row["unit"] or "", number.unit)
            for each in (value, _number(row["ci_low"]), _number(row["ci_high"]))
        )
        ratio = ours / number.value if number.value else math.nan
        where = (published.artefact, *(row[name] for name in ("case", "method", "backend", "device", "metric")))
        lines.append((*where, ours, low, high, number.value, number.unit, ratio, number.place))
    return pandas.DataFrame(lines, columns=list(PUBLISHED_COLUMNS))


def compare_results(old: pandas.DataFrame, new: pandas.DataFrame, threshold: float = 0.05) -> pandas.DataFrame:
    """Return two sets of results side by side, with a verdict on each metric.

    A time or a rate is ``slower`` or ``faster`` when the intervals of the medians lie further apart than `threshold`,
    ``same`` when the medians differ by less, and ``undecided`` otherwise: measure again. Other values are ``changed``
    when they differ by more than `threshold`, whole numbers at any difference. A value that the old set alone has is
    ``lost``, with the new row's reason; one that only the new set has is ``added``.

    Parameters
    ----------
    old, new : pandas.DataFrame
        Rows with the columns ``repro.model.COLUMNS``.
    threshold : float
        Relative difference below which a change does not matter.

    Returns
    -------
    pandas.DataFrame
        Columns ``RESULTS_COLUMNS``; `change` is new over old less one, and values are in the old row's unit.
    """
    import pandas

    before, after = _by_key(old), _by_key(new)
    reasons = {_key(row)[:-1]: row["reason"] for row in new[new["status"] != DONE].to_dict("records")}
    lines = []
    for key in [*before, *(key for key in after if key not in before)]:
        was, now = before.get(key), after.get(key)
        if was is None or now is None:
            unit = (was or now)["unit"] or ""
            verdict, reason = (ADDED, "") if was is None else (LOST, reasons.get(key[:-1]) or "not in the new results")
            lines.append((*key, was and was["value"], now and now["value"], unit, None, verdict, reason))
            continue
        unit = was["unit"] or ""
        now = {
            name: None if _number(now[name]) is None else convert(now[name], now["unit"] or "", unit)
            for name in ("value", "ci_low", "ci_high")
        }
        change = now["value"] / was["value"] - 1 if was["value"] else (0.0 if now["value"] == 0 else math.inf)
        lines.append((*key, was["value"], now["value"], unit, change, _verdict(was, now, unit, change, threshold), ""))
    return pandas.DataFrame(lines, columns=list(RESULTS_COLUMNS))


def _number(value: Any) -> float | None:
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else float(value)


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in KEY)


def _by_key(frame: pandas.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    rows = frame[frame["status"] == DONE].to_dict("records")
    return {_key(row): row for row in rows if _number(row["value"]) is not None}


def _verdict(was: Mapping[str, Any], now: Mapping[str, Any], unit: str, change: float, threshold: float) -> str:
    if not (is_time(unit) or is_rate(unit)):
        whole = float(was["value"]).is_integer() and float(now["value"]).is_integer()
        return SAME if abs(change) <= (0 if whole else threshold) else CHANGED
    ends = [_number(row[name]) for row in (was, now) for name in ("ci_low", "ci_high")]
    if None not in ends:
        was_low, was_high, now_low, now_high = ends
        if now_low > was_high * (1 + threshold):
            return SLOWER if is_time(unit) else FASTER
        if was_low > now_high * (1 + threshold):
            return FASTER if is_time(unit) else SLOWER
    return SAME if abs(change) <= threshold else UNDECIDED
