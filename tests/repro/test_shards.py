"""Cells dealt out to shards: each once, the longest first, each to the shard with the least to do."""

import pytest

from repro.cache import shards
from repro.model import ReproError


class Task:
    def __init__(self, folder, name, seconds, reason="never run"):
        self.path, self.seconds, self.reason = folder / "a" / f"{name}.json", seconds, reason


class Job:
    """An artefact whose cells last as long as they are told to."""

    def __init__(self, tasks, name="a"):
        self.tasks = tasks
        self.artefact = type("A", (), {"id": name})

    def pending(self, force):
        return [task for task in self.tasks if force or task.reason]

    def expected_seconds(self, task, scale):
        return task.seconds


@pytest.fixture
def settings(tmp_path):
    return type("S", (), {"store": type("T", (), {"cells": tmp_path}), "scale": "smoke"})


def test_shards_take_about_the_same_time(tmp_path, settings):
    """Longest first is within 4/3 of the best (Graham); here the best is 12 each."""
    times = [7, 5, 6, 6, 4, 4, 4]
    jobs = [Job([Task(tmp_path, i, seconds) for i, seconds in enumerate(times)])] * 2  # shown twice
    made = shards.split(jobs, settings, 3)
    assert sorted(name for shard in made for name in shard["cells"]) == [f"a/{i}.json" for i in range(len(times))]
    assert sorted(shard["seconds"] for shard in made) == [11, 11, 14]  # after 7, 6 and 6 come 5, 4, 4, and 4 to 10
    for shard in made:
        assert shard["seconds"] == sum(times[int(name[2])] for name in shard["cells"])


def test_a_shard_names_the_artefacts_of_its_cells_once_each(tmp_path, settings):
    both = [Task(tmp_path, "shared", 5)]
    jobs = [
        Job([*both, Task(tmp_path, "x", 3), Task(tmp_path, "y", 2)], "a"),
        Job([*both, Task(tmp_path, "z", 1)], "b"),
    ]
    first, second = shards.split(jobs, settings, 2)
    assert (first["cells"], first["artefacts"]) == (["a/shared.json", "a/z.json"], ["a", "b"])  # the tie: the first
    assert (second["cells"], second["artefacts"]) == (["a/x.json", "a/y.json"], ["a"])


def test_there_is_no_shard_without_cells(tmp_path, settings):
    jobs = [Job([Task(tmp_path, "x", 0), Task(tmp_path, "y", 0)])]
    assert sorted(name for each in shards.split(jobs, settings, 5) for name in each["cells"]) == [
        "a/x.json",
        "a/y.json",
    ]
    assert all(shard["cells"] for shard in shards.split(jobs, settings, 5))
    assert shards.split([Job([])], settings, 3) == []
    with pytest.raises(ReproError, match="0 shards"):
        shards.split(jobs, settings, 0)


def test_what_is_done_is_divided_only_where_it_is_forced(tmp_path, settings):
    jobs = [Job([Task(tmp_path, "done", 1, reason=""), Task(tmp_path, "new", 1)])]
    for force, cells in ((False, ["a/new.json"]), (True, ["a/done.json", "a/new.json"])):
        assert shards.split(jobs, settings, 1, force)[0]["cells"] == cells
