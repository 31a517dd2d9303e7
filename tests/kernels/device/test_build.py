"""Building: arguments, errors that name the source's lines, the cache, and several builders at once."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels.device import BuildError, cache, source

ROOT = Path(__file__).resolve().parents[3]
SCALE = """
KERNEL scale(const int n, const real factor, GLOBAL const real *x, GLOBAL real *y)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) y[i] = factor * x[i];
    }
}
"""


@pytest.fixture
def scale(build):
    return build(SCALE, block=32, defines={"real": "double"}).scale


def test_wrong_arguments_are_named(device, scale):
    x, y = device.array(np.arange(6.0)), device.zeros(6, float)
    with pytest.raises(TypeError, match=r"scale takes 4 arguments \(n, factor, x, y\), not 3"):
        scale(1, 6, 2.0, x)
    with pytest.raises(TypeError, match=r"argument x takes .*float64, not of float32"):
        scale(1, 6, 2.0, device.array(np.arange(6, dtype=np.float32)), y)
    with pytest.raises(TypeError, match="argument n is an int32 number, not float"):
        scale(1, 6.0, 2.0, x, y)
    with pytest.raises(TypeError, match="argument factor is a float64 number"):
        scale(1, 6, "two", x, y)
    with pytest.raises(TypeError, match=r"argument y .*not builtins.list"):
        scale(1, 6, 2.0, x, [0.0] * 6)
    with pytest.raises(OverflowError, match="argument n is 2147483648, beyond int32"):
        scale(1, np.int64(2**31), 2.0, x, y)
    with pytest.raises(ValueError, match="negative"):
        scale(-1, 6, 2.0, x, y)
    assert not device.to_host(y).any()


def test_arrays_of_another_back_end_or_order_are_refused(device, scale):
    y = device.zeros(6, float)
    if device.backend != "openmp":
        with pytest.raises(TypeError, match=r"device\.array"):
            scale(1, 6, 2.0, np.arange(6.0), y)
    if device.backend != "opencl":
        with pytest.raises(ValueError, match="strides"):
            scale(1, 6, 2.0, device.array(np.arange(12.0))[::2], y)


def test_numpy_numbers_are_taken(device, scale):
    x, y = device.array(np.arange(6.0)), device.zeros(6, float)
    scale(np.int32(1), np.uint8(6), np.float32(0.5), x, y)
    assert np.array_equal(device.to_host(y), np.arange(6) / 2)


def test_a_read_only_array_is_read_and_not_written(device, scale):
    x = np.arange(6.0)
    x.flags.writeable = False
    y = device.zeros(6, float)
    scale(1, 6, 2.0, device.array(x), y)
    assert np.array_equal(device.to_host(y), 2 * x)
    if device.backend == "openmp":  # elsewhere device.array has copied it
        with pytest.raises(ValueError, match="argument y is written"):
            scale(1, 6, 2.0, x, x)
    assert np.array_equal(x, np.arange(6.0))


def test_build_error_names_file_line_and_defines(device, tmp_path):
    (tmp_path / "helper.h").write_text("DEVICE_FUNCTION real twice(const real x)\n{\n    return x + x;\n}\n")
    path = tmp_path / "wrong.c"
    path.write_text(
        '// comment\n#include "helper.h"\n' + SCALE.replace("factor * x[i]", "twice(factor) * missing_name[i]")
    )
    with pytest.raises(BuildError) as caught:
        device.build(path, block=32, defines={"real": "double", "EXTRA": 7})
    message = str(caught.value)
    assert "missing_name" in message and "EXTRA=7" in message and "real=double" in message
    line = path.read_text().splitlines().index("        if (i < n) y[i] = twice(factor) * missing_name[i];") + 1
    assert f"{path}:{line}" in message or f"{path}({line})" in message


def test_error_in_an_included_file_names_it(device, tmp_path):
    (tmp_path / "helper.h").write_text("\n\nDEVICE_FUNCTION real twice(const real x) { return x + absent; }\n")
    path = tmp_path / "right.c"
    path.write_text('#include "helper.h"\n#include "helper.h"\n' + SCALE)
    with pytest.raises(BuildError) as caught:
        device.build(path, block=32, defines={"real": "double"})
    assert f"{tmp_path / 'helper.h'}:3" in str(caught.value) or f"{tmp_path / 'helper.h'}(3)" in str(caught.value)


def test_an_undeclared_function_is_a_build_error(device, build):
    with pytest.raises(BuildError, match="no_such_function"):
        build(SCALE.replace("factor * x[i]", "no_such_function(x[i])"), defines={"real": "double"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCALE, "argument factor has the type 'real'"),
        ("int x;", "no KERNEL"),
        (SCALE.replace("real", "float") * 2, "defined twice"),
        ("KERNEL k(GLOBAL int **x) { }", "cannot read the argument"),
        ("KERNEL k(GLOBAL int *x,\n#if 1\nint y\n#endif\n) { }", "preprocessor"),
        ("KERNEL k(GLOBAL int *x) { SHARED_POOL(int, pool, sizeof(x)); }", "give the build shared_bytes"),
    ],
)
def test_signatures_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "bad.c"
    path.write_text(text)
    with pytest.raises(BuildError, match=message):
        source.load(path)


def test_signatures_are_read_through_comments_defines_and_qualifiers(tmp_path):
    path = tmp_path / "good.c"
    path.write_text(
        "#define index_type const unsigned  int // a type\n"
        "/* KERNEL not_me(int x) */ // KERNEL nor_me(int y)\n"
        "KERNEL one(index_type n, /* two, things */ GLOBAL const real *RESTRICT x,\n   GLOBAL volatile long* y) { }\n"
    )
    (kernel,) = source.load(path, defines={"real": "number", "number": "float"}).signatures
    found = [(a.name, a.dtype.name, a.pointer, a.constant) for a in kernel.arguments]
    assert found == [("n", "uint32", False, False), ("x", "float32", True, True), ("y", "int64", True, False)]


@pytest.mark.parametrize("block", [0, (4, -1), 1025, (32, 33), (1, 1, 1, 1)])
def test_blocks_that_no_device_takes(tmp_path, block):
    path = tmp_path / "k.c"
    path.write_text("KERNEL k() { }")
    with pytest.raises(ValueError, match="block"):
        source.load(path, block=block)


@pytest.mark.parametrize(
    ("name", "value"), [("BLOCK", 3), ("not a name", 1), ("x", None), ("x", "two\nlines"), ("x", 1j)]
)
def test_defines_that_cannot_be(name, value):
    with pytest.raises((ValueError, TypeError)):
        source.define_text(name, value)


def test_defines_keep_their_value():
    assert source.define_text("x", True) == "1"
    assert source.define_text("x", np.int64(-3)) == "-3"
    assert float(source.define_text("x", 0.1)[1:-1]) == 0.1


def test_a_build_is_remembered_and_sources_are_reread(device, tmp_path):
    path = tmp_path / "k.c"
    path.write_text(SCALE)
    first = device.build(path, block=32, defines={"real": "double"})
    assert device.build(path, block=32, defines={"real": "double"}) is first
    path.write_text(SCALE.replace("factor *", "2 * factor *"))
    second = device.build(path, block=32, defines={"real": "double"}).scale
    x, y = device.array(np.arange(6.0)), device.zeros(6, float)
    second(1, 6, 1.0, x, y)
    assert np.array_equal(device.to_host(y), 2 * np.arange(6.0))


def test_a_body_of_the_back_ends_own(device, tmp_path):
    path = tmp_path / "k.c"
    path.write_text(SCALE)
    for suffix, factor in ((".cu", 2), (".cpu.c", 3)):
        path.with_suffix(suffix).write_text(SCALE.replace("factor *", f"{factor} * factor *"))
    x, y = device.array(np.arange(6.0)), device.zeros(6, float)
    device.build(path, block=32, defines={"real": "double"}).scale(1, 6, 1.0, x, y)
    assert device.to_host(y)[1] == {"cuda": 2, "openmp": 3, "opencl": 1}[device.backend]
    device.build(path, block=32, defines={"real": "double"}, portable=True).scale(1, 6, 1.0, x, y)
    assert device.to_host(y)[1] == 1


def test_cached_content_survives_and_damage_is_noticed(tmp_path):
    path = tmp_path / "entry"
    assert cache.load(path) is None
    cache.store(path, b"content")
    assert cache.load(path) == b"content"
    for damaged in (b"", b"short", path.read_bytes()[:-1], b"X" + path.read_bytes()[1:]):
        path.write_bytes(damaged)
        assert cache.load(path) is None and not path.exists()
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert [entry.name for entry in tmp_path.iterdir()] == []


_PROCESS = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from kernels.device import open_device
device = open_device(sys.argv[1])
x, y = device.array(np.arange(6.0)), device.zeros(6, float)
device.build(sys.argv[2], block=32, defines={{"real": "double"}}).scale(1, 6, 3.0, x, y)
assert np.array_equal(device.to_host(y), 3 * np.arange(6.0))
"""


