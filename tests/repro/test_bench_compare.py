"""Commits compared by simulated measurements: verdicts, what is measured again, and what is lost."""

import dataclasses
import json
import random
import re

import numpy as np
import pytest

from repro.bench import commands, compare, measured
from repro.cli import main


def judge(name, unit, base, new, **more):
    return compare.judge(name, unit, {"base": base, "new": new}, **more)


@pytest.mark.parametrize(
    ("base", "new", "unit", "verdict"),
    [
        ([1.0] * 6, [1.1] * 6, "seconds", "slower"), ([1.0] * 6, [0.9] * 6, "seconds", "faster"),
        ([1.0] * 6, [1.4, 1.2, 1.3, 1.1, 1.25, 1.02], "seconds", "slower"),
        ([1.0] * 6, [1.0] * 6, "seconds", "same"), ([1.0] * 4, [1.3, 0.8, 1.1, 0.9], "seconds", "undecided"),
        ([20] * 4, [21] * 4, "", "worse"), ([20] * 4, [15] * 4, "", "better"), ([100] * 4, [101] * 4, "", "same"),
        ([0] * 4, [0] * 4, "", "same"), ([0] * 4, [1] * 4, "", "worse"),
        ([20, 21, 20, 21], [21, 20, 21, 20], "", "undecided"), ([20, 21] * 3, [30, 31] * 3, "", "worse"),
        ([0, 1, 0, 1], [1, 0, 1, 0], "", "undecided"),
    ],
)  # fmt: skip
def test_verdicts(base, new, unit, verdict):
    assert judge("b", unit, base, new).verdict == verdict


