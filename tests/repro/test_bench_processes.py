"""A planted slowdown of 3 % is called by the real command, and noise of the usual size is not: timed in processes.

What is timed waits on the clock, so that its time is known whatever else the machine does; each process has noise of
its own, of the size that equal code was seen to have between processes.
"""

import json
import random
import subprocess
import sys

import numpy as np
import pytest

from repro.cli import main
from repro.judge.difference import USUAL_FREEDOM, USUAL_SPREAD

SPIN = """
import json, sys, time, statistics
def spin(seconds):
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pass
    return time.perf_counter() - begun
print(json.dumps({name: statistics.median(spin(seconds) for _ in range(9))
                  for name, seconds in json.loads(sys.argv[1]).items()}))
"""
SECONDS, QUIET = 0.8e-3, 0.003
BENCHMARKS = {"planted": (1.03, "quiet"), "quiet": (1.0, "quiet"), "usual_a": (1.0, "usual"), "usual_b": (1.0, "usual")}


def noise(kind, name, commit, number):
    rng = np.random.default_rng(list(f"{name} {commit} {number}".encode()))
    if kind == "quiet":
        return np.exp(QUIET * rng.standard_normal())
    return np.exp(USUAL_SPREAD / 2**0.5 * rng.standard_t(USUAL_FREEDOM))


@pytest.fixture
def commits(replace_asv):
    """Two commits, old and new, whose benchmarks are measured in a process for each commit and round."""
    rounds = {"old": 0, "new": 0}

    def measure(commit, machine, benchmarks, seconds, may_be_nothing=False):
        rounds[commit] += 1
        lengths = {
            name: SECONDS * (ratio if commit == "new" else 1.0) * noise(kind, name, commit, rounds[commit])
            for name, (ratio, kind) in BENCHMARKS.items()
            if any(name in pattern or pattern == "." for pattern in benchmarks)
        }
        command = [sys.executable, "-S", "-E", "-c", SPIN, json.dumps(lengths)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {name: (value, "seconds") for name, value in json.loads(done.stdout).items()}

    replace_asv(measure, len(BENCHMARKS))
    return rounds


def test_a_planted_three_per_cent_is_called_and_noise_is_not(commits, capsys):
    random.seed(3)
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--rounds", "20", "--json"]) == 1
    found = {each["benchmark"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["planted"]["verdict"] == "slower" and found["planted"]["ratio"] == pytest.approx(1.03, abs=0.01)
    assert found["quiet"]["verdict"] == "same"
    assert {found[name]["verdict"] for name in ("usual_a", "usual_b")} <= {"same", "undecided"}
    assert commits["old"] == commits["new"] <= 20
