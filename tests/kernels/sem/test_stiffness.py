"""The operator against scikit-fem's matrices, dense matrices of each element, and exact solutions."""

import itertools

import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.polynomial.legendre import Legendre

from kernels.device import Unavailable, source
from kernels.sem import shapes
from kernels.sem.geometry import node_coordinates
from kernels.sem.gll import rule
from kernels.sem.numbering import number_nodes
from kernels.sem.shapes import Shape, tuned
from kernels.sem.stiffness import SOURCES, Operator, defines

from .conftest import MESHES, disturbed, grid

TOLERANCE = {"float64": 2e-13, "float32": 2e-6}


def product(device, operator, x, multiply=None):
    ours = device.zeros(operator.nodes, operator.dtype)
    device.fill(ours, np.nan)
    (multiply or operator.multiply)(device.array(x, operator.dtype), ours)
    return np.array(device.to_host(ours), dtype="float64")


def relative(ours, expected):
    return np.abs(ours - expected).max() / np.abs(expected).max()


def by_scikit_fem(points, cells, order, kappa, mass):
    """Return the matrix, and the place of each unknown: Lagrange elements on GLL points are theirs up to order 2."""
    from skfem import Basis, BilinearForm, ElementHex0, ElementHex1, ElementHex2, MeshHex
    from skfem.helpers import dot, grad

    @BilinearForm
    def helmholtz(u, v, w):
        return w.kappa * dot(grad(u), grad(v)) + w.mass * u * v

    # scikit-fem has an order of vertices of its own, read off a single cube.
    mesh = MeshHex.init_tensor(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    corners = mesh.p[:, mesh.t[:, 0]].T.astype(int)
    of_meshio = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    order_of = [int(np.flatnonzero((of_meshio == corner).all(axis=1))[0]) for corner in corners]
    mesh = MeshHex(points.T.copy(), cells[:, order_of].T.copy())
    zeros = Legendre.basis(order).deriv().roots() if order > 1 else []
    t = np.array([-1, *zeros, 1]) / 2 + 0.5
    w = 1 / (order * (order + 1) * Legendre.basis(order)(2 * t - 1) ** 2)
    at = np.stack([axis.ravel() for axis in np.meshgrid(t, t, t, indexing="ij")])
    weights = np.einsum("i,j,k->ijk", w, w, w).ravel()
    basis = Basis(mesh, {1: ElementHex1, 2: ElementHex2}[order](), quadrature=(at, weights))
    fields = basis.with_element(ElementHex0())
    matrix = helmholtz.assemble(basis, kappa=fields.interpolate(kappa), mass=fields.interpolate(mass))
    return matrix, basis.doflocs.T


def dense(points, cells, order, kappa, mass, table, nodes):
    """Return the matrix from every element's own, with derivatives by Legendre series and Jacobians by inversion."""
    q, (t, _, _) = order + 1, rule(order)
    vander = np.polynomial.legendre.legvander(t, order)
    slopes = np.stack([Legendre.basis(k).deriv()(t) for k in range(q)], axis=1) @ np.linalg.inv(vander)
    w = 2 / (order * q * Legendre.basis(order)(t) ** 2)
    one = np.eye(q)
    gradients = [np.kron(one, np.kron(one, slopes)), np.kron(one, np.kron(slopes, one)), np.kron(slopes, np.eye(q * q))]
    weights = np.einsum("k,j,i->kji", w, w, w).ravel()
    places = node_coordinates(points, cells, order)
    matrix = np.zeros((nodes, nodes))
    for x, numbers, sigma, c in zip(places, table, kappa, mass, strict=True):
        jacobian = np.stack([g @ x for g in gradients], axis=-1)  # [node, coordinate, reference axis]
        volume, inverse = np.linalg.det(jacobian), np.linalg.inv(jacobian)
        in_space = [sum(inverse[:, r, axis, None] * gradients[r] for r in range(3)) for axis in range(3)]
        element = sum(g.T @ ((sigma * weights * volume)[:, None] * g) for g in in_space) + np.diag(c * weights * volume)
        matrix[np.ix_(numbers, numbers)] += element
    return matrix


def coefficients(cells, seed=3):
    random = np.random.default_rng(seed)
    return random.uniform(0.5, 2, len(cells)), random.uniform(0.1, 3, len(cells))


@pytest.mark.parametrize("order", [1, 2])
def test_equals_the_matrix_of_scikit_fem(device, mesh, order):
    points, cells = mesh
    kappa, mass = coefficients(cells)
    theirs, places = by_scikit_fem(points, cells, order, kappa, mass)
    operator = Operator(device, points, cells, order, kappa=kappa, mass=mass)
    table = device.to_host(operator.numbering.table)
    at = np.empty((operator.nodes, 3))
    at[table.ravel()] = node_coordinates(points, cells, order).reshape(-1, 3)
    keys, ours_of = np.unique(np.round(np.concatenate([at, places]), 9), axis=0, return_inverse=True)
    assert len(keys) == operator.nodes == len(places)
    mine, other = ours_of[: operator.nodes], ours_of[operator.nodes :]
    x = np.random.default_rng(1).normal(size=operator.nodes)
    there, back = np.empty(operator.nodes), np.empty(operator.nodes)
    there[mine] = x  # by place
    back[other] = theirs @ there[other]
    assert relative(product(device, operator, x), back[mine]) < 2e-13


CASES = [  # order, precision, geometry, mass, shape
    (1, "float64", "stored", True, Shape(5)),
    (3, "float64", "stored", False, Shape(3, padding=1, stages=2)),
    (4, "float64", "stored", True, Shape(2, pencils=2)),
    (5, "float32", "stored", True, Shape(4, pencils=2, stages=4)),
    (6, "float64", "stored", True, Shape(1)),
    (3, "float64", "trilinear", True, Shape(2, pencils=2)),
    (4, "float64", "trilinear", False, Shape(7, padding=1)),
    (5, "float32", "trilinear", True, Shape(1)),
    (2, "float64", "affine", True, Shape(4)),
    (5, "float64", "affine", True, Shape(2, pencils=3)),
    (3, "float64", "trilinear", True, Shape(3, body="rows")),
    (2, "float32", "trilinear", False, Shape(11, body="rows")),
    (4, "float64", "affine", True, Shape(2, body="rows")),
    (4, "float64", "trilinear", True, Shape(2, body="pencils")),
    (5, "float64", "stored", True, Shape(3, body="pencils")),
    (6, "float32", "affine", True, Shape(1, body="pencils")),
    (3, "float64", "stored", True, Shape(8, body="loops")),
    (4, "float64", "trilinear", True, Shape(4, body="loops")),
    (5, "float32", "trilinear", False, Shape(16, body="loops")),
    (2, "float64", "affine", True, Shape(2, body="loops")),
]


@pytest.mark.parametrize(("order", "dtype", "geometry", "has_mass", "shape"), CASES)
def test_equals_dense_matrices(device, order, dtype, geometry, has_mass, shape):
    if shape.body == "loops" and device.backend == "cuda":
        pytest.skip("CUDA has no vectors of this kind: the body is built there and not run")
    points, cells = MESHES["disturbed" if order < 5 else "around an edge"]()
    if geometry == "affine":
        points, cells = disturbed(*grid((2, 2, 2)))
        points = points @ np.array([[1.0, 0.2, 0.1], [0.0, 0.8, -0.3], [0.1, 0.0, 1.3]])
    kappa, mass = coefficients(cells)
    numbering = number_nodes(cells, order)
    expected = dense(points, cells, order, kappa, mass * has_mass, numbering.table, numbering.nodes)
    x = np.random.default_rng(order).normal(size=numbering.nodes)
    operator = Operator(
        device, points, cells, order, dtype=dtype, geometry=geometry, kappa=kappa, mass=mass if has_mass else None,
        shape=shape,
    )  # fmt: skip
    for multiply in (operator.multiply, operator.multiply_atomic):
        assert relative(product(device, operator, x, multiply), expected @ x) < TOLERANCE[dtype]


@pytest.mark.parametrize(
    ("order", "dtype", "geometry", "has_mass", "shape"), [c for c in CASES if c[4].body == "loops"]
)
def test_by_narrow_vectors(narrow, order, dtype, geometry, has_mass, shape):
    test_equals_dense_matrices(narrow, order, dtype, geometry, has_mass, shape)


@pytest.mark.cuda
@pytest.mark.parametrize("geometry", ["stored", "trilinear", "affine"])
@pytest.mark.parametrize("order", [3, 4, 5, 6, 7, 8, 11, 13, 15])
def test_tensor_cores_and_pencils_agree_with_the_portable_kernel(device, order, geometry):
    if device.backend != "cuda":
        pytest.skip("only CUDA has them")
    points, cells = disturbed(*grid((2, 2, 2), move=0.0 if geometry == "affine" else 0.15))
    kappa, mass = coefficients(cells)
    stages = 3 if geometry == "stored" and order % 4 else 0
    for c in (None, mass):
        made = [
            Operator(device, points, cells, order, geometry=geometry, kappa=kappa, mass=c, shape=shape)
            for shape in (Shape(1), Shape(1, stages=stages, body="tensor"), Shape(2, body="pencils"))
            if device.shared_bytes >= 8 * shape.shared(order + 1)
        ]
        x = np.random.default_rng(order).normal(size=made[0].nodes)
        expected = product(device, made[0], x)
        for operator in made[1:]:
            for multiply in (operator.multiply, operator.multiply_atomic):
                assert relative(product(device, operator, x, multiply), expected) < 1e-12


@pytest.mark.parametrize("order", range(1, 16))
def test_tuned_shapes_and_geometries_agree_at_every_order(device, order):
    """Recomputed factors against stored ones, in the shapes that are used."""
    if not device.is_gpu and order not in (1, 9):
        pytest.skip("the processor has one shape for all orders")
    points, cells = disturbed(*grid((2, 1, 1), move=0.15))
    x = None
    for dtype in ("float64", "float32"):
        if device.is_gpu and (3 * (order + 1) ** 3 + 23) * np.dtype(dtype).itemsize > device.shared_bytes:
            with pytest.raises(Unavailable, match="shared memory"):  # as through NVIDIA's OpenCL
                Operator(device, points, cells, order, dtype=dtype, geometry="trilinear")
            continue
        made = [
            Operator(device, points, cells, order, dtype=dtype, geometry=g, mass=1.0) for g in ("stored", "trilinear")
        ]
        x = np.random.default_rng(order).normal(size=made[0].nodes) if x is None else x
        stored, recomputed = (product(device, operator, x) for operator in made)
        assert relative(recomputed, stored) < 10 * TOLERANCE[dtype]


@pytest.mark.parametrize("geometry", ["stored", "trilinear"])
@pytest.mark.parametrize("order", [2, 7])
def test_symmetric_to_rounding_and_without_the_constants_of_a_kernel(device, order, geometry):
    points, cells = MESHES["L"]()
    operator = Operator(device, points, cells, order, geometry=geometry)
    x, y = np.random.default_rng(0).normal(size=(2, operator.nodes))
    ax, ay = product(device, operator, x), product(device, operator, y)
    assert abs(y @ ax - x @ ay) <= 1e-13 * np.abs(y) @ np.abs(ax)
    assert x @ ax > 0
    assert np.abs(product(device, operator, np.ones(operator.nodes))).max() <= 1e-12 * np.abs(ax).max()


@pytest.mark.parametrize("where", ["boundary", "anywhere"])
def test_dirichlet_nodes_read_as_zero_and_give_zero(device, where):
    points, cells = MESHES["disturbed"]()
    free = Operator(device, points, cells, 3)
    boundary = np.array(device.to_host(free.numbering.boundary))
    if where == "anywhere":  # inside elements, too
        boundary = np.random.default_rng(1).random(free.nodes) < 0.2
    fixed = Operator(device, points, cells, 3, dirichlet=where if where == "boundary" else boundary)
    x = np.random.default_rng(0).normal(size=free.nodes)
    expected = np.where(boundary, 0, product(device, free, np.where(boundary, 0, x)))
    for multiply in (fixed.multiply, fixed.multiply_atomic):
        np.testing.assert_allclose(product(device, fixed, x, multiply), expected, atol=1e-12)


def solve_helmholtz(device, points, cells, order):
    """Return the largest error at the nodes for -Δu + u = f with u = cos(x) exp(y / 2) sin(z + 1) on the boundary."""
    operator = Operator(device, points, cells, order, mass=1.0, dirichlet="boundary")
    whole = Operator(device, points, cells, order, mass=1.0, numbering=operator.numbering)
    moment = Operator(device, points, cells, order, kappa=0.0, mass=1.0, numbering=operator.numbering)
    at = np.empty((operator.nodes, 3))
    table = device.to_host(operator.numbering.table)
    at[table.ravel()] = node_coordinates(points, cells, order).reshape(-1, 3)
    x, y, z = at.T
    u = np.cos(x) * np.exp(y / 2) * np.sin(z + 1)
    boundary = np.array(device.to_host(operator.numbering.boundary))
    lifted = np.where(boundary, u, 0)
    b = product(device, moment, (1 + 1 - 0.25 + 1) * u) - product(device, whole, lifted)
    matrix = scipy.sparse.linalg.LinearOperator(
        (operator.nodes,) * 2, matvec=lambda v: product(device, operator, v) + np.where(boundary, v, 0), dtype="float64"
    )
    found, status = scipy.sparse.linalg.cg(matrix, np.where(boundary, 0, b), rtol=1e-13, maxiter=2000)
    assert status == 0
    return np.abs(found + lifted - u).max()


@pytest.mark.parametrize("move", [0.0, 0.2])
def test_spectral_convergence_on_straight_and_distorted_meshes(device, move):
    points, cells = disturbed(*grid((2, 2, 2), move=move))
    errors = [solve_helmholtz(device, points, cells, order) for order in (2, 4, 6)]
    assert errors[0] < 0.05 and errors[-1] < 1e-5
    assert all(later < earlier / 15 for earlier, later in itertools.pairwise(errors))


def test_element_vectors_there_and_back(device):
    points, cells = MESHES["L"]()
    operator = Operator(device, points, cells, 3, shape=Shape(3), dirichlet="boundary")
    table = np.array(device.to_host(operator.numbering.table))
    boundary = np.array(device.to_host(operator.numbering.boundary))
    x = np.random.default_rng(0).normal(size=operator.nodes)
    local = device.zeros(operator.layout.size, "float64")
    operator.maps.scatter(device.array(x), local)
    host = np.array(device.to_host(local))
    np.testing.assert_array_equal(operator.layout.unpack(host, np), np.where(boundary, 0, x)[table])
    expected = np.where(boundary, 0, x * np.bincount(table.ravel()))
    for gather in (operator.maps.gather, operator.maps.gather_atomic):
        ours = device.zeros(operator.nodes, "float64")
        gather(local, ours)
        np.testing.assert_allclose(device.to_host(ours), expected, rtol=1e-14)
    inside = np.zeros(operator.nodes, dtype=bool)
    inside[table[:, [21, 22, 25, 26, 37, 38, 41, 42]]] = True
    ours = device.zeros(operator.nodes, "float64")
    device.fill(ours, np.nan)
    surface = operator.layout.unpack(host, np)[:, operator.layout.on_surface()].reshape(-1)
    operator.maps.gather_surface(device.array(surface), ours)
    np.testing.assert_allclose(device.to_host(ours), np.where(inside, np.nan, expected), rtol=1e-14)


def test_curved_elements_keep_the_volume_of_a_shell(device):
    """A cube bent into a quarter of a hollow cylinder; its mass matrix integrates one, to spectral accuracy."""
    points, cells = grid((1, 2, 1))
    order = 8
    at = node_coordinates(points, cells, order)
    radius, angle = 1 + at[..., 0], at[..., 1] * np.pi / 4
    curved = np.stack([radius * np.cos(angle), radius * np.sin(angle), at[..., 2]], axis=-1)
    operator = Operator(device, points, cells, order, kappa=0.0, mass=1.0, coordinates=device.xp.asarray(curved))
    assert product(device, operator, np.ones(operator.nodes)).sum() == pytest.approx(3 * np.pi / 4, rel=1e-9)


def test_what_cannot_be_is_refused(device):
    points, cells = grid((2, 1, 1), move=0.1)
    with pytest.raises(ValueError, match="parallelepiped"):
        Operator(device, points, cells, 3, geometry="affine")
    for geometry in ("stored", "trilinear"):
        with pytest.raises(ValueError, match="element 1 is inverted"):
            Operator(device, points, np.stack([cells[0], np.roll(cells[1], 4)]), 3, geometry=geometry)
    with pytest.raises(ValueError, match="none of"):
        Operator(device, points, cells, 3, geometry="curved")
    with pytest.raises(ValueError, match="1 to 15"):
        tuned(16, "float64", "stored", device)


def test_least_work(device):
    """Counted by hand for an element of order 2: at each of 27 nodes 6 factors, a 4-byte number, 8 bytes in, 8 out."""
    operator = Operator(device, *grid((1, 1, 1)), 2)
    assert operator.local_work().bytes == 27 * (48 + 4 + 8 + 8)
    assert operator.local_work().flops == 12 * 81 + 18 * 27
    assert operator.local_work().problem_bytes == 8 * (3 * 8 + 27 + 27)
    assert operator.least_work().bytes == 27 * (48 + 4 + 8 + 8)


def test_shared_memory_of_every_shape_is_what_its_source_takes():
    """A shape that wants more than it says would be launched where it does not fit."""
    for table in (shapes._TUNED, shapes._CUDA, shapes._CUDA_MASS):
        for (dtype, geometry), orders in table.items():
            for order, shape in orders.items():
                macros = defines(order, dtype, geometry, False, shape)
                needed = source.load(SOURCES[shape.body], shape.block(order + 1), macros).shared_bytes
                assert needed <= np.dtype(dtype).itemsize * shape.shared(order + 1) <= 227 << 10
                assert shape.stages <= order
