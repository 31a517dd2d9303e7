"""Runs of the project's own artefacts, in this process, with little sampling."""

import csv
import functools
import gc

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(repro_cache):
    return repro_cache


class Bench:
    """Runs `repro run` at scale smoke into a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments):
        from repro.cli import main

        return main(["run", "--in-process", "--scale", "smoke", "--results", str(self.folder), *arguments])

    def file(self, name, paper="fu2014"):
        return self.folder / "bench" / paper / name

    def rows(self, name, paper="fu2014"):
        with self.file(name, paper).open(newline="") as stream:
            return list(csv.DictReader(stream))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    from repro.run import timing

    quick = {"max_seconds": 0.002, "warm_up_seconds": 0.0, "batch_seconds": 0.0}
    original = timing.sample

    @functools.wraps(original)
    def sample(function, clock, **settings):
        return original(function, clock, **(settings | quick))

    gc.freeze()  # what earlier tests keep is out of the collection that each timed sample begins with
    monkeypatch.setattr(timing, "sample", sample)
    monkeypatch.setenv("REPRO_MACHINE", "bench")
    monkeypatch.setenv("COLUMNS", "200")
    return Bench(tmp_path / "results")