@pytest.mark.parametrize(
    ("base", "new", "verdict"),
    [
        (1e-12, 1.9e-12, "same"), (1e-12, 1.1e-11, "worse"), (1e-11, 1e-12, "better"),
        (0.0, 4e-16, "same"), (1e-16, 9e-16, "same"), (0.0, 1e-14, "worse"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["Kernels.track_error('ring', 'cuda')", "Solves.track_residual"])
def test_errors_are_worse_by_digits_and_not_by_rounding(name, base, new, verdict):
    found = judge(name, "of the largest entry", [base] * 4, [new] * 4)
    assert found.verdict == verdict and (found.base, found.new) == (base, new)
    assert judge("Errors.track_bytes", "bytes", [1e-16] * 4, [9e-16] * 4).verdict == "worse"


@pytest.fixture
def simulated(laboratory, monkeypatch):
    """Commits whose times are drawn: by benchmark the ratio of the newer, and rounds in which either fails it."""
    calls = []

    def scatter(name, commit, number):
        """The same whichever commit goes first."""
        drawn = np.random.default_rng(list(f"{name} {commit} {number}".encode())).standard_normal()
        return np.exp((0.3 if "noisy" in name else 0.004) * drawn)

    def simulate(ratios, fails=(), stop=None):
        def measure(commit, machine, benchmarks, seconds, **more):
            calls.append((commit, list(benchmarks)))
            if len(calls) == stop:
                raise KeyboardInterrupt
            number = sum(made == commit for made, _ in calls)
            asked_for = [name for name in ratios if any(re.search(pattern, name) for pattern in benchmarks)]
            assert asked_for
            return {
                name: (2.0 * (ratios[name] if commit == "new" else 1) * scatter(name, commit, number), "seconds")
                for name in asked_for
                if (name, commit, number) not in fails and (name, commit, None) not in fails
            }

        monkeypatch.setattr(commands, "asv", lambda *words, **more: 0)
        monkeypatch.setattr(commands, "checkout", lambda: laboratory.folder)
        monkeypatch.setattr(measured, "commit_hash", lambda revision: revision)
        monkeypatch.setattr(measured, "discover", lambda *_: list(ratios))
        monkeypatch.setattr(measured, "measure", measure)
        return calls

    return simulate


def test_what_is_judged_is_not_measured_again(simulated, capsys):
    random.seed(0)
    calls = simulated({"x.slow(1)": 2.0, "x.even(1)": 1.0, "x.even(11)": 1.0, "x.noisy(1)": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", "x", "--rounds", "13", "--json"]) == 1
    found = {each["benchmark"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["x.slow(1)"]["verdict"] == "slower" and found["x.noisy(1)"]["verdict"] == "undecided"
    assert {found[name]["verdict"] for name in ("x.even(1)", "x.even(11)")} == {"same"}
    assert found["x.noisy(1)"]["rounds"] == 13 > found["x.slow(1)"]["rounds"]
    assert calls[0][1] == calls[7][1] == ["x"] and calls[-1][1] == [r"^x\.noisy\(1\)$"]
    pairs = [{calls[each][0], calls[each + 1][0]} for each in range(0, len(calls), 2)]
    assert pairs == [{"old", "new"}] * 13, "each round measures both"
    assert 0 < sum(calls[each][0] == "old" for each in range(0, len(calls), 2)) < 13, "either may be first"


def test_a_planted_three_per_cent_is_called_and_noise_is_not(simulated, capsys):
    calls = simulated({"planted": 1.03, "even": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--json"]) == 1
    found = {each["benchmark"]: each for each in json.loads(capsys.readouterr().out)}
    assert {name: each["verdict"] for name, each in found.items()} == {"planted": "slower", "even": "same"}
    assert found["planted"]["ratio"] == pytest.approx(1.03, abs=0.01) and len(calls) < 40


def test_benchmarks_that_are_lost_are_named_with_the_commit_and_the_rounds(simulated, capsys):
    ratios = dict.fromkeys(("kept", "gone", "shaky", "once", "added"), 1.0)
    fails = {("gone", "new", None), ("shaky", "old", 3), ("added", "old", None)}
    fails |= {("once", "old", number) for number in (1, 2, 4)}
    simulated(ratios, fails)
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--rounds", "6", "--json"]) == 1
    found = {each["benchmark"]: each for each in json.loads(capsys.readouterr().out)}
    assert {name: each["verdict"] for name, each in found.items()} == {
        "kept": "same", "gone": "lost", "once": "lost", "shaky": "lost", "added": "added",
    }  # fmt: skip
    assert found["gone"]["base"] and (found["gone"]["new"], found["gone"]["ratio"]) == (None, None)
    assert found["shaky"]["reason"] == "the older commit failed it in 1 of 4 rounds"
    simulated(ratios, fails)
    assert main(["bench", "compare", "old", "new", "--bench", "gone|kept"]) == 1
    out, err = capsys.readouterr()
    assert "gone: lost, the newer commit failed it in 4 of 4 rounds" in err
    assert [line.split()[-1] for line in out.splitlines() if "gone" in line] == ["lost"]


def test_what_only_the_newer_commit_has_is_no_loss(simulated, capsys):
    simulated({"kept": 1.0, "added": 1.0}, {("added", "old", None)})
    assert main(["bench", "compare", "old", "new", "--bench", "."]) == 0
    assert "2 benchmarks: 1 added, 1 same" in capsys.readouterr().err


def test_nothing_in_common_is_no_comparison(simulated, capsys):
    simulated({"added": 1.0}, {("added", "old", None)})
    assert main(["bench", "compare", "old", "new", "--bench", "."]) == 1
    assert "old and new have no benchmark in common" in capsys.readouterr().err


def test_no_round_begins_when_the_time_is_over(simulated, capsys):
    calls = simulated({"x": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", "x", "--minutes", "0"]) == 0
    out, err = capsys.readouterr()
    assert len(calls) == 2 and "0 minutes are over after round 1" in err and "undecided" in out


@pytest.mark.parametrize(
    ("name", "words", "code", "said"),
    [
        ("x", ["--minutes", "0"], 0, "any number of times slower"),
        ("x", ["--minutes", "0", "--fail-on-undecided"], 3, "any number of times slower"),
        ("noisy", ["--rounds", "4", "--fail-on-undecided"], 3, r"up to \d+\.\d % slower"),
    ],
)
def test_undecided_is_no_success_for_whoever_asks_for_one(simulated, capsys, name, words, code, said):
    simulated({name: 1.0, "even": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", name, *words]) == code
    assert re.fullmatch(f"1 undecided: {said} is not ruled out", capsys.readouterr().err.splitlines()[-1])


def test_an_undecided_gain_is_no_slow_down():
    found = {**dict.fromkeys((field.name for field in dataclasses.fields(compare.Verdict)), None), "unit": "seconds"}
    gain = compare.Verdict(**{**found, "high": 0.99, "verdict": compare.UNDECIDED})
    assert compare.ruled_out([gain]) == "1 undecided: none is slower"


def test_a_change_for_the_worse_goes_before_what_is_undecided(simulated):
    simulated({"slow": 2.0, "noisy": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--fail-on-undecided"]) == 1


def test_a_round_is_timed_so_that_a_verdict_can_be_awaited(simulated, capsys):
    simulated({"even": 1.0})
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--fail-on-undecided"]) == 0
    assert re.search(r"a round takes \S+ s; a verdict takes 4 rounds or more, about \S+ s\n", capsys.readouterr().err)


@pytest.mark.parametrize("side", [1, 2])
def test_complete_rounds_outlive_an_interruption(simulated, capsys, side):
    """If they are enough; a round of which one commit was measured is none."""
    calls = simulated({"slow": 2.0, "noisy": 1.0}, stop=2 * 4 + side)
    assert main(["bench", "compare", "old", "new", "--bench", ".", "--json"]) == 130
    out, err = capsys.readouterr()
    assert [(each["verdict"], each["rounds"]) for each in json.loads(out)] == [("undecided", 4), ("slower", 4)]
    assert "stopped in round 5: the rounds before it are judged" in err and "are over" not in err
    for complete in (2, 3):
        calls.clear()
        simulated({"slow": 2.0}, stop=2 * complete + side)
        assert main(["bench", "compare", "old", "new", "--bench", "."]) == 130
        out, err = capsys.readouterr()
        assert out == "" and f"stopped in round {complete + 1}: nothing is judged before 4 are complete\n" in err
