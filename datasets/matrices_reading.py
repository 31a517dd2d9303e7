"""Matrix Market files: the user's own, or as the SuiteSparse collection ships them, in an archive.

Nothing in an archive is written to where it says: its one matrix is read as a stream, into a file of our own.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from datasets import guarded
from datasets.errors import MatrixError
from datasets.matrices import LARGEST, Matrix, checked

SUFFIXES = (".mtx", ".mtx.gz", ".tar.gz", ".tgz")
LARGEST_TEXT = 64 * 2**30  # bytes of a matrix as text
LARGEST_RATIO = 100  # of the text to what it is packed into; matrices have 3 to 30
FREE = 2**20  # bytes that may be unpacked whatever the ratio
MEMBERS = 1000
SHORTEST = 4  # bytes of an entry, "1 1" and the end of the line
FIELDS, SYMMETRIES = ("real", "integer", "pattern"), ("general", "symmetric", "skew-symmetric")
# The last is tarfile's answer to a header of gzip that is cut short.
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, UnicodeDecodeError, TypeError)


def key(entry, path: Path) -> str:
    """Return a hash of the file's bytes and of the matrix it takes the place of."""
    try:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256")
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    return hashlib.sha256(f"{entry.name} {path.name} {content.hexdigest()}".encode()).hexdigest()


def read(entry, path: Path) -> Matrix:
    """Return the matrix in a file as one that takes the place of a catalogue's entry; see `matrix`."""
    return Matrix(matrix(path), entry.name, f"{path.name} (own matrix for {entry.short_title})")


def matrix(path: Path, real_part: bool = False):
    """Return the matrix in a Matrix Market file, packed or not.

    Parameters
    ----------
    path : Path
        ``.mtx``, ``.mtx.gz``, or ``.tar.gz`` and ``.tgz`` with the matrix of the name of its folder, or with one alone.
    real_part : bool
        Whether complex values are taken by their real parts.

    Returns
    -------
    scipy.sparse.csr_matrix
        Symmetric ones in full; a pattern has ones; zeros that the file has are kept, duplicates summed.

    Raises
    ------
    MatrixError
        When the file is missing, damaged, of another format, dense, complex without `real_part`, or too large; when an
        archive has links, names that lead out of it, or unpacks to more than `LARGEST_RATIO` times its size.
    """
    import scipy.sparse

    if not path.name.lower().endswith(SUFFIXES):
        raise MatrixError(f"{path.name}: unknown matrix format; Matrix Market files end in {' '.join(SUFFIXES)}")
    if not path.is_file():
        raise _unreadable(path, "it is a folder" if path.is_dir() else "no such file")
    with tempfile.TemporaryDirectory(prefix="repro-matrix-") as folder:
        text = Path(folder, "matrix.mtx")
        try:
            with _stream(path) as stream, text.open("wb") as target:
                _unpack(stream, target, path)
        except DAMAGED as problem:
            raise _unreadable(path, problem) from problem
        _check_header(text, path.name, real_part)
        found = _by_scipy(text, path)
    values = found["values"].real if np.iscomplexobj(found["values"]) else found["values"]
    entries = (np.ascontiguousarray(values), (found["rows"], found["columns"]))
    return checked(scipy.sparse.coo_matrix(entries, shape=tuple(found["shape"])), path.name)


def _by_scipy(text, path):
    """Return the entries as SciPy reads them."""
    try:
        return guarded.read("matrix", text)
    except guarded.Unreadable as problem:
        raise _unreadable(path, problem) from None


@contextmanager
def _stream(path: Path) -> Iterator[IO[bytes]]:
    """Give the text of the matrix as a stream."""
    name = path.name.lower()
    if name.endswith(".mtx"):
        with path.open("rb") as file:
            yield file
    elif name.endswith(".mtx.gz"):
        with gzip.open(path) as file:
            yield file
    else:
        wanted = _wanted(path)
        with tarfile.open(path, "r|gz") as archive:
            for member in archive:
                if member.name == wanted:
                    yield archive.extractfile(member)
                    return
        raise MatrixError(f"{path.name}: its member {wanted} is gone")


def _wanted(path):
    """Return the name of the matrix in an archive, whose every member is looked at before any is read."""
    found, size = [], 0
    with tarfile.open(path, "r|gz") as archive:
        for count, member in enumerate(archive, 1):
            place = PurePosixPath(member.name)
            shown = ascii(member.name)[:80]
            if place.is_absolute() or ".." in place.parts or "\\" in member.name:
                raise MatrixError(f"{path.name}: its member {shown} leads out of the archive")
            if not (member.isfile() or member.isdir()):
                raise MatrixError(f"{path.name}: its member {shown} is a link or a device, not a file")
            size += member.size
            _limit(size, path)
            if count > MEMBERS:
                raise MatrixError(f"{path.name}: it has more than {MEMBERS:,} members")
            if member.isfile() and place.suffix == ".mtx":
                found.append(member.name)
    named = [name for name in found if PurePosixPath(name).stem == PurePosixPath(name).parent.name]
    for candidates in (named, found):
        if len(candidates) == 1:
            return candidates[0]
    if not found:
        raise MatrixError(f"{path.name}: there is no .mtx file in it")
    raise MatrixError(f"{path.name}: which of its matrices is meant? it has {', '.join(found)[:200]}")


def _unpack(stream, target, path):
    size = 0
    while piece := stream.read(2**20):
        size += len(piece)
        if not path.name.lower().endswith(".mtx"):
            _limit(size, path)
        target.write(piece)


def _limit(size, path):
    if size > min(LARGEST_TEXT, FREE + LARGEST_RATIO * path.stat().st_size):
        raise MatrixError(f"{path.name}: it unpacks to more than {LARGEST_RATIO} times its size, as no matrix does")


def _check_header(text, source, real_part):
    """Check what a file says of itself before memory is taken for it."""
    with text.open("rb") as file:
        first = file.readline(1000).decode("latin-1").lower().split()
        line = file.readline(10000)
        while line and (line.startswith(b"%") or not line.strip()):
            line = file.readline(10000)
    if len(first) != 5 or first[:2] != ["%%matrixmarket", "matrix"]:
        raise MatrixError(f"{source}: it is no Matrix Market file: its first line is not '%%MatrixMarket matrix ...'")
    layout, values, symmetry = first[2:]
    if layout != "coordinate":
        raise MatrixError(f"{source}: it is a dense matrix ({layout}); sparse ones are 'coordinate'")
    if values not in (*FIELDS, *["complex"] * real_part):
        raise MatrixError(f"{source}: its values are {values}; they must be {', '.join(FIELDS)}")
    if symmetry not in (*SYMMETRIES, *["hermitian"] * real_part):
        raise MatrixError(f"{source}: it is {symmetry}; it must be {', '.join(SYMMETRIES)}")
    try:
        rows, columns, entries = (int(number) for number in line.split())
    except ValueError:
        shown = ascii(line.decode("latin-1").strip()[:60])
        raise MatrixError(f"{source}: rows, columns and entries are to follow its header, not {shown}") from None
    if min(rows, columns, entries) < 1 or max(rows, columns, entries) > LARGEST:
        raise MatrixError(f"{source}: {rows} x {columns} with {entries} entries is no size that can be used")
    if entries * SHORTEST > text.stat().st_size + 1:
        raise MatrixError(f"{source}: it says that it has {entries:,} entries, but is too short for so many")


def _unreadable(path, problem):
    reason = getattr(problem, "strerror", None) or " ".join(str(problem).split()) or type(problem).__name__
    return MatrixError(f"cannot read the matrix {path}: {reason[:200]}")
