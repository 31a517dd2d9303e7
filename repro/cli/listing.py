"""``repro list``: the artefacts there are."""

from repro.cli.common import Json, Kind, Names, Papers, answer, console, table
from repro.model import SCALES


def list_artefacts(names: Names = None, paper: Papers = None, kind: Kind = None, as_json: Json = False) -> None:
    """List the papers' tables and figures, with the minutes that each should take."""
    from rich.markup import escape

    from repro import discovery

    artefacts = discovery.select(names or (), paper or (), kind)
    if as_json:
        fields = ("id", "paper", "kind", "number", "title", "minutes", "error")
        answer([{**{name: getattr(a, name) for name in fields}, "path": a.path} for a in artefacts])
        return
    shown = table("", "artefact", "title", *SCALES, right=SCALES, whole=("artefact",))
    for artefact in artefacts:
        times = (f"{artefact.minutes[scale]:g}" if scale in artefact.minutes else "" for scale in SCALES)
        title = f"[red]broken: {escape(artefact.error)}[/red]" if artefact.error else escape(artefact.title)
        shown.add_row(artefact.id, title, *times)
    shown.caption = "minutes by scale"
    console().print(shown)
