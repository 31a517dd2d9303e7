"""Which libraries a cell's rival is of, and their versions."""

import pytest

from baselines import solvers
from experiments import rivals
from repro import Skip, discovery


@pytest.fixture
def fresh():
    for cached in (rivals.version, rivals._of_petsc):
        cached.cache_clear()
    yield
    for cached in (rivals.version, rivals._of_petsc):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("artefact", "method", "backend", "named"),
    [
        ("fu2014-table5", "amgcl", "host", {"pyamgcl"}),
        ("fu2014-table5", "hypre-pcgamg", "host", {"PETSc", "hypre"}),
        ("fu2014-table5", "patch-pcgamg", "cuda", set()),
        ("fu2014-table5", "pyamg-sa", "host", set()),  # among the machine's packages
        ("wong2015-figure15", "petsc-bjacobi-4", "host", {"PETSc"}),
        ("wong2015-figure15", "cusparse_csr-host-assembly", "cuda", {"cuSPARSE", "nvmath-python"}),
        ("geveler2011-table3", "q2-xyz-cusparse", "cuda", {"cuSPARSE", "nvmath-python"}),
        ("wong2015-table4", "k1", "cuda", {"cuSPARSE", "nvmath-python"}),
        ("wong2015-table4", "k1", "opencl", set()),
        ("wong2015-figure12", "k1", "cuda", set()),
    ],
)
def test_a_rivals_libraries_are_told_by_its_name(artefact, method, backend, named):
    assert rivals.libraries(artefact, method, backend).keys() == named


def test_every_name_that_is_listed_is_that_of_a_cell():
    found = {artefact.id: discovery.load(artefact).cells("paper") for artefact in discovery.find()}
    words = {word for cells in found.values() for cell in cells for word in cell.method.replace("_", "-").split("-")}
    assert rivals.LIBRARIES.keys() <= words and rivals.BESIDE.keys() <= found.keys()
    assert set(rivals.BESIDE.values()) <= rivals.LIBRARIES.keys()


def test_petsc_tells_the_versions_that_its_rivals_have(fresh):
    matrix, rhs = [[2.0, 1.0], [1.0, 3.0]], [1.0, 1.0]
    try:
        rival = solvers.prepare("hypre-pcgamg", matrix, rhs, 1e-8, 100)
        rival.set_up()
    except Skip:
        assert rivals.libraries("fu2014-table5", "hypre-pcgamg", "host") == {"PETSc": "", "hypre": ""}
        pytest.skip("PETSc is not installed")
    told = rival.version
    rival.close()
    found = rivals.libraries("fu2014-table5", "hypre-pcgamg", "host")
    assert found["PETSc"] == told and found["hypre"][0].isdigit()


def test_where_petsc_says_nothing_its_version_is_unknown(fresh, monkeypatch):
    def missing():
        raise Skip("no PETSc")

    monkeypatch.setattr(rivals.petsc, "find", missing)
    assert rivals.version("PETSc") == rivals.version("hypre") == ""
    rivals.version.cache_clear()
    rivals._of_petsc.cache_clear()
    monkeypatch.setattr(rivals.petsc, "find", lambda: rivals.petsc.Installation("/bin/true", "", ""))
    assert rivals.version("PETSc") == ""


def test_cusparse_is_a_wheels_or_a_toolkits(fresh, tmp_path, monkeypatch):
    folder = tmp_path / "lib64"
    folder.mkdir()
    (folder / "libcusparse.so.12.6.3.3").touch()
    (folder / "libcusparse.so").symlink_to("libcusparse.so.12.6.3.3")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(rivals, "_package", lambda *names: "")
    assert rivals.version("cuSPARSE") == "12.6.3.3"
    rivals.version.cache_clear()
    monkeypatch.setattr(rivals, "_package", lambda *names: "12.5" if "nvidia-cusparse-cu12" in names else "")
    assert rivals.version("cuSPARSE") == "12.5" and rivals.version("nvmath-python") == ""
    rivals.version.cache_clear()
    monkeypatch.undo()
    assert rivals._package("no-such-package", "numpy")[0].isdigit()
