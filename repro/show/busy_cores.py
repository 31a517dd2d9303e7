"""How many cores each method kept at work while it was timed on a processor, and whether its threads were bound."""

from collections.abc import Iterable, Mapping
from typing import Any


def lines(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for an artefact's page: methods by their cores, the most first; none where nothing tells.

    A method whose processes are not this one's has the number that it records as ``threads``, or its parameter
    ``processes``.
    """
    found: dict[str, float] = {}
    bound = False
    for record in records:
        states = [state for each in record.get("rounds", ()) for state in each["state"].values() if "cores" in state]
        if not states:
            continue
        bound |= any(state["bound"][1] for state in states if "bound" in state)
        own = [row["value"] for row in record["rows"] if row["metric"] == "threads"]
        identity = record["identity"]
        own += [float(count)] if (count := identity.get("parameters", {}).get("processes")) else []
        name = identity["method"] + (f" on {identity['backend']}" if identity["backend"] != "host" else "")
        found[name] = max(found.get(name, 0.0), *own, *([] if own else (state["cores"] for state in states)))
    if not found:
        return []
    counts = sorted({f"{cores:.1f}" for cores in found.values()}, key=float, reverse=True)
    groups = (f"{count}: " + ", ".join(name for name in sorted(found) if f"{found[name]:.1f}" == count)
              for count in counts)  # fmt: skip
    how = "some threads were bound to cores" if bound else "no thread was bound to a core"
    return [f"- cores at work while timed on the processor: {'; '.join(groups)}; {how}"]
