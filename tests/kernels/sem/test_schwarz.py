"""Overlaps against coordinates, local solves against dense inverses of the assembled operator, and the sum of them."""

import itertools

import numpy as np
import pytest

from kernels.sem import schwarz as module
from kernels.sem.geometry import node_coordinates
from kernels.sem.gll import rule
from kernels.sem.numbering import number_nodes
from kernels.sem.overlap import Neighbours, overlap
from kernels.sem.schwarz import Schwarz, pencil
from kernels.sem.stiffness import Operator

from .conftest import MESHES, disturbed, grid

SIDES = np.array([0.7, 1.3, 0.4])


def places_of(points, cells, numbering):
    at = np.empty((numbering.nodes, 3))
    at[numbering.table.ravel()] = node_coordinates(points, cells, numbering.order).reshape(-1, 3)
    return at


@pytest.mark.parametrize("order", [1, 2, 5])
def test_overlap_is_the_next_layer_of_nodes_on_every_side(order):
    points, cells = disturbed(*grid((3, 3, 3)), seed=order)
    numbering = number_nodes(cells, order)
    found = overlap(numbering.table, order, Neighbours(numbering.table, order))
    at = places_of(points, cells, numbering)
    t = (rule(order).points + 1) / 2
    t = np.concatenate([[-t[1]], t, [1 + t[1]]])
    for own, subdomain in zip(node_coordinates(points, cells, order), found, strict=True):
        corner, axes = own[0], [own[order * (order + 1) ** k] - own[0] for k in range(3)]
        expected = corner + np.stack([s * axes[0] + r * axes[1] + q * axes[2] for q in t for r in t for s in t])
        inside = ((expected > -1e-9) & (expected < 3 + 1e-9)).all(axis=1)
        np.testing.assert_array_equal(subdomain >= 0, inside)
        np.testing.assert_allclose(at[subdomain[inside]], expected[inside], atol=1e-12)


def test_nodes_beyond_an_irregular_edge_are_left_out():
    """Five elements meet at an edge: no element lies opposite, and only the neighbours across faces are overlapped."""
    _, cells = MESHES["around an edge"]()
    numbering = number_nodes(cells, 3)
    neighbours = Neighbours(numbering.table, 3)
    found = overlap(numbering.table, 3, neighbours)
    for element, subdomain in enumerate(found):
        across = neighbours.element[element]
        assert (across >= 0).sum() == 2
        own, theirs = set(numbering.table[element]), set(numbering.table[across[across >= 0]].ravel())
        beyond = set(subdomain[subdomain >= 0]) - own
        assert len(beyond) == 2 * 16 and beyond <= theirs


@pytest.mark.parametrize("name", list(MESHES))
def test_directions_go_over_into_directions(name):
    """A step and the step back change none; opposite ones stay so, and there is no step where no neighbour is."""
    numbering = number_nodes(MESHES[name]()[1], 2)
    neighbours = Neighbours(numbering.table, 2)
    np.testing.assert_array_equal(neighbours.onto[..., 1::2], neighbours.onto[..., ::2] ^ 1)
    for element, face in np.ndindex(neighbours.element.shape):
        other, onto = neighbours.element[element, face], neighbours.onto[element, face]
        if other < 0:
            assert list(onto) == list(range(6))
        else:
            entered = onto[face] ^ 1
            assert neighbours.element[other, entered] == element
            assert list(neighbours.onto[other, entered][onto]) == list(range(6))


@pytest.mark.parametrize("order", [1, 2, 3, 7, 12])
def test_modes_diagonalise_the_pencil(order):
    values, modes = pencil(order)
    _, w, d = rule(order)
    stiffness = (d.T * w) @ d
    elements = 5 if order == 1 else 3  # in a row, the middle one the pencil's own
    nodes = elements * order + 1
    k, m = np.zeros((nodes, nodes)), np.zeros(nodes)
    for e in range(elements):
        some = slice(e * order, e * order + order + 1)
        k[some, some] += stiffness
        m[some] += w
    first = elements // 2 * order - 1
    kept = slice(first, first + order + 3)
    np.testing.assert_allclose(modes.T @ (m[kept, None] * modes), np.eye(order + 3), atol=1e-11)
    np.testing.assert_allclose(modes.T @ k[kept, kept] @ modes, np.diag(values), atol=1e-10 * values.max())


def applied(device, schwarz, operator, r):
    z = device.zeros(operator.nodes, operator.dtype)
    device.fill(z, np.nan)
    schwarz.apply(device.array(r, operator.dtype), z)
    return np.array(device.to_host(z), dtype=float)


