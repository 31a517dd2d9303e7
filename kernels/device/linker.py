"""A linker for PoCL on machines without a compiler.

PoCL 3.0 links each kernel as a compiler would, with `ld` and the libraries of C and GCC, and ends the process when one
of them is missing. Its kernels need none of these libraries beyond what Python has already loaded.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from kernels.device import cache, openmp
from kernels.device.errors import Unavailable

REMEDY = "pip install ziglang, or apt install gcc"
WITHOUT_LIBRARIES = """#!/bin/sh
for argument in "$@"; do
    shift
    case $argument in
        -l* | --as-needed | --no-as-needed) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {linker} "$@"
"""


def provide() -> None:
    """See to it that PoCL finds an `ld` that links its kernels.

    Beside a C compiler nothing is done. Without one the system's `ld`, or the linker in the package `ziglang`, is put
    first in this process's PATH, and spared the libraries.

    Raises
    ------
    Unavailable
        When there is no linker.
    """
    try:
        openmp.compiler()
    except Unavailable:
        pass
    else:
        if shutil.which("ld"):
            return
    text = WITHOUT_LIBRARIES.format(linker=shlex.join(_command()))
    program = cache.folder("linker") / cache.key(text) / "ld"
    if not program.exists():
        _write_program(program, text)
    folder = str(program.parent)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])


def _command() -> list[str]:
    """Return the command of a linker that takes the options of GNU's."""
    # A parent process's PATH may begin with a program of this module, which must not come to call itself.
    ours = cache.folder("linker")
    inherited = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = shutil.which("ld", path=os.pathsep.join(part for part in inherited if Path(part).parent != ours))
    if path:
        return [path]
    package = importlib.util.find_spec("ziglang")
    zig = Path(package.origin).with_name("zig") if package and package.origin else None
    if zig is None or not zig.is_file():
        raise Unavailable("PoCL needs a linker, and there is no ld", REMEDY)
    return [str(zig), "ld.lld"]


def _write_program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o755)
    os.replace(temporary, path)
