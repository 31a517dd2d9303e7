"""The C compiler of the processor's back end: the machine's own, else clang of the wheel ``ziglang``."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernels.device import cache, cpu
from kernels.device.errors import Unavailable

REMEDY = "pip install ziglang, a wheel with a C compiler, or apt install gcc"
IS_X86 = platform.machine() in ("x86_64", "AMD64")
FLAGS = ("-std=gnu11", "-O3", "-march=native" if IS_X86 else "-mcpu=native",
         *(["-mprefer-vector-width=512"] if IS_X86 else []), "-fno-math-errno", "-fno-trapping-math",
         "-Werror=implicit-function-declaration", "-fPIC", "-shared")  # fmt: skip
SYSTEMS = ("gcc", "clang", "cc")
TRIAL = "#include <math.h>\n#include <pthread.h>\nint three(void) { return 3; }\n"


@dataclass(frozen=True)
class Compiler:
    """A C compiler.

    Attributes
    ----------
    command : tuple of str
        The program, with what it always gets.
    version : str
    libraries : tuple of str
        Options that come last.
    environment : mapping of str to str
        Variables of its process.
    is_system : bool
        Whether it is the machine's own, with a linker and the C library's files.
    """

    command: tuple[str, ...]
    version: str
    libraries: tuple[str, ...] = ("-lm", "-lpthread")
    environment: Mapping[str, str] = field(default_factory=dict)
    is_system: bool = True

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the compiler; its messages are text."""
        inherited = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # as of a sanitizer
        return subprocess.run(
            [*self.command, *arguments, *self.libraries], env=inherited | dict(self.environment), capture_output=True,
            text=True, errors="replace", check=False,
        )  # fmt: skip


@functools.cache
def compiler() -> Compiler:
    """Return the C compiler: ``CC`` where that is set, else the machine's, else clang of the wheel ``ziglang``.

    Raises
    ------
    Unavailable
        When there is none, or ``CC`` is no C compiler.
    """
    wanted = os.environ.get("CC", "").split()  # it may have options
    if wanted:
        found = _system(wanted)
        if found is None:
            raise Unavailable(f"CC={' '.join(wanted)} is no C compiler", "unset CC, or set it to one")
        return found
    for name in SYSTEMS:
        if found := _system([name]):
            return found
    return _ziglang()


def _system(command: list[str]) -> Compiler | None:
    """Return a compiler of the machine that compiles; None where it is not there, or is something else by that name."""
    path = shutil.which(command[0])
    if path is None:
        return None
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False)
        found = Compiler((path, *command[1:]), said.stdout.partition("\n")[0].strip())
        library(TRIAL, ValueError, found=found)
    except (OSError, ValueError):  # it is no program for this machine, or has not the C library's headers
        return None
    return found


def _ziglang() -> Compiler:
    package = importlib.util.find_spec("ziglang")
    program = Path(package.origin).with_name("zig") if package and package.origin else None
    if program is None or not program.is_file():
        raise Unavailable("there is no C compiler", REMEDY)
    version = f"clang of ziglang {importlib.metadata.version('ziglang')}"
    scratch = str(cache.folder("ziglang"))
    # Python has loaded what a kernel needs of the C library: a stub of it would take seconds to build the first time.
    libraries = ("-nostdlib",) if sys.platform.startswith("linux") else ()
    variables = {"ZIG_GLOBAL_CACHE_DIR": scratch, "ZIG_LOCAL_CACHE_DIR": scratch}
    return Compiler((str(program), "cc"), version, libraries, variables, is_system=False)


def library(
    text: str, fail: Callable[[str], Exception], flags: tuple[str, ...] = FLAGS, found: Compiler | None = None
) -> ctypes.CDLL:
    """Return the shared library of a C text, from the cache where it was built before.

    Parameters
    ----------
    text : str
    fail : callable
        Called with the compiler's messages when it refuses the text; returns the exception to raise.
    flags : tuple of str, optional
    found : Compiler, optional
        By default the one that `compiler` returns.
    """
    with_what = found or compiler()
    key = cache.key(text, flags, with_what.command, with_what.version, with_what.libraries, cpu.identity())
    path = cache.folder("openmp") / f"{key}.so"
    if cache.load(path) is None:
        with tempfile.TemporaryDirectory() as folder:
            code, built = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            code.write_text(text, encoding="utf-8")
            run = with_what.run(*flags, "-o", str(built), str(code))
            if run.returncode:
                raise fail(run.stderr)
            cache.store(path, built.read_bytes())
    return ctypes.CDLL(str(path))
