"""The processor's compiler: which one is taken, what is said of one that is none, and what a wheel's needs."""

import os
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest

from kernels.device import Unavailable, cache, compiler, openmp

TWICE = "int twice(int x) { return 2 * x; }\n"


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    compiler.compiler.cache_clear()
    yield
    compiler.compiler.cache_clear()


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def only_the_wheel(monkeypatch):
    pytest.importorskip("ziglang", reason="the wheel with a compiler is not installed")
    monkeypatch.setenv("PATH", "/nowhere")


def test_without_any_compiler_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="no C compiler") as caught:
        openmp.open_device()
    assert "pip install ziglang" in caught.value.remedy and "gcc" in caught.value.remedy


@pytest.mark.parametrize("text", ["exit 1", "exit 0", "echo what"])
def test_a_CC_that_is_no_compiler_is_named_and_nothing_takes_its_place(monkeypatch, tmp_path, text):
    monkeypatch.setenv("CC", f"{program(tmp_path / 'cc', text)} -O1")
    with pytest.raises(Unavailable, match=r"CC=.*/cc -O1 is no C compiler"):
        compiler.compiler()
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(Unavailable, match="CC=/nowhere/cc is no C compiler"):
        compiler.compiler()


def test_CC_may_have_options(monkeypatch):
    real = shutil.which("gcc") or shutil.which("clang")
    if not real:
        pytest.skip("no gcc or clang")
    monkeypatch.setenv("CC", f"{real} -DTWO=2")
    assert compiler.library("int two(void) { return TWO; }", ValueError).two() == 2


def test_one_that_does_not_compile_is_passed_over(monkeypatch, tmp_path):
    """As a gcc without the C library's headers, which a slim system may have."""
    if not shutil.which("clang") and not shutil.which("gcc"):
        pytest.skip("no gcc or clang")
    real = shutil.which("gcc") or shutil.which("clang")
    program(tmp_path / "gcc", "exit 1")
    os.symlink(real, tmp_path / "clang")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), os.environ["PATH"]]))
    assert compiler.compiler().command == (str(tmp_path / "clang"),)


def test_the_wheels_compiler_builds_what_runs_here(monkeypatch):
    only_the_wheel(monkeypatch)
    found = compiler.compiler()
    assert "ziglang" in found.version and not found.is_system
    assert compiler.library(TWICE, ValueError).twice(21) == 42
    device = openmp.open_device()
    assert device.adds_up() and "ziglang" in device.details["compiler"]


def test_the_wheels_compiler_needs_neither_a_home_nor_a_path(monkeypatch, tmp_path):
    only_the_wheel(monkeypatch)
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert compiler.library(TWICE, ValueError).twice(3) == 6
    assert not list(home.iterdir())


@pytest.mark.parametrize("target", ["aarch64-linux-gnu.2.28", "aarch64-macos", "x86_64-macos"])
def test_the_pool_compiles_for_other_platforms(monkeypatch, tmp_path, target):
    only_the_wheel(monkeypatch)
    found = compiler.compiler()
    code = str(compiler.Path(compiler.__file__).with_name("pool.c"))
    flags = ["-std=gnu11", "-O2", "-Wall", "-Werror", "-target", target, "-c", "-o", str(tmp_path / "pool.o"), code]
    run = subprocess.run([*found.command, *flags], env={**os.environ, **found.environment}, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()


def test_messages_of_a_refused_text_are_the_callers():
    with pytest.raises(ValueError, match="nonsense"):
        compiler.library("int f(void) { return nonsense; }", ValueError)


def test_a_library_is_built_once_and_again_when_damaged(monkeypatch):
    assert compiler.library(TWICE, ValueError).twice(2) == 4
    runs = []
    run = compiler.Compiler.run
    monkeypatch.setattr(compiler.Compiler, "run", lambda self, *given: runs.append(given) or run(self, *given))
    assert compiler.library(TWICE, ValueError).twice(2) == 4 and not runs
    for path in cache.folder("openmp").iterdir():
        content = path.read_bytes()
        path.unlink()  # in place, the file that this process runs would be cut off
        path.write_bytes(content[:100])
    assert compiler.library(TWICE, ValueError).twice(2) == 4 and runs


def test_a_kernel_of_either_compiler_gives_the_same(monkeypatch, tmp_path):
    pytest.importorskip("ziglang")
    source = tmp_path / "k.c"
    source.write_text(
        "KERNEL root(const long n, GLOBAL const double *RESTRICT x, GLOBAL double *RESTRICT y)\n"
        "{ OUTER(b); INNER(t) { const long i = b * BLOCK + t; if (i < n) y[i] = sqrt(x[i]) + exp(x[i]); } }\n"
    )
    x = np.linspace(0, 3, 10001)
    found = []
    for path in (os.environ["PATH"], "/nowhere"):
        monkeypatch.setenv("PATH", path)
        compiler.compiler.cache_clear()
        device = openmp.open_device()
        y = device.zeros(x.size, float)
        device.build(source, 64).root(-(-x.size // 64), x.size, x, y)
        found.append(y)
    np.testing.assert_allclose(found, [np.sqrt(x) + np.exp(x)] * 2, rtol=4e-16 * 4)
    assert sys.platform != "linux" or len({id(y) for y in found}) == 2
