"""Two commits in rounds until they are judged, by simulated measurements and once by asv itself."""

import importlib.util
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import scipy

from repro.bench import commands
from repro.bench import measured as compared
from repro.bench.environment import versions
from repro.cli import main
from repro.model import ReproError
from tests.checkout import program

CHECKOUT = Path(__file__).resolve().parents[2]
BENCHMARKS = """
import random

from fakelab import cost

NOISE = random.SystemRandom()  # another in each process, as a machine's is


def samples(seconds):
    return {"samples": [seconds * NOISE.lognormvariate(0, 0.02) for _ in range(30)], "number": 1}


class Planted:
    def track_ten(self):
        return samples(cost.TEN)

    track_ten.unit = "seconds"

    def track_lost(self):
        return cost.LOST


class Counted:
    params = (("openmp", "opencl", "cuda"),)
    param_names = ("backend",)

    def setup(self, backend):
        if backend == "cuda":
            raise NotImplementedError("no GPU here")

    def track_iterations(self, backend):
        return cost.COUNT
"""


@pytest.fixture
def history(laboratory, monkeypatch):
    """A repository of two commits, the newer with slow-downs planted, and asv's settings of this project."""
    monkeypatch.setenv("HOME", str(laboratory.folder / "home"))
    (laboratory.folder / "home").mkdir()
    (laboratory.folder / "benchmarks").mkdir()
    (laboratory.folder / "benchmarks" / "__init__.py").write_text('QUICK = ("planted",)\n')
    (laboratory.folder / "benchmarks" / "planted.py").write_text(BENCHMARKS)
    (laboratory.folder / "asv.conf.json").write_text((CHECKOUT / "asv.conf.json").read_text())

    def git(*words):
        name = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run([program("git"), *name, *words], cwd=laboratory.folder, check=True, capture_output=True)

    git("init", "-b", "main")
    for costs in ("TEN, COUNT, LOST = 1e-3, 20, 1", "TEN, COUNT = 1.3e-3, 23"):
        (laboratory.folder / "fakelab" / "cost.py").write_text(costs + "\n")
        git("add", "fakelab")
        git("commit", "-m", "x")
    return laboratory


def measured(*verdicts):
    """By the name behind `track_`."""
    return {each["benchmark"].partition(".track_")[2]: each for each in verdicts}


def test_commits_are_compared_by_asv_itself(history, monkeypatch):
    """End to end, in one round: of times that is no judgement, of numbers that do not vary it is."""
    begun = time.time()
    patterns = ["--bench", "track_(ten|lost)", "--bench", r"Counted.*\('(opencl|cuda)'\)"]
    done = history.repro("bench", "compare", "HEAD~1", *patterns, "--minutes", "0", "--json", seconds=150)
    assert done.returncode == 1 and done.stdout, done.stderr
    found = {each["benchmark"].partition(".track_")[2]: each for each in json.loads(done.stdout)}
    assert {name: each["verdict"] for name, each in found.items()} == {
        "ten": "undecided", "lost": "lost", "iterations('opencl')": "worse",
    }  # fmt: skip
    assert found["ten"]["ratio"] == pytest.approx(1.3, rel=0.03)
    said = done.stderr.splitlines()
    assert said[0].startswith("benchmarks that match: 4; each that runs here is measured in 4 to 20 rounds of both")
    assert said[1].startswith("uncommitted changes are not measured")  # asv's settings are the test's
    assert said[2:6] == [
        "round 1 of at most 20", "0 minutes are over after round 1: what is undecided stays so",
        "benchmarks that match and have no value here: 1, planted.Counted.track_iterations('cuda')",
        "asv's last lines on planted.Planted.track_lost at the newer commit:",
    ]  # fmt: skip
    assert said[-4:] == [
        "              AttributeError: module 'fakelab.cost' has no attribute 'LOST'",
        "              asv: benchmark failed (exit status 1)", "3 benchmarks: 1 lost, 1 undecided, 1 worse",
        "1 undecided: any number of times slower is not ruled out",
    ]  # fmt: skip
    (stored,) = (history.folder / ".asv" / "results" / "bench").glob(f"{compared.commit_hash('HEAD')[:8]}-*.json")
    told = json.loads(stored.read_text())  # each version of a library is a line of its own among asv's
    assert told["requirements"] == versions() and told["params"]["numpy"] == np.__version__
    assert told["requirements"]["scipy"] == scipy.__version__
    # A measurement that fails, as one that was killed before it wrote anything, is not replaced by an earlier one.
    base = compared.commit_hash("HEAD~1")
    kept = compared.read(base, "bench", ["track_ten"], begun)
    assert kept == {"planted.Planted.track_ten": (pytest.approx(1e-3, rel=0.05), "seconds")}
    monkeypatch.setattr(commands, "asv", lambda *words, **more: 0)
    with pytest.raises(ReproError, match=f"none of the benchmarks that match has a value at {base[:9]}$"):
        compared.measure(base, "bench", ["track_ten"], 0.1)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "--bench", "cuda"], 1, "repro: nothing was measured: all that matches failed or is n/a here"),
        (["run", "--bench", "nowhere"], 2, "which are of planted.Counted, planted.Planted; what is not committed"),
    ],
)
def test_nothing_measured_is_a_failure(history, capfd, words, code, said):
    """Neither success nor asv's word alone."""
    assert main(["bench", *words]) == code
    out, err = capfd.readouterr()
    assert said in err and "Traceback" not in err and "No benchmarks selected" not in out


