"""Download a file: resumed where it broke off, tried again, checked, and in place only when it is whole.

The environment's proxies are used, as by every client of urllib: ``https_proxy``, ``http_proxy``, ``no_proxy``.
"""

from __future__ import annotations

import http.client
import os
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from datasets.errors import DownloadError, MatrixError, MeshError

ATTEMPTS = 6
TIMEOUT = 30.0  # seconds without a byte
DEADLINE = 3600.0  # seconds for all attempts together
PAUSE = 1.0  # seconds before the second attempt; twice as long before each after it
LARGEST = 4 * 2**30  # bytes
PIECE = 2**16
AGAIN = {408, 425, 429, 500, 502, 503, 504}  # answers that may be better next time
AGENT = "repro-gpu-fem (Python urllib)"


def fetch(
    address: str, path: Path, check: Callable[[Path], None], *, attempts: int = ATTEMPTS, timeout: float = TIMEOUT,
    deadline: float = DEADLINE, pause: float = PAUSE, largest: int = LARGEST,
) -> None:  # fmt: skip
    """Download a file to `path`.

    The part that has arrived stays beside it, as ``partial-<name>``, when all attempts fail. The next call goes on from
    there, if the server can and its file is still the same.

    Parameters
    ----------
    address : str
        ``https://`` or ``http://``; a redirection from the first to the second is not followed.
    path : Path
        Its folder must exist.
    check : callable
        Called with the whole file; raises MatrixError or MeshError when it is not what is wanted, and then the file is
        dropped and fetched once more from its beginning, without resuming.
    attempts : int
    timeout, deadline, pause : float
        In seconds: without a byte, in all, and before the second attempt.
    largest : int
        Bytes, beyond which it is given up.

    Raises
    ------
    DownloadError
        With the address and the reason.
    """
    if not re.match(r"https?://", address):
        raise DownloadError(f"cannot download {address}: it is neither http nor https")
    partial, mark = path.with_name(f"partial-{path.name}"), path.with_name(f"{path.name}.mark")
    ends, wrong, reason = time.monotonic() + deadline, None, ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(min(pause * 2 ** (attempt - 1), max(ends - time.monotonic(), 0)))
        if time.monotonic() >= ends:
            reason = reason or f"it takes longer than {deadline:g} s"
            break
        try:
            _transfer(address, partial, mark, timeout, ends, largest)
        except urllib.error.HTTPError as answer:
            answer.close()
            reason = " ".join(f"the server answers {answer.code} {answer.reason}".split())[:300]
            if answer.code == 416:  # what there is, is not a part of what the server has now
                _drop(partial, mark)
            elif answer.code not in AGAIN:
                break
        except (OSError, http.client.HTTPException, _Broken) as problem:
            reason = _reason(problem)
            if isinstance(getattr(problem, "reason", problem), ssl.SSLCertVerificationError):
                break
        else:
            try:
                check(partial)
            except (MatrixError, MeshError) as problem:
                _drop(partial, mark)
                reason = f"what arrived is not what was asked for: {problem}"
                if wrong is not None:
                    break
                wrong = problem
            else:
                os.replace(partial, path)
                _drop(mark)
                return
    raise DownloadError(f"cannot download {address}: {reason}")


class _Broken(Exception):
    """An answer that ends early or makes no sense."""


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but none that leave what is encrypted or the web."""

    def redirect_request(self, request, file, code, message, headers, address):
        if not re.match(r"https://" if request.full_url.startswith("https:") else r"https?://", address):
            raise DownloadError(f"cannot download {request.full_url}: it is redirected to {address[:200]}")
        return super().redirect_request(request, file, code, message, headers, address)


def _transfer(address, partial, mark, timeout, ends, largest):
    """Fetch what is missing of a file; the server's mark of its version tells whether a part is still of use."""
    have, version = (partial.stat().st_size, mark.read_text()) if partial.exists() and mark.exists() else (0, "")
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if have and version:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    opener = urllib.request.build_opener(_Redirections)
    with opener.open(urllib.request.Request(address, headers=headers), timeout=timeout) as answer:
        start, whole = _extent(answer, have)
        if (whole or 0) > largest:
            raise DownloadError(f"cannot download {address}: its {whole:,} bytes are more than {largest:,}")
        # Only a strong mark may be sent back with If-Range.
        tag = answer.headers.get("ETag", "")
        mark.write_text(tag if tag.startswith('"') else answer.headers.get("Last-Modified", ""))
        with partial.open("ab" if start else "wb") as file:
            while piece := answer.read1(PIECE):
                file.write(piece)
                start += len(piece)
                if start > largest:
                    raise DownloadError(f"cannot download {address}: it is more than {largest:,} bytes")
                if time.monotonic() >= ends:
                    raise _Broken("it takes too long")
            file.flush()
            os.fsync(file.fileno())
    if whole is not None and start != whole:
        raise _Broken(f"the answer ends after {start:,} of {whole:,} bytes")


def _extent(answer, have):
    """Return the place of the answer's first byte in the file and the file's length, None where it is not told."""
    if answer.status == 206:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if not found or int(found[1]) != have:
            raise _Broken(f"the server answers with another part: {answer.headers.get('Content-Range')}")
        return have, int(found[2])
    if answer.status != 200:
        raise _Broken(f"the server answers {answer.status}")
    length = answer.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _reason(problem):
    problem = getattr(problem, "reason", problem)
    if isinstance(problem, TimeoutError):
        return "the server says nothing for too long"
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


def _drop(*paths):
    for path in paths:
        path.unlink(missing_ok=True)
