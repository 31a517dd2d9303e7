import importlib.util
import os
import subprocess
from types import SimpleNamespace

import pytest

from kernels.device import Unavailable, linker, openmp

CALL = ["-shared", "-o", "kernel so", "-L/lib", "kernel.o", "-lgcc", "--as-needed", "-lgcc_s", "--no-as-needed", "-lc"]


def program(path, text='printf "%s\\n" "$@"'):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine without a compiler and without ld; returns the folder in its PATH."""

    def no_compiler():
        raise Unavailable("no C compiler")

    monkeypatch.setattr(openmp, "compiler", no_compiler)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def called():
    """Return what the linker that is first in PATH gets of a call as PoCL makes it."""
    folder = os.environ["PATH"].split(os.pathsep)[0]
    return subprocess.run([f"{folder}/ld", *CALL], capture_output=True, text=True, check=True).stdout.splitlines()


def test_without_a_linker_it_is_unavailable(bare):
    with pytest.raises(Unavailable, match="there is no ld") as error:
        linker.provide()
    assert "ziglang" in error.value.remedy


def test_the_systems_linker_is_spared_the_libraries_of_a_compiler(bare):
    program(bare / "ld")
    linker.provide()
    linker.provide()
    assert called() == ["-shared", "-o", "kernel so", "-L/lib", "kernel.o"]
    assert len(os.environ["PATH"].split(os.pathsep)) == 2


def test_the_package_takes_its_place(bare, tmp_path, monkeypatch):
    program(tmp_path / "zig lang/zig")
    found = SimpleNamespace(origin=str(tmp_path / "zig lang/__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    linker.provide()
    assert called() == ["ld.lld", "-shared", "-o", "kernel so", "-L/lib", "kernel.o"]


def test_beside_a_compiler_nothing_is_done(bare, monkeypatch):
    program(bare / "ld")
    monkeypatch.setattr(openmp, "compiler", lambda: ("gcc", "12"))
    before = os.environ["PATH"]
    linker.provide()
    assert os.environ["PATH"] == before
