import subprocess
import sys

import numpy as np
import pytest

import datasets
from datasets import MeshError, structured

meshio = pytest.importorskip("meshio")
POINTS, CELLS = structured.kuhn(2)


def write(path, cells=None, points=POINTS, **attributes):
    blocks = [("tetra", CELLS)] if cells is None else cells
    meshio.write(path, meshio.Mesh(points, blocks, **attributes))
    return path


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh", ".mesh", ".inp", ".xdmf", ".bdf", ".ele"])
def test_formats(tmp_path, suffix, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if suffix == ".xdmf":
        pytest.importorskip("h5py")
    path = write(tmp_path / f"mine{suffix}")
    mesh = datasets.load("fu2014/heart", "paper", override=path)
    assert np.allclose(mesh.points, POINTS) and np.array_equal(mesh.cells, CELLS)
    assert mesh.facts()["volume"] == pytest.approx(64)


def test_it_says_what_it_is(tmp_path):
    mesh = datasets.load("fu2014/heart", "paper", override=write(tmp_path / "mine.vtu"))
    assert mesh.title == "mine.vtu (own mesh for Heart)"
    assert mesh.name == "fu2014/heart" and mesh.stand_in_for == ""


def test_the_key_follows_the_file(tmp_path):
    path = write(tmp_path / "mine.vtu")
    before = datasets.key("fu2014/heart", "paper", path)
    assert before == datasets.key("fu2014/heart", "small", path)
    assert before != datasets.key("fu2014/brain", "paper", path)
    assert before != datasets.key("fu2014/heart", "paper")
    digest = datasets.digest("fu2014/heart", "paper", path)
    write(path, points=2 * POINTS)
    assert datasets.key("fu2014/heart", "paper", path) != before
    assert datasets.digest("fu2014/heart", "paper", path) != digest


def test_lower_dimensional_cells_are_left_out(tmp_path):
    cells = [("triangle", CELLS[:5, :3]), ("tetra", CELLS[:20]), ("line", CELLS[:2, :2]), ("tetra", CELLS[20:])]
    data = {"gmsh:physical": [np.full(5, 9), np.zeros(20, int), np.full(2, 9), np.ones(28, int)]}
    mesh = datasets.load("fu2014/blobs", "paper", override=write(tmp_path / "mine.vtu", cells, cell_data=data))
    assert np.array_equal(mesh.cells, CELLS)
    assert np.array_equal(mesh.regions, [0] * 20 + [1] * 28)


def test_a_known_name_of_regions_wins_and_floats_that_are_integers_count(tmp_path):
    data = {"pressure": [np.linspace(0, 1, 48)], "colour": [np.arange(48)], "region": [np.repeat([1.0, 2.0], 24)]}
    mesh = datasets.load("fu2014/blobs", "paper", override=write(tmp_path / "mine.vtu", cell_data=data))
    assert np.array_equal(mesh.regions, np.repeat([1, 2], 24))


def test_one_integer_field_of_any_name_is_the_regions(tmp_path):
    data = {"pressure": [np.linspace(0, 1, 48)], "colour": [np.repeat([1, 2], 24)]}
    mesh = datasets.load("fu2014/blobs", "paper", override=write(tmp_path / "mine.vtu", cell_data=data))
    assert np.array_equal(mesh.regions, np.repeat([1, 2], 24))


def test_regions_are_needed_where_the_mesh_has_them(tmp_path):
    with pytest.raises(MeshError, match=r"mine.vtu: it has no region labels, and fu2014/blobs has .*outside, inside"):
        datasets.load("fu2014/blobs", "paper", override=write(tmp_path / "mine.vtu"))
    three = write(tmp_path / "mine.vtu", cell_data={"region": [np.arange(48) % 3]})
    with pytest.raises(MeshError, match=r"mine.vtu: it has 3 regions, and fu2014/blobs has 2"):
        datasets.load("fu2014/blobs", "paper", override=three)


def refused(path, name="fu2014/heart"):
    with pytest.raises(MeshError) as error:
        datasets.load(name, "smoke", override=path)
    assert "\n" not in str(error.value) and path.name in str(error.value)
    return str(error.value)


def test_missing_file_and_folder(tmp_path):
    assert "no such file" in refused(tmp_path / "mine.vtu").lower()
    (tmp_path / "mine.msh").mkdir()
    assert "directory" in refused(tmp_path / "mine.msh").lower()


def test_unknown_format(tmp_path):
    (tmp_path / "mine.xyz").write_text("0 0 0\n")
    said = refused(tmp_path / "mine.xyz")
    assert "unknown mesh format '.xyz'" in said and ".vtu" in said


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh", ".mesh", ".inp", ".ele"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "noise"])
def test_damaged_files(tmp_path, suffix, damage, capfd):
    path = write(tmp_path / f"mine{suffix}")
    content = path.read_bytes()
    noise = np.random.default_rng(0).integers(0, 256, 500, dtype=np.uint8).tobytes()
    path.write_bytes({"truncated": content[: len(content) // 2], "empty": b"", "noise": noise}[damage])
    refused(path)
    assert capfd.readouterr() == ("", "")


def test_other_elements(tmp_path):
    higher = write(tmp_path / "mine.vtu", [("tetra10", np.arange(20).reshape(2, 10))])
    assert "higher order (2 tetra10)" in refused(higher)
    hexahedra = write(tmp_path / "mine.vtu", [("hexahedron", [np.arange(8)])])
    assert "it has no tetrahedra; it has 1 hexahedron" in refused(hexahedra)
    surface = write(tmp_path / "mine.vtu", [("triangle", CELLS[:, :3])])
    assert "it has no tetrahedra; it has 48 triangle" in refused(surface)
    mixed = write(tmp_path / "mine.vtu", [("tetra", CELLS), ("wedge", [np.arange(6)])])
    assert "other volume elements beside tetrahedra (48 tetra, 1 wedge)" in refused(mixed)


def test_two_coordinates(tmp_path):
    path = tmp_path / "mine.su2"
    meshio.write(path, meshio.Mesh(POINTS[:3, 1:], [("triangle", [[0, 1, 2]])]))
    assert "2 coordinates" in refused(path) or "no tetrahedra" in refused(path)


def test_importing_is_cheap():
    code = (
        "import sys, datasets; "
        "sys.exit(', '.join({'numpy', 'scipy', 'meshio', 'tetgen', 'platformdirs'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
