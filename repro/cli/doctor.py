"""``repro doctor``: what this machine has, what is missing, and what would bring it."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import typer

from repro.cli.common import Json, Machine, Results, answer, console, say, table


def doctor(
    ceilings: Annotated[bool, typer.Option("--ceilings", help="Measure the devices' ceilings now.")] = False,
    results: Results = None, machine: Machine = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show devices, back ends, baselines, ceilings and versions, and what to install for missing parts."""
    from repro import discovery, environment, optional
    from repro.cache import hosts
    from repro.cache.store import cache_folder, measuring_lock, require_writable
    from repro.machine import fingerprint, identity
    from repro.run.device_ceilings import DeviceCeilings
    from repro.settings import make_settings

    settings = make_settings(None, results, machine)
    if ceilings:
        measuring_lock()  # before minutes are spent on what could not be kept
        require_writable(settings.store.folder)
        hosts.claim(settings.store)
    # The remedies' text is in the hashes of stored cells: what it names is put right where it is shown.
    presences = [replace(each, remedy=optional.as_typed(each.remedy)) for each in environment.presences()]
    if ceilings:
        _measure_ceilings(settings, presences)
    broken = [artefact for artefact in discovery.find() if artefact.error]
    kept = DeviceCeilings(settings.store)
    own = kept.here()
    known = {name: _lines(entry["ceilings"]) for name, entry in own.items()}
    days = {name: datetime.fromtimestamp(entry["measured"]).date().isoformat() for name, entry in own.items()}
    others = sorted(name for name, entry in own.items() if entry["host"] != identity())
    stale = kept.stale()
    if as_json:
        answer({
            "machine": settings.machine, "scale": settings.scale, "fingerprint": fingerprint(), "ceilings": known,
            "ceilings_measured": days, "ceilings_of_another_host": others, "stale_ceilings": stale,
            "presences": [vars(presence) for presence in presences],
            "broken": {artefact.id: artefact.error for artefact in broken}, "cache": cache_folder(),
        })  # fmt: skip
    else:
        _show(settings, presences, {**fingerprint(), "cache": cache_folder()}, known, days, others, stale)
        for artefact in broken:
            say(f"{artefact.id} is broken: {artefact.error}")
    raise typer.Exit(int(bool(broken)))


def _show(settings: Any, presences: list, facts: dict, known: dict, days: dict, others: list, stale: dict) -> None:
    from rich.markup import escape

    out = console()
    here = table("On this machine", "kind", "name", "", "detail", "to get it")
    for presence in presences:
        mark = "[green]yes[/green]" if presence.available else "[yellow]no[/yellow]"
        here.add_row(presence.kind, presence.name, mark, escape(presence.detail), escape(presence.remedy))
    out.print(here)

    versions = table(f"This machine: {settings.machine}, default scale {settings.scale}", "what", "which")
    for name, value in facts.items():
        if isinstance(value, dict):
            for part, version in value.items():
                versions.add_row(part, escape(str(version)))
        else:
            versions.add_row(name.replace("_", " "), escape(str(value)))
    out.print(versions)

    if known:
        shown = table("Ceilings", "device", "ceiling", "value", "when", "measured on", "", right=("value",))
        for device, lines in known.items():
            for name, value in lines.items():
                host = "another of this kind" if device in others else "this host"
                mark = "[yellow]stale[/yellow]" if device in stale else ""
                shown.add_row(device, name, value, days[device], host, mark)
        out.print(shown)
        for device, why in stale.items():
            say(f"stale are the ceilings of {device}: {why}")
        if stale:
            say("`repro doctor --ceilings` measures again those of the devices that are here")
    else:
        say("no ceilings of this host are known yet; `repro doctor --ceilings` measures them, and so does a run")


def _measure_ceilings(settings: Any, presences: list) -> None:
    from repro import environment
    from repro.cache.store import alone
    from repro.judge.roofs import physical
    from repro.model import BACKENDS, ReproError
    from repro.run.device_ceilings import DeviceCeilings, prober
    from repro.run.timing import HostClock

    kept, measured = DeviceCeilings(settings.store), set()
    there = {presence.name for presence in presences if presence.available}
    for backend in BACKENDS:
        if backend != "host" and backend not in there:
            continue
        try:
            clock = HostClock() if backend == "host" else environment.device(backend)
            clock = prober(clock)
            if physical(clock.name) in measured:  # by another back end that is as good or better
                continue
            with alone(say):
                kept.of(clock, again=True, saying=say)
            measured.add(physical(clock.name))
        except ReproError as error:
            say(f"{backend}: {error}")
        except Exception as error:  # a device that fails costs no other
            say(f"{backend}: its ceilings cannot be measured: {type(error).__name__}: {error}")
    for note in kept.notes:
        say(note)


def _lines(ceilings: dict) -> dict[str, str]:
    """Say what a device's ceilings are: bandwidth at the largest size and at its highest, and arithmetic rates."""
    from repro.run.ceilings import Ceilings
    from repro.units import quantity

    made, lines = Ceilings(**ceilings), {}
    for kind, curve in made.bandwidths.items():
        for size, rate in dict.fromkeys(map(tuple, (max(curve), max(curve, key=lambda point: point[1])))):
            lines[f"{kind}, {quantity(size, 'B')}"] = quantity(rate, "B/s")
    for precision, rate in made.rates.items():
        lines[precision] = quantity(rate, "FLOP/s")
    return lines
