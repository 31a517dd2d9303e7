"""``repro verify``: recompute from samples and git what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.common import Json, Results, answer, plural, require_some, require_stored, say
from repro.grouping import grouped

if TYPE_CHECKING:
    from repro.judge.verify import Problem


def verify(
    results: Results = None,
    write_list: Annotated[
        bool, typer.Option("--list", help="Write the list of unverified files anew, results/unverified.csv.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Recompute what is stored from the bottom: files, medians, intervals, data, keys, ceilings, tables and verdicts.

    Keys are recomputed from git, in the tree of the commit that measured. Errors are named, and the exit status is
    1. A file that cannot be proved either way has to be in the list of unverified files; measuring it again takes it
    off. For each machine a line says how many cells are of the code of HEAD; other results stay valid for their commit.
    """
    from repro.cache.glance import glance
    from repro.judge import pages
    from repro.judge import verify as verifying
    from repro.settings import make_settings

    require_stored(results)
    folder = make_settings(None, results, None).results
    require_some(folder)
    say("rows and samples, and the keys of each commit that measured ...")
    with glance():
        found, code = verifying.verify(folder, renewing=write_list)
    if write_list:
        count = plural(len(verifying.unverified(folder)), "unverified file")
        say(f"{folder / verifying.LIST}: {count}; `repro figures` writes it on their pages")
    say("pages, verdicts and documentation ...")
    with glance():  # the list is another one now
        found += [verifying.Problem(verifying.WRONG, *each) for each in pages.check(folder)]
        found += _verdicts(folder)
    wrong = [each for each in found if each.kind == verifying.WRONG]
    listed = sum(each.kind == verifying.UNPROVEN for each in found)
    unchecked = grouped((each.what, each.file) for each in found if each.kind == verifying.NOT_CHECKED)
    if as_json:
        answer([vars(each) for each in found])
    for each in wrong:
        say(str(each))
    for why, files in unchecked.items():
        say(f"not checked, of {plural(len(files), 'file')}, because {why}")
    for line in code:
        say(line)
    say(f"{plural(len(wrong), 'problem')}; {plural(listed, 'file')} listed as unverified")
    raise typer.Exit(int(bool(wrong)))


def _verdicts(results: Path) -> list[Problem]:
    """Return which pages of the checkout have other verdicts or numbers than its committed results come to."""
    from repro import environment
    from repro.judge import trees
    from repro.judge.verify import NOT_CHECKED, WRONG, Problem
    from repro.site.showcase import page

    root = environment.root()
    if results.resolve() != environment.results_folder().resolve() or not (root / "README.md").is_file():
        return []
    try:
        with trees.committed(results) as folder:
            wrong = page.outdated(root, folder)
    except trees.NotAsked as why:
        return [Problem(NOT_CHECKED, "README.md", str(why))]
    return [Problem(WRONG, name, "is not what `repro readme` writes of the stored results") for name in wrong]
