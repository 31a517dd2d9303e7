"""The look of all figures: palette, the colour and marker of each method, and Matplotlib's settings."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE, GREY = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#4D4D4D",
)  # fmt: skip
"""Okabe and Ito's palette, https://jfly.uni-koeln.de/color, without its yellow, which is no line on white; a grey."""
INDIGO, WINE, OLIVE, TEAL, ROSE, SAND = "#332288", "#882255", "#999933", "#44AA99", "#CC6677", "#DDCC77"
"""Of Tol's muted palette, https://personal.sron.nl/~pault, for families of more than eight."""
PALE_ORANGE, PALE_PURPLE, PALE_GREEN, PALE_SKY, PALE_GREY, BROWN, PALE_BROWN = (
    "#F5CB7A", "#E8C4D9", "#7FCEB8", "#B9DFF5", "#BBBBBB", "#8C6D31", "#D9C7A0",
)  # fmt: skip

FAMILIES: dict[str, dict[str, tuple[str, str]]] = {
    "meshes of fu2014": {
        "regular": (BLUE, "o"), "irregular": (ORANGE, "s"), "heart": (RED, "^"), "brain": (GREEN, "D"),
        "blobs": (PURPLE, "v"),
    },
    "assembly": {
        "patch": (BLUE, "o"), "ring": (GREEN, "v"), "atomic": (SKY, "D"), "colour": (OLIVE, "<"), "coo": (RED, "P"),
        "serial": (GREY, "s"),
    },
    "solvers of fu2014": {
        "patch-pcgamg": (BLUE, "o"), "jacobi-pcgamg": (ORANGE, "^"), "cusp-pcgamg": (ORANGE, "^"),
        "patch-on-mis": (PALE_SKY, "d"), "jacobi-on-patch": (PALE_ORANGE, "H"), "hypre-pcgamg": (GREEN, "v"),
        "hypre-extended": (OLIVE, "<"), "hypre": (TEAL, "h"), "pyamg-sa": (SKY, "D"), "pyamg-rs": (BLACK, "p"),
        "pyamg": (INDIGO, "8"), "amgcl": (WINE, "*"), "petsc": (ROSE, ">"), "cg": (RED, "P"), "cusp-cg": (RED, "P"),
        "hypre-cg": (PURPLE, "X"), "numba-cg": (GREY, "s"),
    },
    "formats within patches": {
        "inside-symcoo": (RED, "P"), "inside-half": (BLUE, "o"), "inside-ell": (PURPLE, "^"),
        "inside-csr": (ORANGE, "s"),
    },
    "sparse formats": {
        "csr": (ORANGE, "s"), "csr_scalar": (PALE_ORANGE, "s"), "csr_vector": (ORANGE, "s"), "csr_merge": (OLIVE, "<"),
        "coo": (RED, "P"), "ell": (PURPLE, "^"), "ellpack": (PURPLE, "^"), "ellpack_r": (PALE_PURPLE, "^"),
        "hyb": (PALE_GREEN, "P"), "sell": (GREEN, "v"), "bell": (SKY, "D"), "bsr": (SKY, "D"), "sbell": (BLUE, "o"),
        "ellwarp": (ROSE, "d"), "ellwarp2": (WINE, "*"), "cusparse": (BLACK, "X"), "cusparse_csr": (BLACK, "X"),
        "cusparse_sell": (GREY, "p"), "cusparse_bsr": (PALE_GREY, "h"), "numba": (BROWN, ">"),
        "numba_csr": (BROWN, ">"), "scipy": (PALE_BROWN, "8"), "scipy_csr": (PALE_BROWN, "8"),
    },
    "kernels of wong2015": {
        "k1": (ROSE, "d"), "k1r": (ORANGE, "s"), "k1rs": (SAND, "<"), "k1r-remapped": (BROWN, "P"),
        "k1-by-rows": (GREEN, "D"), "k1-unsorted": (TEAL, "v"), "k2": (WINE, "*"), "k2r": (PURPLE, "^"),
        "k2rs": (PALE_PURPLE, ">"), "k2r-remapped": (SKY, "h"), "k2-window": (INDIGO, "p"), "mgpu": (OLIVE, "<"),
        "cusp-csr": (BLUE, "o"), "cusp-hyb": (PALE_GREEN, "P"),
    },
    "processes of PETSc": {
        "petsc-jacobi-1": (PALE_GREY, "o"), "petsc-jacobi-2": ("#999999", "s"), "petsc-jacobi-3": ("#777777", "^"),
        "petsc-jacobi-4": (GREY, "D"), "petsc-bjacobi-1": (PALE_SKY, "o"), "petsc-bjacobi-2": (SKY, "s"),
        "petsc-bjacobi-3": ("#2A86C4", "^"), "petsc-bjacobi-4": (BLUE, "D"),
    },
    "elements of zhang2013": {"tri": (BLUE, "o"), "quad": (ORANGE, "s"), "tet": (GREEN, "^"), "hex": (PURPLE, "D")},
    "polynomials": {"neumann": (ORANGE, "s"), "least-squares": (BLUE, "o"), "chebyshev": (GREEN, "^")},
    "precisions": {"single": (SKY, "D"), "double": (BLUE, "o")},
    "solvers of zhang2013": {
        "csr-double": (PALE_ORANGE, "s"), "csr-mixed": (ORANGE, "^"), "sbell-double": (SKY, "D"),
        "sbell-mixed": (BLUE, "o"), "jacobi": (PURPLE, "v"), "jacobi-threads": (PALE_PURPLE, "<"),
        "jacobi-scipy": (WINE, ">"), "least-squares-6": (GREEN, "P"), "least-squares-6-threads": (PALE_GREEN, "X"),
        "least-squares-6-scipy": (TEAL, "h"),
    },
    "numberings": {
        "2lv": (BLUE, "o"), "cm": (ORANGE, "s"), "xyz": (GREEN, "^"), "sto": (RED, "X"), "hie": (PURPLE, "D"),
    },
    "elements of geveler2011": {"q1": (BLUE, "o"), "q2": (ORANGE, "s"), "Q1": (BLUE, "o"), "Q2": (ORANGE, "s")},
    "spectral elements": {
        "stored": (BLUE, "o"), "trilinear": (ORANGE, "s"), "two-scale": (GREEN, "^"), "fine": (RED, "P"),
        "none": (GREY, "D"), "weighted": (SKY, "p"), "pyamg-low-order": (INDIGO, "8"), "jacobi": (PURPLE, "v"),
    },
    "orders of BP5": {f"bp5-n{n}": look for n, look in zip(
        range(1, 9), ((GREY, "D"), (SKY, "p"), (BLUE, "o"), (GREEN, "^"), (OLIVE, "<"), (ORANGE, "s"), (RED, "P"),
                      (WINE, "*")), strict=True)},
    "what a matrix or a mesh is": {"matrix": (BLUE, "o"), "mesh": (ORANGE, "s")},
    "devices of remacle2016": {
        "cuda-gpu": (GREEN, "o"), "opencl-gpu": (BLUE, "s"), "openmp-cpu": (ORANGE, "^"), "opencl-cpu": (SKY, "D"),
    },
    "back ends": {"cuda": (GREEN, "o"), "opencl": (BLUE, "s"), "openmp": (ORANGE, "^"), "host": (GREY, "D")},
}  # fmt: skip
"""Colour and marker of what figures tell apart, by what stands together in one. A name looks the same everywhere; two
names look the same only where one stands for the other: a paper's and its stand-in, a library's and its one format."""

LOOKS: dict[str, tuple[str, str]] = {name: look for family in FAMILIES.values() for name, look in family.items()}

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


VARIANTS = ("-uncached", "-host-assembly", "-fp32", "-fp64", "-fp64-no-mass")
"""Endings of a method's name that do not change how it looks: variants of a method stand in panels of their own."""


def _look(method: str) -> tuple[str, str]:
    for name in (method, *(method.removesuffix(each) for each in VARIANTS)):
        if name in LOOKS:
            return LOOKS[name]
    digest = hashlib.sha256(method.encode()).digest()  # the same on every machine, which hash() is not
    return NEW[digest[0] % len(NEW)], _MARKERS[digest[1] % len(_MARKERS)]


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
