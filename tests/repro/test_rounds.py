"""Cells measured in several rounds: what is kept of them, what is added, and what replaces them."""

import csv
import json
import math
import time
from collections import Counter
from unittest import mock

import pytest

from repro import discovery
from repro.judge import spread, verify
from repro.run import execution, rounds, runner
from repro.run.jobs import make_jobs
from repro.show import render, summarise
from tests.repro import conftest
from tests.repro.test_run import again

HOST = ("table1", "--only", "backend=host")


def records(laboratory):
    return [json.loads(path.read_text()) for path in laboratory.cell_files()]


def row_of(record, metric):
    (row,) = [row for row in record["rows"] if row["metric"] == metric]
    return row


def test_each_round_is_kept_and_rows_are_of_all(laboratory, sampled):
    assert laboratory.run(*HOST, "--rounds", "3") == 0
    assert set(Counter(laboratory.traces()).values()) == {3}
    for record in records(laboratory):
        row, taken = row_of(record, "time"), [each["samples"]["time"] for each in record["rounds"]]
        assert row["rounds"] == len(taken) == 3 and row["n"] == sum(len(each["seconds"]) for each in taken)
        assert row["value"] == sorted(each["values"]["time"] for each in record["rounds"])[1]
        ends = spread.of_samples(taken, "openmp")
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([1e6 * end for end in ends])
        assert row["date"] == record["rounds"][-1]["date"] and row["host"] == record["rounds"][-1]["host"]
        assert row_of(record, "sum")["rounds"] == 3 and all(
            "switches" in each["state"]["time"] for each in record["rounds"]
        )


def test_the_rounds_of_a_cell_lie_apart_and_those_of_a_pass_are_in_an_order_by_lot(laboratory):
    assert laboratory.run(*HOST, "--rounds", "4") == 0
    traces = laboratory.traces()
    passes = [tuple(traces[3 * k : 3 * k + 3]) for k in range(4)]
    assert all(len(set(each)) == 3 for each in passes) and len(set(passes)) > 1


def test_a_later_run_adds_what_is_missing(laboratory):
    assert laboratory.run(*HOST) == 0
    first = records(laboratory)
    assert laboratory.run(*HOST, "--rounds", "3") == 0
    assert len(laboratory.traces()) == 9
    for before, after in zip(first, records(laboratory), strict=True):
        assert after["rounds"][0] == before["rounds"][0] and len(after["rounds"]) == 3
    for count in ("3", "2", "1"):
        assert laboratory.run(*HOST, "--rounds", count) == 0
    assert len(laboratory.traces()) == 9


def test_a_run_that_was_cut_off_goes_on(laboratory, monkeypatch):
    real, calls = execution.execute, []

    def watched(*given, **more):
        calls.append(more["upto"])
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(*given, **more)

    monkeypatch.setattr(execution, "execute", watched)
    assert laboratory.run(*HOST, "--rounds", "3") == 130
    assert sorted(len(record["rounds"]) for record in records(laboratory)) == [1, 1, 2]
    assert laboratory.run(*HOST, "--rounds", "3") == 0
    assert {len(record["rounds"]) for record in records(laboratory)} == {3} and len(laboratory.traces()) == 9


def test_the_files_are_written_when_all_rounds_are_there_or_the_run_is_cut_off(laboratory, monkeypatch):
    real, measured, written = execution.execute, [], []

    def watched(*given, **more):
        measured.append(len(written))
        if len(measured) == stop:
            raise KeyboardInterrupt
        return real(*given, **more)

    def writing(artefact, *given):
        written.append(artefact.id)
        return render.render(artefact, *given)

    monkeypatch.setattr(execution, "execute", watched)
    monkeypatch.setattr(runner, "render", writing)
    stop = 10
    assert laboratory.run(*HOST, "--rounds", "3") == 0
    assert measured == [0] * 9 and written == ["demo2020-table1"]
    stop = 15
    assert laboratory.run(*HOST, "--rounds", "3", "--force") == 130
    assert written == ["demo2020-table1"] * 2
    rows = csv.DictReader(laboratory.file("table1.smoke.csv").open())
    assert sorted(row["rounds"] for row in rows if row["metric"] == "time") == ["1", "2", "2"]


