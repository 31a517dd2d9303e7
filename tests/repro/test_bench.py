"""Two commits in alternating rounds, by asv itself: a planted slow-down of 10 % is called, one of 1 % is not."""

import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from repro.bench import commands, compare
from repro.cli import main
from repro.discovery import UnknownName
from repro.model import ReproError
from tests.checkout import program

CHECKOUT = Path(__file__).resolve().parents[2]
COST = "TEN, ONE, COUNT, FASTER = {ten}, {one}, {count}, {faster}\n"
NOTHING = "no benchmark matches nothing; `--bench .` takes all of them, which are of planted.Counted, planted.Planted"
BENCHMARKS = """
import random

from fakelab import cost

NOISE = random.SystemRandom()  # another in each process, as a machine's is


def samples(seconds):
    return {"samples": [seconds * NOISE.lognormvariate(0, 0.02) for _ in range(30)], "number": 1}


class Planted:
    def track_ten(self):
        return samples(cost.TEN)

    def track_one(self):
        return samples(cost.ONE)

    def track_faster(self):
        return samples(cost.FASTER)

    for measured in (track_ten, track_one, track_faster):
        measured.unit = "seconds"


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
    for costs in (
        {"ten": 1e-3, "one": 1e-3, "count": 20, "faster": 1e-3},
        {"ten": 1.1e-3, "one": 1.01e-3, "count": 23, "faster": 0.5e-3},
    ):
        (laboratory.folder / "fakelab" / "cost.py").write_text(COST.format(**costs))
        git("add", "fakelab")
        git("commit", "-m", "x")
    return laboratory


def test_a_slow_down_of_ten_per_cent_is_called_and_one_of_one_per_cent_is_not(history):
    done = history.repro("bench", "compare", "HEAD~1", "--seconds", "0.1", "--json", seconds=150)
    assert done.returncode == 1 and done.stdout, done.stderr
    found = {entry["benchmark"]: entry for entry in json.loads(done.stdout)}
    verdicts = {name.partition(".track_")[2]: entry["verdict"] for name, entry in found.items()}
    assert verdicts == {
        "ten": "slower", "one": "no change", "faster": "faster", "iterations('openmp')": "worse",
        "iterations('opencl')": "worse",
    }  # fmt: skip
    ten = found["planted.Planted.track_ten"]
    assert ten["low"] <= ten["ratio"] <= ten["high"] and ten["ratio"] == pytest.approx(1.1, rel=0.03)
    assert "5 benchmarks, 3 slower or worse" in done.stderr
    # 3 of Planted and 3 of Counted, of which one cannot run here.
    said = done.stderr.splitlines()
    assert said[0] == "benchmarks that match: 6; each that runs here is measured 12 times, 6 rounds of both commits"
    assert said.pop(1).startswith("uncommitted changes are not measured")  # asv's settings are the test's
    assert said[1].startswith("round 1 of 6: base, ") and "to go" not in said[1]
    assert all(re.fullmatch(r"round \d of 6: (base|new), \w{9}; about \d+ min to go", line) for line in said[2:13])
    machines = json.loads((history.folder / "home" / ".asv-machine.json").read_text())
    assert "bench" in machines and (history.folder / ".asv" / "results" / "bench").is_dir()


def test_what_earlier_runs_left_is_not_judged(history):
    """Neither of other benchmarks nor of the same one's other parameters."""
    for commit in ("HEAD~1", "HEAD"):
        assert commands.asv("machine", "--yes", "--machine", "bench", show=commands.silent) == 0
        assert commands.asv("run", "--machine", "bench", f"{commit}^!", seconds=0.1, show=commands.silent) == 0
    patterns = ["--bench", "track_one", "--bench", r"Counted.*\('opencl'\)"]
    done = history.repro("bench", "compare", "HEAD~1", *patterns, "--seconds", "0.1", "--json", seconds=150)
    found = {entry["benchmark"]: entry["verdict"] for entry in json.loads(done.stdout)}
    assert found == {
        "planted.Planted.track_one": "no change", "planted.Counted.track_iterations('opencl')": "worse",
    }, done.stderr  # fmt: skip
    assert done.stderr.startswith("benchmarks that match: 2;") and done.returncode == 1


def test_a_run_shows_what_it_measures_and_not_what_does_not_run_here(history):
    done = history.repro("bench", "run", "--bench", "Counted", "--seconds", "0.1", seconds=150)
    rows = [line.split() for line in done.stdout.splitlines() if "track_iterations(" in line]
    assert [row[:2] for row in rows] == [
        ["planted.Counted.track_iterations('opencl')", "23"], ["planted.Counted.track_iterations('openmp')", "23"],
    ]  # fmt: skip
    assert "cuda" not in done.stdout and "n/a" not in done.stdout and "[100.00%]" in done.stdout
    assert done.returncode == 0 and "2 benchmarks measured" in done.stderr


