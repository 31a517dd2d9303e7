"""The operations that are told of the kernels, against a build whose numbers count them."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from kernels.device import source
from kernels.sem import operations, schwarz
from kernels.sem.geometry import coefficients
from kernels.sem.gll import rule
from kernels.sem.shapes import Shape
from kernels.sem.stiffness import CONSTANTS, SOURCES, defines

from .conftest import MESHES

COUNTED = """
static long counted_operations;
struct counted {
    double value;
    counted() = default;
    constexpr counted(double v) : value(v) {}
    constexpr counted(int v) : value(v) {}
    operator double() const { return value; }
    counted operator-() const { return counted(-value); }
    counted &operator+=(counted o) { ++counted_operations; value += o.value; return *this; }
    counted &operator-=(counted o) { ++counted_operations; value -= o.value; return *this; }
    counted &operator*=(counted o) { ++counted_operations; value *= o.value; return *this; }
};
static inline double count(double v) { ++counted_operations; return v; }
#define COUNTS(op) \\
    static inline counted operator op(counted a, counted b) { return counted(count(a.value op b.value)); } \\
    static inline counted operator op(int a, counted b) { return counted(a) op b; }
COUNTS(+) COUNTS(-) COUNTS(*) COUNTS(/)
#define _Static_assert static_assert
#define restrict __restrict__
"""
CALL = """
extern "C" long count_group(const int *table, const double *numbers, const double *more, const double *x, double *parts)
{{
    counted_operations = 0;
    {name}(0, 0, 0, table, (const counted *)numbers, (const counted *)more, (const counted *)x, (counted *)parts{last});
    return counted_operations;
}}
"""


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    """Return what builds a kernel with numbers that count, for one group: a function that returns the count."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")

    def build(path, block, macros, name, last=""):
        made = source.load(path, block, macros)
        index = f"#undef real\n#define real counted\n#define {name}(...) {name}(DIALECT_INDEX, ##__VA_ARGS__)\n"
        text = made.text("prelude_openmp.h", index, f"#undef {name}\n" + CALL.format(name=name, last=last))
        text = re.sub(r"static inline void dialect_add_int.*?DIALECT_ADD\(double\)", "", text, flags=re.S)  # C11's own
        folder = tmp_path_factory.mktemp("counting")
        (folder / "kernel.cpp").write_text(COUNTED + text)
        command = [compiler, "-std=gnu++17", "-O0", "-w", "-fPIC", "-shared", "kernel.cpp", "-o", "kernel.so"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        function = ctypes.CDLL(str(folder / "kernel.so")).count_group
        function.restype = ctypes.c_long
        return lambda *arrays: function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))

    return build


@pytest.mark.parametrize(
    ("order", "geometry", "has_mass", "shape"),
    [
        (3, "stored", False, Shape(1)), (2, "stored", True, Shape(1)), (4, "trilinear", False, Shape(1)),
        (3, "trilinear", True, Shape(1, pencils=2)), (4, "trilinear", True, Shape(1, body="pencils")),
        (5, "trilinear", False, Shape(1, body="pencils")), (3, "stored", True, Shape(1, body="pencils")),
    ],
)  # fmt: skip
def test_operator(counting, order, geometry, has_mass, shape):
    q = order + 1
    macros = defines(order, "float64", geometry, has_mass, shape)
    count = counting(SOURCES[shape.body], shape.block(q), macros, "stiffness", ", nullptr")
    points, cells = MESHES["one"]()
    constants = np.ones(max(CONSTANTS[geometry], 7 * q**3))
    if geometry == "trilinear":
        constants[:21] = coefficients(points, cells)[0, 1:].ravel()
    place, weights, derivative = rule(order)
    table, x, parts = np.arange(q**3, dtype="int32"), np.ones(q**3), np.zeros(q**3)
    found = count(table, constants, np.concatenate([derivative.T.ravel(), weights, place]), x, parts)
    assert found == getattr(operations, shape.body)(order, geometry, has_mass)
    assert np.isfinite(parts).all()


@pytest.mark.parametrize("order", [2, 3, 6])
def test_local_solves(counting, order):
    q = order + 3
    macros = schwarz.defines(order, "float64", 1) | {"outer": "real", "added": "real"}
    count = counting(schwarz.SOURCE, -(-(q * q) // 32) * 32, macros, "schwarz", ", nullptr")
    arrays = np.arange(q**3, dtype="int32"), np.ones(4), schwarz.pencil(order)[0], np.ones(q**3), np.zeros(q**3)
    assert count(*arrays) == operations.schwarz(order)
    # Between 0.93 and 0.98 of the paper's O_P, which counts a product with its addition as one.
    assert 0.9 < operations.schwarz(order) / (6 * q**4 + 15 * q**3) < 1
