"""Where a selection leaves nothing of what artefacts have to measure: which back ends and values they have."""

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


def check_backends(selection: Selection, cells: Mapping[str, Sequence[Cell]]) -> list[str]:
    """Return a line on the artefacts that ``--backend`` leaves no kernel of, though they have some; none without it.

    Raises `UnknownName` if these are all.
    """
    asked, lines, kinds = set(selection.backends), [], {}
    for artefact, each in cells.items():
        have = {cell.backend for cell in each if Selection(selection.only).wants(cell)}
        kernels = have if asked == {HOST} else have - {HOST}
        if asked and kernels and not kernels & asked:
            kinds.setdefault(tuple(backend for backend in BACKENDS if backend in kernels), []).append(artefact)
    for kernels, names in kinds.items():
        has, wanted = "has" if len(names) == 1 else "have", " or ".join(selection.backends)
        lines.append(f"{shortened(names)} {has} nothing for {wanted}, but for {', '.join(kernels)}")
    if lines and sum(map(len, kinds.values())) == len(cells):
        raise UnknownName("; ".join(lines))
    return lines


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Return names as a list of which the rest is counted."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
