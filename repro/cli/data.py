"""``repro data list | build | verify``: the datasets."""

from typing import Annotated

import typer

from repro.cli.common import Json, Scale, answer, console, say, table, termination_as_interrupt

app = typer.Typer(help="List, build or verify the datasets.", no_args_is_help=True)
Datasets = Annotated[list[str] | None, typer.Argument(metavar="DATASET", help="By default all of them.")]


@app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List the datasets: where they stand in for another, for which scales they are, and which of them are cached."""
    from repro import environment
    from repro.run.building import is_public

    rows = [
        {
            "name": entry.name, "title": entry.title, "scales": list(entry.scales),
            "stand_in_for": entry.stand_in_for or "",
            "kind": getattr(entry, "kind", "mesh"), "address": getattr(entry, "address", ""),
            "cached": [scale for scale in entry.scales if entry.is_cached(scale)],
            "downloaded": [scale for scale in entry.scales if is_public(entry, scale)],
        }
        for entry in environment.catalogue()
    ]  # fmt: skip
    if as_json:
        answer(rows)
        return
    from rich.markup import escape

    shown = table("", "dataset", "title", "stands in for", "scales", "cached", whole=("dataset",))
    for row in rows:
        cached = [f"{scale} (downloaded)" if scale in row["downloaded"] else scale for scale in row["cached"]]
        texts = (row["name"], row["title"], row["stand_in_for"], ", ".join(row["scales"]), ", ".join(cached))
        shown.add_row(*map(escape, texts))
    console().print(shown)


@app.command("build")
def build(
    names: Datasets = None, scale: Scale = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download public ones, in place of their stand-ins from then on.")
    ] = False,
) -> None:  # fmt: skip
    """Build datasets into the cache, several at once, or download them."""
    from repro.run import building

    chosen, failed = _chosen(names, scale, also_missing=download), {}
    if download:  # one after another: they come from one server
        for entry, size in chosen:
            if getattr(entry, "address", "") and size in entry.public_scales:
                say(f"{entry.name}: from {entry.address}")
                try:
                    entry.download()
                except Exception as error:  # one dataset that cannot be had costs no other
                    failed[entry.name] = str(error)
                    say(f"{entry.name}: {type(error).__name__}: {error}")
    pairs = [(entry.name, size) for entry, size in chosen if entry.name not in failed]
    with termination_as_interrupt():
        found = building.build(pairs, say)
    raise typer.Exit(int(bool(failed) or any(ended.kind for ended in found)))


@app.command("verify")
def verify(names: Datasets = None, scale: Scale = None, as_json: Json = False) -> None:
    """Check datasets against what is known of them: counts, content hashes, geometry."""
    found = []
    for entry, size in _chosen(names, scale):
        try:
            problems = list(entry.verify(size))
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}"]
        found.append({"name": entry.name, "scale": size, "problems": problems})
        say(f"{entry.name} at scale {size}: {'; '.join(problems) or 'as it should be'}")
    if as_json:
        answer(found)
    raise typer.Exit(int(any(entry["problems"] for entry in found)))


def _chosen(names: list[str] | None, scale: str | None, also_missing: bool = False) -> list[tuple]:
    """Return the asked datasets, each with the scale; without names, every dataset that has it and can be built."""
    from repro import discovery, environment
    from repro.model import SCALES
    from repro.settings import default_scale

    if scale:
        discovery.require(scale, SCALES, "scale")
    size = scale or default_scale()
    entries = {entry.name: entry for entry in environment.catalogue()}
    for name in names or ():
        discovery.require(name, entries, "dataset")
        if size not in entries[name].scales:
            raise discovery.UnknownName(_lacks(entries[name], size))
    if not names:
        lacking = [name for name, entry in entries.items() if entry.scales and size not in entry.scales]
        if lacking:
            say(f"not at scale {size}: {', '.join(lacking)}")
    chosen = list(dict.fromkeys(names or ()))
    if not names:
        chosen = [name for name, entry in entries.items() if size in entry.scales]
        for name in () if also_missing else [name for name in chosen if _missing(entries[name], size)]:
            say(f"left out: {name}: {_missing(entries[name], size)}")
            chosen.remove(name)
    return [(entries[name], size) for name in chosen]


def _missing(entry, scale: str) -> str:
    """Return what a dataset is made of and is not there."""
    return entry.missing(scale) if hasattr(entry, "missing") else ""


def _lacks(entry, scale: str) -> str:
    """Say that a dataset has not a scale, and what it has."""
    if entry.scales:
        return f"dataset {entry.name} is not at scale {scale}; give --scale {' or '.join(entry.scales)}"
    kind = getattr(entry, "kind", "mesh")
    return f"dataset {entry.name} is a file of your own, which a run is given: --{kind} {entry.name}=FILE"
