"""The state of cards and processors, of a pretend NVML, and the samples that it has thrown away."""

import hashlib
import itertools
import os
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest

from repro.run import guard, state
from repro.run.state import Card, Processor, Unwatched, summary
from repro.run.timing import HostClock, sample
from repro.show import busy_cores
from tests.repro.test_timing import SimulatedDevice


class Nvml:
    """A management library whose card the test sets."""

    def __init__(self):
        self.sm, self.reasons = 1980, 0
        self.listed, self.used = {os.getpid()}, set()

    def number(self, function, handle, *arguments):
        return {
            "nvmlDeviceGetClockInfo": self.sm if arguments == (1,) else 2600, "nvmlDeviceGetPowerUsage": 300_000,
        }.get(function)  # fmt: skip

    def long_number(self, function, handle):
        return self.reasons

    def processes(self, handle):
        return self.listed

    def computing(self, handle):
        return self.used


@pytest.fixture
def nvml():
    return Nvml()


def disturbance(card):
    return card.disturbance(card.read(), card.read())


def test_sampling_waits_for_threads_that_still_compute():
    processor = Processor()

    def is_waited_for() -> bool:
        spinning = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"p", b"s", 400_000))  # without the GIL
        spinning.start()
        sample(lambda: time.sleep(0.001), HostClock(), max_seconds=0.02, watched=processor)
        has_ended = not spinning.is_alive()
        spinning.join()
        return has_ended

    # Beside other programs the thread may not get its core for the length of a look, and then seems to be done.
    assert any(is_waited_for() for _ in range(5))
    begun = time.monotonic()
    processor.settle()
    assert time.monotonic() - begun < state.SETTLING / 2


@pytest.mark.parametrize(
    ("reasons", "why"), [(0x8, "hardware"), (0x20, "heat"), (0x40, "heat"), (0x80, "power brake"), (0x4, ""), (0x1, "")]
)
def test_a_card_that_slows_down_for_heat_or_supply_disturbs(nvml, reasons, why):
    nvml.reasons = reasons
    found = disturbance(Card(nvml, None))
    assert why in found and bool(found) == bool(why)


def test_a_clock_that_falls_disturbs_unless_the_power_cap_holds_it(nvml):
    card = Card(nvml, None)
    assert not disturbance(card)
    nvml.sm = 1900  # by less than one in twenty
    assert not disturbance(card)
    nvml.sm = 1800
    assert "clock fell" in disturbance(card)
    nvml.reasons = state.POWER_CAP
    assert not disturbance(card)


ME, OTHER, HOST_NUMBER = os.getpid(), 2**22 + 1, 2**22 + 2  # above what processes are given


@pytest.mark.parametrize(
    ("listed", "used", "is_disturbed"),
    [
        ({ME}, {ME}, False),
        ({ME, OTHER}, {ME}, False),  # it holds memory, and computes nothing
        ({ME, OTHER}, {ME, OTHER}, True),
        ({ME, OTHER}, None, True),  # whether it computes is not told
        ({HOST_NUMBER}, {HOST_NUMBER}, False),  # in a container that is this process
        ({HOST_NUMBER, OTHER}, {HOST_NUMBER, OTHER}, True),
        ({HOST_NUMBER, OTHER}, {HOST_NUMBER}, False),
        (set(), set(), False),
        (None, None, False),
    ],
)
def test_another_process_that_computes_disturbs(nvml, listed, used, is_disturbed):
    nvml.listed, nvml.used = listed, used
    assert bool(disturbance(Card(nvml, None))) == is_disturbed


