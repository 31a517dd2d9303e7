"""``repro compare``: ours beside the published numbers, or beside other results of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cache.store import read_json
from repro.cli.common import (
    Json,
    Kind,
    Machine,
    Meshes,
    Names,
    Papers,
    Results,
    StoredScale,
    answer,
    console,
    plural,
    require_stored,
    say,
)  # fmt: skip
from repro.model import SCALES
from repro.rows import read_file
from repro.show.measurements import SCALE_ORDER

if TYPE_CHECKING:
    from repro.discovery import Artefact
    from repro.settings import Settings


def compare(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: StoredScale = None, results: Results = None,
    machine: Machine = None, mesh: Meshes = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="FOLDER",
            help="Compare with these older results instead of the papers: a folder, or the name of a machine.",
        ),
    ] = None,
    fail: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression", help="With --with: end with 1 if any number is slower or gone, or none is compared."
        ),
    ] = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show each measured number beside the published one, their ratio, and how much of its hardware each uses.

    With --with FOLDER, beside older ones of ours. A number is slower or faster when the interval of the ratio excludes
    1 and the change is not small, the same when that interval keeps close to 1, else undecided. Values without
    intervals differ if one is at least 1.5 times the other. A count that differs is changed. A number of the older
    results alone is lost, one of the newer ones alone is added. Other data: the datasets or seeds differ.
    """
    from repro import discovery
    from repro.judge import compare as comparing
    from repro.judge.verify import told
    from repro.model import ReproError
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, meshes=mesh or ())
    artefacts = discovery.select(names or (), paper or (), kind)
    if base is None and fail:
        raise discovery.UnknownName("--fail-on-regression wants --with and older results")
    require_stored(results, machine)
    old = _folder(base, settings) if base else None
    answers, without, worse, elsewhere, of_own, of_other, equal = [], [], 0, False, False, False, 0
    parts = [
        (artefact, own, _pairs(old, settings.store.folder, artefact, scale, own))
        for artefact, own in _own_parts(artefacts, settings)
    ]
    apart = _no_common_scale([pair for *_, pairs in parts for pair in pairs]) if old else ""
    for artefact, own, pairs in () if apart else parts:
        if not pairs:
            without.append(artefact.id)
        for before, path in pairs:
            if old is None:
                frame, manifest = read_file(path), read_json(path.with_suffix(".json"))
                compared = comparing.beside_the_paper(artefact.id, path, frame, manifest)
                elsewhere |= _scale(path) != "paper"
                of_own |= bool(own)
            elif before is None:
                say(f"{artefact.id}: {old} has none at scale {_scale(path)}")
                continue
            else:
                compared = _beside_older(before, path)
                worse += int(compared["verdict"].isin(comparing.REGRESSIONS).sum())
                of_other |= comparing.OTHER in set(compared["verdict"])
            answers += compared.to_dict("records")
            if path is None and len(compared):  # one line for all of its numbers
                was = f"scale {_scale(before)} of {_origin(before)}"
                say(f"{artefact.id}: lost, {plural(len(compared), 'number')} at {was}")
            elif not as_json and len(compared):
                at = f" ({path.parents[1].name}, scale {_scale(path)})"
                differing = compared if old is None else compared[compared["old"] != compared["new"]]
                equal += len(compared) - len(differing)
                if len(differing):
                    _show(f"{artefact.id}: {artefact.title}{at}", differing)
            elif not as_json and old is None:
                say(f"{artefact.id}: the paper prints no number of what is measured here")
    if as_json:
        answer(answers)
    if without:
        say(f"not run{f' at scale {scale}' if scale else ''} on {settings.machine}: {', '.join(without)}")
    if not answers and (names or fail):  # a check of nothing is not passed
        raise ReproError(apart or "there is nothing to compare")
    if apart:
        say(apart)
    if answers and elsewhere:
        say("the papers' numbers hold for their own sizes, which only scale paper has")
    if answers and of_own:
        say("the papers' numbers hold for their own meshes and matrices, not for yours")
    if of_other:
        say("what is of other data is neither slower nor faster: measure both on the same")
    for folder in filter(None, (old, settings.store.folder)):
        if text := told(folder.parent, {folder.name}):
            say(text)
    if equal:
        say(f"{plural(equal, 'number')} equal to the last digit, which --json has")
    if worse:
        say(f"{plural(worse, 'number')} slower or lost")
    raise typer.Exit(int(fail and worse > 0))


def _folder(base: str, settings: Settings) -> Path:
    """The folder of a machine's older results: `base` is its path, the path of all results, or the machine's name."""
    from repro import environment
    from repro.cache.store import tables
    from repro.discovery import UnknownName
    from repro.run import minutes

    def has_some(folder: Path) -> bool:
        return any(path.name != minutes.NAME for path in tables(folder, "*/*"))

    for folder in (Path(base), settings.results / base, Path(base) / settings.machine):
        if has_some(folder):
            return folder
    machines = sorted({path.parents[1] for path in tables(Path(base), "*/*/*")})
    if len(machines) == 1:
        return machines[0]
    if machines:
        names = ", ".join(folder.name for folder in machines)
        how = f"name one's folder, as in --with {machines[0]}, or the machine on both sides by --machine NAME"
        raise UnknownName(f"{base} has the machines {names}, none of them {settings.machine}: {how}")
    own = environment.results_folder() / base
    hint = f"; there is {own}" if has_some(own) else ""
    raise UnknownName(f"{base} is no folder of results, nor a machine in {settings.results}{hint}")


