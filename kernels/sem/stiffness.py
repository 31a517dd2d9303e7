"""The operator of spectral elements on hexahedra: -∇·(κ∇u) + c u, collocated on GLL points, without a matrix.

On an H200 memory binds at low orders in double precision. At high orders threads take a pencil along each axis in turn,
which needs few registers and reads little of shared memory, so that many warps are there (pencils.c). At the orders
between these, factors have to be loaded early: copies ahead to shared memory (stages.h) gain there, prefetches into
L2, or a slab ahead into registers, nothing. Recomputed factors go by tensor cores where their tiles are full, at low
orders by threads of whole rows. Notes, with what was tried: docs/notes/sem.md.

Where it is not as fast as it should be:

- n = 6 in double precision: its slabs of 49 nodes begin within a sector of 32 bytes.
- From assembled to assembled vector in double precision on an H100: at n = 7 reading is behind its bound, and nodes
  on surfaces cost more than their bytes, added or stored; at n = 9 nodes inside elements do, and atomics.
- Recomputed at n = 3 and 4: registers for rows leave room for few warps.
- Through OpenCL the same source is slower than CUDA at low orders. The cause has not been tested: kernels that use no
  copies ahead are slower there, too.
- Where a device gives a block too little shared memory for an element, as NVIDIA's OpenCL from n = 12 on in double
  precision, there is no operator.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels.device import sanitized
from kernels.sem import gather, operations
from kernels.sem import geometry as shapes
from kernels.sem.gather import Gather
from kernels.sem.gll import rule
from kernels.sem.layout import Layout
from kernels.sem.numbering import number_nodes
from kernels.sem.shapes import Shape, distances, tuned
from repro import Work

BODIES = ("stiffness.c", "tensor.cu", "rows.c", "pencils.c", "loops.c")
SOURCES = {path.stem: path for path in map(Path(__file__).with_name, BODIES)}
GEOMETRIES = ("stored", "trilinear", "affine")
CONSTANTS = {"stored": 0, "trilinear": 23, "affine": 7}
REAL = {"float64": "double", "float32": "float"}


def defines(order: int, dtype: str, geometry: str, has_mass: bool, shape: Shape, output: str = "parts") -> dict:
    """Return the macros of a build of ``stiffness.c``."""
    points, weights, derivative = rule(order)
    macros = {
        "real": REAL[dtype], "Q": order + 1, "ELEMENTS": shape.elements, "PADDING": shape.padding,
        "PENCILS": shape.pencils, "STAGES": shape.stages, "GEOMETRY": geometry.upper(), "HAS_MASS": has_mass,
        "OUTPUT": f"TO_{output.upper()}",
        "COMPONENTS": 7 if has_mass else 6, "CONSTANTS": CONSTANTS[geometry],
        "DERIVATIVE": _list(derivative), "WEIGHTS": _list(weights), "POINTS": _list(points),
    }  # fmt: skip
    if shape.body == "pencils":
        pitch, slab = distances(order + 1)
        macros |= {"PITCH": pitch, "SLAB": slab, "FOLDED": _list(_folded(derivative))}
    if os.environ.get(sanitized.VARIABLE) == "memory":
        # racecheck objects to tensor.cu's copies of 16 bytes at n = 7 and 15. It does not object to a kernel of a few
        # lines that does the same, with one stage or two.
        macros["SANITIZED"] = 1
    return macros | ({"MIN_BLOCKS": shape.min_blocks} if shape.min_blocks else {})


def fast(device) -> str:
    """Return the output of the faster product on a device: see `Operator.multiply_fast`."""
    return "nodes" if device.backend == "cuda" else "both"


def _folded(derivative):
    """Return the numbers of `derivative` that even and odd pencils meet, as pencils.c has them side by side."""
    half, opposite = len(derivative) // 2, derivative[:, ::-1]
    both = np.stack([derivative + opposite, derivative - opposite], axis=-1) / 2
    across = np.stack([derivative[:half, half], derivative[half, :half]], axis=-1)
    corner = np.array([opposite[0, 0] - derivative[0, 0], -opposite[0, 0] - derivative[0, 0]]) / 2
    return np.concatenate([both[:half, :half].ravel(), across.ravel(), corner])


def _list(values):
    return ", ".join(f"(real){value!r}" for value in np.ravel(values).tolist())


def _builds():
    for order, dtype, geometry, has_mass, output, shape in (
        (1, "float64", "stored", False, "parts", Shape(8)),
        (3, "float32", "stored", True, "nodes", Shape(8, padding=1)),
        (6, "float64", "stored", True, "both", Shape(2, pencils=2)),
        (7, "float64", "trilinear", True, "parts", Shape(1, pencils=2)),
        (7, "float32", "affine", True, "both", Shape(2)),
        (11, "float64", "stored", False, "parts", Shape(1, stages=3)),
        (6, "float32", "stored", True, "both", Shape(2, pencils=2, stages=2)),
        (15, "float64", "trilinear", False, "nodes", Shape(1)),
        (6, "float64", "trilinear", True, "parts", Shape(2, body="tensor")),
        (7, "float64", "stored", True, "nodes", Shape(4, body="tensor")),
        (11, "float64", "stored", False, "both", Shape(1, stages=2, body="tensor")),
        (6, "float64", "stored", True, "nodes", Shape(2, stages=3, body="tensor")),
        (15, "float64", "affine", True, "parts", Shape(1, body="tensor")),
        (3, "float64", "trilinear", True, "nodes", Shape(8, min_blocks=10, body="rows")),
        (2, "float32", "affine", True, "both", Shape(21, body="rows")),
        (9, "float64", "trilinear", True, "both", Shape(2, body="pencils")),
        (10, "float32", "stored", True, "nodes", Shape(1, body="pencils")),
        (11, "float64", "affine", False, "parts", Shape(1, min_blocks=4, body="pencils")),
        (2, "float64", "stored", True, "nodes", Shape(8, body="loops")),
        (5, "float32", "trilinear", True, "both", Shape(16, body="loops")),
        (3, "float64", "affine", False, "parts", Shape(4, body="loops")),
    ):
        macros = defines(order, dtype, geometry, has_mass, shape, output)
        yield SOURCES[shape.body], shape.block(order + 1), macros


BUILDS = list(_builds())


class Operator:
    """A x for the problem c u - ∇·(κ∇u) on a hexahedral mesh.

    Parameters
    ----------
    device : kernels.device.Device
    points : (vertices, 3) float64
    cells : (elements, 8) int
        Vertices in meshio's order, positively oriented.
    order : int
        The paper's n, 1 to 15.
    dtype : {'float64', 'float32'}
    geometry : {'stored', 'trilinear', 'affine'}
        Metric factors stored at every node (the paper's r), recomputed from the vertices (its r'), or constant in each
        element, which is then a parallelepiped.
    kappa : float or (elements,) array
        κ > 0, which nothing checks.
    mass : float or (elements,) array, optional
        The paper's c; None for none, and then its factor is not stored.
    dirichlet : (nodes,) bool array, or 'boundary', optional
        Nodes whose value is fixed to zero: they read as zero, and their rows give zero.
    numbering : Numbering, optional
    coordinates : (elements, (n + 1)³, 3) float64, optional
        Of the GLL nodes of curved elements, for stored factors.
    shape : Shape, optional
        By default the tuned one.
    outputs : sequence of {'parts', 'both', 'nodes'}, optional
        Of `apply_local`, `multiply` and `multiply_atomic`: those whose kernels are built here, at once and beside the
        set-up. Others are built where they are first launched.

    Attributes
    ----------
    numbering : Numbering
    layout : Layout
        Of element vectors.
    maps : Gather

    Raises
    ------
    ValueError
        For an inverted element, or one that is no parallelepiped where it shall be.
    """

    def __init__(
        self, device, points, cells, order: int, *, dtype: str = "float64", geometry: str = "stored", kappa=1.0,
        mass=None, dirichlet=None, numbering=None, coordinates=None, shape: Shape | None = None,
        outputs=("parts",),
    ):  # fmt: skip
        if geometry not in GEOMETRIES:
            raise ValueError(f"geometry {geometry!r} is none of {', '.join(GEOMETRIES)}")
        xp = device.xp
        self.device, self.order, self.dtype, self.geometry = device, order, np.dtype(dtype), geometry
        self.has_mass, q = mass is not None, order + 1
        self._is_curved, self._vertices = coordinates is not None, len(points)
        points, cells = xp.asarray(points), xp.asarray(cells)
        self.numbering = number_nodes(cells, order, xp) if numbering is None else numbering
        shape = shape or tuned(order, dtype, geometry, device, self.has_mass)
        self.elements, self.nodes = len(cells), self.numbering.nodes
        self.layout = Layout(self.elements, q, shape.elements, interleaved=shape.body == "loops")
        self._shape, self._buffer = shape, None
        device.prepare([*map(self._build, outputs), gather.build(dtype)])
        table = xp.asarray(self.numbering.table)
        if dirichlet is not None:
            fixed = self.numbering.boundary if isinstance(dirichlet, str) else xp.asarray(dirichlet)
            table = xp.where(fixed[table], xp.int32(-1), table)
        self.maps = Gather(device, table, self.nodes, self.layout, dtype)
        coefficients = [xp.broadcast_to(xp.asarray(value, dtype="float64"), (self.elements,)) for value in
                        (kappa, 0.0 if mass is None else mass)]  # fmt: skip
        if geometry == "stored":
            data = _stored(self, points, cells, coordinates, *coefficients)
        elif coordinates is not None:
            raise ValueError("curved elements have no constants: their factors are stored")
        else:
            data = _constants(self, points, cells, *coefficients)
        self.data = device.array(data, self.dtype)
        points_, weights, derivative = rule(order)
        self.rule = device.array(np.concatenate([derivative.T.ravel(), weights, points_]), self.dtype)
        # With a fixed node inside an element, which no kernel writes, all are set to zero.
        written = dirichlet is None or isinstance(dirichlet, str) or not bool(fixed[self.numbering.surface :].any())
        self._added = self.numbering.surface if written else self.nodes
        self._kernels = {output: self._built(output) for output in outputs}

    def _build(self, output: str) -> tuple:
        shape = self._shape
        macros = defines(self.order, self.dtype.name, self.geometry, self.has_mass, shape, output)
        return SOURCES[shape.body], shape.block(self.order + 1), macros

    def _built(self, output: str):
        source, block, macros = self._build(output)
        return self.device.build(source, block=block, defines=macros).stiffness

    def _launch(self, output: str, x, parts, y) -> None:
        if output not in self._kernels:
            self._kernels[output] = self._built(output)
        self._kernels[output](self.layout.groups, self.maps.table, self.data, self.rule, x, parts, y)

    def apply_local(self, x, parts) -> None:
        """Enqueue parts = element vector of A times the assembled vector x, not yet summed."""
        self._launch("parts", x, parts, None)

    def multiply(self, x, y) -> None:
        """Enqueue y = A x, assembled to assembled, without atomics: the same bits every time.

        Nothing checks the lengths of x and y: shorter ones are read and written beyond their end. Values inside
        elements go straight to their place, values on surfaces through a surface vector.
        """
        if self._buffer is None:
            self._buffer = self.device.empty(self.layout.groups * self.layout.group * self.layout.surface, self.dtype)
        self._launch("both", x, self._buffer, y)
        self.maps.gather_surface(self._buffer, y)

    def multiply_atomic(self, x, y) -> None:
        """Enqueue y = A x in one kernel, with atomic adds where elements meet."""
        self.device.fill(y[: self._added], 0)
        self._launch("nodes", x, None, y)

    @property
    def multiply_fast(self):
        """The faster one: by atomics on CUDA, where they are at every order; else `multiply`."""
        return self.multiply_atomic if fast(self.device) == "nodes" else self.multiply

    def local_work(self) -> Work:
        """Return the least work of `apply_local`: factors, table and output once, the assembled vector once.

        Recomputed factors count the coordinates of the vertices; what the kernel loads in their place is a number less.
        The problem is the places of the vertices, of curved elements the places of the nodes, and the vectors, whatever
        the factors come from.
        """
        q, size = self.order + 1, self.dtype.itemsize
        factors = {"stored": self._components * size * q**3, "trilinear": 24 * size, "affine": 7 * size}[self.geometry]
        memory = self.elements * (factors + (4 + size) * q**3) + size * self.nodes
        problem = self._problem_bytes + size * (self.nodes + self.elements * q**3)
        return Work(memory, self.elements * self.operations, self.dtype.name, problem)

    def least_work(self) -> Work:
        """Return the least work of `multiply`: factors and table once, both assembled vectors once."""
        work, q = self.local_work(), self.order + 1
        size = self.dtype.itemsize
        problem = self._problem_bytes + 2 * size * self.nodes
        return Work(work.bytes + size * (self.nodes - self.elements * q**3), work.flops, work.precision, problem)

    @property
    def operations(self) -> int:
        """Operations that the kernel executes for an element."""
        count = operations.pencils if self._shape.body == "pencils" else operations.stiffness
        return count(self.order, self.geometry, self.has_mass)

    @property
    def _problem_bytes(self) -> int:
        return 3 * self.dtype.itemsize * (self.nodes if self._is_curved else self._vertices)

    @property
    def _components(self) -> int:
        return 7 if self.has_mass else 6


def _stored(operator, points, cells, coordinates, kappa, mass):
    """Return the factors in the layout [group][k][component][element][j][i], made a few elements at a time."""
    xp, order, layout = operator.device.xp, operator.order, operator.layout
    q, components = order + 1, operator._components
    shape = (layout.groups, q, components, layout.lanes)
    factors = xp.zeros(shape, dtype=operator.dtype)
    step = max(1, shapes.at_once(order, 1 << 20, xp) // layout.group)
    for begin in range(0, layout.groups, step):
        some = slice(begin * layout.group, min((begin + step) * layout.group, operator.elements))
        at = shapes.node_coordinates(points, cells[some], order, xp) if coordinates is None else coordinates[some]
        rows, volume = shapes.cofactors(at, order, xp)
        part = replace(layout, elements=len(at))
        fields = [*(shapes.metric(rows, volume, xp) * kappa[some, None])]
        if operator.has_mass:
            fields.append(volume * mass[some, None])
        for component, field in enumerate(fields):
            packed = part.pack(field.astype(operator.dtype), xp).reshape(part.groups, q, layout.lanes)
            factors[begin : begin + part.groups, :, component] = packed
    return factors.reshape(-1)


def _constants(operator, points, cells, kappa, mass):
    """Return the constants of every element; elements that fill up the last group repeat the last."""
    xp = operator.device.xp
    c = shapes.coefficients(points, cells, xp)
    if operator.geometry == "trilinear":
        shapes.check_volumes(points, cells, operator.order, xp)
        rows = xp.concatenate([c[:, 1:].reshape(-1, 21), kappa[:, None], mass[:, None]], axis=1)
    else:
        if not shapes.is_affine(c, xp):
            raise ValueError("an element is no parallelepiped: its factors are not constant")
        rows = shapes.affine_constants(c, kappa, mass, xp)
    missing = operator.layout.groups * operator.layout.group - operator.elements
    return xp.concatenate([rows, xp.repeat(rows[-1:], missing, axis=0)]).reshape(-1)