def test_processes_of_the_same_run_do_not_disturb(nvml, monkeypatch):
    """As the run itself, which has computed a wave for a figure before it went on to the next artefact."""
    nvml.listed = nvml.used = {ME, os.getppid()}
    assert disturbance(Card(nvml, None))  # whoever started a run that measures in its own process is none
    monkeypatch.setattr("multiprocessing.parent_process", lambda: SimpleNamespace(pid=os.getppid()))
    child = subprocess.Popen(["sleep", "9"])
    try:
        nvml.listed = nvml.used = {ME, os.getppid(), child.pid}
        assert not disturbance(Card(nvml, None))
        nvml.listed = nvml.used = {ME, os.getppid(), child.pid, OTHER}
        assert disturbance(Card(nvml, None))
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(
    ("lost", "computed", "is_disturbed"),
    [(16, 1.0, False), (1, 0.02, False), (1, 1e-4, False), (2, 0.02, True), (27, 1.0, True)],
)
def test_threads_that_lose_their_cores_often_disturb_and_one_loss_does_not(lost, computed, is_disturbed):
    before, after = {"switches": 7, "computed": 3.0}, {"switches": 7 + lost, "computed": 3.0 + computed}
    assert Processor().disturbance(before, after) == (state.LOST if is_disturbed else "")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be kept on a core here")
def test_a_program_on_the_same_core_disturbs():
    cores, processor = os.sched_getaffinity(0), Processor()
    os.sched_setaffinity(0, {min(cores)})
    rival = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        before, end = processor.read(), time.monotonic() + 0.4
        while time.monotonic() < end:
            sum(range(1000))
        assert processor.disturbance(before, processor.read()) == state.LOST
    finally:
        os.sched_setaffinity(0, cores)
        rival.kill()
        rival.wait()


def test_what_is_kept_of_readings_is_least_most_and_last_and_what_was_counted():
    readings = [{"sm_mhz": 1980, "reasons": 0, "switches": 5}, {"sm_mhz": 1200, "reasons": 0x20, "switches": 9}]
    readings.append({"sm_mhz": 1500, "reasons": 0x4, "switches": 9})
    found = summary(readings, ({"celsius": 40}, {"celsius": 60}))
    assert found == {"sm_mhz": [1200, 1980, 1500], "reasons": 0x24, "switches": 4, "celsius": [40, 60, 60]}


def test_what_others_computed_is_told_in_cores():
    slow = {"busy": 10.0, "steal": 0.0, "at": 0.0}, {"busy": 16.0, "steal": 0.5, "at": 2.0}
    found = summary([{"switches": 0, "computed": 1.0}, {"switches": 0, "computed": 3.0}], slow)
    assert found["cores_of_others"] == 2.0 and found["steal"] == 0.5 and found["cores"] == 1.0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="asks Linux")
def test_cores_that_another_run_has_are_not_counted(monkeypatch, tmp_path):
    stat = tmp_path / "stat"
    stat.write_text("cpu 900 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 5 5 0 0 0 0 0\ncpu1 800 0 0 5 5 0 0 0 0 0\nintr 9 0\n")
    monkeypatch.setattr(state, "_STAT", stat)
    monkeypatch.setattr(state, "_bound", lambda: {})
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert state.Processor().slowly()["busy"] == 100 / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="asks Linux")
@pytest.mark.parametrize(("split", "name"), [(False, "bound"), (True, "kept")], ids=["one node", "two nodes"])
def test_bound_threads_are_counted_apart_from_those_that_keep_to_a_node(monkeypatch, tmp_path, split, name):
    every, go = os.sched_getaffinity(0), threading.Event()
    for core in every:
        (tmp_path / f"node{int(split and core > min(every))}" / f"cpu{core}").mkdir(parents=True)
    monkeypatch.setattr(state, "_NODES", tmp_path)
    thread = threading.Thread(target=lambda: (os.sched_setaffinity(0, {min(every)}), go.wait()))
    before = state._bound()
    thread.start()
    wanted = {**before, name: before[name] + (len(every) > 1)}
    until = time.monotonic() + 2
    while (found := state._bound()) != wanted and time.monotonic() < until:
        time.sleep(0.001)
    go.set()
    thread.join()
    assert found == wanted and state.Processor().slowly().keys() >= found.keys()


