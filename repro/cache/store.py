"""Cells on disk: a file each, written atomically, so that a killed run loses nothing and repeats nothing.

A file is ``<results>/<machine>/.cells/<artefact>/<slug>.json``. The slug names the cell's identity and scale, not its
key: a cell measured again replaces its file, and the key within says whether the measurement still stands.
"""

import contextlib
import fcntl
import hashlib
import json
import lzma
import os
import re
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from repro.cache import kept
from repro.model import DONE, FAILED, SCALES, SKIPPED, ReproError

#: Raised by one whenever cell files of the older form cannot be read as the newer.
SCHEMA = 2
ABANDONED_AFTER = 3600.0  # seconds
WAITING = "waiting for another run to finish its cell"
#: Beside a manifest: the raw samples, and the manifest's long lists, cells and keys.
ARCHIVE, LISTS = ".samples.json", ("cells", "keys")
PACKED = ".xz"  # what the name of a file ends in where it is compressed
MOST_BYTES = 1 << 28  # of a file, unpacked
#: Fields that a record has in any case, and the kind of each; of the identity and the key, by name.
NEEDED = {
    "": {
        "artefact": str, "scale": str, "status": str, "reason": str, "identity": dict, "key": dict, "rows": list,
        "samples": dict, "checks": list, "digests": dict, "clocks": dict, "notes": list, "seconds": int | float,
        "date": str, "finished": int | float,
    },
    "identity": {"case": str, "method": str, "backend": str, "parameters": dict, "data": list},
    "key": {"code": dict, "kernels": dict, "data": dict, "machine": dict},
}  # fmt: skip


class Unreadable(Exception):
    """A cell file that is truncated, damaged or of another schema; its cell runs again."""


def read_json(path: Path) -> dict[str, Any]:
    """Return what a manifest or another stored file holds; empty where it is not there, or is a list of the user's own.

    A manifest comes with its lists, wherever they stand.

    Raises `ReproError` when it is damaged, or its archive is.
    """
    try:
        found = json.loads(path.read_bytes()) if path.is_file() else {}
        if not isinstance(found, dict):
            return {}
        if "files" in found and "cells" not in found:
            archive = json.loads(content(path.with_name(path.stem + ARCHIVE)))
            found |= {name: archive[name] for name in LISTS}
        return found
    except (ValueError, LookupError, TypeError, OSError, RecursionError, MemoryError) as error:
        raise ReproError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def tables(folder: Path, pattern: str) -> list[Path]:
    """Return the CSVs below a folder by their names without ``.xz``, whether they are compressed or not."""
    packed = (path.with_suffix("") for path in folder.glob(f"{pattern}.csv{PACKED}"))
    return sorted({*folder.glob(f"{pattern}.csv"), *packed})


def packed(path: Path) -> Path:
    """Return where a file is when it is compressed."""
    return path.with_name(path.name + PACKED)


def as_stored(path: Path) -> Path:
    """Return the file of rows or of an archive: the compressed one where there is no other."""
    return packed(path) if packed(path).is_file() and not path.is_file() else path


def content(path: Path) -> bytes:
    """Return what rows or an archive hold, whether they are compressed or not.

    Raises `OSError` when there is no such file, or it is damaged.
    """
    found = as_stored(path)
    if found == path:
        return path.read_bytes()
    stream = lzma.LZMADecompressor(memlimit=MOST_BYTES)
    try:
        held = stream.decompress(found.read_bytes(), MOST_BYTES)
    except lzma.LZMAError as error:
        raise OSError(f"{found.name}: {error}") from None
    if not stream.eof or stream.unused_data:
        raise OSError(f"{found.name} is cut off, or goes on after its end")
    return held


def write_packed(path: Path, held: bytes) -> None:
    """Write rows or an archive compressed, in place of the file that is not; the same content gives the same bytes."""
    write_atomically(packed(path), lzma.compress(held, preset=6 | lzma.PRESET_EXTREME))  # 9 needs a GB, and gains none
    path.unlink(missing_ok=True)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a file of data beside the sources holds; empty where it is not there.

    Raises `ReproError` when it is malformed.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise ReproError(f"{path}: {error}") from None


