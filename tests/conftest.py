"""Parts that tests in several folders share: a cache of their own, meshes, scikit-fem as an independent assembler."""

import gc
import os

import numpy as np
import pytest
import scipy.sparse


def pytest_collection_finish():
    """Leave the tests themselves out of collections: each timed sample begins with one."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def repro_cache(tmp_path_factory):
    """A cache that no user's run has touched, shared by parallel workers: they build kernels and meshes once.

    Runs that shall share one, as `make races` makes them, name it by REPRO_TEST_CACHE.
    """
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "repro-cache"
    folder = os.environ.get("REPRO_TEST_CACHE", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def openmp(repro_cache):
    """Return the C back end's device; skip what needs it where it is not."""
    from kernels.device import Unavailable, open_device

    try:
        return open_device("openmp")
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def perturbed_cube():
    """Return a function that makes a cube of n³ small cubes, six tetrahedra each, with inner and outer nodes moved."""

    def make(n, seed=0):
        from datasets import structured

        points, cells = structured.kuhn(n, size=float(n))
        points = points + np.random.default_rng(seed).uniform(-0.12, 0.12, points.shape)
        edges = points[cells[:, 1:]] - points[cells[:, :1]]
        assert np.linalg.det(edges).min() > 0
        return points, cells

    return make


@pytest.fixture(scope="session")
def by_scikit_fem():
    """Return a function that assembles a problem by scikit-fem: full CSR matrix and right-hand side."""
    from skfem import Basis, BilinearForm, ElementTetP0, ElementTetP1, LinearForm, MeshTet
    from skfem.helpers import dot, grad

    @BilinearForm
    def helmholtz(u, v, w):
        return w.sigma * dot(grad(u), grad(v)) + w.mass * u * v

    @LinearForm
    def load(v, w):
        return w.f * v

    def assemble(problem):
        used, cells = np.unique(problem.cells, return_inverse=True)
        mesh = MeshTet(problem.points[used].T.copy(), cells.reshape(-1, 4).T.copy())
        basis = Basis(mesh, ElementTetP1(), intorder=2)
        sigma = np.ones(problem.elements) if problem.conductivity is None else problem.conductivity
        f = np.ones(problem.nodes) if problem.source is None else problem.source
        sigma = basis.with_element(ElementTetP0()).interpolate(sigma)
        matrix = helmholtz.assemble(basis, sigma=sigma, mass=problem.mass).tocoo()
        size = problem.nodes
        matrix = scipy.sparse.coo_array((matrix.data, (used[matrix.row], used[matrix.col])), shape=(size, size))
        rhs = np.zeros(size)
        rhs[used] = load.assemble(basis, f=basis.interpolate(f[used]))
        return matrix.tocsr(), rhs

    return assemble


@pytest.fixture(scope="session")
def pattern_by_scipy():
    """Return a function from cells to the sorted CSR pattern, by the product of the incidence matrix with itself."""

    def make(cells, nodes):
        elements = np.repeat(np.arange(len(cells)), cells.shape[1])
        incidence = scipy.sparse.csr_array((np.ones(cells.size), (cells.ravel(), elements)), (nodes, len(cells)))
        pattern = (incidence @ incidence.T + scipy.sparse.eye_array(nodes)).tocsr()
        pattern.sort_indices()
        return pattern.indptr, pattern.indices

    return make


@pytest.fixture(scope="session")
def assert_same_system():
    """Return a function that compares two systems, relative to the largest entry of matrix and right-hand side."""

    def check(ours, theirs, tolerance=1e-12):
        for found, expected in zip(ours, theirs, strict=True):
            gap = abs(found - expected).max()
            assert gap <= tolerance * abs(expected).max(), f"off by {gap / abs(expected).max():.2g} of the largest"

    return check
