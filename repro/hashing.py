"""What a measurement depends on, as components that can be compared and explained in words.

A cell's key has the hashes of the sources it uses, the keys of its datasets, the machine, the device and the seed. It
is kept as a mapping rather than one digest, so that `differences` can say what changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: Versions that a measurement depends on; the others of a machine's packages (plots, tests) may change freely.
NUMERIC_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pyamg", "petsc4py", "mpi4py", "pyopencl", "pocl", "cupy",
                    "cuda", "nvidia", "pyamgx", "hypre")  # fmt: skip


#: Facts for the manifest alone: they vary by a reboot or an update, and change no measurement to speak of.
UNIMPORTANT = ("memory_bytes", "system")


def machine_facts(fingerprint: Mapping[str, Any]) -> dict[str, str]:
    """Flatten a machine's fingerprint to the facts that a measurement depends on, as ``packages.numpy -> 2.4.6``."""
    facts = {}
    for name, value in _flatten(fingerprint):
        group, _, package = name.rpartition(".")
        if name in UNIMPORTANT or (group == "packages" and not package.lower().startswith(NUMERIC_PACKAGES)):
            continue
        facts[name] = str(value)
    return facts


def _flatten(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            yield from _flatten({str(k): item for k, item in enumerate(value)}, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in words how two keys differ; empty when they agree.

    Parameters
    ----------
    old, new : mapping
        Keys with the components ``sources``, ``data`` and ``machine`` (mappings), ``device`` and ``seed``.
        A ``device`` of None means that none could be opened, and says nothing about whether it is another one.
    """
    words = []
    before, now = old.get("sources", {}), new.get("sources", {})
    words += [f"{path} changed" for path in sorted(before.keys() & now.keys()) if before[path] != now[path]]
    words += [f"{path} is now used" for path in sorted(now.keys() - before.keys())]
    words += [f"{path} is no longer used" for path in sorted(before.keys() - now.keys())]
    before, now = old.get("data", {}), new.get("data", {})
    words += [f"dataset {name} changed" for name in sorted(now) if before.get(name) != now[name]]
    before, now = old.get("machine", {}), new.get("machine", {})
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            label = name.removeprefix("packages.").replace(".", " ").replace("_", " ")
            words.append(f"{label} {before.get(name, 'none')} -> {now.get(name, 'none')}")
    if old.get("device") and new.get("device") and old["device"] != new["device"]:
        words.append(f"device {old['device']} -> {new['device']}")
    if old.get("seed") != new.get("seed"):
        words.append(f"seed {old.get('seed')} -> {new.get('seed')}")
    return words


def in_short(words: list[str], most: int = 3) -> str:
    """Join differences to one line, the first few of them in full."""
    rest = len(words) - most
    return "; ".join(words[:most]) + (f"; and {rest} more" if rest > 0 else "")
