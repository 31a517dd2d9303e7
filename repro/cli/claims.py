"""``repro claims``: does what the papers claim hold in the stored results?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from repro.cli.common import Json, Papers, Results, answer, console, require_stored, say, table

STYLES = {"holds": "green", "holds in part": "yellow", "does not hold": "red", "not measured here": "dim"}


def claims(
    paper: Papers = None, results: Results = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", metavar="NAME", help="By this machine's results; by default those that say most."),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help=f"Only claims with this verdict: {', '.join(STYLES)}."),
    ] = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Answer as the page of all claims.")] = False,
) -> None:  # fmt: skip
    """Judge every claim of the papers by the stored results: as stated, and as the effect behind it."""
    from repro import environment, published
    from repro.discovery import require
    from repro.judge.claims import STATES, machines, verdicts
    from repro.judge.verify import told as unverified

    for name in paper or ():
        require(name, published.papers(), "paper")
    for name in state or ():
        require(name, STATES, "verdict")
    require_stored(results)
    folder = results or environment.results_folder()
    if machine is not None:
        require(machine, machines(folder), "machine")
    found = [
        verdict for name in paper or published.papers() for verdict in verdicts(folder, name, machine)
        if not state or verdict.state in state
    ]  # fmt: skip
    if as_json:
        answer([verdict.as_dict() for verdict in found])
    elif markdown:
        from repro.judge.claims.table import page

        print(page(found), end="")
    else:
        _show(found)
    if text := unverified(folder):
        say(text)


def _show(found: list[Any]) -> None:
    from rich.markup import escape

    from repro.judge.claims.table import measured

    made = table("", "paper", "claim", "reading", "required", "measured", "verdict", "why", whole=("paper",))
    for verdict in found:
        first = (verdict.paper, f"[bold]{verdict.id}[/bold]: {escape(verdict.statement)}")
        for reading, judgement in (("as stated", verdict.stated), ("effect", verdict.effect)):
            if judgement is None:
                continue
            colour = STYLES[judgement.state]
            made.add_row(
                *first, reading, judgement.requirement, measured(judgement),
                f"[{colour}]{judgement.verdict}[/{colour}]", escape(judgement.reason),
            )  # fmt: skip
            first = ("", escape(judgement.says))
        if not verdict.judgements:
            made.add_row(*first, "", "", "", f"[dim]{verdict.state}[/dim]", escape(verdict.reason))
    console().print(made)
    counts = {name: sum(verdict.state == name for verdict in found) for name in STYLES}
    console().print(", ".join(f"{count} {name}" for name, count in counts.items()))