def write_atomically(path: Path, content: bytes | str, *, is_lasting: bool = True) -> None:
    """Write a file so that readers see the old content or the new, never a part.

    Raises `OSError` with the name of this file, not of the temporary one; of a folder above it, where that cannot be
    made.

    `is_lasting`: wait until the disk has it. Without, a loss of power may leave an empty file; a killed process never
    does.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_and_rename(path, content.encode() if isinstance(content, str) else content, is_lasting)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    if is_lasting:
        _sync_folder(path.parent)


def _write_and_rename(path: Path, content: bytes, is_lasting: bool) -> None:
    handle, name = tempfile.mkstemp(prefix=".tmp.", dir=path.parent)
    temporary = Path(name)
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            if is_lasting:
                os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot synchronise folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def clean_temporaries(folder: Path) -> None:
    """Remove temporary files that killed runs have left below a folder, once they are an hour old."""
    for path in folder.rglob(".tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_AFTER:
                path.unlink()


def cache_folder() -> Path:
    """Return the user's cache folder for repro; ``REPRO_CACHE`` overrides it."""
    override = os.environ.get("REPRO_CACHE")
    if override:
        return Path(override).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("repro")


@contextlib.contextmanager
def locked(path: Path, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold an exclusive lock on a file; the system drops it when the process dies, however it dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tell:
                tell(WAITING)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def alone(tell: Callable[[str], None] | None = None) -> contextlib.AbstractContextManager[None]:
    """Hold the machine's one lock for measuring, so that no two runs disturb each other's times.

    Raises `ReproError` as `measuring_lock` does.
    """
    return locked(measuring_lock(), tell)


def measuring_lock() -> Path:
    """Return the file whose lock is held while the machine measures; made where it is not there.

    Raises `ReproError` when the cache folder cannot be written.
    """
    path = cache_folder() / "measuring.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise ReproError(
            f"cannot write the cache {path.parent}: {error.strerror or error}; set REPRO_CACHE to a writable folder"
        ) from error
    return path


def require_writable(folder: Path) -> None:
    """Make a folder of results where it is not there, and try to write into it.

    Raises `ReproError` when it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ReproError(
            f"cannot write the results {folder}: {error.strerror or error}; name a writable folder by --results"
        ) from error


class Store:
    """The cells of one machine."""

    def __init__(self, results: Path, machine: str):
        self.folder = Path(results) / machine
        self.cells = self.folder / ".cells"

    def path(self, artefact: str, identity: Mapping[str, Any]) -> Path:
        """Return the file of a cell of an artefact; `identity` has the scale and all that tells cells apart."""
        return self.cells / artefact / f"{slug(identity)}.json"

    def read(self, path: Path) -> dict[str, Any] | None:
        """Return a cell's record, or None when it has never been written.

        Raises `Unreadable` if the file is damaged or of another schema.
        """
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            raise Unreadable(f"its file is damaged ({type(error).__name__})") from error
        if not isinstance(record, dict) or "schema" not in record:
            raise Unreadable("its file is damaged (no record)")
        if record["schema"] != SCHEMA:
            raise Unreadable(f"its file has schema {record['schema']}, this version writes {SCHEMA}")
        if name := lacking(record):
            raise Unreadable(f"its file is damaged (no {name})")
        return record

    def write(self, path: Path, record: Mapping[str, Any]) -> None:
        """Store a cell's record; over one that is measured, what has failed or was skipped leaves a mark alone."""
        if record.get("status") in (FAILED, SKIPPED):
            with contextlib.suppress(Unreadable):
                before = self.read(path)
                if before and before["status"] == DONE:
                    record = kept.marked(before, record)
        # One that a loss of power damages is measured again; to wait for the disk takes longer than many a cell.
        write_atomically(path, json.dumps({"schema": SCHEMA, **record}) + "\n", is_lasting=False)

    def lock(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Hold a lock of this results folder, as while an artefact's files are written."""
        return locked(self.cells / f".{name}.lock")


def lacking(record: Mapping[str, Any]) -> str:
    """Return what a record has not that it needs, or has of another kind; empty when it is whole."""
    for part, kinds in NEEDED.items():
        of = record[part] if part else record
        for name, kind in kinds.items():
            if not isinstance(of.get(name), kind):
                return f"{part} {name}".strip()
    if record["status"] not in (DONE, FAILED, SKIPPED):
        return "status that there is"
    if record["scale"] not in SCALES:
        return "scale that there is"
    return "since" if "since" in record and not kept.is_mark(record["since"]) else ""


def slug(identity: Mapping[str, Any]) -> str:
    """Return a file name for a cell: readable words, and a hash that tells apart what the words do not."""
    words = "-".join(str(identity.get(name, "")) for name in ("scale", "case", "method", "backend"))
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.").lower()[:80]
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:10]
    return f"{readable}-{digest}"