def test_what_is_forced_or_of_other_sources_replaces_all_rounds(laboratory, monkeypatch):
    monkeypatch.setattr(runner, "SOONEST", "host")
    assert laboratory.run(*HOST, "--rounds", "2") == 0
    for more in ((), ("--minutes", "5")):
        before, traces = records(laboratory), len(laboratory.traces())
        assert laboratory.run(*HOST, "--rounds", "2", "--force", *more) == 0
        done = laboratory.traces()[traces:]
        assert len(done) == 6 and len({*done[:3]}) == len({*done[3:]}) == 3  # a pass after the other
        for old, new in zip(before, records(laboratory), strict=True):
            assert len(new["rounds"]) == 2 and new["rounds"][0]["finished"] > old["rounds"][1]["finished"]
    monkeypatch.setattr("repro.run.jobs.estimates.seconds", lambda task, settings: 1e6)
    assert laboratory.run(*HOST, "--rounds", "2", "--force", "--minutes", "5") == 3
    last = records(laboratory)  # seemed too long, and are measured when all else is
    assert {len(record["rounds"]) for record in last} == {1} and len(laboratory.traces()) == traces + 6 + 3
    adding = laboratory.paper / "adding.py"
    adding.write_text(adding.read_text().replace("return sum(numbers)", "return sum(list(numbers))"))
    conftest._forget()
    assert laboratory.run(*HOST) == 0
    assert {len(record["rounds"]) for record in records(laboratory)} == {1}


def test_the_files_have_all_rounds_and_are_verified_by_them(laboratory, sampled):
    assert laboratory.run(*HOST, "--rounds", "2") == 0
    before = records(laboratory)
    for path in laboratory.cell_files():
        path.unlink()
    assert not [problem for problem in verify.verify(laboratory.results).problems if "samples" in problem.what]
    assert laboratory.run(*HOST, "--rounds", "2") == 0
    assert len(laboratory.traces()) == 6
    assert [record["rounds"] for record in records(laboratory)] == [record["rounds"] for record in before]


def test_a_fact_that_differs_between_rounds_fails_the_cell(laboratory):
    assert laboratory.run(*HOST) == 0
    path = laboratory.cell("first")
    record = json.loads(path.read_text())
    row_of(record, "sum")["value"] += 1
    path.write_text(json.dumps(record))
    assert laboratory.run(*HOST, "--rounds", "3") == 1
    since = json.loads(path.read_text())["since"]
    assert since["status"] == "failed" and "in an earlier round" in since["reason"]
    assert len(laboratory.traces()) == 3 + 5  # and it is not measured once more


def test_a_round_that_fails_takes_the_earlier_ones_nothing_away(laboratory):
    assert laboratory.run(*HOST) == 0
    before = records(laboratory)
    broken = mock.patch("fakelab.demo2020.table1_sums._misbehave", side_effect=OSError("no compiler"))
    with broken:
        assert laboratory.run(*HOST, "--rounds", "2") == 1
    failed = records(laboratory)
    assert all(each["since"]["reason"] == "OSError: no compiler" for each in failed)
    assert laboratory.run(*HOST, "--rounds", "2") == 0
    for old, new in zip(before, records(laboratory), strict=True):
        assert new["rounds"][0] == old["rounds"][0] and len(new["rounds"]) == 2 and "since" not in new
    with broken:
        assert laboratory.run(*HOST, "--rounds", "3") == 1
    assert laboratory.run(*HOST) == 0  # one alone is wanted
    assert {len(each["rounds"]) for each in records(laboratory)} == {1}


def test_a_metric_that_cells_choose_by_timing_may_differ_and_so_may_what_follows_from_it():
    """As a block's size that a search finds, and how many entries are stored for it; or it chose none at all."""
    identity = {"case": "a", "method": "k", "backend": "cuda", "parameters": {}, "data": []}

    def record(**values):
        rows = [{"metric": name, "unit": "count", "n": None, "value": value, "error": None}
                for name, value in values.items()]  # fmt: skip
        return {"status": "done", "identity": identity, "rows": rows, "samples": {}, "revision": {}}

    def values(made):
        return {row["metric"]: row["value"] for row in made["rows"]}

    first = record(block_size=64, stored=100)
    for second in (record(block_size=96, stored=90), record(stored=90), record(block_size=64, stored=100, window=8)):
        made = rounds.together(first, second, ("block_size", "window"))
        assert values(made) == values(second) and len(made["rounds"]) == 2
        told = r"^(block_size|window) is (96|not there|8), and was (64|not there) in an earlier round"
        with pytest.raises(rounds.Disagree, match=told):
            rounds.together(first, second, ("stored",) if "window" in values(second) else ())
    with pytest.raises(rounds.Disagree, match="stored is 90, and was 100 in an earlier round"):
        rounds.together(first, record(block_size=64, stored=90), ("block_size",))


