"""Arrays made a few elements at a time, to fit in caches or memory, are the same as arrays made of all at once."""

import numpy as np
import pytest

from kernels.sem import coarse, diagonals, geometry, overlap
from kernels.sem.numbering import number_nodes
from kernels.sem.stiffness import Operator

from .conftest import disturbed, grid


@pytest.fixture
def mesh():
    return disturbed(*grid((3, 3, 2), move=0.1), seed=1)


@pytest.fixture
def few(monkeypatch):
    """Let a handful of elements be too many."""

    def set_():
        for module, name, value in (
            (geometry, "HOST_NODES", 100), (diagonals, "NODES", 100), (overlap, "CHUNK", 500), (coarse, "ELEMENTS", 5),
        ):  # fmt: skip
            monkeypatch.setattr(module, name, value)

    return set_


def made(device, points, cells, geometry_):
    operator = Operator(device, points, cells, 2, geometry=geometry_, kappa=1.3, mass=0.7)
    space = coarse.CoarseSpace(operator)
    matrix = coarse.matrix(device, points, cells, space.vertices, space.unknowns)
    found = [
        operator.data, diagonals.lumped_mass(operator, points, cells), diagonals.diagonal(operator, points, cells),
        matrix.indptr, matrix.indices, matrix.data,
    ]  # fmt: skip
    return [np.array(device.to_host(device.array(each))) for each in found]


@pytest.mark.parametrize("geometry_", ["stored", "trilinear"])
def test_factors_masses_and_matrices(device, mesh, few, geometry_):
    whole = made(device, *mesh, geometry_)
    few()
    for part, expected in zip(made(device, *mesh, geometry_), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_subdomains(mesh, few):
    table = number_nodes(mesh[1], 2).table
    neighbours = overlap.Neighbours(table, 2)
    whole = overlap.overlap(table, 2, neighbours)
    few()
    np.testing.assert_array_equal(overlap.overlap(table, 2, neighbours), whole)


def test_an_inverted_element_is_found_in_any_chunk(mesh, few):
    points, cells = mesh
    cells = cells.copy()
    cells[-1] = cells[-1][[1, 0, 3, 2, 5, 4, 7, 6]]
    few()
    with pytest.raises(ValueError, match="is inverted or flat"):
        geometry.check_volumes(points, cells, 2)
