"""Every method on every back end against scikit-fem, closed forms, and what happens at the limits."""

import importlib
import inspect

import numpy as np
import pytest

from datasets import quality, structured
from kernels import assembly
from kernels.assembly.local import LocalMatrices
from kernels.assembly.problem import Problem


@pytest.fixture(params=assembly.METHODS)
def method(request):
    return request.param


@pytest.fixture
def options(method):
    """Options that the method has."""
    prepare = importlib.import_module(f"kernels.assembly.{method}").prepare
    return set(inspect.signature(prepare).parameters) - {"device", "problem"}


def assembled(method, device, problem, **options):
    assembler = assembly.prepare(method, device, problem, **options)
    assembler.launch()
    return assembler.result()


def test_variable_coefficients(method, device, mesh_name, make_problem, assert_same_system):
    problem, expected = make_problem(mesh_name)
    matrix, rhs = assembled(method, device, problem)
    assert_same_system((matrix, rhs), expected)
    assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()


@pytest.mark.parametrize("conductivity", [True, False])
def test_rings_by_narrow_vectors(narrow, mesh_name, conductivity, make_problem, assert_same_system):
    problem, expected = make_problem(mesh_name, conductivity)
    assert_same_system(assembled("ring", narrow, problem), expected)


@pytest.mark.parametrize("case", ["graded", "unused node", "structured"])
def test_every_entry_of_the_pattern_is_there(method, device, case, make_problem, pattern_by_scipy):
    if case == "structured":  # without the mass, a third of the entries of Kuhn's cubes are exactly zero
        problem = Problem(*structured.kuhn(3), mass=0.0)
    else:
        problem, _ = make_problem(case)
    matrix, _ = assembled(method, device, problem)
    row_offsets, column_indices = pattern_by_scipy(problem.cells, problem.nodes)
    assert np.array_equal(matrix.indptr, row_offsets) and np.array_equal(matrix.indices, column_indices)


@pytest.mark.parametrize("given", ["nothing", "conductivity", "source"])
def test_coefficients_left_out_are_one(method, device, given, make_problem, assert_same_system):
    problem, expected = make_problem("cube", given == "conductivity", given == "source", mass=2.5)
    assert_same_system(assembled(method, device, problem), expected)


