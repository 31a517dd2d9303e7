"""Rivals in sparse matrix-vector products, in the call shape of ``kernels.spmv``: SciPy, Numba, MKL, cuSPARSE.

A module of this folder whose name has no underscore before it is a rival: it holds `BACKEND`, ``cuda`` for arrays of
CuPy or ``host`` for NumPy's, and `Packed`, a `Rival` (see ``_rival.py``).
"""

from __future__ import annotations

import importlib
from pathlib import Path

from baselines.spmv._rival import Rival
from baselines.spmv._scatter import scatter

RIVALS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")))
__all__ = ["RIVALS", "Rival", "backend", "pack", "scatter"]


def pack(name: str, csr, dtype="float64", **options) -> Rival:
    """Prepare a rival's product with a matrix.

    Parameters
    ----------
    name : str
        One of `RIVALS`.
    csr : CSR matrix
        Of SciPy, or for ``cuda`` of CuPy; of sorted columns without duplicates.
    dtype : {'float64', 'float32'}

    Raises
    ------
    repro.Skip
        When what the rival needs is not on this machine, or it does not take such a matrix, with the reason.
    """
    return _module(name).Packed(csr, dtype, **options)


def backend(name: str) -> str:
    """Return where a rival runs: ``cuda`` or ``host``."""
    return _module(name).BACKEND


def _module(name):
    if name not in RIVALS:
        raise ValueError(f"rival {name!r} is none of {', '.join(RIVALS)}")
    return importlib.import_module(f"baselines.spmv.{name}")
