"""The local preconditioner P^f: overlapping Schwarz with solves by fast diagonalisation (remacle2016, section 4.2).

Every subdomain is taken for a box of (n + 3)³ nodes whose edges are the mean lengths of the element's, and all share
the modes of one pencil: an element with one node of its neighbours at each end, fixed at the node after that. Nodes
beyond the boundary or without a regular neighbour, and fixed ones, read as zero. The solve's values there are dropped.
The paper's table of nodes leaves room for this.

On an H200 the additions at the nodes bind, which L2 does one by one; gathered, a node's places lie apart. Solves alone
at order 3 on an H100 wait for memory: loads and stores by the table take most of the time, since table and results do
not both stay in L2. Notes: docs/notes/sem.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.linalg

from kernels.sem import operations
from kernels.sem.gather import Gather
from kernels.sem.geometry import coefficients
from kernels.sem.gll import rule
from kernels.sem.layout import Layout, lanes
from kernels.sem.overlap import subdomains
from repro import Work

SOURCE, LOOPS, HALO = (Path(__file__).with_name(name) for name in ("schwarz.c", "schwarz_loops.c", "halo.c"))
BLOCK = 256  # of the kernels of halo.c
THREADS = 128  # wanted in a block of schwarz.c: subdomains are added until there are so many
REAL = {"float64": "double", "float32": "float"}


def pencil(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the modes of the paper's pencil (equation 10 and Figure 2), the even ones first.

    Returns
    -------
    eigenvalues : (n + 3,) float64
        λ of K v = λ M v.
    modes : (n + 3, n + 3) float64
        S, a mode a column, with Sᵀ M S = 1; S[n + 2 - i, d] is S[i, d] for the first modes, then -S[i, d].
    """
    q, n = order + 3, order
    _, weights, derivative = rule(order)
    d = (derivative.T * weights) @ derivative
    stiffness, mass = np.zeros((q, q)), np.zeros(q)
    stiffness[1:-1, 1:-1], mass[1:-1] = d, weights
    for end, inner in ((0, 1), (q - 1, q - 2)):  # what the neighbour adds at the element's end, and its first node
        stiffness[inner, inner] += d[0, 0]
        stiffness[end, end], mass[end] = d[1, 1], weights[1]
        stiffness[end, inner] = stiffness[inner, end] = d[0, 1]
        mass[inner] += weights[0]
    if n == 1:  # its only inner node is the other end, where its own neighbour begins
        for end in (0, q - 1):
            stiffness[end, end], mass[end] = 2 * d[1, 1], 2 * weights[1]
    half, even = q // 2, q - q // 2
    mirrored = np.eye(q)[::-1]
    values, modes = [], []
    for sign, count in ((1, even), (-1, half)):
        # An orthonormal basis of the vectors of this symmetry.
        basis = np.linalg.svd(np.eye(q) + sign * mirrored)[0][:, :count]
        value, vector = scipy.linalg.eigh(basis.T @ stiffness @ basis, basis.T @ (mass[:, None] * basis))
        vector = basis @ vector
        values.append(value)
        modes.append((vector + sign * vector[::-1]) / 2)
    return np.concatenate(values), np.concatenate(modes, axis=1)


def defines(order: int, dtype: str, subdomains: int, adds: str | None = None, scaled: bool = False) -> dict:
    """Return the macros of a build of ``schwarz.c``.

    `adds` is the type of the assembled vectors that it reads and adds to; None for parts.
    """
    numbers = ", ".join(f"(real){value!r}" for value in pencil(order)[1].ravel().tolist())
    q = order + 3
    outer = REAL[adds or dtype]
    return {
        "real": REAL[dtype], "outer": outer, "added": outer, "Q": q, "PITCH": q | 1, "ELEMENTS": subdomains,
        "BASIS": numbers, "ADDS": adds is not None, "SCALED": scaled,
    }  # fmt: skip


