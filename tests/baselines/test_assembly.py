"""The rivals in assembly against scikit-fem: they are the references of the kernels, so they need one of their own."""

import numba
import numpy as np
import pytest
import scipy.spatial

from baselines.assembly import coordinates, mapped, serial
from kernels.assembly.problem import Problem


def by_serial(problem, threads=1):
    launch, result = serial.prepare(problem, threads)
    launch()
    return result()


def by_mapped(problem):
    launch, result = mapped.prepare(problem)
    launch()
    return result()


RIVALS = {
    "serial": by_serial, "serial-threaded": lambda problem: by_serial(problem, 2), "mapped": by_mapped,
    "coordinates": coordinates.assemble,
}  # fmt: skip


@pytest.fixture(params=list(RIVALS))
def rival(request):
    return RIVALS[request.param]


@pytest.fixture
def mesh(perturbed_cube):
    points, cells = perturbed_cube(4)
    order = np.random.default_rng(0).permutation(len(points))
    return points[order], np.argsort(order)[cells].astype(np.int32)


@pytest.mark.parametrize("conductivity", [False, True])
@pytest.mark.parametrize("source", [False, True])
@pytest.mark.parametrize("mass", [0.37, 0.0])
def test_system(rival, mesh, conductivity, source, mass, by_scikit_fem, assert_same_system, pattern_by_scipy):
    points, cells = mesh
    random = np.random.default_rng(2)
    sigma = random.uniform(0.1, 9, len(cells)) if conductivity else None
    f = random.uniform(-1, 2, len(points)) if source else None
    problem = Problem(points, cells, sigma, mass, f)
    matrix, rhs = rival(problem)
    assert_same_system((matrix, rhs), by_scikit_fem(problem))
    row_offsets, column_indices = pattern_by_scipy(cells, len(points))
    assert np.array_equal(matrix.indptr, row_offsets) and np.array_equal(matrix.indices, column_indices)


def test_serial_does_not_accumulate_and_keeps_its_bits(mesh):
    launch, result = serial.prepare(Problem(*mesh))
    launch()
    first = [result()[0].data.copy(), result()[1].copy()]
    launch()
    assert np.array_equal(result()[0].data, first[0]) and np.array_equal(result()[1], first[1])


def star():
    """A node that all elements have, numbered in the middle, and nodes of no element on both sides of the others."""
    shell = np.random.default_rng(4).normal(size=(60, 3))
    shell /= np.linalg.norm(shell, axis=1)[:, None]
    faces = scipy.spatial.ConvexHull(shell).simplices
    inward = np.linalg.det(shell[faces]) < 0
    faces[inward] = faces[inward, ::-1]
    names = np.delete(np.arange(5, 66), 30)
    points = np.full((71, 3), 7.0)
    points[names], points[35] = shell, 0
    return points, np.column_stack([np.full(len(faces), 35), names[faces]]).astype(np.int32)


def single():
    """Fewer nodes than ranges."""
    return np.vstack([np.zeros(3), np.eye(3)]), np.array([[3, 2, 1, 0]], dtype=np.int32)


@pytest.mark.parametrize("shape", [None, star, single])
@pytest.mark.parametrize("loop", [mapped, serial])
@pytest.mark.parametrize("threads", [1, 2])
def test_loops_on_threads_have_the_bits_of_the_serial_loop(mesh, shape, loop, threads, assert_same_system):
    """Each row is one thread's, and sums its elements in their order."""
    points, cells = shape() if shape else mesh
    random = np.random.default_rng(5)
    sigma, f = random.uniform(0.1, 9, len(cells)), random.uniform(-1, 2, len(points))
    problem = Problem(points, cells, sigma, 0.37, f)
    matrix, rhs = by_serial(problem)
    assert_same_system((matrix, rhs), coordinates.assemble(problem))
    launch, result = loop.prepare(problem, threads)
    before = numba.get_num_threads()
    for _ in range(2):  # it does not accumulate
        launch()
        assert np.array_equal(result()[0].data, matrix.data) and np.array_equal(result()[1], rhs)
    assert numba.get_num_threads() == before


def test_serial_allocates_nothing_an_element(mesh):
    """A loop that asks for memory at each element is a rival of straw: half of its time went there."""
    from numba.core.runtime import _nrt_python, rtsys

    launch, _ = serial.prepare(Problem(*mesh))
    launch()
    was_on = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats().alloc
        launch()
        assert 0 < rtsys.get_allocation_stats().alloc - before < 50 < len(mesh[1])
    finally:
        if not was_on:
            _nrt_python.memsys_disable_stats()


def test_serial_takes_nodes_of_no_element(mesh):
    points, cells = mesh
    matrix, rhs = by_serial(Problem(np.vstack([points, [[7, 7, 7]]]), cells))
    assert matrix.shape == (len(points) + 1,) * 2 and rhs[-1] == 0
    assert matrix[[len(points)]].toarray().any() == 0 and matrix.indptr[-1] - matrix.indptr[-2] == 1


def test_placed_changes_nothing_on_the_host(mesh):
    problem = Problem(*mesh, source=np.arange(float(len(mesh[0]))))
    placed = coordinates.placed(problem)
    assert placed.points is problem.points and placed.cells is problem.cells and placed.source is problem.source
    assert placed.conductivity is None and placed.mass == problem.mass


@pytest.mark.cuda
def test_coordinates_on_the_device(mesh, by_scikit_fem, assert_same_system):
    cupy = pytest.importorskip("cupy")
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    problem = Problem(*mesh, source=np.arange(float(len(mesh[0]))))
    matrix, rhs = coordinates.assemble(coordinates.placed(problem, cupy), cupy, sparse)
    assert_same_system((matrix.get(), rhs.get()), by_scikit_fem(problem))
