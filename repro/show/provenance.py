"""Lines that end an artefact's page: they say how its results were made, by its stored records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from repro.cache import hashing, hosts
from repro.cache.lacking import shortened
from repro.cache.plan import Task
from repro.discovery import Artefact
from repro.grouping import grouped
from repro.model import DONE
from repro.run.state import ON_CORES
from repro.settings import Settings
from repro.show import busy_cores


def measured(dates: list[str], count: int) -> str:
    """Return when cells that are done were measured, by their dates in order, and how many they are of `count`."""
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return f"- measured: {when}; {len(dates)} of {count} cells"


def lines(artefact: Artefact, shown: list[Task], count: int, settings: Settings) -> list[str]:
    """Return commands, machine, hosts, dates, libraries, cores and notes of what is shown, of `count` cells in all."""
    records = [task.record for task in shown if task.record["status"] == DONE]
    devices = sorted({clock["name"] for record in records for clock in record["clocks"].values()})
    host = host_of(records, settings)
    cores = f", {hosts.share(host)}" if "cores_of_host" in host else ""
    dates = sorted(record["date"] for record in records)
    # Every command that measured: the last may have measured a part, or nothing.
    commands = dict.fromkeys(told(record["command"]) for record in records if record.get("command"))
    commands = list(commands) or [told(settings.command) or f"repro run {artefact.id} --scale {settings.scale}"]
    found = [
        *(f"- command: `{command}`" for command in commands),
        f"- machine: {settings.machine}" + (f" ({', '.join(devices)})" if devices else "") + cores,
        f"- scale: {settings.scale}, seed {settings.seed}",
    ]
    if dates:
        found.append(measured(dates, count))
    found += hosts_that_measured(
        (each.get("host"), record["identity"]["backend"])
        for record in records
        for each in record.get("rounds") or [record.get("revision") or {}]
    )
    if rivals := rivals_of(records):
        found.append("- libraries of rivals: " + ", ".join(f"{name} {version}" for name, version in rivals.items()))
    found += [*busy_cores.lines(records), *(f"- {note}" for note in notes(records))]
    found += [f"- dataset {name} is the user's own file {file}" for name, file in settings.overrides.items()]
    return found


def told(command: str | None) -> str:
    """Return a command without the folder that it wrote to, which says nothing of what was measured."""
    return re.sub(r" --results(=|\s+)(\"[^\"]*\"|'[^']*'|\S+)", "", command or "")


def rivals_of(records: list[dict]) -> dict[str, str]:
    """Return the versions of the rivals' libraries, each of all cells that are done: most often one."""
    done = [record for record in records if record["status"] == DONE]
    found = grouped(pair for record in done for pair in hashing.rivals_of(record).items())
    return {name: " and ".join(sorted(set(versions))) for name, versions in sorted(found.items())}


def notes(records: list[dict]) -> list[str]:
    """Return the notes on cells, with the cases where their methods have others that the note is not on."""
    found = grouped((note, record["identity"]) for record in records for note in dict.fromkeys(record["notes"]))
    lines = []
    for note, cells in sorted(found.items()):
        cases = list(dict.fromkeys(cell["case"] for cell in cells))
        runs = {(cell["method"], cell["backend"]) for cell in cells}
        alike = {each["case"] for each in (record["identity"] for record in records)
                 if (each["method"], each["backend"]) in runs}  # fmt: skip
        lines.append(note + (f" ({shortened(cases)})" if len(cases) < len(alike) else ""))
    return lines


def host_of(records: Iterable[dict[str, Any]], settings: Settings) -> hosts.Host:
    """Return the host of whose share of cores some records are."""
    is_of_cores = any(record["identity"]["backend"] in ON_CORES for record in records)
    return (hosts.of_processor if is_of_cores else hosts.began)(settings.store.folder)


def hosts_that_measured(pairs: Iterable[tuple[str | None, str]]) -> list[str]:
    """Return a line on the hosts of some rounds, each by the token that its rows have; none where one measured all.

    `pairs`: of each round its host, where that is known, and its back end.
    """
    found = grouped((host, backend) for host, backend in pairs if host)
    told = [f"{host} measured {', '.join(sorted(set(backends)))}" for host, backends in sorted(found.items())]
    return [f"- hosts: {'; '.join(told)}"] if len(told) > 1 else []