BROKEN = """
import warnings


class Broken:
    params = (("fine", "broken"),)

    def track_rows(self, which):
        warnings.warn("noise of what ran")
        if which == "broken":
            raise ValueError("rows of different lengths")
        return 1

    def track_all(self, which):
        raise KeyError("nothing runs")


def track_nothing():
    raise OSError("no parameters")
"""


def test_why_a_benchmark_fails_is_shown_and_what_others_have_written_is_not(history):
    (history.folder / "benchmarks" / "broken.py").write_text(BROKEN)
    done = history.repro("bench", "run", "--bench", "broken", "--seconds", "0.1", seconds=150)
    shown = done.stdout
    for error in ("ValueError: rows of different lengths", "OSError: no parameters"):
        assert shown.count(error + "\n") == 1
    assert shown.count("KeyError: 'nothing runs'\n") == 2
    assert shown.count("Traceback (most recent call last)") == 4
    assert [line.split()[-1] for line in shown.splitlines() if "For parameters" in line].count("'broken'") == 2
    assert "noise" not in shown.partition("Traceback")[0] and "===" not in shown
    assert done.returncode == 1


def test_a_measurement_that_fails_is_not_replaced_by_an_earlier_one(history, monkeypatch):
    revision = compare.commit_hash("HEAD")
    assert commands.asv("machine", "--yes", "--machine", "bench", show=commands.silent) == 0
    assert set(compare._measure(revision, "bench", ["track_ten"], 0.1)) == {"planted.Planted.track_ten"}
    monkeypatch.setattr(commands, "asv", lambda *words, **more: 0)  # as one that was killed before it wrote anything
    with pytest.raises(ReproError, match=f"asv could not run {revision[:9]}: exit status 0"):
        compare._measure(revision, "bench", ["track_ten"], 0.1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "'nowhere' is no commit of this checkout"),
        (["HEAD~1", "nowhere"], "'nowhere' is no commit of this checkout"),
        (["HEAD~1", "--rounds", "0"], "0 rounds give no interval of 95 %; it takes 6"),
        (["HEAD~1", "--bench", "["], "'[' is no regular expression: unterminated character set at position 0"),
        (["HEAD~1", "--bench", "nothing"], NOTHING),
    ],
)
def test_a_wrong_command_is_told_from_a_slow_down(history, words, said):
    done = history.repro("bench", "compare", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"repro: {said}\n")


def test_why_asv_failed_is_said(monkeypatch):
    """By the end of what it printed, of a commit that fails all that was chosen."""
    printed = [f"line {number}\n" for number in range(99)] + ["AttributeError: no COUNT\n", "\n"]
    monkeypatch.setattr(commands, "asv", lambda *_, show, **more: [show(line) for line in printed] and 2)
    monkeypatch.setattr(compare, "read", lambda *_: {})
    for act in (compare._measure, lambda commit, machine, *_: compare._count(commit, machine, ["x"])):
        with pytest.raises(ReproError, match=r"123456789: exit status 2; its last lines:\nline 8\d\n") as failed:
            act("123456789abc", "bench", ["x"], 0.1)
        assert str(failed.value).endswith("line 98\nAttributeError: no COUNT") and "line 79" not in str(failed.value)


