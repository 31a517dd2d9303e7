"""Sparse matrix-vector products y = A x and y = alpha A x + beta y, a file a format.

A module of this folder whose name has no underscore before it is a format: it holds `Packed`, a `Matrix` (see
``_matrix.py``) that packs a CSR matrix and launches its kernel, and lies beside the kernel's source.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from kernels.spmv._csr import Csr, Unsuitable, canonical
from kernels.spmv._matrix import Matrix
from kernels.spmv._sliced import by_length
from kernels.spmv._tuning import tuned

FORMATS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")))
__all__ = ["FORMATS", "Csr", "Matrix", "Unsuitable", "builds", "by_length", "canonical", "pack", "refusals", "tuned"]


def pack(name: str, device, csr, dtype="float64", **options) -> Matrix:
    """Pack a matrix in a format on a device.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    device : kernels.device.Device
    csr : sparse matrix or Csr
        Of SciPy or CuPy, in CSR; unsorted columns are sorted, duplicates summed, in a copy, unless the matrix's flag
        `has_canonical_format` says that there are none. A result of `canonical` can be packed several times without
        that work.
    dtype : {'float64', 'float32'}
        Of the values and the vectors. Values beyond single precision become infinite in it.
    **options
        The format's own, as ``slice_size``: the docstring of its ``Packed`` has them.

    Raises
    ------
    Unsuitable
        When the format cannot hold the matrix, with the reason.
    """
    return _format(name)(device, canonical(device, csr, dtype), **options)


def builds(name: str, device, dtype="float64") -> list[tuple]:
    """Return what every matrix of a format builds, for `Device.prepare`; nothing for formats that do not tell.

    A format of a module that has ``builds(device, dtype)`` tells.
    """
    return getattr(_module(name), "builds", lambda device, dtype: [])(device, dtype)


def refusals(device, csr, dtype="float64", options=None) -> dict[str, str]:
    """Return, for every format, why it cannot hold a matrix: an empty text where it can. Nothing is packed.

    Parameters
    ----------
    options : mapping of str to dict, optional
        Options by format.
    """
    try:
        csr = canonical(device, csr, dtype)
    except Unsuitable as refused:
        return dict.fromkeys(FORMATS, str(refused))
    found = {}
    for name in FORMATS:
        try:
            _format(name)(device, csr, plan_only=True, **(options or {}).get(name, {}))
            found[name] = ""
        except Unsuitable as refused:
            found[name] = str(refused)
    return found


def _format(name):
    return _module(name).Packed


def _module(name):
    if name not in FORMATS:
        raise ValueError(f"format {name!r} is none of {', '.join(FORMATS)}")
    return importlib.import_module(f"kernels.spmv.{name}")
