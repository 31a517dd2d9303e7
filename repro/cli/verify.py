"""``repro verify``: recompute from samples and git what is stored."""

from __future__ import annotations

from typing import Annotated

import typer

from repro.cli.common import Json, Results, answer, plural, require_stored, say


def verify(
    results: Results = None,
    write_list: Annotated[
        bool, typer.Option("--list", help="Write the list of unverified files anew, results/unverified.csv.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Recompute what is stored from the bottom: files, medians, intervals, data, and what was measured by which code.

    What is wrong is named, and the exit status is 1. What cannot be proved either way has to be in the list of
    unverified files; measuring it again takes it off.
    """
    from repro.judge import verify as verifying
    from repro.settings import make_settings

    require_stored(results)
    folder = make_settings(None, results, None).results
    found = verifying.verify(folder)
    if write_list:
        count = verifying.write_list(folder, found)
        say(f"{folder / verifying.LIST}: {plural(count, 'unverified file')}")
        found = verifying.verify(folder)
    wrong = [each for each in found if each.kind == verifying.WRONG]
    listed = sum(each.kind == verifying.UNPROVEN for each in found)
    if as_json:
        answer([vars(each) for each in found])
    for each in wrong:
        say(str(each))
    say(f"{plural(len(wrong), 'problem')}; {plural(listed, 'file')} listed as unverified")
    raise typer.Exit(int(bool(wrong)))
