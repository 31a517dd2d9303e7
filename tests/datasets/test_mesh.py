import numpy as np
import pytest

from datasets import structured
from datasets.mesh import Mesh


def test_arrays_are_read_only_and_the_callers_stay_writable():
    points, cells = structured.kuhn(1)
    mesh = Mesh(points, cells)
    for array in (mesh.points, mesh.cells):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    points[0] = 1.0


def test_dtypes_and_shapes():
    mesh = Mesh(np.zeros((4, 3), dtype=np.float32), np.array([[0, 1, 2, 3]], dtype=np.int64), regions=[5])
    assert (mesh.points.dtype, mesh.cells.dtype, mesh.regions.dtype) == (np.float64, np.int32, np.int32)
    with pytest.raises(ValueError, match=r"cells must have shape \(\*, 4\)"):
        Mesh(np.zeros((4, 3)), np.array([[0, 1, 2]]))
    with pytest.raises(ValueError, match="2 region labels for 1 cells"):
        Mesh(np.zeros((4, 3)), np.array([[0, 1, 2, 3]]), regions=[1, 2])
    with pytest.raises(ValueError, match="cell type 'wedge' is none of triangle, quad, tetra, hexahedron"):
        Mesh(np.zeros((6, 3)), np.array([range(6)]), cell_type="wedge")


@pytest.mark.parametrize(
    ("cell_type", "nodes", "dimension"), [("triangle", 3, 2), ("quad", 4, 2), ("tetra", 4, 3), ("hexahedron", 8, 3)]
)
def test_each_type_has_its_own_shapes(cell_type, nodes, dimension):
    mesh = Mesh(np.zeros((nodes, dimension)), np.arange(nodes)[None], cell_type=cell_type)
    assert mesh.points.shape == (nodes, dimension) and mesh.cells.shape == (1, nodes)
    with pytest.raises(ValueError, match=rf"points must have shape \(\*, {dimension}\)"):
        Mesh(np.zeros((nodes, 5 - dimension)), np.arange(nodes)[None], cell_type=cell_type)
    with pytest.raises(ValueError, match=rf"cells must have shape \(\*, {nodes}\)"):
        Mesh(np.zeros((nodes, dimension)), np.arange(nodes + 1)[None], cell_type=cell_type)


def test_digest_is_of_the_content_alone():
    points, cells = structured.kuhn(1)
    digest = Mesh(points, cells, name="a").digest()
    assert len(digest) == 64
    assert digest == Mesh(points.copy(), cells.astype(np.int64), name="b", title="B").digest()
    assert digest != Mesh(points + 1e-15, cells).digest()
    assert digest != Mesh(points, cells[::-1]).digest()
    assert digest != Mesh(points, cells, regions=np.zeros(6)).digest()
