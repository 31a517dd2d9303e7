"""Whose results a machine's folder has: ``machine.json`` in it names the hosts, and none writes into another's.

Two hosts of one kind have one name, as any two with an H200. The second that measures takes ``h200-2``, unless it goes
on with what the first has begun. With a GPU a kind is of any processor: times on the GPU do not depend on it, and rows
of a processor name its model. Such rows are of one share of a host's cores, too: the idle rest of a processor gives the
cores that a run is bound to more cache and bandwidth. The host that measured the first of them decides it. Where that
host did not begin the folder, ``processor`` marks it.
"""

import itertools
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from repro import machine
from repro.cache.store import Store, read_json, write_atomically
from repro.model import ReproError

NAME = "machine.json"
UNKNOWN = ""  # the token of whoever measured what no file tells of
Host = Mapping[str, Any]


def here() -> dict[str, Any]:
    """Return what is told of this host: its token, ``cpu``, ``cores`` (those to use) and ``gpu``, a list of names.

    With ``cores_of_host``, all of them, where these are more.
    """
    facts, usable, every = machine.fingerprint(), machine.cores(), os.cpu_count() or 0
    return {
        "host": machine.identity(), "cpu": facts["cpu"], "cores": usable,
        **({"cores_of_host": every} if every > usable else {}),
        "gpu": list(facts.get("gpu", ())),
    }  # fmt: skip


def read(folder: Path) -> list[Host]:
    """Return the hosts that measured what a machine's folder has: none of an empty one, `UNKNOWN` where nothing tells.

    Raises `ReproError` when the file that names them is damaged or cannot be read.
    """
    path = folder / NAME
    try:
        if not path.exists():
            return [{"host": UNKNOWN}] if _has_files(folder) else []
        hosts = read_json(path).get("hosts")
    except OSError as error:
        raise ReproError(f"{path} cannot be read: {error.strerror}") from error
    if isinstance(hosts, list) and hosts and all(isinstance(h, dict) and isinstance(h.get("host"), str) for h in hosts):
        return hosts
    raise ReproError(f"{path} is damaged: it names no hosts")


def _has_files(folder: Path) -> bool:
    """Whether a folder has results, and not locks or temporary files alone."""
    return any(path.is_file() and not path.name.startswith(".") for path in folder.rglob("*"))


def alike(found: Iterable[Host]) -> set[str]:
    """Return the tokens of this host and of every host of its kind.

    Hosts of a kind have as many cores to use and the same GPUs, or no GPU and the same processor.
    """
    mine = here()
    kind = ("cores", "gpu") if mine["gpu"] else ("cores", "gpu", "cpu")
    return {mine["host"], *(host["host"] for host in found if all(host.get(name) == mine[name] for name in kind))}


def began(folder: Path) -> Host:
    """Return the first host that measured what a folder has: a GPU's rows that use cores are of its share of them."""
    return next(iter(read(folder)), {})


def of_processor(folder: Path) -> Host:
    """Return the host of whose share of cores a folder's rows of a processor are, or will be."""
    return next((host for host in read(folder) if host.get("processor")), began(folder))


def share(host: Host) -> str:
    """Say how many cores a host's runs may use: ``16 of 64 cores``, or ``16 cores`` where these are all."""
    whole = f" of {host['cores_of_host']}" if "cores_of_host" in host else ""
    return f"{host['cores']}{whole} core{'s' * (host['cores'] > 1 or bool(whole))}"


def other_share(folder: Path, first: Host) -> str:
    """Say how this host's share of cores differs from the share of a host in a folder; empty where it does not.

    A folder that is this host's alone has no other share. An entry without `cores_of_host` counts as of all cores.
    """
    mine = here()
    is_own = {host["host"] for host in read(folder)} <= {mine["host"]}
    if is_own or "cores" not in first or all(first.get(name) == mine.get(name) for name in ("cores", "cores_of_host")):
        return ""
    did = "measured the processor of" if first.get("processor") else "began"
    return f"this run may use {share(mine)}, and the host that {did} {folder} had {share(first)}"


def obstacle(folder: Path, continuing: bool = False) -> str:
    """Say why this host does not write into a machine's folder; empty where it is its own or has nothing yet.

    With `continuing` it goes on with what other hosts of its kind have begun.
    """
    try:
        found = read(folder)
    except ReproError as error:
        return str(error)
    tokens = {host["host"] for host in found}
    if tokens <= (alike(found) if continuing else {machine.identity()}):
        return ""
    if machine.identity() in tokens:
        return f"{folder} has the results of several hosts"
    return f"{folder} has another host's results"


def choose(results: Path, name: str, continuing: bool = False) -> tuple[str, str]:
    """Return the first of NAME, NAME-2, NAME-3 ... that is this host's own or nobody's, and why it is not the first."""
    why = obstacle(results / name, continuing)
    if not why:
        return name, ""
    others = (f"{name}-{number}" for number in itertools.count(2))
    return next(other for other in others if not obstacle(results / other, continuing)), why


def require_own(folder: Path, continuing: bool = False) -> None:
    """Check that this host may write into a machine's folder, see `obstacle`.

    Raises `ReproError` when it has other hosts' results, or does not tell whose.
    """
    if why := obstacle(folder, continuing):
        raise ReproError(f"{why}: take another --machine or none; --continue goes on with those of a host of this kind")


def claim(store: Store, continuing: bool = False, processor: bool = False) -> None:
    """Make a machine's folder this host's own, if it is nobody's; with `continuing` also this host's, see `obstacle`.

    With `processor` its rows of a processor are to be of this host's share of cores, too: it has none of another's.
    Raises `ReproError` as `require_own` does, and when it cannot be written.
    """
    try:
        with store.lock("machine"):  # of two hosts that share a disk one comes first
            require_own(store.folder, continuing)
            before, mine = read(store.folder), here()
            others = [host for host in before if host["host"] != mine["host"]]
            if processor and other_share(store.folder, of_processor(store.folder)):
                _write(store.folder, [*others, {**mine, "processor": True}])
            elif mine not in before and others in ([], before):  # alone, it may have another share of cores than before
                _write(store.folder, [*others, mine])
    except OSError as error:
        path = store.folder / NAME
        raise ReproError(f"{path} cannot be written: {error.strerror}; what is stored is kept") from error


def _write(folder: Path, hosts: list[Host]) -> None:
    write_atomically(folder / NAME, json.dumps({"hosts": hosts}, indent=1) + "\n")
