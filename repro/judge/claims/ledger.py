"""Reads ``published/<paper>/claims.toml``: every claim of a paper, with the predicates that decide it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro import published
from repro.cache.store import read_toml
from repro.judge.claims.model import BETTER, REASONS, RELATIONS, Cause, Claim, Predicate
from repro.judge.claims.stored import is_measured
from repro.model import SCALES, ReproError
from repro.units import is_rate, is_time

_CLAIM = {
    "id", "place", "says", "condition", "where", "cases", "each", "stated", "effect", "today", "cause",
    "of_data", "fitted", "ours", *REASONS,
}  # fmt: skip
_PREDICATE = {"formula", "is", "published", "than", "unit", "tolerance", "better", "says", "scales", "where"}
_TODAY, _CAUSE = {"formula", "unit", "says", "where", "at"}, {"says", "formula", "where"}
_NUMBER = re.compile(r"\{([a-z0-9-]+)\}")  # {statement-id} in what a claim says: the digits as printed


def claims(paper: str | None = None, root: Path = published.ROOT) -> list[Claim]:
    """Return the claims of a paper, or of all, in the order of their files.

    Raises `ReproError` when a ledger is malformed, with file and claim.
    """
    keys = published.papers(root) if paper is None else [paper]
    return [claim for key in keys for claim in _read(key, root)]


def _read(paper: str, root: Path) -> list[Claim]:
    path = root / paper / "claims.toml"
    content = read_toml(path)
    statements = {number.case: number.printed for number in published.load(f"{paper}-text", root)}
    found, seen = [], set()
    _known(content, {"tolerance", "users_cases", "added_cases", "of_size", "claim"})
    for entry in content.get("claim", []):
        try:
            claim = _claim(paper, entry, statements, content)
        except (KeyError, TypeError, ValueError, ReproError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ReproError(f"{path}: claim {entry.get('id', '?')!r}: {what}") from None
        if claim.id in seen:
            raise ReproError(f"{path}: claim {claim.id!r} is given twice")
        seen.add(claim.id)
        found.append(claim)
    return found


def _claim(paper: str, entry: Mapping[str, Any], statements: Mapping[str, str], shared: Mapping[str, Any]) -> Claim:
    _known(entry, _CLAIM)
    tolerance = float(shared.get("tolerance", 0.0))
    says = _filled(entry["says"], statements)
    where = dict(entry.get("where", {}))
    stated, effect = (_predicate(entry[name], statements, tolerance) if name in entry else None
                      for name in ("stated", "effect"))  # fmt: skip
    is_open = stated and stated.relation in ("about", "between") and "better" not in entry["stated"]
    if is_open and effect and stated.unit == effect.unit == "x" and stated.formula == effect.formula:
        stated = replace(stated, better=effect.better)  # another formula may be the inverse
    today = _today(entry["today"], statements, stated or effect) if "today" in entry else None
    causes = tuple(_cause(each, statements) for each in entry.get("cause", []))
    reasons = [(entry[name], waits) for name, waits in REASONS.items() if entry.get(name)]
    if bool(stated or effect) + len(reasons) != 1:
        raise ReproError(f"a claim has a predicate (stated, effect), or one reason of {', '.join(REASONS)}")
    unmeasured, waits = reasons[0] if reasons else ("", "")
    fitted = entry.get("fitted", False)
    if not isinstance(fitted, bool | list):
        raise ReproError(f"fitted = {fitted!r} is neither true nor a list of datasets")
    parts = [each for each in (stated, effect, today, *causes) if each]
    selectors = [*where.values(), *(selector for each in parts for selector in each.where.values())]
    stems = dict.fromkeys(stem for selector in selectors if is_measured(stem := selector.split()[0]))
    return Claim(
        id=entry["id"], paper=paper, place=entry["place"], says=says,
        condition=_filled(entry.get("condition", ""), statements), where=where,
        artefacts=tuple(f"{paper}-{stem}" for stem in stems),
        cases=tuple(entry.get("cases", [])), users_cases=tuple(shared.get("users_cases", [])),
        added_cases=tuple(shared.get("added_cases", [])), of_size=tuple(shared.get("of_size", [])),
        each={name: tuple(values) for name, values in entry.get("each", {}).items()},
        stated=stated, effect=effect, today=today, causes=causes, unmeasured=unmeasured, waits=waits,
        fitted=fitted if isinstance(fitted, bool) else tuple(fitted),
        **{name: entry.get(name, False) for name in ("of_data", "ours")},
    )  # fmt: skip


def _predicate(entry: Mapping[str, Any], statements: Mapping[str, str], tolerance: float) -> Predicate:
    _known(entry, _PREDICATE)
    references = entry.get("published", [])
    references = tuple([references] if isinstance(references, str) else references)
    relation, than = entry["is"], entry.get("than")
    if relation not in RELATIONS:
        raise ReproError(f"is = {relation!r} is none of {', '.join(RELATIONS)}")
    bounds = 1 if than is not None else len(references)
    if (than is not None and references) or bounds != (2 if relation == "between" else 1):
        raise ReproError(f"{relation!r} takes {'two numbers' if relation == 'between' else 'one number'}")
    if unknown := set(entry.get("scales", [])) - set(SCALES):
        raise ReproError(f"there is no scale {', '.join(sorted(unknown))}")
    better = entry.get("better", _better(relation, entry.get("unit", "x"), entry.get("than")))
    if better not in BETTER:
        raise ReproError(f"better = {better!r} is none of {', '.join(BETTER)}")
    # The paper's numbers hold for its own sizes; an effect should show at any.
    scales = tuple(entry.get("scales", ("paper",) if references else ("paper", "large", "small", "smoke")))
    return Predicate(
        formula=entry["formula"], relation=relation, published=references,
        than=None if than is None else float(than), unit=entry.get("unit", "x"),
        tolerance=float(entry.get("tolerance", tolerance if references else 0.0)),
        better=better, says=_filled(entry.get("says", ""), statements), scales=scales,
        where=dict(entry.get("where", {})),
    )  # fmt: skip


def _better(relation: str, unit: str, than: float | None) -> str:
    """Return the side on which a value exceeds a claim, as its relation says, else its unit; to be alike has none."""
    if relation == "about" and unit == "x" and than == 1:
        return "neither"
    if relation in ("at most", "less than") or is_time(unit):
        return "less"
    return (
        "more" if relation in ("up to", "at least", "more than") or unit in ("x", "%") or is_rate(unit) else "neither"
    )


def _today(entry: Mapping[str, Any], statements: Mapping[str, str], like: Predicate | None) -> Predicate:
    _known(entry, _TODAY)
    unit = entry.get("unit", like.unit if like else "x")
    return Predicate(
        formula=entry["formula"], relation="more than", than=0.0, unit=unit,
        says=_filled(entry["says"], statements), scales=("paper", "large", "small"), where=dict(entry.get("where", {})),
        at=entry.get("at", ""),
    )  # fmt: skip


def _cause(entry: Mapping[str, Any], statements: Mapping[str, str]) -> Cause:
    _known(entry, _CAUSE)
    return Cause(_filled(entry["says"], statements), entry["formula"], dict(entry.get("where", {})))


def _known(entry: Mapping[str, Any], names: set[str]) -> None:
    if unknown := set(entry) - names:
        raise ReproError(f"{', '.join(sorted(unknown))} is not known here; there are {', '.join(sorted(names))}")


def _filled(text: str, statements: Mapping[str, str]) -> str:
    """Return a text with the printed digits in the place of each ``{statement-id}``."""
    for name in _NUMBER.findall(text):
        if name not in statements:
            raise ReproError(f"text.toml has no statement {name!r}")
    return _NUMBER.sub(lambda match: statements[match[1]].strip("()"), text)