@pytest.mark.parametrize("body", ["device's", "threads"])
@pytest.mark.parametrize(
    ("order", "dtype", "tolerance"), [(1, "float64", 1e-12), (3, "float64", 1e-12), (4, "float32", 3e-6)]
)
def test_local_solve_inverts_the_assembled_operator_on_a_box(device, order, dtype, tolerance, body, monkeypatch):
    """In a grid of equal boxes the operator, restricted to a subdomain's nodes, is what the fast solve inverts."""
    if body == "threads":  # a GPU's source on a processor, too
        setting = module.setting
        monkeypatch.setattr(module, "setting", lambda order, dtype, is_gpu, *adds: setting(order, dtype, True, *adds))
    shape = (5, 5, 5) if order == 1 else (3, 3, 3)
    points, cells = disturbed(*grid(shape), seed=order)
    kappa, mass = 1.7, 0.6
    operator = Operator(device, points * SIDES, cells, order, kappa=kappa, mass=mass)
    schwarz = Schwarz(operator, points * SIDES, cells, kappa=kappa, mass=mass, dtype=dtype)
    numbers = number_nodes(cells, order).table
    table = overlap(numbers, order, Neighbours(numbers, order))
    centre = int(np.abs(points[cells].mean(axis=1) - np.array(shape) / 2).max(axis=1).argmin())
    nodes, one = np.array(table[centre]), device.zeros(operator.nodes, "float64")
    assert (nodes >= 0).all()
    dense, column = np.empty((len(nodes), len(nodes))), device.zeros(operator.nodes, "float64")
    for place, node in enumerate(nodes):
        unit = np.zeros(operator.nodes)
        unit[node] = 1
        one = device.array(unit)
        operator.multiply(one, column)
        dense[:, place] = np.array(device.to_host(column))[nodes]
    x = np.random.default_rng(order).normal(size=operator.nodes)
    parts = device.empty(schwarz.layout.size, dtype)
    schwarz.solve_local(device.array(x, dtype), parts)
    ours = schwarz.layout.unpack(np.array(device.to_host(parts)), np)[centre]
    expected = np.linalg.solve(dense, x[nodes])
    assert np.abs(ours - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_symmetric_positive_definite_and_zero_where_fixed(device, mesh, weighted):
    points, cells = mesh
    operator = Operator(device, points, cells, 3, dirichlet="boundary")
    fixed = operator.numbering.boundary
    kappa = np.random.default_rng(2).uniform(0.5, 2, len(cells))
    schwarz = Schwarz(operator, points, cells, fixed, kappa=kappa, dtype="float64", weighted=weighted)
    x, y = np.random.default_rng(0).normal(size=(2, operator.nodes))
    px, py = applied(device, schwarz, operator, x), applied(device, schwarz, operator, y)
    fixed = np.array(device.to_host(fixed))
    assert (px[fixed] == 0).all()
    assert abs(y @ px - x @ py) <= 1e-13 * np.abs(y) @ np.abs(px)
    assert (x * ~fixed) @ px > 0


@pytest.mark.parametrize(("dtype", "inner"), [("float64", "float32"), ("float64", "float64"), ("float32", "float32")])
@pytest.mark.parametrize("weighted", [False, True])
def test_atomics_add_up_the_same(device, dtype, inner, weighted):
    points, cells = disturbed(*grid((3, 2, 3), move=0.1))
    operator = Operator(device, points, cells, 4, dirichlet="boundary", dtype=dtype)
    fixed, r, found = operator.numbering.boundary, np.random.default_rng(0).normal(size=operator.nodes), []
    for adds in (False, True):
        schwarz = Schwarz(operator, points, cells, fixed, dtype=inner, weighted=weighted, adds=adds)
        z = device.array(np.full(operator.nodes, 7.0), dtype)  # what was there before is no part of it
        schwarz.apply(device.array(r, dtype), z)
        found.append(np.array(device.to_host(z), dtype="float64"))
    np.testing.assert_allclose(found[1], found[0], atol=1e-5 * np.abs(found[0]).max() if inner == "float32" else 1e-12)


def test_the_sum_does_not_depend_on_rotation_and_numbers(device):
    points, cells = grid((3, 2, 3), move=0.1)
    found = []
    for points_, cells_ in ((points, cells), disturbed(points, cells, seed=5)):
        operator = Operator(device, points_, cells_, 4)
        numbering = number_nodes(cells_, 4)
        at = places_of(points_, cells_, numbering)
        z = applied(device, Schwarz(operator, points_, cells_, mass=1.0, dtype="float64", weighted=True), operator,
                    np.sin(at @ [1.0, 2.0, 3.0]))  # fmt: skip
        found.append(z[np.lexsort(np.round(at, 9).T)])
    np.testing.assert_allclose(*found, atol=1e-12 * np.abs(found[0]).max())


def test_single_precision_inside_double(device):
    points, cells = MESHES["disturbed"]()
    operator = Operator(device, points, cells, 3)
    r = np.random.default_rng(1).normal(size=operator.nodes)
    made = [
        applied(device, Schwarz(operator, points, cells, mass=1.0, dtype=dtype, weighted=weighted), operator, r)
        for weighted, dtype in itertools.product((False, True), ("float64", "float32"))
    ]
    for double, single in (made[:2], made[2:]):
        assert 0 < np.abs(single - double).max() <= 2e-6 * np.abs(double).max()