def _own_parts(artefacts: Sequence[Artefact], settings: Settings) -> list[tuple[Artefact, str]]:
    """Each artefact with what the user's own files add to the name of its files; broken artefacts are told."""
    from repro.cache import plan
    from repro.cache.files import own_part
    from repro.run.jobs import make_jobs

    if not settings.overrides:  # then nothing has to be imported
        return [(artefact, "") for artefact in artefacts]
    jobs = make_jobs(artefacts, settings, plan.Selection())
    for job in jobs:
        if job.problem:
            say(job.problem)
    return [(job.artefact, own_part(settings, job.data)) for job in jobs if not job.problem]


def _pairs(
    old: Path | None, new: Path, artefact: Artefact, scale: str | None, own: str
) -> list[tuple[Path | None, Path | None]]:
    """The older CSV of an artefact and the present one, of each scale that either has, None where it has none.

    Beside the papers it is one scale: the asked one, else the scale of the papers' sizes or the next that there is.
    """
    ours = _by_scale(new, artefact, own)
    if old is None:
        found = [ours[each] for each in ([scale] if scale else SCALE_ORDER) if each in ours]
        return [(None, path) for path in found[:1]]
    theirs = _by_scale(old, artefact, own)
    return [
        (theirs.get(each), ours.get(each)) for each in SCALES
        if scale in (None, each) and (each in theirs or each in ours)
    ]  # fmt: skip


def _no_common_scale(pairs: Sequence[tuple[Path | None, Path | None]]) -> str:
    """Say which scales each side has, where both have some and none is in both; else nothing."""
    if any(None not in pair for pair in pairs):
        return ""
    there, here = ({_scale(path) for path in side if path} for side in zip(*pairs, strict=True)) if pairs else ((), ())
    if not there or not here or there & here:
        return ""
    names = [", ".join(each for each in SCALES if each in side) for side in (here, there)]
    return f"no scale is in both: {names[0]} here, {names[1]} there"


def _by_scale(folder: Path, artefact: Artefact, own: str) -> dict[str, Path]:
    """The CSVs of an artefact by scale. The machine decides which of them has no scale in its name."""
    from repro.cache.store import as_stored

    found = {}
    for scale in ("", *SCALES):
        path = folder / artefact.paper / f"{artefact.stem}{'.' if scale else ''}{scale}{own}.csv"
        if as_stored(path).is_file() and scale in ("", _scale(path)):
            found[_scale(path)] = path
    return found


def _scale(path: Path) -> str:
    """The scale of a stored table."""
    return next(iter(read_file(path)["scale"]), "")


def _beside_older(before: Path, path: Path | None) -> Any:
    """Two sets of our results, with the commits that they were measured at on standard error."""
    from repro.judge import compare as comparing

    older = read_file(before)
    if path is None:
        return comparing.compare_results(older, older.iloc[:0])
    say(f"{before.parent.name}-{before.stem}: {_origin(before)} -> {_origin(path)}")
    others = comparing.other_data(*(read_json(each.with_suffix(".json")) for each in (before, path)))
    return comparing.compare_results(older, read_file(path), others=others)


def _origin(path: Path) -> str:
    """The machine's folder and the commit of a result."""
    manifest = path.with_suffix(".json")
    commit = (read_json(manifest).get("commit") or "")[:9]
    return f"{path.parent.parent.name} at {commit or 'an unknown commit'}"


def _show(title: str, compared: Any) -> None:
    """Print what tells the rows apart and what is compared; the CSV and --json have the rest."""
    from repro.show.terminal import Sheet

    window = console()
    hidden = {"artefact", "scale", "device"} | {name for name in compared.columns if name.endswith(("_low", "_high"))}
    if window.width < 120:
        hidden |= {"place"}
    else:
        compared = _with_intervals(compared)
    columns = [name for name in compared.columns if name not in hidden and _says_something(compared[name])]
    lines = [
        [_text(value, name) for name, value in zip(columns, row, strict=True)]
        for row in compared[columns].itertuples(index=False)
    ]
    window.print(Sheet(title, [name.replace("_", " ") for name in columns], lines))


def _with_intervals(compared: Any) -> Any:
    """The table with a column of text for each interval, right of the value that it is of."""
    compared = compared.copy()
    for name, ends in (("ours", "ci"), ("old", "old"), ("new", "new")):
        if name in compared.columns:
            pairs = zip(compared[f"{ends}_low"], compared[f"{ends}_high"], strict=True)
            texts = [" to ".join(filter(None, (_text(end, name) for end in pair))) for pair in pairs]
            compared.insert(
                compared.columns.get_loc(name) + 1, f"{'' if name == 'ours' else name} interval".strip(), texts
            )
    return compared


def _says_something(column: Any) -> bool:
    return bool((column.notna() & (column != "")).any())


def _text(value: Any, column: str) -> str:
    if value is None or value != value:
        return ""
    if column.endswith("of_peak"):
        return f"{100 * value:.3g} %"
    if column == "change":
        return f"{100 * value:+,.0f} %" if abs(value) >= 0.1 else f"{100 * value:+.2g} %"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
