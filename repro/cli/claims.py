"""``repro claims``: does what the papers claim hold in the stored results?"""

from typing import Annotated, Any

import typer

from repro.cli.common import Json, Papers, Results, answer, console, require_stored, say, table

STYLES = {"reproduced": "green", "exceeded": "cyan", "weaker": "yellow", "contradicted": "red", "not decided": "dim",
          "cited": "dim"}  # fmt: skip


def claims(
    paper: Papers = None, results: Results = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", metavar="NAME", help="By this machine's results; by default each claim's best."),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help=f"Only claims with this verdict: {', '.join(STYLES)}."),
    ] = None,
    one: Annotated[
        list[str] | None, typer.Option("--claim", metavar="NAME", help="Only the claims of this name, each in full.")
    ] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Judge every claim of the papers by the stored results: one verdict each, with what explains it."""
    from repro import environment, published
    from repro.discovery import require
    from repro.judge.claims import claims as known
    from repro.judge.claims import machines, verdicts
    from repro.judge.verify import told as unverified

    for name in paper or ():
        require(name, published.papers(), "paper")
    for name in state or ():
        require(name, STYLES, "verdict")
    ids = {name: {claim.id for claim in known(name)} for name in paper or published.papers()}
    for name in one or ():
        require(name, sorted(set().union(*ids.values())), "claim")
    require_stored(results)
    folder = results or environment.results_folder()
    if machine is not None:
        require(machine, machines(folder), "machine")
    found = [
        verdict for name, own in ids.items() if not one or own.intersection(one)
        for verdict in verdicts(folder, name, machine)
        if (not state or verdict.label in state) and (not one or verdict.id in one)
    ]  # fmt: skip
    if as_json:
        answer([verdict.as_dict() for verdict in found])
    elif state and not found:
        say(f"no {'such claim' if one else 'claim'} is {' or '.join(state)}")
    elif one:
        _tell(found)
    else:
        _show(found)
    if text := unverified(folder):
        say(text)


def _tell(found: list[Any]) -> None:
    from rich.markdown import Markdown

    from repro.judge.claims.table import section

    for verdict in found:
        console().print(f"[dim]{verdict.paper}[/dim]")
        console().print(Markdown(section(verdict, lambda text, path: f"{text} ({path})")))


def _show(found: list[Any]) -> None:
    from rich.markup import escape

    from repro.judge.claims.table import measured

    made = table("", "paper", "claim", "asked for", "measured", "verdict", "why", whole=("paper",))
    for verdict in found:
        shown, colour = verdict.shown, STYLES[verdict.label]
        says, asked = f"[bold]{verdict.id}[/bold]: {escape(verdict.claim.says)}", shown.requirement if shown else ""
        smaller = f" at scale {shown.scale}" if shown and shown.scale not in ("", "paper") else ""
        outcome = f"[{colour}]{verdict.label}[/{colour}]{smaller}"
        made.add_row(verdict.paper, says, asked, measured(shown), outcome, escape(verdict.why))
    console().print(made)
    for ours, whose in ((False, ""), (True, "our own tests, which no paper claims: ")):
        labels = [verdict.label for verdict in found if verdict.claim.ours == ours]
        counts = ", ".join(f"{labels.count(name)} {name}" for name in STYLES if name in labels or not ours)
        if labels:
            console().print(f"{whose}{counts}")
