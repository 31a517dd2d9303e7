"""Small cells that run ahead so that their kernels are built: which, once, and without an effect on results."""

import time

import pytest

from repro import discovery
from repro.cache import plan
from repro.cache.plan import Selection
from repro.run import context, rehearsal
from repro.run.jobs import make_jobs
from repro.settings import make_settings


class Said(list):
    def tell(self, text):
        self.append(text)


@pytest.fixture
def rehearse(laboratory, monkeypatch):
    """Rehearse the cells of table1 in this process, on the only back end that the laboratory has."""
    monkeypatch.setattr(context, "SAMPLING_SECONDS", context.SAMPLING_SECONDS)
    monkeypatch.setattr(rehearsal, "BACKENDS", ("opencl",))
    monkeypatch.setattr(rehearsal, "WORTH", 1)
    monkeypatch.setattr(rehearsal, "cores", lambda: 8)
    monkeypatch.setattr(rehearsal, "_among", lambda count, pairs, until: rehearsal.perform(pairs) or pairs)

    def called(gpu="['One']", scale="paper", minutes=rehearsal.NEVER):
        facts = {**plan.machine_facts(), **({"gpu": gpu} if gpu else {})}
        monkeypatch.setattr(rehearsal, "machine_facts", lambda: facts)
        settings = make_settings("smoke", laboratory.results, "bench")
        (job,) = make_jobs(discovery.select(["table1"]), settings, Selection())
        said = Said()
        object.__setattr__(settings, "scale", scale)
        rehearsal.rehearse(job.tasks, settings, said, time.monotonic() + 60 * minutes)
        return said, laboratory.traces()

    return called


def test_a_cell_of_each_method_runs_once_and_nothing_is_stored(rehearse, laboratory):
    assert rehearse(gpu="") == rehearse(scale="smoke") == ([], [])
    said, traces = rehearse()
    assert traces == ["first/kernel/opencl"] and "1 methods" in said[0] and not laboratory.cell_files()
    assert rehearse() == ([], traces)  # this cache has had it


@pytest.mark.parametrize(("minutes", "told"), [(1, "12 s"), (60, "90 s")])
def test_it_takes_a_fifth_of_a_short_part(rehearse, minutes, told):
    said, traces = rehearse(minutes=minutes)
    assert said[0].endswith(f"{told} at most") and traces
    assert rehearse(minutes=-1) == ([], traces)


def test_what_goes_wrong_in_it_is_left_to_the_measurement(rehearse, monkeypatch):
    monkeypatch.setenv("FAKELAB_RAISE", "first")
    assert rehearse()[1] == ["first/kernel/opencl"]