def setting(
    order: int, dtype: str, is_gpu: bool, adds: str | None = None, scaled: bool = False
) -> tuple[Path, int, dict]:
    """Return the source, the threads of a block and the macros for a device."""
    if not is_gpu:
        return LOOPS, 1, defines(order, dtype, lanes(order + 3, dtype), adds, scaled)
    pencils = (order + 3) ** 2
    subdomains = max(1, THREADS // pencils)
    return SOURCE, -(-subdomains * pencils // 32) * 32, defines(order, dtype, subdomains, adds, scaled)


def by_atomics(device) -> bool:
    """Return whether atomics are what subdomains are added up by on a device, if nothing else is asked for."""
    return device.backend == "cuda"


def halo(dtype: str, outer: str, weighted: bool) -> tuple:
    """Return the build of the kernels beside the solves, for vectors of `dtype` beside the operator's of `outer`."""
    defines_ = {"real": REAL[dtype], "outer": REAL[outer], "WEIGHTED": int(weighted), "MIN_BLOCKS": 1}
    return HALO, BLOCK, defines_


BUILDS = [
    setting(order, dtype, is_gpu)
    for order, dtype, is_gpu in (
        (1, "float64", True), (3, "float32", True), (7, "float32", True), (15, "float64", True), (2, "float32", False),
        (4, "float64", False),
    )
] + [setting(3, "float32", is_gpu, "float64", True) for is_gpu in (True, False)] + [
    halo(dtype, outer, weighted)
    for dtype, outer, weighted in (("float32", "float64", True), ("float32", "float32", False),
                                   ("float64", "float64", True))
]  # fmt: skip


def boxes(points, cells, kappa, mass, xp=np):
    """Return what the solves need of each element: (elements, 4) float64.

    The first three are κ times the quotient of the box's sides, h_y h_z / (2 h_x) and so on; the last is c times the
    eighth of its volume. h are the mean lengths of the four edges along ξ, η and ζ.
    """
    c = coefficients(points, cells, xp)
    lengths = []
    for axis in range(3):
        # The derivative along ξ of the trilinear map is linear in η and ζ: its values on the four edges.
        linear = [term for term in range(4, 7) if axis in _AXES[term]]
        both = c[:, 1 + axis, :]
        edges = [
            both + s * c[:, linear[0], :] + t * c[:, linear[1], :] + s * t * c[:, 7, :]
            for s in (-1, 1)
            for t in (-1, 1)
        ]
        lengths.append(sum(2 * xp.sqrt((edge**2).sum(axis=1)) for edge in edges) / 4)
    h = xp.stack(lengths, axis=1)
    volume = h.prod(axis=1)
    quotients = volume[:, None] / (2 * h**2) * kappa[:, None]
    return xp.concatenate([quotients, (mass * volume / 8)[:, None]], axis=1)


_AXES = {4: (0, 1), 5: (0, 2), 6: (1, 2)}  # of the monomials ξη, ξζ, ηζ


class Schwarz:
    """z = P^f r, the sum over subdomains of the local solves.

    Parameters
    ----------
    operator : kernels.sem.stiffness.Operator
        Whose nodes, and fixed nodes, these are.
    points : (vertices, 3) float64
    cells : (elements, 8) int
    fixed : (nodes,) bool array of the device's namespace, or None
    kappa, mass : float or (elements,) array
        κ and c.
    dtype : {'float32', 'float64'}
        Of the solves; r and z are of the operator's.
    adds : bool, optional
        Add the subdomains' values to the assembled vector by atomics, without a vector of theirs; else gather them, the
        same bits every time. By default on CUDA, where that is faster at every order.
    weighted : bool
        Divide what goes to a subdomain and what comes back by the root of the number of subdomains at each node. The
        paper's is the plain sum. With the coarse space the weights save iterations (docs/notes/sem.md).
    table : (elements, (n + 3)³) int32 array of the namespace, optional
        The paper's I^p, of `subdomains`, where it has been made.

    Attributes
    ----------
    layout : Layout
        Of the subdomains' vectors.
    maps : Gather
        Its ``table`` is the paper's I^p, and ``offsets`` and ``places`` lead back.
    """

    def __init__(
        self, operator, points, cells, fixed=None, kappa=1.0, mass=0.0, dtype="float32", weighted=False,
        adds=None, table=None,
    ):  # fmt: skip
        device, order, xp = operator.device, operator.order, operator.device.xp
        self.device, self.order, self.dtype, self.nodes = device, order, np.dtype(dtype), operator.nodes
        self.elements, self._outer = operator.elements, operator.dtype
        points, cells = xp.asarray(points), xp.asarray(cells)
        if table is None:
            table = subdomains(xp.asarray(operator.numbering.table), order, fixed, xp)
        self.adds = by_atomics(device) if adds is None else adds
        self._setting = order, dtype, device.is_gpu
        source, _, macros = setting(*self._setting)
        self.layout = Layout(self.elements, order + 3, macros["ELEMENTS"], interleaved=source == LOOPS)
        self.maps = Gather(device, table, self.nodes, self.layout, dtype)
        coefficients_ = [xp.broadcast_to(xp.asarray(v, dtype="float64"), (self.elements,)) for v in (kappa, mass)]
        sizes = boxes(points, cells, *coefficients_, xp)
        filling = xp.repeat(sizes[-1:], self.layout.groups * self.layout.group - self.elements, axis=0)
        self._boxes = device.array(xp.concatenate([sizes, filling]).reshape(-1), self.dtype)
        self._eigenvalues = device.array(pencil(order)[0], self.dtype)
        self._kernels = {}
        self._weighted, self._copies = weighted, not self.adds and (weighted or self._outer != self.dtype)
        self._x = device.empty(self.nodes if self._copies else 0, self.dtype)
        self._parts = device.empty(0 if self.adds else self.layout.size, self.dtype)
        self._weights = None
        if self.adds and weighted:
            self._weights = device.array(xp.maximum(self.maps.uses(), 1) ** -0.5, self.dtype)
        elif not self.adds:
            self._halo = device.build(*halo(dtype, self._outer.name, weighted))

    def apply(self, r, z) -> None:
        """Enqueue z = P^f r."""
        if self.adds:
            self.device.fill(z, 0.0)
            self._solve(r, z, self._outer.name, self._weighted)
            return
        grid, x = -(-self.nodes // BLOCK), r
        if self._copies:
            x = self._x
            self._halo.spread(grid, self.nodes, self.maps.offsets, r, x)
        self._solve(x, self._parts)
        self._halo.collect(grid, self.nodes, self.maps.offsets, self.maps.places, self._parts, z)

    def solve_local(self, x, parts) -> None:
        """Enqueue the solves alone, the paper's kernel z: from an assembled vector to the subdomains' vector."""
        self._solve(x, parts)

    def _solve(self, x, parts, *adding) -> None:
        if adding not in self._kernels:
            source, block, macros = setting(*self._setting, *adding)
            self._kernels[adding] = self.device.build(source, block=block, defines=macros).schwarz
        vectors = self._boxes, self._eigenvalues, x, parts, self._weights
        self._kernels[adding](self.layout.groups, self.maps.table, *vectors)

    def local_work(self) -> Work:
        """Return the least work of `solve_local`: table and result once, the assembled vector once.

        Operations are counted as executed: see `kernels.sem.operations`.
        """
        q, size = self.order + 3, self.dtype.itemsize
        memory = self.elements * ((4 + size) * q**3 + 4 * size) + size * self.nodes
        return Work(memory, self.elements * operations.schwarz(self.order), self.dtype.name)

    def work(self) -> Work:
        """Return the least work of `apply`: besides the solves both vectors once, and the parts and their places.

        By atomics there are no parts: the sums are written once, and weights are read once.
        """
        local, size, outer = self.local_work(), self.dtype.itemsize, self._outer.itemsize
        entries = self.maps.entries
        if self.adds:
            memory = local.bytes - size * self.elements * (self.order + 3) ** 3 + (2 * outer - size) * self.nodes
            memory += size * self.nodes if self._weighted else 0
        else:
            memory = local.bytes + (4 + size) * entries + (4 + outer) * self.nodes
        if self._copies:
            memory += (4 + outer + size) * self.nodes
        return Work(memory, local.flops + entries, self.dtype.name)
