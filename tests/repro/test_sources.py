"""The closure of sources has all that a measurement depends on, and nothing else."""

import pytest

from repro.cache import sources

FILES = {
    "lab/__init__.py": "",
    "lab/a2019/__init__.py": "",
    "lab/a2019/table1_x.py": """
        from typing import TYPE_CHECKING
        from kernels.spmv import csr
        from . import common
        import pandas
        from lab import plotting
        if TYPE_CHECKING:
            from datasets.mesh import Mesh
        def measure(cell, run):
            from baselines.scipy_spmv import multiply
            return csr.multiply(helper(), common, multiply)
        def helper():
            return 1
        def plot(results):
            return plotting.draw()
    """,
    "lab/a2019/common.py": "x = 1",
    "lab/plotting.py": "def draw(): ...",
    "kernels/__init__.py": "",
    "kernels/spmv/__init__.py": "",
    "kernels/spmv/csr.py": "from kernels.pack import offsets",
    "kernels/spmv/csr.c": "// csr",
    "kernels/spmv/ell.py": "x = 2",
    "kernels/spmv/ell.c": "// ell",
    "kernels/spmv/common.h": "// header",
    "kernels/spmv/notes.md": "text",
    "kernels/pack.py": "def offsets(): ...",
    "kernels/device/__init__.py": """
        import importlib
        def open_device(backend):
            return importlib.import_module(f"kernels.device.{backend}")
    """,
    "kernels/device/cuda.py": "x = 1",
    "kernels/device/opencl.py": "from kernels.device import base",
    "kernels/device/base.py": "x = 1",
    "baselines/__init__.py": "",
    "baselines/scipy_spmv.py": "import scipy",
    "datasets/__init__.py": "",
    "datasets/mesh.py": "x = 1",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").split("\n")
        margin = len(lines[0]) - len(lines[0].lstrip())
        path.write_text("\n".join(line[margin:] for line in lines) + "\n")
    return tmp_path


def used(root, names=(), on_device=False):
    found = sources.sources(root / "lab/a2019/table1_x.py", root, names, on_device)
    return {path: value for path, value in found.items() if not path.startswith("repro/")}


HOST = {
    "lab/__init__.py", "lab/a2019/__init__.py", "lab/a2019/table1_x.py", "lab/a2019/common.py", "kernels/__init__.py",
    "kernels/spmv/__init__.py", "kernels/spmv/csr.py", "kernels/spmv/csr.c", "kernels/spmv/common.h", "kernels/pack.py",
    "baselines/__init__.py", "baselines/scipy_spmv.py",
}  # fmt: skip


def test_closure_follows_what_measure_reaches(root):
    """Imports within functions and relative ones count; those of type checkers and of plots do not."""
    assert set(used(root)) == HOST


def test_cells_on_a_device_depend_on_their_back_end_alone(root):
    found = set(used(root, ["opencl"], on_device=True))
    assert found - HOST == {f"kernels/device/{name}.py" for name in ("__init__", "opencl", "base")}


def test_a_package_that_finds_modules_by_name_gives_the_method_of_the_cell(root):
    (root / "kernels/spmv/__init__.py").write_text("import pkgutil\nnames = list(pkgutil.iter_modules(__path__))\n")
    (root / "lab/a2019/table1_x.py").write_text("import kernels.spmv\ndef measure(cell, run): kernels.spmv.names\n")
    spmv = {"kernels/spmv/ell.py", "kernels/spmv/ell.c", "kernels/spmv/common.h"}
    assert {path for path in used(root, ["ell"]) if path.startswith("kernels/spmv/")} == spmv | {
        "kernels/spmv/__init__.py"
    }
    # No module has the cell's method: any may be used.
    assert {"kernels/spmv/csr.py", "kernels/spmv/ell.py"} <= set(used(root, ["vendor"]))


def test_the_harness_counts(root):
    found = sources.sources(root / "lab/a2019/table1_x.py", root, (), False)
    assert {"repro/run/timing.py", "repro/run/statistics.py", "repro/run/context.py", "repro/run/ceilings.py"} <= set(
        found
    )


@pytest.mark.parametrize(
    ("path", "old", "new", "matters"),
    [
        ("lab/a2019/table1_x.py", "return 1", "return 2", True),
        ("lab/a2019/table1_x.py", "return plotting.draw()", "return None", False),
        ("lab/a2019/table1_x.py", "return 1", "return 1  # one", False),
        ("lab/a2019/table1_x.py", "return 1", '"""One."""\n    return 1', False),
        ("kernels/spmv/csr.c", "csr", "CSR", True),
        ("kernels/spmv/common.h", "header", "Header", True),
        ("kernels/pack.py", "...", "return 3", True),
        ("baselines/scipy_spmv.py", "scipy", "scipy.sparse", True),
    ],
)
def test_what_changes_the_hashes(root, path, old, new, matters):
    before = used(root)
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new))
    after = used(root)
    assert {name for name in before if before[name] != after[name]} == ({path} if matters else set())


def test_a_source_with_a_syntax_error_is_hashed_as_it_is(root):
    (root / "kernels/pack.py").write_text("def offsets(:")
    assert "kernels/pack.py" in used(root)


def test_import_cycles_end(root):
    (root / "kernels/pack.py").write_text("from kernels.spmv import csr")
    assert set(used(root)) == HOST


def test_every_python_hashes_a_source_as_312_does(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""Text."""\nclass C:\n    def f(self, *a):\n        return []  # nothing\n')
    dumped = (
        "Module(body=[ClassDef(name='C', bases=[], keywords=[], body=[FunctionDef(name='f', args=arguments("
        "posonlyargs=[], args=[arg(arg='self')], vararg=arg(arg='a'), kwonlyargs=[], kw_defaults=[], defaults=[]), "
        "body=[Return(value=List(elts=[], ctx=Load()))], decorator_list=[], type_params=[])], decorator_list=[], "
        "type_params=[])], type_ignores=[])"
    )
    assert sources.source_hash(path) == sources.digest(dumped.encode())
