import time

import numpy as np
import pytest

import datasets
from datasets import MeshError, quality, structured, validation

meshio = pytest.importorskip("meshio")


def load_own(tmp_path, points, cells, name="fu2014/heart", kind="tetra", suffix=".vtu", **attributes):
    path = tmp_path / f"mine{suffix}"
    blocks = cells if isinstance(cells, list) else [(kind, np.asarray(cells))]
    meshio.write(path, meshio.Mesh(np.asarray(points, dtype=float), blocks, **attributes))
    return datasets.load(name, "smoke", override=path)


def message(error):
    text = str(error.value)
    assert "\n" not in text and "mine" in text
    return text


def broken(kind):
    """Return points and cells of a good mesh with one thing wrong, and what the message must say."""
    points, cells = structured.kuhn(2)
    points, cells = points.copy(), cells.astype(np.int64)
    if kind == "nan":
        points[5, 1] = np.nan
        return points, cells, "node 5 has the coordinates (0, nan, 4)"
    if kind == "infinite":
        points[[7, 9], 0] = np.inf
        return points, cells, "node 7 has the coordinates (inf, 4, 2) (and 1 more)"
    if kind == "index":
        cells[3, 2] = 99
        return points, cells, "but the mesh has only the nodes 0 to 26"
    if kind == "negative index":
        cells[4, 0] = -1
        return points, cells, "element 4 has the nodes [-1,"
    if kind == "repeated":
        cells[11, 3] = cells[11, 0]
        return points, cells, "element 11 has a node twice"
    if kind == "unused":
        return np.concatenate((points, [[9, 9, 9]])), cells, "node 27 belongs to no tetrahedron"
    if kind == "duplicate":
        cells[40][cells[40] == 25] = 27
        return np.concatenate((points, points[25:26])), cells, "nodes 25 and 27 are both at (4, 4, 2)"
    if kind == "inverted":
        cells[[6, 8]] = cells[[6, 8]][:, [0, 1, 3, 2]]
        return points, cells, f"element 6 (nodes {cells[6].tolist()}) is inverted"
    if kind == "flat":
        return *with_element(points, cells, 5.0), "element 48 (nodes [27, 28, 29, 30]) is flat"
    if kind == "nearly flat":
        return *with_element(points, cells, 5.0 + 1e-12), "element 48 (nodes [27, 28, 29, 30]) is flat"
    if kind == "overlap":
        inner = cells[10]
        apex = points[inner].mean(axis=0) + 0.01
        added = quality.oriented(np.concatenate((points, [apex])), [[*inner[:3], 27]])
        return np.concatenate((points, [apex])), np.concatenate((cells, added)), "the face with nodes"
    if kind == "same side":
        corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 2]], dtype=float)
        return corner, np.array([[0, 1, 2, 3], [0, 1, 2, 4]]), "lie on the same side of the face with nodes [0, 2, 1]"
    raise KeyError(kind)


def with_element(points, cells, height):
    """Add an element over the mesh, whose four nodes are at height 5 but for the last."""
    extra = [[0.0, 0.0, 5.0], [4.0, 0.0, 5.0], [0.0, 4.0, 5.0], [4.0, 4.0, height]]
    return np.concatenate((points, extra)), np.concatenate((cells, [[27, 28, 29, 30]]))


KINDS = (
    "nan", "infinite", "index", "negative index", "repeated", "unused", "duplicate", "inverted", "flat", "nearly flat",
    "overlap", "same side",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_bad_mesh_is_named(kind):
    points, cells, said = broken(kind)
    with pytest.raises(MeshError) as error:
        validation.checked(points, cells, "mine.vtu")
    assert said in message(error)


@pytest.mark.parametrize("kind", ["nan", "inverted"])
def test_and_so_it_is_when_read_from_a_file(kind, tmp_path):
    points, cells, said = broken(kind)
    with pytest.raises(MeshError) as error:
        load_own(tmp_path, points, cells)
    assert said in message(error)


def test_three_elements_on_a_face_are_all_named(two_tetrahedra):
    points, cells = (np.concatenate(pair) for pair in zip(two_tetrahedra, ([[2, 2, 2]], [[1, 2, 3, 5]])))
    with pytest.raises(MeshError, match=r"3 elements share the face with nodes .*: elements 0, 1, 2$"):
        validation.checked(points, quality.oriented(points, cells), "mine")


def test_a_mesh_without_elements():
    with pytest.raises(MeshError, match="no tetrahedra"):
        validation.checked(np.zeros((3, 3)), np.empty((0, 4), dtype=int), "mine")


def test_all_negative_is_another_convention_and_turned():
    points, cells = structured.kuhn(2)
    turned = validation.checked(points, cells[:, [0, 1, 3, 2]], "mine")
    assert (quality.volumes(points, turned) > 0).all()
    assert np.array_equal(turned, cells)


def test_small_and_stretched_meshes_are_fine():
    points, cells = structured.kuhn(3, size=(1e-6, 1e-6, 1e-3))
    assert len(validation.checked(points, cells, "mine")) == len(cells)


@pytest.mark.slow
def test_a_mesh_of_the_papers_size_is_checked_in_seconds():
    points, cells = structured.kuhn(64)
    start = time.process_time()  # however busy the machine is
    validation.checked(points, cells, "mine")
    assert time.process_time() - start < 15
