"""Where a selection leaves nothing of what artefacts have to measure: which back ends and values they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro.cache.plan import Selection, values_of
from repro.discovery import UnknownName
from repro.model import BACKENDS, Cell

HOST = "host"


def require_some(selection: Selection, cells: Sequence[Cell]) -> None:
    """Raise `UnknownName` where no cell is wanted, saying which values the cells have that miss by one option alone."""
    if any(selection.wants(cell) for cell in cells):
        return
    asked = {key: list(values) for key, values in selection.only.items()}
    if selection.backends:
        asked["--backend"] = list(selection.backends)
    others = {}
    for key in asked:
        rest = Selection(
            {name: values for name, values in selection.only.items() if name != key},
            () if key == "--backend" else selection.backends,
        )
        name = key.removeprefix("--")
        others[name] = sorted({values_of(cell).get(name, "") for cell in cells if rest.wants(cell)} - {""})
    near = [f"{name} {' or '.join(values)}" for name, values in others.items() if values]
    words = " and ".join(f"{key.removeprefix('--')} {' or '.join(values)}" for key, values in asked.items())
    advice = f"with the rest of it there is {', or '.join(near)}" if near else "no two of these go together"
    raise UnknownName(f"no cell matches all of {words}; {advice}")


def without_kernels(selection: Selection, cells: Sequence[Cell]) -> str:
    """Say for which back ends an artefact's cells are, where ``--backend`` leaves none of its kernels.

    Empty where it leaves some, and where what ``--only`` asks for has none in any case.
    """
    if not selection.backends:
        return ""
    chosen = [cell for cell in cells if Selection(selection.only).wants(cell)]
    have = {cell.backend for cell in chosen}
    kernels = have - {HOST}
    asked = set(selection.backends)
    if asked == {HOST}:
        is_lacking = HOST not in have
    else:
        is_lacking = bool(kernels) and not kernels & asked
    if not is_lacking:
        return ""
    listed = ", ".join(backend for backend in BACKENDS if backend in (have if asked == {HOST} else kernels))
    what = "baselines on the host" if asked == {HOST} else f"kernels for {' or '.join(selection.backends)}"
    return f"no {what}, but for {listed}"


def check_backends(selection: Selection, cells: Mapping[str, Sequence[Cell]]) -> list[str]:
    """Return a line for each kind of artefact of which ``--backend`` leaves no kernel.

    Parameters
    ----------
    cells : mapping of str to sequence of Cell
        By artefact.

    Raises
    ------
    UnknownName
        If it leaves none of any artefact.
    """
    kinds: dict[str, list[str]] = {}
    for artefact, each in cells.items():
        if text := without_kernels(selection, each):
            kinds.setdefault(text, []).append(artefact)
    lines = [f"{shortened(names)} {'has' if len(names) == 1 else 'have'} {text}" for text, names in kinds.items()]
    if lines and sum(map(len, kinds.values())) == len(cells):
        raise UnknownName("; ".join(lines))
    return lines


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Return names as a list of which the rest is counted."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
