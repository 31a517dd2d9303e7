"""Kernel sources: reading, included files, defines, and the signatures that arguments are checked against.

A compiler gets one text: the defines, the back end's prelude and the source, with ``#line`` directives so that
its messages name the kernel's own file and line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.device.errors import BuildError

ROOT = Path(__file__).resolve().parents[2]
PRELUDES = Path(__file__).resolve().parent
RESERVED = ("BLOCK", "BLOCK_X", "BLOCK_Y", "BLOCK_Z", "SHARED_POOL_BYTES")
MAX_BLOCK = 1024  # threads of a block: the limit of every CUDA device, held everywhere so that sources stay portable

# The scalar types of a signature, as OpenCL sizes them; CUDA and C agree on 64-bit Linux.
TYPES = {
    "char": "int8", "signed char": "int8", "unsigned char": "uint8", "uchar": "uint8",
    "short": "int16", "unsigned short": "uint16", "ushort": "uint16",
    "int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "uint": "uint32",
    "long": "int64", "unsigned long": "uint64", "ulong": "uint64",
    "float": "float32", "double": "float64",
}  # fmt: skip

_KERNEL = re.compile(r"\bKERNEL\s+(\w+)\s*\(([^)]*)\)")
_POOL = re.compile(r"\bSHARED_POOL\s*\(\s*(\w+)\s*,\s*\w+\s*,([^;]*)\)\s*;")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*?)[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: its name, element type, and whether it is a pointer and to constant data."""

    name: str
    dtype: np.dtype
    pointer: bool
    constant: bool


@dataclass(frozen=True)
class Signature:
    """A kernel's name, arguments, their text in the source, and the bytes of its ``SHARED_POOL``."""

    name: str
    arguments: tuple[Argument, ...]
    text: str
    shared_bytes: int


@dataclass(frozen=True)
class Source:
    """A kernel source ready for a prelude.

    Attributes
    ----------
    label : str
        The path as compilers shall name it: relative to the repository where it lies there.
    defines : str
        ``#define`` lines of block, pool and caller.
    body : str
        The source with its included files in place.
    signatures : tuple of Signature
    block : tuple of int
        Threads along x, y and z.
    settings : dict
        The caller's choices, for messages.
    """

    label: str
    defines: str
    body: str
    signatures: tuple[Signature, ...]
    block: tuple[int, int, int]
    settings: dict

    @property
    def shared_bytes(self) -> int:
        """The most that any of the kernels takes for its pool."""
        return max(signature.shared_bytes for signature in self.signatures)

    def text(self, prelude: str, before: str = "", after: str = "") -> str:
        """Return the whole text for a compiler.

        Parameters
        ----------
        prelude : str
            File name of the back end's prelude beside this module.
        before, after : str, optional
            Text of the back end's own between prelude and source, and after the source.
        """
        head = (PRELUDES / prelude).read_text(encoding="utf-8")
        return (
            f'#line 1 "defines"\n{self.defines}#line 1 "kernels/device/{prelude}"\n{head}'
            f'#line 1 "generated"\n{before}#line 1 "{self.label}"\n{self.body}\n#line 1 "generated"\n{after}'
        )


def place(text: str, line: int) -> str:
    """Return ``file:line`` of a line of a whole text by its ``#line`` directives, which some compilers ignore."""
    label, start = "", 0
    lines = text.splitlines()
    for index in range(min(line, len(lines)) - 1, -1, -1):
        directive = re.match(r'#line (\d+) "([^"]*)"', lines[index])
        if directive:
            label, start = directive[2], int(directive[1]) - index - 2
            break
    return f"{label}:{line + start}"


def load(path: str | Path, block=256, defines: Mapping | None = None, shared_bytes: int | None = None) -> Source:
    """Read a kernel source for one set of sizes.

    Parameters
    ----------
    path : path
        The ``.c`` or ``.cu`` file.
    block : int or tuple of up to three ints
        Threads of a block.
    defines : mapping of str to str, int, float or bool, optional
        Macros; a float is written with all its digits.
    shared_bytes : int, optional
        Bytes of each ``SHARED_POOL``; by default what its type and count in the source come to.

    Raises
    ------
    ValueError
        For a block or a define that no back end takes.
    BuildError
        For a signature that cannot be read.
    """
    path = Path(path).resolve()
    threads = (block,) if isinstance(block, (int, np.integer)) else tuple(block)
    if not 1 <= len(threads) <= 3 or min(threads) < 1 or np.prod(threads) > MAX_BLOCK:
        raise ValueError(f"block must be one to three positive sizes of at most {MAX_BLOCK} threads, not {block}")
    threads = (*(int(size) for size in threads), 1, 1)[:3]
    defines = dict(defines or {})
    macros = {name: define_text(name, value) for name, value in sorted(defines.items())}
    own = dict(zip(("BLOCK_X", "BLOCK_Y", "BLOCK_Z"), map(str, threads), strict=True))
    own["BLOCK"] = "(BLOCK_X * BLOCK_Y * BLOCK_Z)"
    settings = {"block": block, **defines} | ({"shared_bytes": shared_bytes} if shared_bytes else {})
    label = label_of(path)
    body = expand(path)
    kernels = signatures(body, own | macros, label, settings, shared_bytes)
    own["SHARED_POOL_BYTES"] = str(max(kernel.shared_bytes for kernel in kernels))
    lines = "".join(f"#define {name} {value}\n" for name, value in (own | macros).items())
    return Source(label, lines, body, kernels, threads, settings)