def run_builders(backend, path, cache_folder, count):
    """Build and run SCALE in `count` processes at once, which share a cache folder; return their error texts."""
    environment = {name: value for name, value in os.environ.items() if name != "CUPY_CACHE_DIR"}
    environment["REPRO_CACHE"] = str(cache_folder)
    command = [sys.executable, "-c", _PROCESS, backend, str(path)]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(count)]
    texts = [process.communicate()[1] for process in running]
    return [text or "Error" if process.returncode else "" for text, process in zip(texts, running, strict=True)]


def test_concurrent_builders_and_a_damaged_cache(device, tmp_path):
    path, folder = tmp_path / "k.c", tmp_path / "cache"
    path.write_text(SCALE)
    assert run_builders(device.backend, path, folder, 3) == ["", "", ""]
    entries = [entry for entry in folder.rglob("*") if entry.is_file()]
    if device.backend != "opencl":
        assert entries
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])
    assert run_builders(device.backend, path, folder, 1) == [""]


def test_a_cached_kernel_is_not_compiled_again(device, tmp_path):
    if device.backend == "opencl":
        pytest.skip("OpenCL drivers keep built kernels in caches of their own")
    path, folder = tmp_path / "k.c", tmp_path / "cache"
    path.write_text(SCALE)
    assert run_builders(device.backend, path, folder, 1) == [""]
    before = {entry: entry.stat().st_mtime_ns for entry in folder.rglob("*") if entry.is_file()}
    assert before
    assert run_builders(device.backend, path, folder, 1) == [""]
    assert {entry: entry.stat().st_mtime_ns for entry in folder.rglob("*") if entry.is_file()} == before


def test_a_line_of_the_whole_text_is_found_in_its_file(tmp_path):
    """NVIDIA's OpenCL compiler names lines of the text that it got; errors must name the source's own."""
    (tmp_path / "helper.h").write_text("\n\nDEVICE_FUNCTION real twice(const real x) { return x + absent; }\n")
    path = tmp_path / "wrong.c"
    path.write_text('// a\n#include "helper.h"\nKERNEL k(GLOBAL real *y)\n{\n    OUTER(b);\n    y[b] = missing;\n}\n')
    text = source.load(path, 32, {"real": "double"}).text("prelude_opencl.h")
    lines = text.splitlines()
    for word, name, number in (("absent", "helper.h", 3), ("missing", "wrong.c", 6)):
        line = next(i for i, text_line in enumerate(lines, 1) if word in text_line)
        assert source.place(text, line) == f"{tmp_path / name}:{number}"
