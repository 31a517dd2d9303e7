"""Libraries that modules call, and their versions."""

import ast
import sys
from pathlib import Path

import pytest

from baselines import solvers
from experiments import libraries
from repro import Skip

ROOT = Path(libraries.__file__).parents[1]
#: Facts of the machine of every cell of a device, and what has no part in a result.
SHARED = {*sys.stdlib_module_names, "numpy", "scipy", "cupy", "cupyx", "cuda", "pyopencl", "pcpp", "ziglang",
          "platformdirs", "threadpoolctl"}  # fmt: skip
OURS = {"baselines", "kernels", "datasets", "experiments", "repro"}
NAMES = {"nvmath": "nvmath-python"}


@pytest.fixture
def fresh():
    for cached in (libraries.version, libraries._of_petsc):
        cached.cache_clear()
    yield
    for cached in (libraries.version, libraries._of_petsc):
        cached.cache_clear()


def modules():
    """The modules of baselines and kernels by their paths, with the packages that they import."""
    for path in sorted(each for top in ("baselines", "kernels") for each in (ROOT / top).rglob("*.py")):
        if path.name.endswith("_process.py"):  # of PETSc's own Python, started by a module that names it
            continue
        tree = ast.walk(ast.parse(path.read_text()))
        names = [name.name for node in tree if isinstance(node, ast.Import) for name in node.names]
        tree = ast.walk(ast.parse(path.read_text()))
        names += [node.module for node in tree if isinstance(node, ast.ImportFrom) if node.module and not node.level]
        yield path.relative_to(ROOT).as_posix(), {name.partition(".")[0] for name in names}


def test_modules_name_the_libraries_that_they_import():
    """Libraries that all cells of a device depend on are facts of its machine."""
    for path, imported in modules():
        named = {NAMES.get(name, name) for name in libraries.called([path])}
        assert {
            NAMES.get(name, name) for name in imported - SHARED - OURS - {"threadpoolctl", "platformdirs"}
        } <= named, path


def test_who_calls_a_library_through_another_module_or_process_names_it():
    assert libraries.called(["baselines/solvers/petsc.py"]).keys() == {"PETSc", "hypre"}
    assert libraries.called(["baselines/monodomain/petsc.py"]).keys() >= {"PETSc"}
    assert libraries.called(["baselines/spmv/_cusparse.py"]).keys() == {"cuSPARSE", "nvmath-python"}
    assert libraries.called(["kernels/amg/setup.py", "baselines/solvers/rival.py"]) == {}


def test_petsc_tells_the_versions_that_its_rivals_have(fresh):
    matrix, rhs = [[2.0, 1.0], [1.0, 3.0]], [1.0, 1.0]
    try:
        rival = solvers.prepare("hypre-pcgamg", matrix, rhs, 1e-8, 100)
        rival.set_up()
    except Skip:
        assert libraries.called(["baselines/solvers/petsc.py"]) == {"PETSc": "", "hypre": ""}
        pytest.skip("PETSc is not installed")
    told = rival.version
    rival.close()
    found = libraries.called(["baselines/solvers/petsc.py"])
    assert found["PETSc"] == told and found["hypre"][0].isdigit()


def test_where_petsc_says_nothing_its_version_is_unknown(fresh, monkeypatch):
    def missing():
        raise Skip("no PETSc")

    monkeypatch.setattr(libraries.petsc, "find", missing)
    assert libraries.version("PETSc") == libraries.version("hypre") == ""
    libraries.version.cache_clear()
    libraries._of_petsc.cache_clear()
    monkeypatch.setattr(libraries.petsc, "find", lambda: libraries.petsc.Installation("/bin/true", "", ""))
    assert libraries.version("PETSc") == ""


def test_cusparse_is_a_wheels_or_a_toolkits(fresh, tmp_path, monkeypatch):
    folder = tmp_path / "lib64"
    folder.mkdir()
    (folder / "libcusparse.so.12.6.3.3").touch()
    (folder / "libcusparse.so").symlink_to("libcusparse.so.12.6.3.3")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(libraries, "_package", lambda *names: "")
    assert libraries.version("cuSPARSE") == "12.6.3.3"
    libraries.version.cache_clear()
    monkeypatch.setattr(libraries, "_package", lambda *names: "12.5" if "nvidia-cusparse-cu12" in names else "")
    assert libraries.version("cuSPARSE") == "12.5" and libraries.version("nvmath-python") == ""
    libraries.version.cache_clear()
    monkeypatch.undo()
    assert libraries._package("no-such-package", "numpy")[0].isdigit()