@pytest.mark.parametrize(
    ("counts", "how"),
    [
        ({}, "no thread was bound to a core"),
        ({"bound": 0, "kept": 0}, "no thread was bound to a core"),
        ({"bound": 2, "kept": 0}, "some threads were bound to cores"),
        ({"bound": 0, "kept": 2}, "some threads were kept to their NUMA node"),
        ({"bound": 1, "kept": 2}, "some threads were bound to cores and some threads were kept to their NUMA node"),
    ],
)
def test_a_page_says_how_threads_were_bound_beside_the_cores_at_work(counts, how):
    told = {name: [0, count, 0] for name, count in counts.items()}
    records = [
        {"identity": {"method": method, "backend": backend, "parameters": own}, "rows": rows,
         "rounds": [{"state": {"time": {"cores": cores, **told}}}]}
        for method, backend, cores, rows, own in (
            ("sell", "openmp", 1.96, [], {}), ("sell", "openmp", 1.2, [], {}), ("scipy", "host", 0.98, [], {}),
            ("hypre", "host", 0.1, [{"metric": "threads", "value": 2.0}], {}),
            ("petsc", "host", 0.1, [], {"processes": 2}), ("coo", "host", 0.0, [], {}), ("sor", "host", 0.04, [], {}),
        )
    ]  # fmt: skip
    [line] = busy_cores.lines(records)
    assert line.endswith(f": 2.0: hypre, petsc, sell on openmp; 1.0: scipy; not counted: coo, sor; {how}")
    assert not busy_cores.lines([{"identity": {}, "rows": [], "rounds": [{"state": {"time": {"sm_mhz": [1, 1, 1]}}}]}])


class Disturbing(Unwatched):
    """Calls every reading disturbed in which the device was slow."""

    def __init__(self, device, until=10**9):
        self.device, self.until, self.readings = device, until, 0

    def read(self):
        self.readings += 1
        self.device.kernel = 4e-3 if self.readings < self.until else 2e-3
        return {"slow": float(self.readings < self.until)}

    def disturbance(self, before, after):
        return "another process computed" if before["slow"] else ""


def test_disturbed_samples_are_taken_again():
    device = SimulatedDevice(kernel=2e-3)
    taken = sample(device.call, device, watched=Disturbing(device, until=5))
    assert 0 < taken.disturbed and not taken.note and taken.state["slow"] == [0.0, 1.0, 0.0]
    assert taken.seconds == pytest.approx([2e-3] * len(taken.seconds), rel=1e-6)


@pytest.mark.parametrize("cold", [False, True])
def test_where_they_are_not_to_be_had_the_samples_say_so(cold):
    device = SimulatedDevice(kernel=2e-3)
    taken = sample(device.call, device, watched=Disturbing(device), cold=cold)
    assert taken.disturbed == len(taken.seconds) >= guard.PATIENCE * guard.LEAST
    assert "not to be had otherwise: another process computed" in taken.note


class Slicing(Unwatched):
    loses_slices = True


@pytest.mark.parametrize(("every", "is_thrown_away"), [(25, True), (4, False)])
def test_seldom_samples_far_above_their_neighbours_are_taken_again(every, is_thrown_away):
    device = SimulatedDevice(kernel=2e-3)
    device.noise = itertools.cycle([4.0, *[0.0] * (every - 1)])
    taken = sample(device.call, device, watched=Slicing(), max_samples=200, width=-1.0)
    assert len(taken.seconds) == 200 and (max(taken.seconds) < 4e-3) == is_thrown_away
    assert (taken.disturbed > 0) == is_thrown_away and not taken.note


def test_reading_takes_little_time():
    processor = Processor()
    begun = os.times().user
    for _ in range(1000):
        processor.read()
    assert os.times().user - begun < 0.1  # 100 us each
