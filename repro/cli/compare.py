"""``repro compare``: ours beside the published numbers."""

from __future__ import annotations

import typer

from repro.cli.common import Json, Kind, Machine, Names, Papers, Results, Scale, answer, console, say, table


def compare(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, results: Results = None,
    machine: Machine = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show each measured number beside the published one, with their ratio."""
    import pandas

    from repro import discovery, plan, published, render
    from repro.compare import compare as beside

    settings = plan.make_settings(scale, results, machine)
    answers, without = [], []
    for artefact in discovery.select(names or (), paper or (), kind):
        path = render.stem(artefact, settings)
        path = path.with_name(f"{path.name}.csv")
        if not path.is_file():
            without.append(artefact.id)
            continue
        compared = beside(pandas.read_csv(path, keep_default_na=True), published.load(artefact.id))
        if as_json:
            answers += [{"artefact": artefact.id, **row} for row in compared.to_dict("records")]
        elif len(compared):
            _show(f"{artefact.id}: {artefact.title}", compared)
        else:
            say(f"{artefact.id}: no number that the paper gives is measured here")
    if as_json:
        answer(answers)
    if without:
        say(f"not run at scale {settings.scale} on {settings.machine}: {', '.join(without)}")
    raise typer.Exit(0 if len(answers) or not without or not names else 1)


def _show(title: str, compared) -> None:
    from rich.markup import escape

    columns = [str(column) for column in compared.columns if column != "artefact"]
    shown = table(escape(title), *columns)
    for row in compared[columns].itertuples(index=False):
        shown.add_row(*(_text(value) for value in row))
    console().print(shown)


def _text(value) -> str:
    from rich.markup import escape

    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return escape(str(value))
