"""Cores that each method kept at work while it was timed on a processor, and whether its threads were bound."""

from collections.abc import Iterable, Mapping
from typing import Any

UNBOUND = "no thread was bound to a core"
LEAST = 0.5  # cores of whoever computes: of fewer the work was another process's, or done before the first look
UNCOUNTED = "not counted"
HOW = {"bound": "some threads were bound to cores", "kept": "some threads were kept to their NUMA node"}


def lines(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for an artefact's page: methods by their cores, the most first; none where nothing tells.

    Methods that were not seen to compute stand last: a single sample is the call that was checked, before any look.

    A method whose processes are not this one's has the number that it records as ``threads``, or its parameter
    ``processes``.
    """
    found: dict[str, float] = {}
    ways = set()
    for record in records:
        states = [state for each in record.get("rounds", ()) for state in each["state"].values() if "cores" in state]
        if not states:
            continue
        for state in states:
            ways.update(name for name in HOW if name in state and state[name][1])
        own = [row["value"] for row in record["rows"] if row["metric"] == "threads"]
        identity = record["identity"]
        own += [float(count)] if (count := identity.get("parameters", {}).get("processes")) else []
        name = identity["method"] + (f" on {identity['backend']}" if identity["backend"] != "host" else "")
        found[name] = max(found.get(name, 0.0), *own, *([] if own else (state["cores"] for state in states)))
    if not found:
        return []
    of = {name: f"{cores:.1f}" if cores >= LEAST else UNCOUNTED for name, cores in found.items()}
    counts = sorted(set(of.values()) - {UNCOUNTED}, key=float, reverse=True)
    groups = (f"{count}: " + ", ".join(name for name in sorted(of) if of[name] == count)
              for count in (*counts, UNCOUNTED) if count in of.values())  # fmt: skip
    how = " and ".join(words for way, words in HOW.items() if way in ways) or UNBOUND
    return [f"- cores at work while timed on the processor: {'; '.join(groups)}; {how}"]
