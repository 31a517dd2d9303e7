"""Graphs and matrices that the multigrid's tests go through."""

import functools
import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import patch_matrix
from kernels.device import BACKENDS, Unavailable, open_device, sanitized


def with_idle_slots_apart(device, packed):
    """Give the padding of each row a slot of its own, where all rows of a patch write to one, which none reads."""
    if packed.inside != "half":
        return packed
    headers, slices, columns = (np.array(device.to_host(a)) for a in (packed.headers, packed.slices, packed.columns))
    for patch in headers:
        begin = slices[patch[patch_matrix.FIRST_SLICE], 0]
        last = patch[patch_matrix.FIRST_SLICE] + -(-patch[patch_matrix.ROWS] // patch_matrix.SLICE) - 1
        lanes = patch[patch_matrix.ROWS] - patch_matrix.SLICE * (last - patch[patch_matrix.FIRST_SLICE])
        mine = columns[begin : slices[last, 0] + slices[last, 1] * lanes]
        idle = mine >> 16 == patch[patch_matrix.SLOTS]
        mine[idle] += (mine[idle] & 0xFFFF) << 16
    most = packed.most_slots + packed.block
    return replace(packed, columns=device.array(columns), most_slots=most)


@pytest.fixture
def idle_slots_apart():
    return with_idle_slots_apart


@pytest.fixture(autouse=True)
def watched(monkeypatch, request):
    """Under compute-sanitizer, which takes writes that nobody reads for races, too; tests of packing see them."""
    if os.environ.get(sanitized.VARIABLE) == "memory" and request.path.stem != "test_patch_matrix":
        pack = patch_matrix.pack
        monkeypatch.setattr(
            patch_matrix, "pack", lambda device, *a, **k: with_idle_slots_apart(device, pack(device, *a, **k))
        )


@pytest.fixture(scope="session")
def devices():
    """Return every device that is here."""
    found = []
    for name in BACKENDS:
        try:
            found.append(open_device(name))
        except Unavailable:
            continue
    return found


def laplacian(ends, n, shift):
    """The graph Laplacian of edges, its diagonal raised by `shift`."""
    a, b = np.asarray(ends)
    weights = scipy.sparse.coo_matrix((np.ones(a.size), (a, b)), (n, n)).tocsr()
    weights = ((weights + weights.T) > 0).astype(float)
    weights.setdiag(0)
    weights.eliminate_zeros()
    return (scipy.sparse.diags(np.asarray(weights.sum(axis=1)).ravel() + shift) - weights).tocsr()


def drawn(seed, n, edges):
    return np.random.default_rng(seed).integers(0, n, (2, edges))


def grid(n, shift):
    index = np.arange(n**3).reshape(n, n, n)
    sides = [(index[1:], index[:-1]), (index[:, 1:], index[:, :-1]), (index[:, :, 1:], index[:, :, :-1])]
    return laplacian(np.hstack([[a.ravel(), b.ravel()] for a, b in sides]), n**3, shift)


SHIFT = 0.01
MATRICES = {
    "grid": lambda: grid(11, SHIFT),
    "path": lambda: laplacian([np.arange(1999), np.arange(1, 2000)], 2000, SHIFT),
    "star": lambda: laplacian([np.zeros(1500, int), np.arange(1, 1501)], 1501, SHIFT),
    "random": lambda: laplacian(drawn(0, 1500, 4000), 1500, SHIFT),
    "ragged": lambda: laplacian([(np.random.default_rng(1).pareto(1, 8000) * 3).astype(int) % 1500,
                                 drawn(2, 1500, 8000)[0]], 1500, SHIFT),
    "parts": lambda: scipy.sparse.block_diag([grid(7, SHIFT), laplacian(drawn(3, 400, 900), 400, SHIFT),
                                              2 * scipy.sparse.eye(150), laplacian([[0], [1]], 2, SHIFT)]).tocsr(),
    "diagonal": lambda: scipy.sparse.diags(np.linspace(1, 2, 900)).tocsr(),
}  # fmt: skip


@pytest.fixture(scope="session")
def make_matrix():
    """Return a function from a name in MATRICES to a symmetric positive definite CSR matrix with sorted columns."""

    @functools.cache
    def make(name):
        matrix = MATRICES[name]()
        matrix.sum_duplicates()
        return matrix

    return make


@pytest.fixture(params=list(MATRICES))
def matrix(request, make_matrix):
    return make_matrix(request.param)


@pytest.fixture(scope="session")
def helmholtz(perturbed_cube):
    """Return a function that assembles -Δu + u on a cube of n³ small cubes of linear tetrahedra."""
    from baselines.assembly import coordinates
    from kernels.assembly.problem import Problem

    @functools.cache
    def make(n):
        points, cells = perturbed_cube(n)
        matrix, _ = coordinates.assemble(Problem(points * 4 / n, cells, mass=1.0))
        matrix.sort_indices()
        return matrix

    return make


@pytest.fixture
def graph_on():
    """Return a function that puts the pattern of a SciPy matrix on a device."""
    from kernels.amg.arrays import Csr

    def make(device, matrix, weights=False):
        offsets, columns = (device.array(a.astype(np.int32)) for a in (matrix.indptr, matrix.indices))
        given = device.array(matrix.data.astype(np.int32)) if weights else None
        return Csr(matrix.shape, offsets, columns, weights=given)

    return make
