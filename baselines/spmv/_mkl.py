"""MKL's sparse products, inspected before they are executed, through the shared library of the wheel ``mkl``.

The wheel ``sparse-dot-mkl`` hands a matrix over anew for each product, so that nothing can be inspected.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from importlib import metadata

import numpy as np

from baselines.spmv._rival import Rival
from repro import Skip

LIBRARIES = ("mkl",)
REMEDY = "on x86-64, make setup EXTRAS=mkl, or pip install mkl"
OPERATION, GENERAL, NO_FILL, NON_UNIT, AGGRESSIVE, PRODUCTS = 10, 20, 40, 50, 81, 1000
FACTOR = {"float64": ctypes.c_double, "float32": ctypes.c_float}


class Description(ctypes.Structure):
    """MKL's ``matrix_descr``."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]


@functools.cache
def library() -> ctypes.CDLL:
    """Return MKL with 32-bit indices and Intel's threads; Skip with the reason where it is missing."""
    try:
        files = metadata.files("mkl") or []
    except metadata.PackageNotFoundError:
        raise Skip("the wheel mkl is not installed", REMEDY) from None
    found = next((file for file in files if file.name.startswith(("libmkl_rt.so", "mkl_rt."))), None)
    try:
        loaded = ctypes.CDLL(str(found.locate().resolve())) if found else None
    except OSError as error:
        raise Skip(f"the wheel mkl cannot be loaded: {error}", REMEDY) from None
    if loaded is None:
        raise Skip("the wheel mkl has no library mkl_rt", REMEDY)
    loaded.MKL_Set_Interface_Layer(0)  # of 32-bit integers
    return loaded


class Inspected(Rival):
    """A matrix that MKL has optimised for many products.

    Attributes
    ----------
    threads : int
        As many as MKL takes by itself; `OMP_NUM_THREADS` bounds them. They are not bound to cores.
    """

    def prepare(self, csr, **options):
        mkl = library()
        letter = "d" if self.dtype == np.float64 else "s"
        self.threads = int(mkl.MKL_Get_Max_Threads())
        self.handle, self.description = ctypes.c_void_p(), Description(GENERAL, NO_FILL, NON_UNIT)
        arguments = self.describe(csr, **options)
        _done(getattr(mkl, f"mkl_sparse_{letter}_create_{self.layout}")(ctypes.byref(self.handle), 0, *arguments))
        weakref.finalize(self, mkl.mkl_sparse_destroy, self.handle)
        _done(mkl.mkl_sparse_set_mv_hint(self.handle, OPERATION, self.description, PRODUCTS))
        _done(mkl.mkl_sparse_set_memory_hint(self.handle, AGGRESSIVE))
        _done(mkl.mkl_sparse_optimize(self.handle))
        self.product, self.factor = getattr(mkl, f"mkl_sparse_{letter}_mv"), FACTOR[self.dtype.name]

    layout: str  # as the names of MKL's functions have it

    def describe(self, csr):
        """Fill `arrays`, of row offsets, columns and values, and return what MKL's function takes of them."""
        raise NotImplementedError

    def pointers(self):
        """Return the addresses of the rows' begins and ends, of columns and values."""
        offsets, columns, values = (array.ctypes.data for array in self.arrays.values())
        return [ctypes.c_void_p(each) for each in (offsets, offsets + 4, columns, values)]

    def multiply(self, x, y, alpha=1.0, beta=0.0):
        alpha, beta = self.factor(alpha), self.factor(beta)
        x, y = (ctypes.c_void_p(array.ctypes.data) for array in (x, y))
        _done(self.product(OPERATION, alpha, self.handle, self.description, x, beta, y))


def _done(status: int) -> None:
    if status:
        raise RuntimeError(f"MKL's sparse products say status {status}")
