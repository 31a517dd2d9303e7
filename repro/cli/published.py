"""``repro published``: do the numbers that a paper derives follow from the numbers it derives them from?"""

from __future__ import annotations

from typing import Annotated

import typer

from repro.cli.common import Json, answer, console, plural, table


def published(
    papers: Annotated[list[str] | None, typer.Argument(metavar="PAPER", help="As in fu2014; by default all.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show those that agree as well.")] = False,
    as_json: Json = False,
) -> None:
    """Work out each paper's derived numbers again, and show those that do not agree with their own paper."""
    from repro.discovery import UnknownName
    from repro.judge import consistency
    from repro.published import papers as known

    for paper in papers or ():
        if paper not in known():
            raise UnknownName(f"no numbers of {paper!r} are here; there are those of {', '.join(known())}")
    found = [verdict for paper in papers or known() for verdict in consistency.verdicts(paper)]
    wrong = [verdict for verdict in found if not verdict.agrees]
    shown = found if everything else wrong
    if as_json:
        answer([consistency.record(verdict) for verdict in shown])
        return
    made = table(
        "", "paper", "place", "printed", "it should follow", "from which comes", *["agrees"][: int(everything)]
    )
    for verdict in shown:
        record = consistency.record(verdict)
        cells = [record[name] for name in ("paper", "place", "printed", "relation", "expected")]
        made.add_row(*cells, *(["yes" if verdict.agrees else "no"] if everything else []))
    console().print(made)
    console().print(f"{len(wrong)} of {plural(len(found), 'derived number')} do not agree with their own paper")
