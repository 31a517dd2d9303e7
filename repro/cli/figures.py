"""``repro figures``: every figure and table again, from what is stored."""

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.common import Kind, Names, Papers, plural, say


def figures(
    names: Names = None, paper: Papers = None, kind: Kind = None,
    results: Annotated[
        Path | None, typer.Option("--results", metavar="DIR", help="Results; by default 'results' of the checkout.")
    ] = None,
    machine: Annotated[str | None, typer.Option("--machine", metavar="NAME", help="Of this machine only.")] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Of png, svg and pdf, with commas between.")
    ] = "png,svg,pdf",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder; by default beside the results.")
    ] = None,
    packing: Annotated[
        bool, typer.Option("--pack", help="Compress the stored rows, too, as git keeps them: table2.csv.xz.")
    ] = False,
) -> None:  # fmt: skip
    """Draw figures and write pages again from stored results, of every machine, without measuring anything.

    The intervals of rows are computed again from the raw samples first, in case the rule has changed. On a page only
    titles and tables are written again. Rows and pages stay beside the results, wherever the figures go. A moving
    picture is made again in its own format. A file that needs data which this machine lacks stays as it is, and the
    command says so. Exit status: 0 when all others are made, 1 when one cannot be.
    """
    from repro import discovery, environment
    from repro.model import Skip
    from repro.show import plots
    from repro.show.measurements import Measurement, measurements
    from repro.show.redraw import pack, redraw, redraw_extras, retell
    from repro.show.summarise import summarise

    wanted = formats.split(",")
    for name in wanted:
        discovery.require(name, plots.FORMATS, "format")
    artefacts = {each.id: each for each in discovery.select(names or (), paper or (), kind)}
    folder = results or environment.results_folder()
    found = measurements(folder, artefacts)
    if machine is not None:
        discovery.require(machine, sorted({each.machine for each in found}), "machine with such results")
        found = [each for each in found if each.machine == machine]
    drawn = failed = told = packed = more = again = 0
    for each in found:
        artefact = artefacts[each.artefact]
        try:
            if output is None and summarise(each):
                again, each = again + 1, Measurement(each.artefact, each.machine, each.csv)  # which reads the rows anew
            try:
                drawn += bool(redraw(artefact, each, wanted, output))
                more += len(redraw_extras(artefact, each, output))
            except Skip as reason:
                say(f"{each.artefact} on {each.machine}: skipped, because {reason}")
            told += output is None and retell(artefact, each) is not None
        except Exception as error:  # one that cannot be drawn hides no other
            failed += 1
            say(f"{each.artefact} on {each.machine}: {type(error).__name__}: {error}")
        else:
            packed += packing and pack(each)
    text = f", {plural(more, 'file')} beside" if more else ""
    text += f"; the intervals of {plural(again, 'artefact')} have changed" if again else ""
    text += f"; the pages of {plural(told, 'artefact')} have changed" if told else ""
    text += f"; the rows of {plural(packed, 'artefact')} compressed" if packed else ""
    say(f"{plural(drawn, 'figure')} drawn{text}" + (f", {failed} could not be" if failed else ""))
    raise typer.Exit(int(failed > 0))
