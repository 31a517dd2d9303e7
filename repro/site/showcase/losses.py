"""Where a rival is faster than the best of a family of our kernels, and the reason for it that a test holds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from repro.judge.claims.stored import Stored
from repro.judge.claims.table import Link
from repro.published import name_of
from repro.site.showcase.ledger import Ledger, Reason
from repro.site.showcase.runs import runs
from repro.units import significant

LEVEL = 0.97  # of our time: a rival that takes no less is level with us
RULE = (
    "The best of each family is compared with every rival of its algorithm, in each case that both ran. Another family "
    "does not answer for it: conjugate gradients are compared with conjugate gradients, however fast multigrid is. A "
    "set-up is judged together with the solve that it serves; alone it stands in the tables of kernels."
)


@dataclass(frozen=True)
class Loss:
    """A case in which a rival takes less than the best of a family of ours."""

    family: str
    artefact: str
    scale: str
    backend: str
    case: str
    ours: str  #: method
    rival: str
    ratio: float  #: its time over ours, below 1
    reason: Reason | None


def compared(ledgers: Iterable[Ledger], stored: Stored) -> tuple[int, list[Loss], Counter[str]]:
    """Return in how many cases a machine has rivals for a family of kernels, those that we lose, and what ran.

    What ran: the rivals, with the number of cases of each. A family is judged by its own kernels alone: that another
    algorithm of ours is faster is no answer to a rival that has this one.
    """
    count, found, ran = 0, [], Counter()
    for family in (family for ledger in ledgers for family in ledger.families if family.rivals and family.judged):
        for run in runs(family, stored):
            for place in run.places():
                if not (rivals := run.rivals(place)):
                    continue
                count += 1
                ran.update(sorted({each["method"] for each in rivals}))
                best, rival = (min(rows, key=lambda row: row["value"]) for rows in (run.ours(place).values(), rivals))
                if rival["value"] < LEVEL * best["value"]:
                    reason = next((each for each in family.reasons if _holds(each, rival, run.backend, place[0])), None)
                    found.append(Loss(
                        family.name, run.artefact, run.scale, run.backend, place[0], best["method"], rival["method"],
                        rival["value"] / best["value"], reason,
                    ))  # fmt: skip
    return count, found, ran


def _holds(reason: Reason, rival: dict, backend: str, case: str) -> bool:
    return (fnmatchcase(rival["method"], reason.rival) and fnmatchcase(backend, reason.backend)
            and any(fnmatchcase(case, each) for each in reason.cases))  # fmt: skip


def table(ledgers: Sequence[Ledger], machines: dict[str, Stored], link: Link) -> str:
    """Return how often a rival wins on each machine, and a table of where, with the reason and what tests it."""
    lines, rows = [RULE, ""], []
    for name, stored in machines.items():
        count, losses, ran = compared(ledgers, stored)
        unexplained = sum(loss.reason is None for loss in losses)
        told = ", ".join(f"`{rival}` in {cases}" for rival, cases in ran.most_common())
        lines.append(f"- {name}: {len(losses)} of {count} cases of a family that a rival ran, {unexplained} of these "
                     f"without a tested reason{'; rivals: ' * bool(told)}{told}")  # fmt: skip
        groups: dict[tuple, list[Loss]] = {}
        for loss in losses:
            key = loss.family, loss.artefact, loss.scale, loss.backend, loss.rival, loss.reason
            groups.setdefault(key, []).append(loss)
        for (family, artefact, scale, backend, rival, reason), each in groups.items():
            ratios = [significant(value) for value in (min(x.ratio for x in each), max(x.ratio for x in each))]
            span = " to ".join(dict.fromkeys(ratios))
            where = f"{artefact.partition('-')[0]} {name_of(artefact)}, {backend}, `{scale}`, {name.partition(':')[0]}"
            ours = ", ".join(f"`{method}`" for method in dict.fromkeys(x.ours for x in each))
            test = link(f"`{reason.test.partition('::')[2]}`", reason.test.partition("::")[0]) if reason else "–"
            rows.append(f"| {family} | {where} | {ours} | `{rival}` | {len(each)} | {span}\u00a0× | "
                        f"{reason.why if reason else 'no tested reason'} | {test} |")  # fmt: skip
    if rows:
        rows[:0] = ["", "| family | where | ours | rival | cases | its time over ours | why | tested by |",
                    "|---|---|---|---|---:|---:|---|---|"]  # fmt: skip
    return "\n".join([*lines, *rows])
