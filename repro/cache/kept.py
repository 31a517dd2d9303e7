"""A measured cell that later fails or is skipped keeps what was measured, marked with what has happened since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro.cache import keys
from repro.model import DONE, FAILED, SKIPPED

if TYPE_CHECKING:
    from repro.cache.plan import Task

#: Fields that a measured record keeps, under ``since``, of a later one that is not done.
FIELDS = ("status", "reason", "date", "finished", "revision", "command", "traceback")
#: Fields among them that it has in any case, and the kind of each.
KINDS = {"status": str, "reason": str, "date": str, "finished": int | float}


def marked(measured: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return a measured record with what a later one, which is not done, says happened since."""
    return {**measured, "since": {name: later[name] for name in FIELDS if name in later}}


def last(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what happened last to a cell: status, reason, date and when it ``finished``."""
    return record.get("since", record)


def is_mark(since: Any) -> bool:
    """Return whether what a record has under ``since`` is what `marked` puts there."""
    return (
        isinstance(since, dict)
        and all(isinstance(since.get(name), kind) for name, kind in KINDS.items())
        and since["status"] in (FAILED, SKIPPED)
    )


def best(stored: Mapping[str, Any] | None, found: Iterable[Mapping[str, Any]], key: Mapping[str, Any]) -> Any:
    """Return which record of a cell is taken: a measured one before others, then one that stands, then the store's.

    Where the store has it failed or skipped since, by the present key, that marks what was measured.
    """

    def worth(record: Mapping[str, Any]) -> tuple:
        stands = not keys.changes(record, key)
        return record["status"] == DONE, stands, record is stored, last(record)["finished"]

    every = [*filter(None, [stored]), *found]
    if len(every) < 2:
        return every[0] if every else None
    taken = max(every, key=worth)
    if stored is None or stored["status"] == DONE or taken["status"] != DONE or keys.changes(stored, key):
        return taken
    return marked(taken, stored) if stored["finished"] > last(taken)["finished"] else taken


def shown(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks whose records an artefact's files have.

    They are the tasks that stand, and the ones that were measured and have failed or been skipped since. Where no
    measured task stands, they are all that were ever measured: a run in which every cell failed takes nothing out of
    the files.
    """
    is_any_measured = any(task.stands and task.record["status"] == DONE for task in tasks)
    return [
        task for task in tasks
        if task.stands or (task.record and (
            "since" in task.record or (not is_any_measured and task.record["status"] == DONE)
        ))
    ]  # fmt: skip