def test_where_asv_cannot_write_its_files_are_named(history, monkeypatch, capfd):
    home = history.folder / "a_file"
    home.touch()
    monkeypatch.setenv("HOME", str(home))
    for kept, said in (
        (None, "asv could not write ~/.asv-machine.json: exit status 1; its last lines:\n"),
        (
            ".asv",
            f"{history.folder}/.asv cannot be written: Not a directory; asv keeps its results and checkouts there",
        ),
    ):
        if kept:
            shutil.rmtree(history.folder / kept)
            (history.folder / kept).touch()
        for words in (["run"], ["compare", "HEAD~1"]):
            assert main(["bench", *words]) == 1
            err = capfd.readouterr().err
            assert f"repro: {said}" in err and ("\nNotADirectoryError: " in err) == (kept is None)


def test_the_compiler_that_is_told_to_asv_is_the_one_that_is_chosen(tmp_path, monkeypatch):
    (tmp_path / "mycc").write_text("#!/bin/sh\necho 'my cc (release 3) 12.2.1'\n")
    (tmp_path / "mycc").chmod(0o755)
    monkeypatch.setenv("CC", f"{tmp_path}/mycc -O1")
    assert versions()["compiler"] == "mycc-12.2.1"
    monkeypatch.setenv("CC", f"{tmp_path}/none")
    assert "compiler" not in versions()


def test_a_wrong_command_is_told_from_a_slow_down(history, capsys):
    for words, said in (
        (["nowhere"], "'nowhere' is no commit of this checkout"),
        (["HEAD~1", "nowhere"], "'nowhere' is no commit of this checkout"),
        (["HEAD~1", "--rounds", "3"], "3 rounds judge nothing; it takes 4"),
        (["HEAD~1", "--bench", "["], "'[' is no regular expression: unterminated character set at position 0"),
    ):
        assert main(["bench", "compare", *words]) == 2
        assert capsys.readouterr() == ("", f"repro: {said}\n")


def test_why_asv_failed_is_said(monkeypatch):
    """By the end of what it printed, of a commit that fails all that was chosen."""
    printed = [f"line {number}\n" for number in range(99)] + ["AttributeError: no COUNT\n", "\n"]
    monkeypatch.setattr(commands, "asv", lambda *_, show, **more: [show(line) for line in printed] and 2)
    monkeypatch.setattr(compared, "read", lambda *_: {})
    for act in (compared.measure, lambda commit, machine, *_: compared.discover(commit, machine, ["x"])):
        with pytest.raises(ReproError, match=r"123456789: exit status 2; its last lines:\nline 8\d\n") as failed:
            act("123456789abc", "bench", ["x"], 0.1)
        assert str(failed.value).endswith("line 98\nAttributeError: no COUNT") and "line 79" not in str(failed.value)


