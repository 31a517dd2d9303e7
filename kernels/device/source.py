"""Kernel sources: reading, included files, defines, and the signatures that arguments are checked against.

What a compiler gets is one text: the defines, the back end's prelude and the source, with ``#line`` directives so that its
messages name the kernel's own file and line.
"""

from __future__ import annotations

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
    """A kernel's name, arguments, their text in the source, and whether its body uses ``SHARED_POOL``."""

    name: str
    arguments: tuple[Argument, ...]
    text: str
    uses_pool: bool


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
    shared_bytes : int
        Bytes of ``SHARED_POOL``.
    settings : dict
        What the caller asked for, for messages.
    """

    label: str
    defines: str
    body: str
    signatures: tuple[Signature, ...]
    block: tuple[int, int, int]
    shared_bytes: int
    settings: dict

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


def load(path: str | Path, block=256, defines: Mapping | None = None, shared_bytes: int = 0) -> Source:
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
        Bytes of the kernel's ``SHARED_POOL``.

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
    own = dict(zip(("BLOCK_X", "BLOCK_Y", "BLOCK_Z"), threads, strict=True))
    own |= {"BLOCK": "(BLOCK_X * BLOCK_Y * BLOCK_Z)", "SHARED_POOL_BYTES": int(shared_bytes)}
    lines = "".join(f"#define {name} {value}\n" for name, value in (own | macros).items())
    settings = {"block": block, **defines} | ({"shared_bytes": shared_bytes} if shared_bytes else {})
    label = label_of(path)
    body = expand(path)
    return Source(label, lines, body, signatures(body, macros, label, settings), threads, int(shared_bytes), settings)


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


def signatures(body: str, macros: Mapping[str, str], label: str, settings: Mapping) -> tuple[Signature, ...]:
    """Return the signatures of the kernels in `body`, type names resolved through `macros`."""

    def fail(message: str):
        raise BuildError("the signature parser", label, message, settings)

    code = _COMMENT.sub(lambda match: match[1] or " ", body)
    found = list(_KERNEL.finditer(code))
    ends = [match.start() for match in found[1:]] + [len(code)]
    result = []
    for match, end in zip(found, ends, strict=True):
        name, text = match[1], " ".join(match[2].split())
        if "#" in text:
            fail(f"{name}: a signature cannot hold preprocessor directives")
        arguments = tuple(argument(part, macros, name, fail) for part in text.split(",")) if text else ()
        result.append(Signature(name, arguments, text, "SHARED_POOL" in code[match.end() : end]))
    names = [signature.name for signature in result]
    if not names:
        fail("it holds no KERNEL")
    for name in names:
        if names.count(name) > 1:
            fail(f"kernel {name} is defined twice")
    return tuple(result)


def argument(text: str, macros: Mapping[str, str], kernel: str, fail) -> Argument:
    """Return the argument that `text`, as in ``GLOBAL const real *RESTRICT x``, declares."""
    words = re.findall(r"\w+|\*", text)
    words = [word for word in words if word not in ("GLOBAL", "RESTRICT", "volatile")]
    pointer = "*" in words
    if len(words) < 2 or words.count("*") > 1:
        fail(f"{kernel}: cannot read the argument {text.strip()!r}")
    name = words.pop()
    before = words[: words.index("*")] if pointer else words
    kind = " ".join(word for word in before if word != "const")
    for _ in range(8):  # a define may name another define
        if kind not in macros:
            break
        kind = macros[kind]
    if kind not in TYPES:
        fail(f"{kernel}: argument {name} has the type {kind!r}, which is neither a C type nor defined in the build")
    return Argument(name, np.dtype(TYPES[kind]), pointer, pointer and "const" in before)
