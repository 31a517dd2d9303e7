"""Values that `measure(cell, run)` records, and values that it refuses to record."""

import math
import time

import pytest

from repro import Cell, CheckFailed, ReproError, Skip, Work
from repro.run.context import Run

HOST = Cell("first", "loop", "host", {"stride": 2}, ("demo2020/numbers",))


@pytest.fixture
def run(laboratory):
    return Run(HOST, "demo2020-table1", "smoke")


def test_a_timed_row_has_median_interval_and_error(run):
    summary = run.time("time", lambda: sum(range(100)), check=lambda: 1e-9, tolerance=1e-6, unit="us", max_seconds=0.01)
    run.finish()
    (row,) = run.rows
    assert row.value == pytest.approx(summary.median * 1e6) and row.unit == "us" and row.error == 1e-9
    assert row.ci_low <= row.value <= row.ci_high and row.n == len(run.samples["time"]["seconds"]) == summary.n
    assert run.clocks[f"host: {row.device}"]["name"] == row.device and row.work_bytes is None


def test_a_cold_row_is_recorded_beside(run):
    run.time("time", lambda: None, check=lambda: 0.0, tolerance=0, cold=True, max_seconds=0.01)
    assert [row.metric for row in run.rows] == ["time", "time_cold"]
    assert not run.samples["time"]["cold"] and run.samples["time_cold"]["cold"]


def test_the_check_sees_what_the_function_has_computed(run):
    """It is called after the first call, and again after the last."""
    calls, seen = [], []
    run.time(
        "time", lambda: calls.append(1), check=lambda: seen.append(len(calls)) or 0.0, tolerance=0, max_seconds=0.01
    )
    assert seen[0] == 1 and seen[1] == len(calls) > 1


@pytest.mark.parametrize("error", [1e-3, math.nan, math.inf])
def test_a_wrong_result_is_not_timed(run, error):
    calls = []
    with pytest.raises(CheckFailed, match=r"time: error .* exceeds"):
        run.time("time", lambda: calls.append(1), check=lambda: error, tolerance=1e-6)
    assert len(calls) == 1 and not run.rows and run.failing[0] == "time"


def test_a_result_that_goes_wrong_while_it_is_timed_is_refused(run):
    errors = iter([0.0, 1.0])
    with pytest.raises(CheckFailed, match="after timing"):
        run.time("time", lambda: None, check=lambda: next(errors), tolerance=1e-6, max_seconds=0.01)
    assert not run.rows


@pytest.mark.parametrize(("error", "passes"), [(1e-7, True), (1e-6, True), (2e-6, False), (math.nan, False)])
def test_check(run, error, passes):
    if passes:
        run.check(error, 1e-6, "residual")
        assert run.checks == [{"what": "residual", "error": error, "tolerance": 1e-6}]
    else:
        with pytest.raises(CheckFailed, match="residual"):
            run.check(error, 1e-6, "residual")


def test_times_without_any_check_are_refused(run):
    run.time("time", lambda: None, max_seconds=0.01)
    with pytest.raises(CheckFailed, match="without a check"):
        run.finish()
    run.check(0.0, 1e-6, "residual")
    run.finish()


def test_a_measurement_that_records_nothing_is_refused(run):
    with pytest.raises(ReproError, match="recorded nothing"):
        run.finish()


def test_misuse_is_named(run):
    with pytest.raises(ReproError, match="no unit of time"):
        run.time("time", lambda: None, unit="GB/s")
    with pytest.raises(ReproError, match="needs a tolerance"):
        run.time("time", lambda: None, check=lambda: 0.0)
    with pytest.raises(ReproError, match="not declared"):
        run.dataset("demo2020/others")
    with pytest.raises(ReproError, match="'host' has no device"):
        _ = run.device
    run.value("iterations", 3)
    with pytest.raises(ReproError, match="recorded twice"):
        run.value("iterations", 4)


def test_data_come_with_their_digest_and_can_be_the_users_own(laboratory, run):
    assert run.dataset("demo2020/numbers") == list(range(10)) and len(run.digests["demo2020/numbers"]) == 64
    own = laboratory.folder / "own.txt"
    own.write_text("5 6")
    other = Run(HOST, "demo2020-table1", "smoke", overrides={"demo2020/numbers": str(own)})
    assert other.dataset("demo2020/numbers") == [5, 6] and other.digests != run.digests


def test_devices(laboratory):
    here = Run(Cell("first", "kernel", "opencl"), "demo2020-table1", "smoke")
    assert here.device is here.device and here.device.name == "Pretend device"
    here.value("size", 1)
    assert here.rows[0].device == "Pretend device"
    assert here.clocks["opencl: Pretend device"]["details"] == {"driver": "1.0"}
    with pytest.raises(Skip, match="no cuda device"):
        _ = Run(Cell("first", "kernel", "cuda"), "demo2020-table1", "smoke").device
    with pytest.raises(Skip, match="licence"):
        here.skip("no licence", "buy one")


def test_random_numbers_depend_on_cell_and_seed_alone(laboratory):
    def draw(cell, seed=0):
        return Run(cell, "demo2020-table1", "smoke", seed).rng.random()

    assert draw(HOST) == draw(HOST)
    assert len({draw(HOST), draw(HOST, 1), draw(Cell("second", "loop"))}) == 3


def test_a_time_has_its_work_and_the_clock_whose_roof_bounds_it(run):
    work = Work(bytes=1e6, flops=2e6, precision="float32", problem_bytes=5e5)
    run.time("time", lambda: None, check=lambda: 0.0, tolerance=0, work=work, cold=True, max_seconds=0.01)
    run.value("plain", 1)
    warm, cold, plain = run.rows
    for row, is_cold in ((warm, False), (cold, True)):
        assert (row.work_bytes, row.work_flops, row.work_precision, row.problem_bytes) == (1e6, 2e6, "float32", 5e5)
        assert row.cold is is_cold and row.rounds == 1
    assert plain.work_bytes is plain.cold is plain.rounds is None
    assert list(run.bounded) == [warm.device]


def test_work_that_the_calls_tell_is_asked_for_after_the_last_one(run):
    calls = []
    run.time("time", lambda: calls.append(1), work=lambda: Work(bytes=len(calls), flops=0), max_seconds=0.01)
    assert run.rows[0].work_bytes == len(calls) > 1


def test_a_metric_is_recorded_again_with_other_parameters_of_its_own(run):
    for tolerance in (1e-4, 1e-8):
        run.value("iterations", 12, "count", tolerance=tolerance)
    run.time("time", lambda: None, max_seconds=0.01, parameters={"repeats": 50})
    own = [row.parameters for row in run.rows]
    assert own == [{**HOST.parameters, **each} for each in ({"tolerance": 1e-4}, {"tolerance": 1e-8}, {"repeats": 50})]
    assert list(run.samples) == ['time {"repeats": 50}']
    with pytest.raises(ReproError, match="twice"):
        run.value("iterations", 13, "count", tolerance=1e-8)


@pytest.mark.parametrize(("scale", "least", "most"), [("smoke", 1, 1), ("small", 5, 100), ("paper", 5, 100)])
def test_a_call_that_is_longer_than_the_cap_is_sampled_five_times(scale, least, most):
    run = Run(Cell("a", "loop", "host"), "demo2020-table1", scale)
    run.time("wall", lambda: time.sleep(0.02), check=lambda: 0.0, tolerance=1.0, max_seconds=0.001)
    assert least <= len(run.samples["wall"]["seconds"]) <= most