@pytest.mark.parametrize("patch_size", [1, 2, 9, 50, 100])
def test_patches_of_any_size(method, device, options, patch_size, make_problem, assert_same_system):
    if "patch_size" not in options:
        pytest.skip(f"{method} has no patches")
    problem, expected = make_problem("shuffled cube")
    assembler = assembly.prepare(method, device, problem, patch_size=patch_size)
    assembler.launch()
    assert_same_system(assembler.result(), expected)
    assert assembler.facts["patches"] == -(-problem.nodes // patch_size)


@pytest.mark.parametrize("block", [32, 64, 256])
def test_blocks_of_any_size(method, device, options, block, make_problem, assert_same_system):
    assert "block" in options
    problem, expected = make_problem("shuffled cube")
    sizes = {"patch_size": 30} if "patch_size" in options else {}
    assert_same_system(assembled(method, device, problem, block=block, **sizes), expected)


def test_a_block_smaller_than_a_patch_is_right_or_refused(method, device, options, make_problem, assert_same_system):
    if "patch_size" not in options:
        pytest.skip(f"{method} has no patches")
    problem, expected = make_problem("shuffled cube")
    try:
        found = assembled(method, device, problem, block=32, patch_size=100)
    except ValueError as refusal:
        assert "32 threads" in str(refusal)
    else:
        assert_same_system(found, expected)


def test_patches_up_to_what_shared_memory_holds(
    method, device, options, perturbed_cube, by_scikit_fem, assert_same_system, monkeypatch
):
    if "patch_size" not in options:
        pytest.skip(f"{method} has no patches")
    monkeypatch.setattr(device, "shared_bytes", 48 * 1024)  # as much as every GPU has
    problem = Problem(*perturbed_cube(9))
    expected = by_scikit_fem(problem)
    fits = []
    for patch_size in (128, 250, 500, 1000):
        try:
            assembler = assembly.prepare(method, device, problem, patch_size=patch_size, block=1024)
        except ValueError as problem_of_size:
            assert "shared memory" in str(problem_of_size) or "patch" in str(problem_of_size)
            break
        assembler.launch()
        assert_same_system(assembler.result(), expected)
        fits.append(patch_size)
    assert fits and patch_size > fits[-1], "no size was too large for 48 KiB"
    for shared_bytes in (48 * 1024, 12 * 1024):  # the default shrinks until it fits
        monkeypatch.setattr(device, "shared_bytes", shared_bytes)
        assembler = assembly.prepare(method, device, problem)
        assembler.launch()
        assert_same_system(assembler.result(), expected)
        assert assembler.facts["shared_bytes"] <= shared_bytes


def test_patches_shrink_where_nodes_have_many_neighbours(
    method, device, by_scikit_fem, assert_same_system, monkeypatch
):
    """Two lines askew, each divided, an element for each pair of parts: each node is beside all of the other line."""
    count = 60
    along, zeros = np.linspace(-1, 1, count), np.zeros(count)
    points = np.concatenate([np.stack([along, zeros, zeros], axis=1), np.stack([zeros, along, zeros + 1], axis=1)])
    i, j = (index.ravel() for index in np.indices((count - 1, count - 1)))
    cells = quality.oriented(points, np.stack([i, i + 1, count + j, count + j + 1], axis=1))
    monkeypatch.setattr(device, "shared_bytes", 16 * 1024)
    problem = Problem(points, cells)
    assert_same_system(assembled(method, device, problem), by_scikit_fem(problem))


def test_a_patch_beyond_16_bits_is_refused(device):
    problem = Problem(*structured.kuhn(18))  # 6859 nodes with 15 entries each, in one patch
    with pytest.raises(ValueError, match="patch"):
        assembly.prepare("ring", device, problem, patch_size=7000, block=7000)


def test_places_of_a_processor_beyond_16_bits_are_refused(device, monkeypatch):
    if device.backend != "openmp":
        pytest.skip("places are searched for there")
    monkeypatch.setattr("kernels.assembly.touching.ADDRESSED", 100)
    with pytest.raises(ValueError, match="patch_size"):
        assembly.prepare("patch", device, Problem(*structured.kuhn(3)), patch_size=40)


def test_closed_forms(method, device, make_problem):
    problem, _ = make_problem("cube")
    matrix, rhs = assembled(method, device, problem)
    corners = problem.points[problem.cells]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    lumped = np.bincount(problem.cells.ravel(), np.repeat(volumes / 4, 4))
    assert np.isclose(matrix.sum(), problem.mass * volumes.sum(), rtol=1e-12, atol=0)
    assert np.allclose(matrix.sum(axis=1), problem.mass * lumped, rtol=1e-11, atol=0)
    assert np.isclose(rhs.sum(), volumes @ problem.source[problem.cells].mean(axis=1), rtol=1e-12, atol=0)
    # Stiffness takes linear functions to the flux through the boundary: nothing at inner nodes, where σ is constant.
    constant = Problem(problem.points, problem.cells, mass=0.0)
    stiffness, _ = assembled(method, device, constant)
    largest = abs(stiffness).max()
    assert abs(stiffness.sum(axis=1)).max() <= 1e-14 * largest
    inner = np.all((problem.points > 0.5) & (problem.points < 3.5), axis=1)
    assert inner.sum() == 27 and abs((stiffness @ problem.points)[inner]).max() <= 1e-13 * largest
    assert abs((stiffness @ problem.points)[~inner]).max() > 1e-3 * largest


def test_launches_do_not_accumulate(method, device, make_problem):
    problem, _ = make_problem("shuffled cube")
    assembler = assembly.prepare(method, device, problem)
    found = []
    for _ in range(4):
        assembler.launch()
        matrix, rhs = assembler.result()
        found.append((matrix.data.copy(), rhs.copy()))
        assembler.launch()  # twice without a look between
    for data, rhs in found[1:]:
        if method == "ring":  # promises the same bits every time
            assert np.array_equal(data, found[0][0]) and np.array_equal(rhs, found[0][1])
        assert np.abs(data - found[0][0]).max() <= 1e-14 * np.abs(data).max()
        assert np.abs(rhs - found[0][1]).max() <= 1e-14 * np.abs(rhs).max()


def test_what_an_assembler_says_of_itself(method, device, make_problem):
    problem, (matrix, _) = make_problem("cube")
    assembler = assembly.prepare(method, device, problem)
    # `patch` stores the upper half, as the paper does.
    assert assembler.nonzeros == ((matrix.nnz + problem.nodes) // 2 if method == "patch" else matrix.nnz)
    assert all(value > 0 for value in assembler.facts.values())
    values = np.zeros(assembler.nonzeros)
    arrays = (problem.cells, problem.points, problem.conductivity, problem.source, values, problem.source)
    work = problem.least_work(assembler.nonzeros)
    assert work.bytes == sum(array.nbytes for array in arrays) and work.precision == "float64"
    # Coefficients that are 1 everywhere need no reading.
    plain = Problem(problem.points, problem.cells).least_work(assembler.nonzeros)
    assert work.bytes - plain.bytes == problem.conductivity.nbytes + problem.source.nbytes


def test_an_inverted_element_in_a_mesh_is_refused_by_ring(device, make_problem):
    problem, _ = make_problem("cube")
    cells = problem.cells.copy()
    cells[17, :2] = cells[17, 1::-1]
    with pytest.raises(ValueError, match="overlap or one is inverted"):
        assembly.prepare("ring", device, Problem(problem.points, cells))


def test_an_unknown_method_names_those_there_are(device):
    with pytest.raises(ValueError, match="'rings' is none of patch, "):
        assembly.prepare("rings", device, None)


def test_products_with_element_matrices_are_those_with_the_assembled_one(device, make_problem):
    problem, (expected, _) = make_problem("graded")
    matrix = LocalMatrices(device, problem)
    x, y = np.random.default_rng(5).uniform(-1, 1, problem.nodes), device.array(np.full(problem.nodes, np.nan))
    for _ in range(2):  # the second overwrites what the first has left
        matrix.multiply(device.array(x), y)
        assert np.allclose(np.array(device.to_host(y)), expected @ x, rtol=0, atol=1e-13 * abs(expected @ x).max())
    assert matrix.least_work().bytes == (16 + 80) * problem.elements + 16 * problem.nodes
