"""Downloads from a server on this machine, which answers as servers do on good and on bad days."""

import functools
import http.server
import threading
import time
from contextlib import contextmanager

import pytest

from datasets import DownloadError, MatrixError, download

CONTENT = bytes(range(256)) * 2000
PATIENT = {"attempts": 4, "timeout": 2.0, "pause": 0.01}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the next of the server's answers, a function of this handler, and the last one from then on."""

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, *_):
        pass

    def head(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that has gone is no error."""


@contextmanager
def serving(*answers):
    server = Server(("127.0.0.1", 0), Handler)
    server.answers, server.seen = list(answers), []
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.01), daemon=True)
    thread.start()
    server.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def whole(handler, content=CONTENT, tag='"one"'):
    """Answer with the file, or with the part of it that is asked for."""
    start = 0
    asked = handler.headers.get("Range")
    if asked and handler.headers.get("If-Range") in (None, tag):
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        handler.head(206, ETag=tag, Content_Length=len(content) - start, Content_Range=span)
    else:
        handler.head(200, ETag=tag, Content_Length=len(content))
    handler.wfile.write(content[start:])


def broken_off(handler, after=100_000, tag='"one"'):
    handler.head(200, ETag=tag, Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:after])


def silent(handler):
    handler.head(200, Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:10])
    handler.wfile.flush()
    time.sleep(1.0)


def trickling(handler):
    handler.head(200, Content_Length=len(CONTENT))
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.02)


def status(code, **headers):
    def answer(handler):
        handler.head(code, Content_Length=0, **headers)

    return answer


def is_content(path):
    if path.read_bytes() != CONTENT:
        raise MatrixError("it is something else")


def fetch(server, folder, check=is_content, path="/a.tar.gz", **options):
    target = folder / "a.tar.gz"
    download.fetch(server.address + path, target, check, **(PATIENT | options))
    return target


def refused(server, folder, **options):
    with pytest.raises(DownloadError) as error:
        fetch(server, folder, **options)
    assert "\n" not in str(error.value) and server.address in str(error.value)
    assert not (folder / "a.tar.gz").exists()
    return str(error.value)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_file_arrives_whole_and_leaves_nothing_else(tmp_path):
    with serving(whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]
    assert len(server.seen) == 1


def test_it_goes_on_where_it_broke_off(tmp_path):
    with serving(broken_off, whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert server.seen[1][1]["Range"] == "bytes=100000-" and server.seen[1][1]["If-Range"] == '"one"'


def test_it_goes_on_in_another_call(tmp_path):
    with serving(broken_off, status(503)) as server:
        said = refused(server, tmp_path)
        assert "503" in said and len(server.seen) == PATIENT["attempts"]
    assert (tmp_path / "partial-a.tar.gz").stat().st_size == 100_000
    with serving(whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
        assert server.seen[0][1]["Range"] == "bytes=100000-"


@pytest.mark.parametrize("again", [functools.partial(whole, tag='"two"'), lambda handler: plain(handler)])
def test_a_part_of_another_version_is_not_used(tmp_path, again):
    def older(handler):
        handler.head(200, ETag='"one"', Content_Length=len(CONTENT))
        handler.wfile.write(b"\0" * 100_000)

    with serving(older, again) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT


def plain(handler):
    """Answer with the whole file, whatever part was asked for."""
    handler.head(200, Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT)


def test_without_a_mark_of_the_version_it_starts_again(tmp_path):
    def unmarked(handler):
        handler.head(200, Content_Length=len(CONTENT))
        handler.wfile.write(CONTENT[:1000])

    with serving(unmarked, whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert "Range" not in server.seen[1][1]


def test_a_part_that_the_server_denies_or_mixes_up_is_dropped(tmp_path):
    def other_part(handler):
        handler.head(206, Content_Range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}", Content_Length=len(CONTENT) - 5)
        handler.wfile.write(CONTENT[5:])

    with serving(broken_off, other_part, status(416), whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_a_corrupt_file_is_fetched_once_more_from_the_start(tmp_path):
    with serving(functools.partial(whole, content=CONTENT[:-1] + b"?"), whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
    assert "Range" not in server.seen[1][1]


def test_a_file_that_stays_wrong_is_given_up(tmp_path):
    with serving(functools.partial(whole, content=b"<html>Log in to the network</html>")) as server:
        assert "not what was asked for: it is something else" in refused(server, tmp_path)
    assert len(server.seen) == 2 and list(tmp_path.iterdir()) == []


def test_a_truncated_file_is_told_from_a_whole_one(tmp_path):
    with serving(broken_off) as server:
        said = refused(server, tmp_path, check=lambda path: None, attempts=1)
    assert "ends after 100,000 of 512,000 bytes" in said


def test_a_server_that_falls_silent(tmp_path):
    with serving(silent, whole) as server:
        assert fetch(server, tmp_path, timeout=0.2).read_bytes() == CONTENT
    (tmp_path / "a.tar.gz").unlink()
    with serving(silent) as server:
        assert "says nothing for too long" in refused(server, tmp_path, timeout=0.1, attempts=2)


def test_a_server_that_takes_for_ever(tmp_path):
    with serving(trickling) as server:
        start = time.monotonic()
        assert "too long" in refused(server, tmp_path, deadline=0.3)
        assert time.monotonic() - start < 2


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_a_refusal_is_not_asked_again(tmp_path, code):
    with serving(status(code)) as server:
        assert f"the server answers {code}" in refused(server, tmp_path)
    assert len(server.seen) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_again(tmp_path, code):
    with serving(status(code), status(code), whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT


def test_a_connection_that_is_dropped_or_refused(tmp_path):
    with serving(lambda handler: handler.connection.close(), whole) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
    (tmp_path / "a.tar.gz").unlink()
    assert "refused" in refused(server, tmp_path).lower()  # nobody listens there any more


def test_redirections_are_followed(tmp_path):
    with serving(whole) as other, serving(status(302, Location=f"{other.address}/there")) as server:
        assert fetch(server, tmp_path).read_bytes() == CONTENT
        assert other.seen[0][0] == "/there"


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x"])
def test_redirections_that_leave_the_web_are_not(tmp_path, target):
    with serving(status(302, Location=target)) as server:
        assert target in refused(server, tmp_path)


def test_redirections_from_encrypted_to_open_are_not():
    import urllib.request

    request = urllib.request.Request("https://example.invalid/a")
    with pytest.raises(DownloadError, match="redirected to http://"):
        download._Redirections().redirect_request(request, None, 302, "", {}, "http://example.invalid/a")


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_too_large_is_given_up(tmp_path, announced):
    def endless(handler):
        handler.head(200, **({"Content_Length": 10**12} if announced else {}))
        handler.wfile.write(CONTENT)

    with serving(endless) as server:
        assert "more than 400,000" in refused(server, tmp_path, largest=400_000)
    assert len(server.seen) == 1


def test_the_environments_proxy_is_used(tmp_path, monkeypatch):
    with serving(whole) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        download.fetch("http://collection.invalid/MM/a.tar.gz", tmp_path / "a", is_content, **PATIENT)
        assert proxy.seen[0][0] == "http://collection.invalid/MM/a.tar.gz"


def test_only_the_web_is_downloaded_from(tmp_path):
    with pytest.raises(DownloadError, match="neither http nor https"):
        download.fetch("file:///etc/hostname", tmp_path / "a", is_content)
