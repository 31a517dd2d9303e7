"""Built kernels on disk, under the user's cache folder or ``REPRO_CACHE``.

Each file ends with the SHA-256 digest of what comes before it, so that a damaged file is noticed and rebuilt; loaders
of shared libraries ignore what follows the image. Files appear by renaming: several processes may build the same
kernel.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import platformdirs

DIGEST_BYTES = 32


def folder(backend: str) -> Path:
    """Return the folder that holds a back end's built kernels, made when it is not there."""
    base = os.environ.get("REPRO_CACHE") or platformdirs.user_cache_dir("repro")
    path = Path(base).expanduser() / "kernels" / backend
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"cannot make the kernel cache {path}: {error}; set REPRO_CACHE to a writable folder") from error
    return path


def key(*parts: object) -> str:
    """Return a name for what `parts` determine."""
    digest = hashlib.sha256()
    for part in parts:
        text = str(part).encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:40]


def load(path: Path) -> bytes | None:
    """Return the content of a cached file, or None when it is missing or damaged (a damaged file is removed)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    content, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if hashlib.sha256(content).digest() == digest:
        return content
    path.unlink(missing_ok=True)
    return None


def store(path: Path, content: bytes) -> None:
    """Write `content` to `path` with its digest, atomically."""
    handle, temporary = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
