"""Dependencies of a measurement: what it ran, the data that it read, the machine, the protocol of timing and the seed.

A key has ``protocol``, ``data``, ``machine`` and ``seed``, which are known before, and of a measurement ``code`` and
``kernels``, which only running tells. A measurement stands while each of them is now what it was.
"""

from collections.abc import Mapping
from typing import Any

from repro import environment
from repro.cache import beliefs, code, hashing
from repro.cache.beliefs import Change
from repro.cache.glance import once
from repro.run import tracing
from repro.run.protocol import PROTOCOL


def before(data: Mapping[str, str], machine: Mapping[str, str], seed: int, believed: Mapping) -> dict[str, Any]:
    """Return what is known of a key before anything has run; with the beliefs, which are no part of what is stored."""
    return {"protocol": PROTOCOL, "data": dict(data), "machine": dict(machine), "seed": seed, "beliefs": believed}


def measured(key: Mapping[str, Any], ran: tracing.Ran) -> dict[str, Any]:
    """Return the key of a measurement: what is known before, and what has run."""
    root, kernels = environment.root(), environment.described(ran.kernels)
    found = code.of(ran.codes, root, tracing.packages(), environment.untraced(), tracing.PACKAGES[:1])
    found |= {name: code.hash_of(root / name) for name in environment.launching(kernels)}
    machine = key["machine"] | hashing.rival_facts(environment.libraries(found))
    return {**stored(key), "code": dict(sorted(found.items())), "kernels": kernels, "machine": machine}


def stored(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return a key as records have it."""
    return {"code": {}, "kernels": {}, **{name: part for name, part in key.items() if name != "beliefs"}}


def differing(record: Mapping[str, Any], key: Mapping[str, Any]) -> list[Change]:
    """Return the code, kernels and libraries that are no longer as a record has them, whatever is believed of them."""
    old, found = record["key"], []
    code_now = key["code"] if "code" in key else code.now(old.get("code", {}), environment.root())
    for name, was in old.get("code", {}).items():
        now = code_now.get(name)
        if was != now:
            found.append(Change("code", name, *(beliefs.text_of(_hash(each)) for each in (was, now))))
    kernels = key.get("kernels")
    for name, was in old.get("kernels", {}).items():
        now = kernels.get(name) if kernels is not None else _kernel_now(name, was)
        if _built(was) != _built(now):
            found.append(Change("kernels", name, *(beliefs.text_of(_built(each)) for each in (was, now))))
    unused, machine = hashing.without_effect(record), _machine(record, key)
    for name in sorted(old["machine"].keys() | machine.keys()):
        was, now = (each.get(name, "") for each in (old["machine"], machine))
        if (
            hashing.is_library(name)
            and was != now
            and name not in unused
            and not hashing.is_unknown_rival(name, was, now)
        ):
            found.append(Change("machine", name, was, now))
    return found


def _kernel_now(name: str, was: Mapping[str, Any]) -> Mapping[str, Any] | None:
    hashes = (was.get("text"), was.get("preprocessed"), was.get("flags"), was.get("portable"))
    return once((name, *hashes), lambda: environment.kernel_now(name, was))


def _machine(record: Mapping[str, Any], key: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a key's machine, with the versions that the libraries of a record are here of now."""
    versions = {name: once(("library", name), lambda name=name: environment.library(name))
                for name in hashing.rivals_of(record)}  # fmt: skip
    return hashing.rival_facts(versions) | key.get("machine", {})


def _hash(entry: Any) -> Any:
    return entry["hash"] if isinstance(entry, Mapping) else entry


def _built(kernel: Mapping[str, Any] | None) -> list | None:
    """Return the parts of a kernel that count: its text as the compiler sees it, and the flags."""
    return kernel and [kernel["preprocessed"], kernel["flags"]]


def changes(record: Mapping[str, Any], key: Mapping[str, Any]) -> list[str]:
    """Say in words how what a record depends on differs from a key; empty when it stands."""
    old = record["key"]
    believed = key.get("beliefs", {})
    found = differing(record, key)
    libraries = {each.name for each in found if each.part == "machine" and beliefs.holds(each, believed)}
    words = [_word(each) for each in found if each.part != "machine" and not beliefs.holds(each, believed)]
    now = {**key, "machine": _machine(record, key)}
    # Hosts with one kind of GPU share results, see `repro.cache.hosts`: rows of a processor name it.
    unused = hashing.without_effect(record) | libraries | ({"cpu"} if _gpus(old) and _gpus(now) else frozenset())
    return [*dict.fromkeys(words), *hashing.differences(old, now, unused)]


def _gpus(key: Mapping[str, Any]) -> str:
    return key.get("machine", {}).get("gpu", "")


def of_one_processor(record: Mapping[str, Any], key: Mapping[str, Any]) -> bool:
    """Return whether what a record has of a processor, if anything, is of the one that a key names."""
    was, now = (each.get("machine", {}).get("cpu") for each in (record["key"], key))
    return was == now or "cpu" in hashing.without_effect(record)


def believed(record: Mapping[str, Any], key: Mapping[str, Any]) -> list[Change]:
    """Return the changes since a record was measured that are believed not to matter."""
    return [each for each in differing(record, key) if beliefs.holds(each, key.get("beliefs", {}))]


def is_only(record: Mapping[str, Any], key: Mapping[str, Any]) -> bool:
    """Return whether a record is void by what one may believe not to matter alone: code, kernels and libraries."""
    every = {(each.part, each.name, each.old): (each.new,) for each in differing(record, key)}
    return bool(every) and not changes(record, {**key, "beliefs": {**key.get("beliefs", {}), **every}})


def _word(change: Change) -> str:
    what = change.name.partition(" ")[0]
    return f"{what} changed" if change.new else f"{what} is gone, or cannot be built"
