"""Energy counters: against made-up counters of known power, and what is said where none can be read."""

import time

import pytest

from kernels.device import power
from kernels.device.power import Power


def packages(folder, joules, most=10**9):
    for k, value in enumerate(joules):
        package = folder / f"intel-rapl:{k}"
        package.mkdir(exist_ok=True)
        (package / "max_energy_range_uj").write_text(f"{most}\n")
        (package / "energy_uj").write_text(f"{int(value * 1e6)}\n")


def test_packages_are_summed_and_their_wrapping_is_undone(tmp_path):
    packages(tmp_path, [999.9, 20.0])
    joules, _ = power._powercap(tmp_path)
    assert joules() == 0
    packages(tmp_path, [0.4, 21.5])
    assert joules() == pytest.approx(0.5 + 1.5, abs=1e-5)


def test_why_there_is_no_counter(tmp_path):
    with pytest.raises(power._Missing, match="no energy counter"):
        power._powercap(tmp_path)
    (tmp_path / "intel-rapl:0").mkdir()
    with pytest.raises(power._Missing, match="may not be read"):
        power._powercap(tmp_path)


class Idle:
    """A device that does nothing, in no time."""

    is_gpu, backend, name = False, "openmp", "idle"

    def synchronize(self):
        pass


def test_a_call_costs_its_share(monkeypatch):
    """A machine of 50 W by the clock, and calls of 5 ms."""
    monkeypatch.setattr(power, "_powercap", lambda: ((lambda: 50 * time.perf_counter()), "made up"))
    counter = Power(Idle())
    cost = counter.measure(lambda: time.sleep(0.005), seconds=0.1)
    assert counter.missing == "" and counter.source == "made up"
    assert cost.watts == pytest.approx(50, rel=0.05) and cost.calls >= 10
    assert cost.joules == pytest.approx(50 * cost.seconds, rel=0.05) and 0.005 <= cost.seconds < 0.02


def test_nothing_is_made_up_where_nothing_can_be_read(monkeypatch, tmp_path):
    monkeypatch.setattr(power, "POWERCAP", tmp_path)
    counter = Power(Idle())
    assert "no energy counter" in counter.missing and counter.measure(lambda: None) is None


def test_this_machines_device(device):
    counter = Power(device)
    cost = counter.measure(lambda: time.sleep(0.001), seconds=0.3)
    assert (cost is None) == bool(counter.missing)
    if cost:
        assert 0 < cost.watts < 5000