def state(path: str | Path) -> tuple[int, int]:
    """Tell one state of a file from another."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


def define_text(name: str, value) -> str:
    """Return the text of a define's value; ValueError or TypeError when it has none."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or name in RESERVED:
        raise ValueError(f"{name!r} cannot be defined: it is reserved or no C name")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return f"({float(value)!r})"
    if isinstance(value, str) and "\n" not in value:
        return value
    raise TypeError(f"define {name} must be a line of text or a number, not {value!r}")


def label_of(path: Path) -> str:
    """Return `path` relative to the repository where it lies there, else whole."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def expand(path: Path, seen: set[Path] | None = None) -> str:
    """Return a source's text with each ``#include "file"`` replaced, once, by the file beside it.

    Angle-bracket includes are left to the compiler.
    """
    seen = set() if seen is None else seen
    seen.add(path)
    text = path.read_text(encoding="utf-8")

    def replace(match: re.Match) -> str:
        included = (path.parent / match[1]).resolve()
        if included in seen:
            return ""
        if not included.is_file():
            line = text.count("\n", 0, match.start()) + 1
            raise FileNotFoundError(f"{label_of(path)}:{line}: there is no {match[1]} beside it")
        after = text.count("\n", 0, match.end()) + 2
        inner = expand(included, seen)
        return f'#line 1 "{label_of(included)}"\n{inner}\n#line {after} "{label_of(path)}"'

    return _INCLUDE.sub(replace, text)


def signatures(
    body: str, macros: Mapping[str, str], label: str, settings: Mapping, shared_bytes: int | None = None
) -> tuple[Signature, ...]:
    """Return the signatures of the kernels in `body`, names resolved through `macros` and its own plain ``#define``."""

    def fail(message: str):
        raise BuildError("the signature parser", label, message, settings)

    code = _COMMENT.sub(lambda match: match[1] or " ", body)
    macros = dict(_DEFINE.findall(code)) | dict(macros)
    found = list(_KERNEL.finditer(code))
    if not found:
        fail("it holds no KERNEL")
    ends = [match.start() for match in found[1:]] + [len(code)]
    result = []
    for match, end in zip(found, ends, strict=True):
        name, text = match[1], " ".join(match[2].split())
        if "#" in text:
            fail(f"{name}: a signature cannot hold preprocessor directives")
        arguments = tuple(argument(part, macros, name, fail) for part in text.split(",")) if text else ()
        pool = _POOL.search(code, match.end(), end)
        size = 0
        if pool:
            size = int(pool_bytes(pool[1], pool[2], macros, name, fail) if shared_bytes is None else shared_bytes)
        result.append(Signature(name, arguments, text, size))
    names = [signature.name for signature in result]
    for name in names:
        if names.count(name) > 1:
            fail(f"kernel {name} is defined twice")
    return tuple(result)


def resolve(text: str, macros: Mapping[str, str]) -> str:
    """Return `text` with the names that `macros` define replaced, and those in what replaces them."""
    for _ in range(8):
        replaced = re.sub(r"[A-Za-z_]\w*", lambda match: macros.get(match[0], match[0]), text)
        if replaced == text:
            break
        text = replaced
    return " ".join(text.split())


def pool_bytes(kind: str, count: str, macros: Mapping[str, str], kernel: str, fail) -> int:
    """Return the bytes of ``SHARED_POOL(kind, name, count)``."""
    kind, count = resolve(kind, macros), resolve(count, macros)
    if kind not in TYPES or not re.fullmatch(r"[\d\s()+*/%<>-]+", count):
        fail(f"{kernel}: cannot tell the bytes of a SHARED_POOL of {count} of {kind}; give the build shared_bytes")
    try:
        value = eval(count.replace("/", "//"), {"__builtins__": {}})  # digits and operators alone, as matched above
    except (SyntaxError, ZeroDivisionError) as error:
        fail(f"{kernel}: the count of SHARED_POOL, {count}, has no value: {error}")
    return np.dtype(TYPES[kind]).itemsize * value


def argument(text: str, macros: Mapping[str, str], kernel: str, fail) -> Argument:
    """Return the argument that `text`, as in ``GLOBAL const real *RESTRICT x``, declares."""
    words = re.findall(r"\w+|\*", text)
    words = [word for word in words if word not in ("GLOBAL", "RESTRICT", "volatile")]
    pointer = "*" in words
    if len(words) < 2 or words.count("*") > 1:
        fail(f"{kernel}: cannot read the argument {text.strip()!r}")
    name = words.pop()
    before = words[: words.index("*")] if pointer else words
    kind = " ".join(word for word in resolve(" ".join(before), macros).split() if word != "const")
    if kind not in TYPES:
        fail(f"{kernel}: argument {name} has the type {kind!r}, which is neither a C type nor defined in the build")
    return Argument(name, np.dtype(TYPES[kind]), pointer, pointer and "const" in before)
