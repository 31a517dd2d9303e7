"""Environments, the set-up's reading of pip, and what pip tells before it downloads, from an index of this machine."""

import functools
import hashlib
import io
import subprocess
import sys
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from repro.install import announcing_pip, bootstrap, installing
from repro.install.installing import PipError, Progress, SetupError, Speaker
from tests.checkout import program


def test_an_unreachable_index_is_told_from_a_failure():
    retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'"
    unreachable = PipError([retry, "ERROR: No matching distribution found for hatchling==1.33.0"], "log")
    assert "cannot reach a package index" in str(unreachable) and unreachable.for_all
    failed = PipError(["Collecting x", "ERROR: No matching distribution found for x==1", "hint: see above"], "log")
    assert "the package index has no x==1 for Python" in str(failed) and not failed.for_all
    assert "cannot reach" not in str(failed)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(installing.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_progress_is_told_every_few_seconds_where_there_is_no_terminal(clock):
    stream, installed = io.StringIO(), [5]
    progress = Progress(Speaker(stream), lambda: installed[0])

    def told():
        said = stream.getvalue().splitlines()
        stream.seek(stream.truncate(0))
        return said

    progress.read("Collecting numpy>=2.0 (from x)\n")
    assert told() == []
    clock.now += 3
    progress.read("Collecting scipy>=1.14\n")
    assert told() == ["setup: looking for scipy"]
    clock.now += 3
    progress.pulse()
    assert told() == ["setup: looking for scipy, 3 s"]
    progress.read("to download: 3 files, 261796781 bytes\n")
    assert told() == ["setup: downloading 262 MB in 3 files"]
    progress.read("Downloading pandas-3.1.1-cp311-cp311-manylinux.whl (12.4 MB)\n")
    clock.now += 3
    progress.read("  Downloading scipy-1.17.1-cp311-cp311-manylinux.whl (35.3 MB)\n")
    assert told() == ["setup: downloading 2 of 3: scipy, 35.3 MB"]
    progress.read("Installing collected packages: ziglang, pandas, scipy\n")
    clock.now += 3
    progress.pulse()
    installed[0] += 2
    clock.now += 4
    progress.pulse()
    assert told() == ["setup: installing 1 of 3: ziglang, 3 s", "setup: installing 3 of 3: scipy"]
    progress.read("unknown size: HTTPError: 405\n")
    assert told() == ["setup: how much there is to download is not known: HTTPError: 405"]


def test_a_terminal_has_one_line_that_is_written_over(clock):
    stream = io.StringIO()
    stream.isatty = lambda: True
    speaker = Speaker(stream)
    speaker.at("looking for numpy")
    speaker.at("looking for scipy")
    speaker.say("downloading 1 MB")
    assert stream.getvalue() == (
        "\r\033[Ksetup: looking for numpy\r\033[Ksetup: looking for scipy\r\033[Ksetup: downloading 1 MB\n"
    )


def test_silence_of_pip_is_filled(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text("#!/bin/sh\necho Collecting numpy\nread line < wait\n")
    (tmp_path / "bin/python").chmod(0o755)
    monkeypatch.setattr(installing, "PULSE", 0.01)
    installing.os.mkfifo(tmp_path / "wait")

    class Stream(io.StringIO):
        def write(self, text):
            if self.getvalue().count("looking for numpy") == 3:
                (tmp_path / "wait").write_text("go on\n")
            return super().write(text)

    stream = Stream()
    installing.pip(tmp_path, tmp_path, Speaker(stream))
    assert stream.getvalue().count("setup: looking for numpy") >= 3


def test_what_is_here_already_is_not_counted():
    sizes, cache = {"a": 1000, "b": 20, "cached": 300, "file": 4000}, {"cached": b"..."}

    def head(address, **_):
        return SimpleNamespace(raise_for_status=lambda: None, headers={"Content-Length": str(sizes[address])})

    session = SimpleNamespace(head=head, get_adapter=lambda address: SimpleNamespace(cache=cache))

    def said(*names, prepared=False):
        links = [SimpleNamespace(url_without_fragment=name, is_file=name == "file") for name in names]
        wanted = [SimpleNamespace(link=each, needs_more_preparation=not prepared) for each in links]
        return announcing_pip.announcement(session, wanted)

    assert said("a", "b", "cached", "file") == "to download: 2 files, 1020 bytes"
    assert said("cached", "file") == said("file", prepared=True) == said() == ""
    assert said("a", "unknown") == "unknown size: KeyError: 'unknown'"
    assert said("a", prepared=True) == "unknown size: this index does not tell before it sends a file"


def test_pip_tells_how_much_it_will_download(tmp_path):
    """The pip of this environment, whose inside it is, from an index that has the wheel's metadata apart."""
    name, said = "halfway-1.0-py3-none-any.whl", "Metadata-Version: 2.1\nName: halfway\nVersion: 1.0\n"
    folder = tmp_path / "index/halfway"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / name, "w") as wheel:
        wheel.writestr("halfway.py", "x = 1\n" * 1000)
        wheel.writestr("halfway-1.0.dist-info/METADATA", said)
        wheel.writestr("halfway-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("halfway-1.0.dist-info/RECORD", "")
    (folder / f"{name}.metadata").write_text(said)
    digest = f"sha256={hashlib.sha256(said.encode()).hexdigest()}"
    attributes = f'href="{name}" data-core-metadata="{digest}" data-dist-info-metadata="{digest}"'
    (folder / "index.html").write_text(f"<!DOCTYPE html><html><body><a {attributes}>{name}</a></body></html>")
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, form, *words):
            asked.append(str(words[0]))

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path / "index")) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        command = [sys.executable, "-I", str(installing.PIP), "--isolated", "install", "--no-cache-dir", "--target"]
        command += [str(tmp_path / "target"), "--index-url", f"http://127.0.0.1:{server.server_port}", "halfway"]
        done = subprocess.run(command, capture_output=True, text=True)
        server.shutdown()
    assert done.returncode == 0 and (tmp_path / "target/halfway.py").is_file(), done.stderr
    assert f"to download: 1 files, {(folder / name).stat().st_size} bytes\n" in done.stdout
    assert [line.split()[0] for line in asked if f"{name} " in line] == ["HEAD", "GET"]


