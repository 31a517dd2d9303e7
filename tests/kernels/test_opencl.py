"""Every kernel source is OpenCL C 1.2, by clang of the wheel ``ziglang``, which needs no OpenCL driver."""

import importlib.util
import itertools
import subprocess
from pathlib import Path

import pytest

from kernels.device import source
from tests.kernels.test_nvrtc import BUILDS, PROCESSORS, name_of

STUB = Path(__file__).with_name("opencl.h")
PORTABLE = (build for build in BUILDS if build[0].suffix == ".c" and not build[0].name.endswith(PROCESSORS))
FEW = [build for _, of in itertools.groupby(PORTABLE, key=lambda build: build[0])
       for build in itertools.islice(of, 3)]  # fmt: skip


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Return a function from the text of a program to clang's errors."""
    package = importlib.util.find_spec("ziglang")
    if package is None:
        pytest.skip("the wheel with a compiler is not installed")
    path = tmp_path_factory.mktemp("opencl") / "program.cl"
    command = [str(Path(package.origin).with_name("zig")), "clang", "-cc1", "-x", "cl", "-cl-std=CL1.2", "-triple",
               "spir64-unknown-unknown", "-fdeclare-opencl-builtins", "-fsyntax-only", "-include", str(STUB),
               str(path)]  # fmt: skip

    def errors(text):
        path.write_text(text)
        done = subprocess.run(command, capture_output=True, text=True)
        assert bool(done.returncode) == ("error:" in done.stderr), done.stderr
        return done.stderr if done.returncode else ""

    return errors


@pytest.mark.parametrize("build", FEW, ids=name_of)
def test_source_is_opencl_c(build, refused):
    errors = refused(source.load(*build).text("prelude_opencl.h"))
    assert not errors, errors


def test_what_opencl_c_has_not_is_refused(refused, tmp_path):
    path = tmp_path / "k.c"
    for wrong in ("double *x = y;", "{ SHARED int s[4]; s[0] = 1; }", "for (auto i = 0; i < 3; ++i) {}"):
        path.write_text(f"KERNEL k(GLOBAL double *y)\n{{\n    OUTER(b);\n    INNER(t) {{ {wrong} }}\n}}\n")
        assert f"{path}:4" in refused(source.load(path).text("prelude_opencl.h"))