def facts(**values):
    rows = [
        {"metric": name, "unit": "count", "n": None, "value": value, "error": None} for name, value in values.items()
    ]
    return {"status": "done", "identity": {"parameters": {}}, "rows": rows, "samples": {}, "revision": {}}


@pytest.mark.parametrize(("metric", "before", "now", "is_one"), [
    ("convergence", 0.182573, 0.182573 * (1 + 1e-9), True), ("convergence", 0.182573, 0.1826, False),
    ("area", 1.0, 1.0 + 1e-15, True), ("stored", 3e8, 3e8 + 1, False), ("mean", 12.5, 12.0, False),
    ("limit", math.inf, math.inf, True), ("limit", math.inf, 0.5, False), ("levels", 3, 4, False),
    ("iterations", 18, 19, True), ("iterations", 18, 20, False), ("iterations_to_absolute", 267, 270, True),
    ("iterations", 267, 280, False), ("linear_iterations", 12.5, 13.1, False), ("linear_iterations", 12.5, 12.6, True),
    ("iterations", math.inf, 30, False), ("products", 210, 217, False), ("times_some_cycles", 35.2, 31.7, True),
    ("break_even", 216, 188, True),
])  # fmt: skip
def test_facts_agree_up_to_rounding(metric, before, now, is_one):
    """Whole numbers are equal, but for counts until a residual is small enough."""
    before, now = facts(**{metric: before}), facts(**{metric: now})
    if is_one:
        assert rounds.together(before, now, (), ("break_even",))["rows"] == rounds.together(now, now)["rows"]
    else:
        with pytest.raises(rounds.Disagree, match=metric):
            rounds.together(before, now)


def test_what_follows_from_a_count_may_differ_by_as_much():
    first = facts(iterations=30, products=210, convergence=0.1949, levels=3)
    rounds.together(first, facts(iterations=31, products=217, convergence=0.1990, levels=3))
    for name, value in (("products", 224), ("convergence", 0.21), ("levels", 4)):
        changed = {"iterations": 31, "products": 217, "convergence": 0.1990, "levels": 3} | {name: value}
        with pytest.raises(rounds.Disagree, match=rf"^{name} is {value}"):
            rounds.together(first, facts(**changed))


def test_each_round_is_compared_with_the_first():
    made = rounds.together(facts(iterations=100), facts(iterations=102))
    with pytest.raises(rounds.Disagree):
        rounds.together(made, facts(iterations=104))


def test_a_count_by_timing_excuses_no_other_fact():
    with pytest.raises(rounds.Disagree, match="nodes is 9, and was 5"):
        rounds.together(facts(break_even=3, nodes=5), facts(break_even=4, nodes=9), (), ("break_even",))


@pytest.mark.parametrize(
    ("unit", "value"), [("s", 3.0), ("GB/s", 3.0), ("mJ", 3.0), ("W", 3.0), ("x", 4.0), ("count", 4.0), (None, 4.0)]
)
def test_a_value_without_samples_is_the_rounds_median_if_it_follows_from_times(unit, value):
    assert rounds.of_rounds(unit, [2.0, 4.0]) == value and rounds.of_rounds(unit, [None, 4.0]) == 4.0


@pytest.mark.parametrize(("unit", "value"), [("W", 3.0), ("B", 4.0)])
def test_figures_compute_what_was_not_sampled_again_by_its_rounds(unit, value):
    place = {"case": "a", "method": "k", "backend": "cuda", "parameters": {}}
    row = {**place, "metric": "power", "unit": unit, "n": None, "value": 2.0, "status": "done"}
    taken = [{"host": "h", "date": "d", "commit": "c", "samples": {}, "values": {"power": each}} for each in (2.0, 4.0)]
    assert summarise._again(row, [{**place, "rounds": taken}])["value"] == value
    assert summarise._again({**row, "status": "failed"}, [{**place, "rounds": taken}])["value"] == 2.0


