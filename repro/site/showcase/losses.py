"""Where a rival is faster than the best of a family of our kernels, or may be, and the reason that a test holds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from repro.grouping import grouped
from repro.judge.claims.stored import Stored, lacks_interval
from repro.judge.claims.table import Link
from repro.judge.difference import FASTER, THRESHOLD, UNDECIDED, Difference
from repro.published import name_of
from repro.site.showcase.ledger import Ledger, Reason
from repro.site.showcase.runs import against, runs
from repro.units import MISSING, significant

RULE = (
    "The best of each family is compared with every rival of its algorithm, in each case that both ran. A faster "
    "family does not count in its place: conjugate gradients are compared with conjugate gradients, however fast "
    "multigrid is. A set-up is judged together with the solve that it serves; alone it stands in the tables of "
    "kernels. A processor beside a GPU is judged by itself, too: our kernels on its cores and its rivals alone.\n\n"
    "The interval of the ratio decides, as everywhere: the errors of the two times are taken to be independent. We are "
    "*behind* in a case if one of the rivals takes less time. We are *ahead* if all take more, or differ by less than "
    f"{100 * THRESHOLD:g} %. Any other case is *undecided*. The table has every case that we are behind in, and the "
    "undecided ones in which the rival's median is the lower. Kernels that compute the same thing "
    "are a *family*, and a *case* is a mesh or matrix. The parentheses hold the interval of the ratio. Where a line "
    "has several cases, they hold the least and the greatest end. The notes of the linked tables explain each method."
)


@dataclass(frozen=True)
class Case:
    """A case that a family and rivals of it ran, with the rival that is judged the fastest."""

    family: str
    artefact: str
    scale: str
    backend: str
    case: str
    ours: str  #: method
    rival: str
    difference: Difference  #: its time over ours
    few: bool  #: whether one of the two was timed too few times for an interval
    reason: Reason | None

    @property
    def behind(self) -> bool:
        """Whether the rival takes less time."""
        return self.difference.verdict == FASTER

    @property
    def undecided(self) -> bool:
        """Whether the interval of the ratio leaves open who takes less."""
        return self.difference.verdict == UNDECIDED

    @property
    def shown(self) -> bool:
        """Whether the table has it."""
        return self.behind or (self.undecided and self.difference.ratio < 1)


def compared(ledgers: Iterable[Ledger], stored: Stored) -> tuple[list[Case], Counter[str]]:
    """Return every case of a machine in which a family of kernels has rivals, and what ran.

    The second is the rivals that ran, with the number of cases of each. A family is judged by its own kernels alone: a
    faster algorithm of ours is no answer to a rival that has this one.
    """
    found, ran = [], Counter()
    for family in (family for ledger in ledgers for family in ledger.families if family.rivals and family.judged):
        for run in runs(family, stored):
            for place in run.places():
                if not (rivals := run.rivals(place)):
                    continue
                ran.update(run.competing(place))
                best = min(run.ours(place).values(), key=lambda row: row["value"])
                judged = [(against(rival, best), rival) for rival in rivals]
                difference, rival = min(judged, key=_rank)
                reason = next((each for each in family.reasons if _holds(each, rival, run.backend, place[0])), None)
                found.append(Case(
                    family.name, run.artefact, run.scale, run.backend, place[0], best["method"], rival["method"],
                    difference, lacks_interval(best) or lacks_interval(rival), reason,
                ))  # fmt: skip
    return found, ran


def _rank(judged: tuple[Difference, dict]) -> tuple[bool, bool, float]:
    """Rank faster rivals first, then rivals that may be faster: a median that decides nothing must not hide them."""
    difference, _ = judged
    return difference.verdict != FASTER, difference.verdict != UNDECIDED, difference.ratio


def _holds(reason: Reason, rival: dict, backend: str, case: str) -> bool:
    return (fnmatchcase(rival["method"], reason.rival) and fnmatchcase(backend, reason.backend)
            and any(fnmatchcase(case, each) for each in reason.cases))  # fmt: skip


def table(ledgers: Sequence[Ledger], machines: dict[str, Stored], link: Link) -> str:
    """Return how many cases we are ahead in, behind or neither on each machine, and a table of the latter two."""
    lines, rows = [RULE, ""], []
    for name, stored in machines.items():
        cases, ran = compared(ledgers, stored)
        if not cases:  # as of a processor beside a GPU, of which nothing with a rival is stored
            continue
        behind, undecided = [case for case in cases if case.behind], sum(case.undecided for case in cases)
        unexplained = sum(case.reason is None for case in behind)
        lines.append(
            f"- {name}: rivals ran {len(cases)} cases of our families. We are ahead in "
            f"{len(cases) - len(behind) - undecided}, behind in {len(behind)}, and {undecided} are undecided."
            + (f" Cases behind without a tested reason: {unexplained}." if behind else "")
        )
        if ran:
            lines.append("  - Rivals: " + ", ".join(f"`{rival}` in {count}" for rival, count in ran.most_common()))
        groups = grouped(
            ((case.family, case.artefact, case.scale, case.backend, case.rival, case.reason, _judgement(case)), case)
            for case in sorted((case for case in cases if case.shown), key=lambda case: case.undecided)
        )
        for (family, artefact, scale, backend, rival, reason, judgement), each in groups.items():
            where = f"{artefact.partition('-')[0]} {name_of(artefact)}, {backend}, `{scale}`, {name.partition(':')[0]}"
            ours = ", ".join(f"`{method}`" for method in dict.fromkeys(case.ours for case in each))
            why = reason.why if reason else MISSING if each[0].undecided else "no tested reason"
            test = link(f"`{reason.test.partition('::')[2]}`", reason.test.partition("::")[0]) if reason else MISSING
            rows.append(f"| {family} | {where} | {ours} | `{rival}` | {judgement} | {len(each)} | "
                        f"{_ratio([case.difference for case in each])} | {why} | {test} |")  # fmt: skip
    if rows:
        rows[:0] = ["", "| family | where | ours | rival | we are | cases | its time over ours | why | tested by |",
                    "|---|---|---|---|---|---:|---:|---|---|"]  # fmt: skip
    return "\n".join([*lines, *rows])


def _judgement(case: Case) -> str:
    return "behind" if case.behind else f"undecided{', too few samples' * case.few}"


def _ratio(found: Sequence[Difference]) -> str:
    """Return the ratio of one case, or the least and the largest, and what encloses the intervals of all."""
    ratios, low, high = (
        [each.ratio for each in found],
        min(each.low for each in found),
        max(each.high for each in found),
    )
    span = " to ".join(dict.fromkeys(significant(ratio) for ratio in (min(ratios), max(ratios))))
    return f"{span}\u00a0× ({significant(low)} to {significant(high)})"
