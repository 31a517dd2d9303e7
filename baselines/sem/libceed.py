"""libCEED's operator for Poisson's equation through its C interface, where the library is installed.

Its gallery has the pointwise functions, so that nothing has to be compiled here. Nodes and points of quadrature are the
same, as in the operator of ``kernels.sem``. The library is found as the system finds it, or by ``LIBCEED``, its path.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import weakref

import numpy as np

from repro import Skip

LIBRARIES = ("libCEED",)
REMEDY = "install libCEED, and name its libceed.so by LIBCEED where the system does not find it"
RESOURCES = {"cuda": ("/gpu/cuda/gen", "/gpu/cuda/shared"), "host": ("/cpu/self",)}
HOST, DEVICE, COPY, SHARE, LOBATTO = 0, 1, 0, 1, 1  # of the enumerations of ceed/types.h
TENSOR = [0, 1, 3, 2, 4, 5, 7, 6]  # meshio's vertices of a hexahedron, the first axis fastest


def load() -> ctypes.CDLL:
    """Return the library; Skip where there is none."""
    name = os.environ.get("LIBCEED") or ctypes.util.find_library("ceed")
    if not name:
        raise Skip("libCEED is not installed", REMEDY)
    os.environ.setdefault("CEED_ERROR_HANDLER", "store")  # or it ends the process where a back end is missing
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise Skip(f"libCEED does not load: {error}", REMEDY) from None


def version() -> str:
    """Return the library's version; empty where there is none."""
    try:
        library = load()
    except Skip:
        return ""
    numbers = [ctypes.c_int() for _ in range(3)]
    library.CeedGetVersion(*map(ctypes.byref, numbers), ctypes.byref(ctypes.c_bool()))
    return ".".join(str(number.value) for number in numbers)


class Product:
    """y = A x, from assembled to assembled vector, no node fixed, in double precision.

    Parameters
    ----------
    points : (vertices, 3) float64
    cells : (elements, 8) int
        In meshio's order.
    order : int
    table : (elements, (n + 1)³) int
        Global number of every local node.
    nodes : int
    backend : {'cuda', 'host'}
        Where x and y lie, as CuPy's or NumPy's arrays.

    Attributes
    ----------
    resource : str
        The back end of libCEED that was there.

    Raises
    ------
    Skip
        Where libCEED is not installed, or not for this device.
    """

    def __init__(self, points, cells, order: int, table, nodes: int, backend: str):
        self._library, self._kept, self._objects = load(), [], []
        self._ceed, self.resource = self._opened(backend)
        # At the end of the process the device may be gone before this.
        weakref.finalize(self, _destroyed, self._library, self._ceed, self._objects).atexit = False
        self._memory = DEVICE if backend == "cuda" else HOST
        elements, q = len(cells), order + 1
        places = self._vector(3 * len(points))
        corners = np.ascontiguousarray(points, float)
        self._do("CeedVectorSetArray", places, HOST, COPY, _pointer(corners))
        size = ctypes.c_ssize_t
        of_places = self._made(
            "CeedElemRestrictionCreate", elements, 8, 3, 1, size(3 * len(points)), HOST, COPY,
            _pointer(np.ascontiguousarray(3 * np.asarray(cells)[:, TENSOR], "int32")),
        )  # fmt: skip
        of_nodes = self._made(
            "CeedElemRestrictionCreate", elements, q**3, 1, 1, size(nodes), HOST, COPY,
            _pointer(np.ascontiguousarray(table, "int32")),
        )  # fmt: skip
        strides = self._constant("CEED_STRIDES_BACKEND", address=True)
        of_data = self._made(
            "CeedElemRestrictionCreateStrided", elements, q**3, 6, size(6 * q**3 * elements), strides
        )  # fmt: skip
        trilinear = self._made("CeedBasisCreateTensorH1Lagrange", 3, 3, 2, q, LOBATTO)
        basis = self._made("CeedBasisCreateTensorH1Lagrange", 3, 1, q, q, LOBATTO)
        none, active, no_basis = map(self._constant, ("CEED_VECTOR_NONE", "CEED_VECTOR_ACTIVE", "CEED_BASIS_NONE"))
        nowhere = self._constant("CEED_ELEMRESTRICTION_NONE")
        data = self._vector(6 * q**3 * elements)
        build = self._operator("Poisson3DBuild", {
            b"dx": (of_places, trilinear, active), b"weights": (nowhere, trilinear, none),
            b"qdata": (of_data, no_basis, active),
        })  # fmt: skip
        self._apply(build, places, data)
        self._product = self._operator("Poisson3DApply", {
            b"du": (of_nodes, basis, active), b"qdata": (of_data, no_basis, data), b"dv": (of_nodes, basis, active),
        })  # fmt: skip
        self._x, self._y = self._vector(nodes), self._vector(nodes)

    def multiply(self, x, y) -> None:
        """Compute y = A x, or enqueue it."""
        for vector, array in ((self._x, x), (self._y, y)):
            at = array.data.ptr if self._memory == DEVICE else array.ctypes.data
            self._do("CeedVectorSetArray", vector, self._memory, SHARE, ctypes.c_void_p(at))
        self._apply(self._product, self._x, self._y)
        self._do("CeedVectorSyncArray", self._y, self._memory)

    def _opened(self, backend):
        for resource in RESOURCES[backend]:
            ceed = ctypes.c_void_p()
            if not self._library.CeedInit(resource.encode(), ctypes.byref(ceed)):
                return ceed, resource
        raise Skip(f"libCEED was built without {' and '.join(RESOURCES[backend])}", REMEDY)

    def _operator(self, name, fields):
        function = self._made("CeedQFunctionCreateInteriorByName", name.encode())
        no_function = self._constant("CEED_QFUNCTION_NONE")
        operator = self._made("CeedOperatorCreate", function, no_function, no_function)
        for field, (restriction, basis, vector) in fields.items():
            self._do("CeedOperatorSetField", operator, field, restriction, basis, vector)
        return operator

    def _apply(self, operator, x, y):
        self._do("CeedOperatorApply", operator, x, y, self._constant("CEED_REQUEST_IMMEDIATE"))

    def _vector(self, size):
        return self._made("CeedVectorCreate", ctypes.c_ssize_t(size))

    def _constant(self, name, address=False):
        found = ctypes.c_void_p.in_dll(self._library, name)
        return ctypes.c_void_p(ctypes.addressof(found)) if address else found

    def _made(self, name, *arguments):
        made = ctypes.c_void_p()
        self._do(name, self._ceed, *arguments, ctypes.byref(made))
        self._kept.append(arguments)
        self._objects.append((f"{name.partition('Create')[0]}Destroy", made))
        return made

    def _do(self, name, *arguments):
        if code := getattr(self._library, name)(*arguments):
            raise RuntimeError(f"{name} of libCEED returned {code}")


def _destroyed(library, ceed, objects):
    """Give back what was made, the last first: each holds on to what it was made of, and all of them to the library."""
    for name, made in [("CeedDestroy", ceed), *objects][::-1]:
        getattr(library, name)(ctypes.byref(made))


def _pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)  # which keeps the array
