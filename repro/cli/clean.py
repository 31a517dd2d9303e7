"""``repro clean``: remove stored cells, ceilings or files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.common import Kind, Machine, Names, Papers, Results, Scale, plural, say


def clean(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, results: Results = None,
    machine: Machine = None,
    ceilings: Annotated[bool, typer.Option("--ceilings", help="The measured ceilings, too.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only cells that failed or are unreadable.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:  # fmt: skip
    """Remove the stored cells of artefacts, so that they are measured again.

    Without a name, of all artefacts and scales. Tables and figures stay until the next run writes them anew.
    """
    from repro import discovery, plan
    from repro.model import ReproError

    settings = plan.make_settings(scale, results, machine)
    store = settings.store
    if not store.cells.is_dir():
        if store.folder.exists() or results is not None:
            raise ReproError(f"{store.folder} is no folder of results: it has no .cells; nothing is removed")
        say(f"nothing is stored for machine {settings.machine}")
        return
    chosen = {a.id for a in discovery.select(names or (), paper or (), kind)} if names or paper or kind else None
    doomed = [path for path in _cell_files(store.cells) if chosen is None or path.parent.name in chosen]
    if scale:
        doomed = [path for path in doomed if path.name.startswith(f"{scale}-")]
    if failed:
        doomed = [path for path in doomed if _is_bad(store, path)]
    if ceilings and (store.folder / "ceilings.json").is_file():
        doomed.append(store.folder / "ceilings.json")
    if not doomed:
        say("nothing to remove")
        return
    if dry_run:
        for path in doomed:
            print(path)
        return
    size = sum(path.stat().st_size for path in doomed) / 1e6
    text = f"remove {plural(len(doomed), 'file')} ({size:.1f} MB) of {store.folder}?"
    if not yes and not typer.confirm(text, err=True):
        say("nothing is removed")
        raise typer.Exit(1)
    for path in doomed:
        path.unlink(missing_ok=True)
    say(f"removed {plural(len(doomed), 'file')}")


def _cell_files(folder: Path) -> list[Path]:
    """The stored cells; not temporary files, which may be of a run that is going on."""
    return sorted(path for path in folder.glob("*/[!.]*.json") if path.is_file() and not path.is_symlink())


def _is_bad(store, path: Path) -> bool:
    from repro.model import FAILED
    from repro.store import Unreadable

    try:
        record = store.read(path)
    except Unreadable:
        return True
    return record is not None and record["status"] == FAILED
