"""Ceilings on disk: kept while the machine and the probes are what they were."""

import copy
import dataclasses
import json
import os
from pathlib import Path

import pytest

from repro import environment, machine
from repro.cache import hosts
from repro.cache.store import Store
from repro.cli import main
from repro.judge.roofs import Roofs
from repro.run import ceilings, device_ceilings
from repro.run.ceilings import Ceilings
from repro.run.device_ceilings import DeviceCeilings, held_up

PROBES = """def device_probes(device):
    from repro.run.ceilings import CeilingKernel

    yield CeilingKernel("copy", "copy", 8000, lambda: bytes(8000), bytes=8000)
"""


@pytest.fixture
def source(laboratory):
    path = laboratory.folder / "fakelab" / "environment.py"
    path.write_text(path.read_text().replace("def device_probes(device):\n    return []\n", PROBES))
    return path


@pytest.mark.parametrize(
    ("old", "new", "stands"),
    [
        ("bytes=8000", "bytes=16000", False),
        ("bytes(8000)", "bytes(8)", False),
        ("return list(range", "return tuple(range", True),  # of the datasets
        ("def device_probes(device):", "def device_probes(device):  # one", True),
    ],
)
def test_a_change_of_the_probes_is_measured_again(laboratory, source, old, new, stands):
    store = Store(laboratory.results, "bench")
    clock = environment.device("opencl")
    measured = DeviceCeilings(store).of(clock)
    assert DeviceCeilings(store).of(clock, measuring=False) == measured is not None
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    kept = DeviceCeilings(store)
    assert (kept.of(clock, measuring=False) is not None) == stands
    why = "fakelab/environment.py changed"
    assert kept.stale() == ({} if stands else {NAME: why})
    (note,) = kept.notes or [""]  # told from what was never measured, and what gives results their fraction is said
    assert stands or (f"they are stale ({why})" in note and "not been measured" not in note)


def store_of(laboratory):
    return Store(laboratory.results, "bench")


def curve(*seconds):
    """A probe's bandwidths at 32 KiB, 1 MiB and 128 MiB."""
    sizes = (2.0**15, 2.0**20, 2.0**27)
    return [(size, size / time) for size, time in zip(sizes, seconds, strict=True)]


@pytest.mark.parametrize(
    ("seconds", "is_held_up"),
    [((5e-6, 6e-6, 600e-6), False), ((8.0e-3, 8.0e-3, 7.2e-3), True), ((4e-6, 8.0e-3, 16.0e-3), False)],
)
def test_ceilings_of_a_processor_that_other_programs_hold_are_none(
    seconds, is_held_up, laboratory, source, monkeypatch
):
    found = Ceilings("A processor", {"read": curve(*seconds)}, {}, {"float64": 12.3e9})
    assert held_up(found) == is_held_up
    monkeypatch.setattr(ceilings, "measure", lambda kernels, clock, seconds: found)
    store = DeviceCeilings(store_of(laboratory))
    assert (store.of(environment.device("opencl")) is None) == is_held_up == bool(store.notes)
    assert bool(store.read()) != is_held_up
    monkeypatch.setattr(ceilings, "measure", None)  # it is not probed again for the next cell
    assert (DeviceCeilings(store_of(laboratory)).of(environment.device("opencl")) is None) == is_held_up


RESULTS = Path(__file__).parents[2] / "results"
NAME = f"Pretend device, {machine.cores()} cores"


def entry(measured=0.0, rate=1e9, **machine):
    made = dataclasses.asdict(Ceilings("Pretend device", {"copy": [[1e6, rate]]}, {}, {"float64": rate}))
    return {"machine": machine, "sources": {}, "backend": "opencl", "gpu": False, "measured": measured,
            "ceilings": made}  # fmt: skip


def test_what_another_run_has_measured_meanwhile_is_kept(laboratory, source, monkeypatch):
    """Two runs into one folder: the other ends its probes, of another device, while these go on."""
    real, other, kept = ceilings.measure, entry(cpu="of another run"), DeviceCeilings(store_of(laboratory))
    kept.path.parent.mkdir(parents=True)

    def measure(kernels, clock, seconds):
        kept.path.write_text(json.dumps({"Card": other}))
        return real(kernels, clock, seconds)

    monkeypatch.setattr(ceilings, "measure", measure)
    assert kept.of(environment.device("opencl")) is not None
    assert set(kept.read()) == {NAME, "Card"} and kept.read()["Card"] == other


