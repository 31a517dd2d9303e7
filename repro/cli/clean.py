"""``repro clean``: remove stored cells, ceilings or caches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.common import Kind, Machine, Names, Papers, Results, StoredScale, plural, require_stored, say

if TYPE_CHECKING:
    from repro.cache.store import Store
    from repro.discovery import Artefact


def clean(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: StoredScale = None, results: Results = None,
    machine: Machine = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only cells that failed or are unreadable.")] = False,
    ceilings: Annotated[bool, typer.Option("--ceilings", help="The measured ceilings instead.")] = False,
    caches: Annotated[bool, typer.Option("--caches", help="Cached datasets and built kernels instead.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:  # fmt: skip
    """Remove the stored cells of artefacts, so that they are measured again.

    Without a name, of all artefacts and scales. A cell is the artefact's that measures it, whichever others show it.
    Tables and figures stay until the next run writes them anew, with what they have of a cell until it is measured.
    --ceilings and --caches are of no artefact or scale: they take none.
    """
    from repro import discovery
    from repro.settings import make_settings

    if (ceilings or caches) and (names or paper or kind or scale or failed):
        raise discovery.UnknownName(
            "--ceilings and --caches remove all of theirs: give no names, --paper, --kind, --scale or --failed beside"
        )
    settings = make_settings(scale, results, machine)
    require_stored(results, machine)
    remove = Path.unlink
    if ceilings or caches:
        doomed = [path for path in [settings.store.folder / "ceilings.json"] if ceilings and path.is_file()]
        doomed += _cache_files() if caches else []
    else:
        doomed, remove = _cell_files(settings.store, scale, failed), settings.store.remove
        if names or paper or kind:
            chosen = discovery.select(names or (), paper or (), kind)
            doomed = _of(doomed, chosen)
    if not doomed:
        say("nothing to remove")
    elif dry_run:
        for path in doomed:
            print(path)
    else:
        _remove(doomed, remove, yes)


def _remove(doomed: list[Path], remove: Callable[[Path], None], yes: bool) -> None:
    size = sum(path.stat().st_size for path in doomed) / 1e6
    folders = ", ".join(sorted({str(path.parent) for path in doomed})[:3])
    if not yes and not typer.confirm(f"remove {plural(len(doomed), 'file')} ({size:.1f} MB) in {folders}?", err=True):
        say("nothing is removed")
        raise typer.Exit(1)
    for path in doomed:
        with contextlib.suppress(FileNotFoundError):
            remove(path)
    say(f"removed {plural(len(doomed), 'file')} ({size:.1f} MB)")


def _cell_files(store: Store, scale: str | None, failed: bool) -> list[Path]:
    """The stored cells; not temporary files, which may be of a run that is going on."""
    from repro.model import ReproError

    if not store.cells.is_dir():
        if store.folder.exists():
            raise ReproError(
                f"{store.folder} has no .cells, only files of results if any; nothing is removed. "
                "`repro run --force` measures again what they have"
            )
        return []
    return [
        path for path in _files(store.cells, "*/[!.]*.json")
        if (scale is None or path.name.startswith(f"{scale}-")) and (not failed or _is_bad(store, path))
    ]  # fmt: skip


def _of(paths: Iterable[Path], chosen: Iterable[Artefact]) -> list[Path]:
    """The cells that the chosen artefacts measure, with a word on those that show others'."""
    from repro import discovery

    names = {artefact.id for artefact in chosen}
    for artefact in chosen:
        owner = discovery.measured_by(artefact)
        if owner.id not in names:
            say(f"{artefact.id} shows cells of {owner.id}: name that, or `repro run --force`")
    return [path for path in paths if path.parent.name in names]


def _cache_files() -> list[Path]:
    """What the harness made, and nothing else that may lie in a folder which ``REPRO_CACHE`` names."""
    from repro.cache.store import cache_folder
    from repro.model import BACKENDS

    folder = cache_folder()
    kernels = [path for made in (*BACKENDS, "tuning") for path in _files(folder / "kernels" / made, "**/[!.]*")]
    return _files(folder / "datasets", "[!.]*.npz") + _files(folder / "waves", "[!.]*.npz") + kernels


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())


def _is_bad(store, path: Path) -> bool:
    from repro.cache.store import Unreadable
    from repro.model import FAILED

    try:
        record = store.read(path)
    except Unreadable:
        return True
    return record is not None and record["status"] == FAILED
