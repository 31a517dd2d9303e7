"""The look of all figures: the colour and marker of each method, and Matplotlib's settings."""

import functools
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache.store import read_toml

NEW = ("#FF00FF", "#00C800", "#0000FF", "#FF0044", "#B266FF", "#770000")
"""Of names that no family has, as a format of the user's own: far from the families' colours, which stand beside."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

GRID = "#DDDDDD"
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "axes.linewidth": 0.6, "lines.linewidth": 1.2, "lines.markersize": 4.5,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "ytick.minor.width": 0.4, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.grid.axis": "y", "grid.color": GRID,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True, "legend.frameon": False, "errorbar.capsize": 2, "figure.dpi": 100, "savefig.dpi": 200,
    "svg.hashsalt": "repro", "svg.fonttype": "none", "pdf.fonttype": 42, "path.simplify": False,
}  # fmt: skip


def style() -> AbstractContextManager[None]:
    """Return a context in which Matplotlib draws in the style of all figures: ``with plots.style(): ...``."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def styled(draw: Callable) -> Callable:
    """Let a function draw in the style of all figures wherever it is called."""

    @functools.wraps(draw)
    def in_style(*arguments, **options):
        with style():
            return draw(*arguments, **options)

    return in_style


@functools.cache
def _table(folder: Path) -> dict[str, Any]:
    return read_toml(folder / "looks.toml")


def families() -> dict[str, dict[str, tuple[str, str]]]:
    """Return colours and markers by name, of each family of names that stand together: ``experiments/looks.toml``."""
    table = _table(environment.experiments_folder())
    return {
        family: {name: (table["palette"][colour], marker) for name, (colour, marker) in looks.items()}
        for family, looks in table.get("families", {}).items()
    }


def _look(method: str) -> tuple[str, str]:
    known = {name: look for family in families().values() for name, look in family.items()}
    variants = _table(environment.experiments_folder()).get("variants", ())
    for name in (method, *(method.removesuffix(each) for each in variants)):
        if name in known:
            return known[name]
    digest = hashlib.sha256(method.encode()).digest()  # the same on every machine, which hash() is not
    return NEW[digest[0] % len(NEW)], _MARKERS[digest[1] % len(_MARKERS)]


def word(method: str) -> str:
    """Return what figures call a method, ``[words]`` of ``experiments/looks.toml``; else its name."""
    return _table(environment.experiments_folder()).get("words", {}).get(method, method)


def colour(method: str) -> str:
    """Return the method's colour, the same in every figure and on every machine."""
    return _look(method)[0]


def size(method: str) -> float:
    """Return the size of the method's marker in points: the same area to the eye for all."""
    return {"*": 7.5, "p": 5.5, "h": 5.5, "H": 5.5, "d": 5.5, "P": 5.5, "X": 5.5, "D": 4.5, "s": 4.5}.get(
        marker(method), 5.0
    )


def marker(method: str) -> str:
    """Return the method's marker, the same in every figure and on every machine."""
    return _look(method)[1]
