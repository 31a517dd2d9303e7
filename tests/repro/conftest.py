"""A laboratory: a copy of a small package of experiments, with results, caches and traces in a temporary folder."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

IGNORED = "results\ncache\ntrace.log\n__pycache__\n"
TEMPLATE = Path(__file__).parent / "laboratory"
CHECKOUT = Path(__file__).resolve().parents[2]


class Laboratory:
    """Runs repro on the copy, in this process or in one of its own."""

    def __init__(self, folder: Path, runs: Path):
        self.folder, self.results, self.log, self.runs = folder, folder / "results", folder / "trace.log", runs
        self.paper = folder / "fakelab" / "demo2020"
        self.environment = {
            "REPRO_ENVIRONMENT": "fakelab.environment", "REPRO_CACHE": str(folder / "cache"), "REPRO_MACHINE": "bench",
            "FAKELAB_LOG": str(self.log), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join((str(folder), str(CHECKOUT))), "COLUMNS": "200",
        }  # fmt: skip

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", self.folder, *who, *arguments], check=True, capture_output=True)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "repro", *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, **self.environment, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's `&` has it ignored
        )  # fmt: skip

    def repro(self, *arguments: str, seconds: float = 60, **environment: str) -> subprocess.CompletedProcess:
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def run(self, *arguments: str) -> int:
        """Run in this process, at scale smoke."""
        from repro.cli import main

        return main(["run", "--in-process", "--scale", "smoke", "--results", str(self.results), *arguments])

    def has_run(self, *arguments: str) -> None:
        """Have what a run leaves of a laboratory that is as new; the first to ask for it runs it."""
        kept, made = self.runs / " ".join(arguments).replace("/", " "), (self.results, self.log)
        if not kept.exists():
            assert self.run(*arguments) == 0
            kept.mkdir()
        for path in made:
            source, target = (path, kept) if path.exists() else (kept / path.name, self.folder)
            shutil.copytree(source, target / path.name) if source.is_dir() else shutil.copy(source, target)

    def call(self, *arguments: str, isolate: bool = False, **environment: str) -> subprocess.CompletedProcess:
        """Run any command in this process, on the sources as they are now; cells in processes of their own if asked."""
        from repro.cli import main

        more = ["--in-process"] if arguments[0] == "run" and not isolate else []
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", ["repro", *arguments]),
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        ):  # fmt: skip
            _forget()
            code = main([*arguments, *more])
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def traces(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def cell_files(self) -> list[Path]:
        return sorted((self.results / "bench" / ".cells").glob("*/[!.]*.json"))

    def cell(self, words: str) -> Path:
        (found,) = [path for path in self.cell_files() if words in path.name]
        return found

    def statuses(self) -> dict[str, str]:
        return {path.name.rpartition("-")[0]: json.loads(path.read_text())["status"] for path in self.cell_files()}

    def reasons(self, **environment: str) -> dict[str, str]:
        """Why each cell of table1 would be measured again, by case, method and back end."""
        words = ("status", "table1", "--scale", "smoke", "--results", str(self.results), "--json")
        cells = json.loads(self.call(*words, **environment).stdout)[0]["cells"]
        return {f"{c['case']}/{c['method']}/{c['backend']}": c["reason"] for c in cells}

    def file(self, name: str) -> Path:
        return self.results / "bench" / "demo2020" / name


@pytest.fixture(scope="session")
def loaded():
    """Load what runs load late, and leave it out of the collection that each timed sample begins with."""
    from matplotlib.backends import backend_agg, backend_svg  # noqa: F401

    from repro.run import runner  # noqa: F401
    from repro.show import render  # noqa: F401

    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def laboratory(tmp_path, monkeypatch, loaded, runs):
    shutil.copytree(TEMPLATE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    made = Laboratory(tmp_path, runs)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("repro.run.manifest.ASKED_EVERY", 1e-9)  # tests change sources within seconds
    _forget()
    gc.freeze()  # what earlier tests keep is out of the collection that each timed sample begins with
    yield made
    _forget()


@pytest.fixture
def committed(laboratory):
    """A laboratory that is a checkout of git, in which table1 was run."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (laboratory.folder / ".gitignore").write_text(IGNORED)
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "all"]):
        laboratory.git(*command)
    laboratory.run("table1")
    return laboratory


@pytest.fixture
def sampled(monkeypatch):
    """Have each cell of table1 sampled several times; other tests do with once."""
    monkeypatch.setenv("FAKELAB_SECONDS", "0.01")


@pytest.fixture
def store(tmp_path):
    """Return a small paper's rows, to which a test adds."""
    from tests.repro.claims_store import Store

    return Store(tmp_path)


def _forget() -> None:
    from repro import environment
    from repro.judge.claims import needed, notes

    for cached in (environment._folder_of, environment._device, notes.stand_ins, notes.public, notes.unlike,
                   needed._claims, needed._needed):  # fmt: skip
        cached.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "fakelab"]:
        del sys.modules[name]
