"""``repro compare``: ours beside the published numbers, or beside other results of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from repro.cli.common import Json, Kind, Machine, Names, Papers, Results, Scale, answer, console, plural, say


def compare(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, results: Results = None,
    machine: Machine = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="FOLDER",
            help="Compare with older results instead of the papers: a folder, or the name of a machine.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, help="With --with: the least relative change that matters.")
    ] = 0.05,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show each measured number beside the published one, with their ratio.

    With --with FOLDER, beside an older one of ours; the exit status is then 1 if any is slower or lost.
    """
    from repro import compare as comparing
    from repro import discovery, published, render
    from repro.model import ReproError
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine)
    old = _folder(base, settings) if base else None
    answers, without, worse = [], [], 0
    for artefact in discovery.select(names or (), paper or (), kind):
        path = render.files_stem(artefact, settings)
        path = path.with_name(f"{path.name}.csv")
        if not path.is_file():
            without.append(artefact.id)
            continue
        ours = render.read_csv(path)
        if old is None:
            compared = comparing.compare(ours, published.load(artefact.id))
        else:
            before = old / path.relative_to(settings.store.folder)
            if not before.is_file():
                say(f"{artefact.id}: {old} has no {before.relative_to(old)}")
                continue
            compared = comparing.compare_results(render.read_csv(before), ours, threshold)
            worse += int(compared["verdict"].isin(comparing.REGRESSIONS).sum())
        answers += compared.to_dict("records")
        if not as_json and len(compared):
            _show(f"{artefact.id}: {artefact.title}", compared)
        elif not as_json and old is None:
            say(f"{artefact.id}: the paper prints no number of what is measured here")
    if as_json:
        answer(answers)
    if without:
        say(f"not run at scale {settings.scale} on {settings.machine}: {', '.join(without)}")
    if not answers and names:
        raise ReproError("there is nothing to compare")
    if answers and old is None and settings.scale != "paper":
        say(f"the papers' numbers hold for their own sizes, which scale {settings.scale} does not have")
    if worse:
        say(f"{plural(worse, 'number')} slower or lost")
    raise typer.Exit(int(worse > 0))


def _folder(base: str, settings: Any) -> Path:
    """The folder of a machine's older results, by its path or the machine's name."""
    from repro.model import ReproError

    for folder in (Path(base), settings.results / base, Path(base) / settings.machine):
        if any(folder.glob("*/*.csv")):
            return folder
    raise ReproError(f"{base} is no folder of results, nor a machine in {settings.results}")


def _show(title: str, compared: Any) -> None:
    """Print what tells the rows apart and what is compared; the CSV and --json have the rest."""
    from repro.terminal import Sheet

    window = console()
    hidden = {"artefact", "scale", "device", "ci_low", "ci_high"} | ({"place"} if window.width < 120 else set())
    columns = [name for name in compared.columns if name not in hidden and _says_something(compared[name])]
    lines = [[_text(value) for value in row] for row in compared[columns].itertuples(index=False)]
    window.print(Sheet(title, columns, lines))


def _says_something(column: Any) -> bool:
    return bool((column.notna() & (column != "")).any())


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