def test_what_is_no_checkout_has_no_benchmarks(history, capsys, monkeypatch):
    """Whether asv is there or not: installing it would not help."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "asv" else find(name, *more))
    for lacking in ("asv.conf.json", "benchmarks", ".git"):
        (history.folder / lacking).rename(history.folder / "elsewhere")
        for words in (["run"], ["run", "--bench", "."], ["compare", "HEAD~1"]):
            assert main(["bench", *words]) == 1
            out, err = capsys.readouterr()
            assert out == "" and err.count("\n") == 1 and f"repro: {history.folder} is no git checkout" in err
        (history.folder / "elsewhere").rename(history.folder / lacking)


@pytest.fixture
def asked(laboratory, monkeypatch):
    """The calls of asv, with their words."""
    calls = []
    monkeypatch.setattr(commands, "asv", lambda *words, **more: calls.append((words, more)) or 3 * (words[0] == "run"))
    monkeypatch.setattr(commands, "checkout", lambda: laboratory.folder)
    monkeypatch.setattr(compared, "commit_hash", lambda revision: revision)
    monkeypatch.setattr(compared, "discover", lambda *_: ["kept"])
    monkeypatch.setattr(compared, "read", lambda *_: {"kept": (2.0, "seconds")})
    monkeypatch.setattr(commands, "quick_set", lambda: ("planted", "other"))
    return calls


def test_this_commit_is_measured_under_the_machines_name(asked, capsys):
    """The GPU's name is in it by way of the harness's; if asv fails, so does the command."""
    assert main(["bench", "run", "--seconds", "0.25"]) == 1
    assert capsys.readouterr().err.endswith("repro: asv ended with 3\n")
    (named, _), (words, more) = asked
    assert named[:4] == ("machine", "--yes", "--machine", "bench") and "--cpu" in named
    assert words == ("run", "--machine", "bench", "--show-stderr", "--bench", "planted", "--bench", "other", "HEAD^!")
    assert more == {"seconds": 0.25}
    asked.clear()
    assert main(["bench", "run", "--bench", "spmv", "--machine", "h200"]) == 1
    assert asked[1][0][1:3] == ("--machine", "h200") and asked[1][0][-3:] == ("--bench", "spmv", "HEAD^!")
    assert main(["bench", "run", "--bench", "["]) == 2


@pytest.mark.parametrize(("dirty", "said"), [(True, 1), (False, 0), (None, 0)])
def test_changes_that_are_not_committed_are_said_to_be_left_out(asked, capsys, monkeypatch, dirty, said):
    monkeypatch.setattr(commands, "revision", lambda root: {"dirty": dirty})
    monkeypatch.setattr(compared, "measure", lambda *_, **more: {"kept": (2.0, "seconds")})
    for words in (["run"], ["compare", "HEAD~1"]):
        main(["bench", *words])
        assert capsys.readouterr().err.count("uncommitted changes are not measured") == said


INTERRUPTED = """
import os, sys, time


def main():
    if sys.argv[1] == "run":
        try:
            print("in group", os.getpgrp(), flush=True)
            time.sleep(60)
        finally:
            print("x" * 2**17, flush=True)  # more than a pipe holds
            open("stopped", "w").close()
"""


def test_an_interrupted_run_ends_without_tracebacks(laboratory, monkeypatch, capfd):
    """It ends asv, which does not see the terminal's Ctrl-C, and lets it stop its benchmark."""
    (laboratory.folder / "asv").mkdir()
    (laboratory.folder / "asv" / "__init__.py").touch()
    (laboratory.folder / "asv" / "main.py").write_text(INTERRUPTED)
    monkeypatch.setattr(commands, "checkout", lambda: laboratory.folder)
    seen = []

    def interrupt(line):
        seen.append(line.split())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        commands.asv("run", show=interrupt)
    (words,) = seen
    assert words[:2] == ["in", "group"] and int(words[2]) != os.getpgrp()
    assert (laboratory.folder / "stopped").exists()
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and "x" not in out
