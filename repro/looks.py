"""The look of all figures: palette, the colour and marker of each method, and Matplotlib's settings."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE, GREY = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#777777",
)  # fmt: skip
"""Okabe and Ito's palette, https://jfly.uni-koeln.de/color, and a grey."""

LOOKS: dict[str, tuple[str, str]] = {
    "patch": (BLUE, "o"), "patch-pcgamg": (BLUE, "o"),
    "serial": (GREY, "s"),
    "cusp-pcgamg": (ORANGE, "^"), "jacobi-pcgamg": (ORANGE, "^"), "hypre-pcgamg": (GREEN, "v"),
    "hypre-extended": (YELLOW, "<"), "pyamg-sa": (SKY, "D"), "pyamg-rs": (BLACK, "p"),
    "inside-symcoo": (RED, "P"), "inside-half": (BLUE, "o"), "inside-ell": (PURPLE, "^"), "inside-csr": (ORANGE, "s"),
    "cusp-cg": (RED, "P"), "hypre-cg": (PURPLE, "X"), "cg": (RED, "P"), "jacobi": (SKY, "D"),
    "ring": (GREEN, "v"), "atomic": (SKY, "D"), "colour": (YELLOW, "<"), "coo": (RED, ">"),
    "scipy": (GREY, "s"), "numba": (PURPLE, "p"), "numba-cg": (GREY, "s"),
    "pyamg": (GREEN, "v"), "amgcl": (PURPLE, "*"), "petsc": (RED, "X"),
    "hypre": (GREEN, "h"), "cusparse": (ORANGE, "^"),
    "csr": (ORANGE, "s"), "ell": (PURPLE, "^"), "sell": (GREEN, "v"), "sbell": (BLUE, "o"), "bsr": (SKY, "D"),
    "hyb": ("#7FCEB8", "P"),
    "csr_scalar": ("#F5CB7A", "s"), "csr_vector": (ORANGE, "s"), "csr_merge": (YELLOW, "P"), "bell": (SKY, "D"),
    "ellpack": (PURPLE, "^"), "ellpack_r": ("#E8C4D9", "^"), "cusparse_csr": (BLACK, "X"), "cusparse_sell": (GREY, "p"),
    "cusparse_bsr": ("#BBBBBB", "h"), "numba_csr": ("#8C6D31", "<"), "scipy_csr": ("#D9C7A0", ">"),
    "neumann": (ORANGE, "s"), "least-squares": (BLUE, "o"), "chebyshev": (GREEN, "^"),
    "single": (SKY, "D"), "double": (BLUE, "o"), "csr-double": ("#F5CB7A", "s"), "csr-mixed": (ORANGE, "s"),
    "sbell-double": (SKY, "D"), "sbell-mixed": (BLUE, "o"), "jacobi-threads": ("#B9DFF5", "d"),
    "least-squares-6": (GREEN, "o"), "least-squares-6-threads": ("#7FCEB8", "o"),
    "tri": (BLUE, "o"), "quad": (ORANGE, "s"), "tet": (GREEN, "^"), "hex": (PURPLE, "D"),
    "regular": (BLUE, "o"), "irregular": (ORANGE, "s"), "heart": (RED, "^"), "brain": (GREEN, "D"),
    "blobs": (PURPLE, "v"),
    "2lv": (BLUE, "o"), "cm": (ORANGE, "s"), "xyz": (GREEN, "^"), "sto": (RED, "X"), "hie": (PURPLE, "D"),
    "cuda": (GREEN, "o"), "opencl": (BLUE, "s"), "openmp": (ORANGE, "^"), "host": (GREY, "D"),
}  # fmt: skip
"""Colour and marker of the methods, meshes and back ends that figures share; a method looks the same in all of them."""

_COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, YELLOW)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "axes.linewidth": 0.6, "lines.linewidth": 1.2, "lines.markersize": 4.5,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "ytick.minor.width": 0.4, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#DDDDDD",
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


def _look(method: str) -> tuple[str, str]:
    if method in LOOKS:
        return LOOKS[method]
    digest = hashlib.sha256(method.encode()).digest()  # the same on every machine, which hash() is not
    return _COLOURS[digest[0] % len(_COLOURS)], _MARKERS[digest[1] % len(_MARKERS)]


def colour(method: str) -> str:
    """Return the method's colour, the same in every figure and on every machine."""
    return _look(method)[0]


def marker(method: str) -> str:
    """Return the method's marker, the same in every figure and on every machine."""
    return _look(method)[1]