def test_runs_that_end_their_probes_together_overwrite_nothing(laboratory):
    children = []
    for number in range(20):
        pid = os.fork()
        if pid == 0:
            try:
                DeviceCeilings(store_of(laboratory)).keep({f"Card {number}": entry()})
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    assert len(DeviceCeilings(store_of(laboratory)).read()) == 20


@pytest.fixture
def facts(monkeypatch):
    """The facts of the machine, which a test may change."""
    found = {"cpu": "A processor", "cores": "12"}
    monkeypatch.setattr(device_ceilings, "machine_facts", lambda: dict(found))
    return found


def test_a_processor_has_ceilings_for_each_number_of_cores(laboratory, source, facts):
    kept, clock = DeviceCeilings(store_of(laboratory)), environment.device("opencl")
    measured = {}
    for cores in ("12", "4"):
        facts["cores"] = cores
        assert kept.of(clock, measuring=False) is None
        measured[cores] = kept.of(clock)
    for cores, found in measured.items():
        facts["cores"] = cores
        assert kept.of(clock, measuring=False) == found
        assert kept.of(clock, again=True) is not None and len(kept.read()) == 2
    roofs = Roofs(kept.read())
    assert [roofs.of("pthread-Pretend device", cores).cores for cores in (12, 4, 40, None)] == [12, 4, 12, 12]


def test_ceilings_of_another_hosts_processor_are_not_this_ones(laboratory, source, facts):
    kept, clock = DeviceCeilings(store_of(laboratory)), environment.device("opencl")
    assert kept.of(clock) is not None and kept.here()
    facts["cpu"] = "Another processor"
    assert not kept.here() and not kept.stale() and kept.read()


def test_a_gpus_ceilings_do_not_depend_on_the_cores(laboratory, source, facts):
    kept, clock = DeviceCeilings(store_of(laboratory)), environment.device("opencl")
    clock.is_gpu = True
    facts["gpu"] = "['Pretend device']"
    measured = kept.of(clock)
    facts |= {"cores": "4", "$OMP_NUM_THREADS": "4"}
    assert kept.of(clock, measuring=False) == measured is not None
    assert not kept.stale()
    facts["driver"] = "another"
    assert kept.of(clock, measuring=False) is None and kept.stale() == {"Pretend device": "driver none -> another"}
    assert kept.of(clock) is not None and set(kept.read()) == {"Pretend device"}


def test_another_hosts_ceilings_are_none_of_this_ones(laboratory, source, monkeypatch, capsys):
    """Nor are ceilings that do not say whose they are: neither shown nor stale nor a bound, but kept."""
    kept, clock = DeviceCeilings(store_of(laboratory)), environment.device("opencl")
    doctor = ["doctor", "--json", "--results", str(laboratory.results)]
    measured = kept.of(clock)
    assert main(doctor) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["ceilings"]) == [NAME] and found["ceilings_measured"][NAME][:2] == "20"
    mine = hosts.here()
    (store_of(laboratory).folder / hosts.NAME).write_text(json.dumps({"hosts": [mine]}))
    monkeypatch.setattr(hosts, "here", lambda: {**mine, "host": "another"})
    assert kept.of(clock, measuring=False) is not None  # of the same hardware, which goes on here
    monkeypatch.setattr(hosts, "here", lambda: {**mine, "host": "another", "cpu": "another"})
    assert kept.of(clock, measuring=False) is None and "not been measured" in kept.notes[0]
    assert main(doctor) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ceilings"] == found["stale_ceilings"] == {}
    assert kept.read()[NAME]["ceilings"] == dataclasses.asdict(measured)  # what they bound, they still do


def test_it_says_that_it_probes_and_once_for_all_back_ends(laboratory, source, monkeypatch):
    """OpenCL on a processor, whose name it writes otherwise, and the host have the roof that C has measured."""
    said, real = [], environment.device
    clocks = {backend: copy.copy(real("opencl")) for backend in ("opencl", "openmp", "host")}
    for backend, clock in clocks.items():
        clock.backend = backend
    clocks["opencl"].name = "pthread-Pretend device"
    monkeypatch.setattr(environment, "device", clocks.__getitem__)
    kept = DeviceCeilings(store_of(laboratory))
    found = [kept.of(clock, saying=said.append) for clock in clocks.values()]
    about = device_ceilings.SECONDS[False]
    assert said == [f"measuring what Pretend device allows, about {about} s"]
    assert found[0] == found[1] == found[2] is not None
    ((name, stored),) = kept.read().items()
    assert (name, stored["backend"]) == (NAME, "openmp")