PYTHON = """#!/bin/sh
# A Python as far as the set-up sees it: makes environments, and has a pip that says what it is told to.
case "$*" in
    *"-m venv"*)
        [ -z "$NO_VENV" ] || { echo "Error: no space left"; exit 1; }
        for folder; do :; done
        mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" ;;
    *announcing_pip*) echo "$*" >> "$ASKED"; echo "Collecting it"; echo "${PIP_SAYS:-done}"; exit "${PIP_ENDS:-0}" ;;
    *"import pip"*) exit 0 ;;
    *) exit 9 ;;
esac
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text(PYTHON)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return tmp_path


def test_an_environment_is_made_and_installed_into(python, monkeypatch):
    program("mkdir")
    venv = python / "own" / ".venv"
    assert not bootstrap.is_usable(venv)
    bootstrap.create(venv)
    assert bootstrap.is_usable(venv) and (venv / bootstrap.STARTED).exists()
    monkeypatch.setenv("PYTHONPATH", "elsewhere")  # which pip must not see
    said = io.StringIO()
    installing.pip(venv, python, Speaker(said), "numpy", "scipy")
    assert (python / "asked").read_text().endswith("-c constraints.txt numpy scipy\n")
    assert (venv / installing.LOG).read_text() == "Collecting it\ndone\n"
    monkeypatch.setenv("PIP_SAYS", "ERROR: No matching distribution found for scipy")
    monkeypatch.setenv("PIP_ENDS", "1")
    with pytest.raises(PipError, match=r"the package index has no scipy for Python .* \(everything it said: .*log\)"):
        installing.pip(venv, python, Speaker(said), "scipy")


def test_an_environment_that_cannot_be_made_leaves_nothing(python, monkeypatch):
    monkeypatch.setenv("NO_VENV", "1")
    with pytest.raises(SetupError, match=r"-m venv .* failed: Error: no space left"):
        bootstrap.create(python / ".venv")
    assert not (python / ".venv").exists()
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000_000))
    with pytest.raises(SetupError, match="the disk is full"):
        bootstrap.create(python / ".venv")
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="has no ensurepip; install it"):
        bootstrap.create(python / ".venv")
