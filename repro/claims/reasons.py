"""One line of reason for a judgement, chosen by what the rows and the ceilings show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro.claims.model import Claim, Judgement, Predicate
from repro.claims.stored import Selector, Stored, in_place
from repro.model import DONE

if TYPE_CHECKING:
    from repro.claims.judging import Point


def unmeasured(claim: Claim, predicate: Predicate, selectors: Mapping[str, str], stored: Stored) -> str:
    """Return why a predicate cannot be judged by a machine's results."""
    for text in selectors.values():
        selector = Selector.parse(text.format(**{name: values[0] for name, values in claim.each.items()}))
        artefact = f"{claim.paper}-{selector.stem}"
        rows = stored.rows(artefact)
        if not rows:
            return f"{artefact} has no stored result on {stored.machine}"
        rows = [row for row in rows if row["scale"] in predicate.scales]
        if not rows:
            return f"{artefact} is stored at scale {', '.join(stored.scales(artefact))} only"
        wanted = [row for row in rows if selector.takes(row["method"])]
        done = [row for row in wanted if row["status"] == DONE and row["metric"] == selector.metric]
        if not [row for row in done if in_place(row, selector.place)]:
            why = next((row["reason"] for row in wanted if row["status"] != DONE and row["reason"]), "")
            what = f"{'|'.join(selector.methods)} of {artefact}"
            if done and selector.place:
                place = f"a {selector.place.upper()}" if selector.place in ("gpu", "cpu") else selector.place
                return f"{what} was not measured on {place}"
            return f"{what} was skipped: {why}" if why else f"{what} was not measured"
    return "no case has every value that it takes"


def reason(
    claim: Claim, judgement: Judgement, predicate: Predicate, points: Sequence[Point], selectors: Mapping[str, Any],
    stored: Stored,
) -> str:  # fmt: skip
    """Return one line on why a judgement is what it is."""
    return f"{judgement.met} of {judgement.points}"
