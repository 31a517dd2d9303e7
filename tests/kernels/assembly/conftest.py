"""Meshes and problems that the assembly's tests go through."""

import functools

import numpy as np
import pytest
import scipy.spatial

from datasets import structured
from kernels.assembly.problem import Problem


def blocks(*corners):
    """Cubes of 2³ small cubes at integer corners, welded where their nodes coincide, then all nodes moved a little."""
    points, cells = structured.kuhn(2, size=2.0)
    corners = np.array(corners)
    welded, number = np.unique((points + corners[:, None]).reshape(-1, 3), axis=0, return_inverse=True)
    cells = number.reshape(-1)[(cells + len(points) * np.arange(len(corners))[:, None, None]).reshape(-1, 4)]
    return welded + np.random.default_rng(3).uniform(-0.1, 0.1, welded.shape), cells.astype(np.int32)


def tetrahedron():
    points = np.array([[0.1, 0, 0], [1.2, 0.1, 0], [0.3, 0.9, 0.2], [0.2, 0.3, 1.1]])
    return points, np.array([[0, 1, 2, 3]], dtype=np.int32)


def shuffled(points, cells):
    """The same mesh, nodes and elements in random order and each element's nodes rotated."""
    random = np.random.default_rng(1)
    order = random.permutation(len(points))
    rank = np.argsort(order)
    even = np.array([[0, 1, 2, 3], [1, 2, 0, 3], [1, 0, 3, 2], [3, 1, 0, 2]])
    cells = np.take_along_axis(cells, even[random.integers(4, size=len(cells))], axis=1)
    return points[order], rank[cells][random.permutation(len(cells))].astype(np.int32)


def graded():
    import datasets

    mesh = datasets.load("fu2014/brain", "smoke")
    return mesh.points, mesh.cells


def with_an_unused_node():
    points, cells = blocks((0, 0, 0))
    return np.insert(points, 5, [9.0, 9.0, 9.0], axis=0), np.where(cells >= 5, cells + 1, cells).astype(np.int32)


def star():
    """One node in every element: 400 neighbours where meshes have 15."""
    around = np.random.default_rng(4).normal(size=(400, 3))
    points = np.vstack([around / np.linalg.norm(around, axis=1)[:, None], [[0.01, 0.02, 0.03]]])
    hull = scipy.spatial.ConvexHull(points[:-1]).simplices
    cells = np.column_stack([np.full(len(hull), 400), hull]).astype(np.int32)
    inverted = np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]) < 0
    cells[inverted, 2:] = cells[inverted, :1:-1]
    return points, cells


MESHES = {
    "one tetrahedron": tetrahedron,
    "cube": "cube",
    "shuffled cube": "shuffled cube",
    # The first two share edges and nothing else there, the third only a node: several chains around one edge.
    "touching": lambda: blocks((0, 0, 0), (2, 2, 0), (4, 4, 2)),
    "disconnected": lambda: blocks((0, 0, 0), (9, 0, 0), (0, 9, 5)),
    "unused node": with_an_unused_node,
    "graded": graded,
    "star": star,
}


@pytest.fixture(scope="session")
def make_mesh(perturbed_cube):
    """Return a function from a name in MESHES to points and positively oriented cells."""

    @functools.cache
    def make(name):
        if name == "cube":
            return perturbed_cube(4)
        return shuffled(*perturbed_cube(5)) if name == "shuffled cube" else MESHES[name]()

    return make


@pytest.fixture(params=list(MESHES))
def mesh_name(request):
    return request.param


@pytest.fixture
def mesh(mesh_name, make_mesh):
    return make_mesh(mesh_name)


@pytest.fixture(scope="session")
def make_problem(make_mesh, by_scikit_fem):
    """Return a function from a mesh's name to a problem with coefficients that vary, and its system by scikit-fem."""

    @functools.cache
    def make(name, conductivity=True, source=True, mass=0.37):
        points, cells = make_mesh(name)
        random = np.random.default_rng(2)
        sigma, f = random.uniform(0.1, 9, len(cells)), random.uniform(-1, 2, len(points))
        problem = Problem(points, cells, sigma if conductivity else None, mass, f if source else None)
        return problem, by_scikit_fem(problem)

    return make