def test_what_an_artefact_says_that_cells_choose_is_heard(laboratory, monkeypatch):
    assert laboratory.run(*HOST) == 0
    path = laboratory.cell("first")
    record = json.loads(path.read_text())
    row_of(record, "sum")["value"] += 1
    path.write_text(json.dumps(record))
    module = discovery.load(discovery.select(["table1"])[0])
    monkeypatch.setattr(module, "CHOSEN_BY_TIMING", ("sum",), raising=False)
    assert laboratory.run(*HOST, "--rounds", "2") == 0
    assert len(json.loads(path.read_text())["rounds"]) == 2


@pytest.mark.parametrize("tables", [["table1"], ["table1", "table3"]])
@pytest.mark.parametrize("seconds", [600.0, math.inf])
def test_each_round_has_a_process_of_its_own(laboratory, monkeypatch, tables, seconds):
    """Also where time is short and the backend's cells come first, and where another table shows the same cells."""
    again(laboratory)
    monkeypatch.setattr(runner, "SOONEST", "host")
    events = []

    class Pretended:
        def __init__(self, settings):
            self.settings = settings

        def dispatch(self, task, **given):
            events.append(task.cell.case)
            return execution.execute(task, self.settings, **given)

        def close(self):
            events.append("closed")

    monkeypatch.setattr(runner, "Worker", Pretended)
    monkeypatch.setattr(runner.building, "build_ahead", lambda *given: None)
    from repro import discovery
    from repro.cache.plan import Selection
    from repro.settings import make_settings

    settings = make_settings("smoke", laboratory.results, "bench", rounds=2)
    jobs = make_jobs(discovery.select(tables), settings, Selection({"backend": ["host"]}))
    until = time.monotonic() + seconds if seconds < math.inf else runner.NEVER
    summary = runner.go_through(jobs, settings, until=until)
    assert summary.measured == 3 and summary.reused == len(tables) - 1
    while events[-2:] == ["closed"] * 2:  # once more before what seemed too long, of which there is nothing
        events.pop()
    assert [event == "closed" for event in events] == [False] * 3 + [True] + [False] * 3 + [True]


def test_a_record_without_samples_that_the_files_alone_have_is_of_one_round():
    record = {"status": "done", "rows": [], "revision": None, "samples": {}}
    assert rounds.count(record) == 1 and rounds.count({**record, "status": "failed"}) == 0


@pytest.mark.parametrize("parts", [("some_iterations",), ("some_iterations", "some_cycles")])
def test_a_solve_that_is_timed_whole_in_one_round_and_by_a_part_in_another_is_of_both(parts):
    """A part of 0.6 s of five tells 3 s; of which of two parts it is is not told, so that the other round is alone."""

    def taken(samples, value):
        made = {name: {"seconds": seconds, "batch": 1, "mode": "calls", "cold": False, "disturbed": 1}
                for name, seconds in samples.items()}  # fmt: skip
        return dict.fromkeys(("commit", "dirty", "host", "date")) | {"samples": made, "values": {"solve": value}}

    whole = taken({"solve": [2.0, 2.2, 2.4]}, 2.2)
    part = taken({name: [0.5, 0.6, 0.7] for name in parts}, 3.0)
    row = {"metric": "solve", "unit": "s", "backend": "host", "parameters": {}, "n": None, "cold": None, "value": 3.0}
    of_both = 2 if len(parts) == 1 else 1
    for several in ([whole, part], [part, whole]):
        (made,) = rounds.shown([row], several, {})
        assert made["value"] == pytest.approx(2.6 if of_both == 2 else 2.2) and made["cold"] is False
        assert (made["n"], made["disturbed"], made["rounds"]) == (3 * of_both, of_both, 2)
        assert made["ci_low"] < 2.2 and (made["ci_high"] > 3.0 or of_both == 1)
    assert rounds.taken_of([part], "solve") == []