@pytest.mark.parametrize("words", [["run"], ["run", "--bench", "."], ["compare", "HEAD~1"], ["publish"]], ids=" ".join)
@pytest.mark.parametrize("lacking", ["asv.conf.json", "benchmarks", ".git"])
def test_what_is_no_checkout_has_no_benchmarks(history, capsys, monkeypatch, words, lacking):
    """Whether asv is there or not: installing it would not help."""
    (history.folder / lacking).rename(history.folder / "elsewhere")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "asv" else find(name, *more))
    assert main(["bench", *words]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and f"repro: {history.folder} is no git checkout" in err


@pytest.mark.parametrize(
    ("base", "new", "unit", "verdict"),
    [
        ([1.0] * 6, [1.1] * 6, "seconds", "slower"),
        ([1.0] * 6, [1.1] * 5 + [1.02], "seconds", "no change"),  # not all rounds say so
        ([1.0] * 6, [1.01] * 6, "seconds", "no change"),
        ([1.0] * 6, [0.9] * 6, "seconds", "faster"),
        ([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0], "seconds", "no change"),  # the machine's drift
        ([20] * 6, [21] * 6, "", "worse"),
        ([0] * 6, [0] * 6, "", "no change"),
        ([0] * 6, [1] * 6, "", "worse"),
    ],
)
def test_verdicts(base, new, unit, verdict):
    assert compare.judge("b", unit, base, new, 0.03).verdict == verdict


@pytest.mark.parametrize(
    ("base", "new", "verdict"),
    [
        (1e-12, 1.9e-12, "no change"), (1e-12, 1.1e-11, "worse"), (1e-11, 1e-12, "better"),
        (0.0, 4e-16, "no change"), (1e-16, 9e-16, "no change"), (0.0, 1e-14, "worse"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["Kernels.track_error('ring', 'cuda')", "Solves.track_residual"])
def test_errors_are_worse_by_digits_and_not_by_rounding(name, base, new, verdict):
    found = compare.judge(name, "of the largest entry", [base] * 6, [new] * 6, 0.03)
    assert found.verdict == verdict and (found.base, found.new) == (base, new)
    assert compare.judge("Errors.track_bytes", "bytes", [1e-16] * 6, [9e-16] * 6, 0.03).verdict == "worse"


def test_benchmarks_that_the_newer_commit_has_lost_are_told(asked, monkeypatch, capsys):
    """One that fails there in every round, and one that fails in a single one; what only it has is no loss."""
    sides = {"old": ("kept", "gone", "shaky", "once"), "recent": ("kept", "added", "shaky")}
    calls = []

    def measured(commit, machine, benchmarks, seconds):
        calls.append(commit)
        fails = {"shaky"} if commit == "recent" and calls.count(commit) % compare.ROUNDS == 3 else set()
        fails |= {"once"} if calls.count(commit) % compare.ROUNDS != 2 else set()
        taken = {"gone": (calls.count(commit) - 1) % compare.ROUNDS + 1.0}  # 1 to 6 in one comparison
        return {name: (taken.get(name, 2.0), "seconds") for name in sides[commit] if name not in fails}

    monkeypatch.setattr(compare, "commit_hash", lambda revision: revision)
    monkeypatch.setattr(compare, "_count", lambda *_: 4)
    monkeypatch.setattr(compare, "_measure", measured)
    assert main(["bench", "compare", "old", "recent", "--json"]) == 1
    found = {entry["benchmark"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert {name: entry["verdict"] for name, entry in found.items()} == {
        "kept": "no change", "gone": "lost", "once": "lost", "shaky": "lost",
    }  # fmt: skip
    assert (found["gone"]["base"], found["gone"]["new"], found["gone"]["ratio"]) == (3.5, None, None)
    assert main(["bench", "compare", "old", "recent"]) == 1
    out, err = capsys.readouterr()
    assert "4 benchmarks, 0 slower or worse, 3 lost: the newer commit did not measure them in every round" in err
    assert [line.split() for line in out.splitlines() if "lost" in line] == [
        [name, "seconds", base, "lost"] for name, base in (("gone", "3.5"), ("once", "2"), ("shaky", "2"))
    ]  # fmt: skip


def test_too_few_rounds_are_refused():
    with pytest.raises(UnknownName, match="5 rounds give no interval of 95 %; it takes 6"):
        compare.compare("HEAD", "HEAD", "bench", ["."], rounds=5)
    assert 1 - 2 / 2**compare.ROUNDS > 0.95 > 1 - 2 / 2 ** (compare.ROUNDS - 1)


@pytest.fixture
def asked(laboratory, monkeypatch):
    """What asv is asked for, and that it is asked at all."""
    calls = []
    monkeypatch.setattr(commands, "asv", lambda *words, **more: calls.append((words, more)) or 3)
    monkeypatch.setattr(commands, "checkout", lambda: laboratory.folder)
    monkeypatch.setattr(commands, "quick_set", lambda: ("planted", "other"))
    return calls


def test_asv_is_told_of_the_gpus(asked, monkeypatch):
    facts = {"gpu": ["NVIDIA A", "NVIDIA B"], "cpu": "C", "cores": 8}
    monkeypatch.setattr(commands.machine, "fingerprint", lambda: facts)
    commands.name_machine("two")
    ((words, _),) = asked
    assert words[words.index("--cpu") + 1] == "NVIDIA A + NVIDIA B + C"


def test_this_commit_is_measured_under_the_machines_name(asked, monkeypatch, capsys):
    """The GPU's name is in it by way of the harness's; if asv fails, so does the command."""
    monkeypatch.setattr(compare, "commit_hash", lambda revision: f"hash of {revision}")
    monkeypatch.setattr(compare, "read", lambda *words: {f"{words[:2]}": (0.25, "seconds")})
    assert main(["bench", "run", "--seconds", "0.25"]) == 1
    shown = capsys.readouterr()
    assert "('hash of HEAD', 'bench')" in shown.out and "0.25" in shown.out and "1 benchmark measured" in shown.err
    assert "ended with 3" in shown.err
    (named, _), (words, more) = asked
    assert named[:4] == ("machine", "--yes", "--machine", "bench") and "--cpu" in named
    assert words == ("run", "--machine", "bench", "--launch-method", "spawn", "--show-stderr", "--bench", "planted",
                     "--bench", "other", "HEAD^!")  # fmt: skip
    assert isinstance(more.pop("show"), commands.Progress) and more == {"seconds": 0.25}
    asked.clear()
    assert main(["bench", "run", "--bench", "spmv", "--machine", "h200"]) == 1
    assert asked[1][0][1:3] == ("--machine", "h200") and asked[1][0][-3:] == ("--bench", "spmv", "HEAD^!")
    assert main(["bench", "publish"]) == 1 and asked[-1][0] == ("publish",)
    assert main(["bench", "run", "--bench", "["]) == 2


def test_a_name_that_no_benchmark_has_is_a_wrong_command(asked, laboratory, capsys, monkeypatch):
    """What asv found in this run tells, though it measured nothing; an earlier run's does not."""
    file = laboratory.folder / ".asv" / "results" / "benchmarks.json"
    file.parent.mkdir(parents=True)
    names = ("planted.Planted.track_one", "planted.Planted.track_ten", "planted.Counted.track_iterations")
    known = json.dumps({"version": 2, **{name: {"name": name, "params": []} for name in names}})
    monkeypatch.setattr(compare, "commit_hash", lambda revision: revision)
    monkeypatch.setattr(commands, "asv", lambda *words, **_: file.write_text(known) and 1)
    assert main(["bench", "run", "--bench", "nothing"]) == 2
    assert capsys.readouterr() == ("", f"repro: {NOTHING}\n")
    assert main(["bench", "run", "--bench", "track_ten"]) == 1  # which does not run here
    os.utime(file, (1, 1))
    monkeypatch.setattr(commands, "asv", lambda *words, **_: 1)
    assert main(["bench", "run", "--bench", "nothing"]) == 1


@pytest.mark.parametrize(("dirty", "said"), [(True, 1), (False, 0), (None, 0)])
def test_changes_that_are_not_committed_are_said_to_be_left_out(asked, capsys, monkeypatch, dirty, said):
    monkeypatch.setattr(commands, "revision", lambda root: {"dirty": dirty})
    monkeypatch.setattr(compare, "commit_hash", lambda revision: revision)
    monkeypatch.setattr(compare, "_count", lambda *_: 1)
    monkeypatch.setattr(compare, "_measure", lambda *_: {"kept": (2.0, "seconds")})
    for words in (["run"], ["compare", "HEAD~1"]):
        main(["bench", *words])
        assert capsys.readouterr().err.count("uncommitted changes are not measured") == said


def test_a_commit_against_itself_is_told(asked, monkeypatch, capsys):
    monkeypatch.setattr(compare, "commit_hash", lambda revision: "0123456789")
    monkeypatch.setattr(compare, "_count", lambda *_: 1)
    monkeypatch.setattr(compare, "_measure", lambda *_: {"kept": (2.0, "seconds")})
    assert main(["bench", "compare", "HEAD", "main"]) == 0
    assert "HEAD and main are one commit, 012345678: what differs is noise" in capsys.readouterr().err


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

    monkeypatch.setattr(commands, "Progress", lambda: interrupt)
    assert main(["bench", "run", "--bench", "x"]) == 130
    (words,) = seen
    assert words[:2] == ["in", "group"] and int(words[2]) != os.getpgrp()
    assert (laboratory.folder / "stopped").exists()
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and "x" not in out


@pytest.mark.parametrize(("ratio", "status", "said"), [(1.1, 1, "1 slower or worse"), (1.01, 0, "0 slower or worse")])
def test_verdicts_are_shown(asked, monkeypatch, capsys, ratio, status, said):
    found = [compare.judge("spmv.track(1)", "seconds", [2.0] * 6, [2 * ratio] * 6, 0.03)]
    monkeypatch.setattr(compare, "compare", lambda *_, **more: found)
    assert main(["bench", "compare", "before", "after"]) == status
    shown = capsys.readouterr()
    assert said in shown.err
    for text in ("spmv.track(1)", "before", "after", f"{ratio:.3f} to {ratio:.3f}", found[0].verdict):
        assert text in shown.out
