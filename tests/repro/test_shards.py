"""Cases dealt out to shards: each once, the longest first, each to the shard with the least to do."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from repro.discovery import UnknownName
from repro.run import shards


@dataclass
class Job:
    """An artefact each of whose cells takes as long as it is told to; the letter of a cell is its case."""

    cells: str
    seconds: float
    artefact: str = "a"
    wanted: list = None
    problem: str = ""
    stated_seconds: object = field(init=False)

    def __post_init__(self):
        self.stated_seconds = lambda scale: self.seconds
        if self.wanted is None:
            self.wanted = [
                SimpleNamespace(
                    path=Path(f"{name}{number}"), cell=SimpleNamespace(case=name),
                    artefact=SimpleNamespace(id=self.artefact),
                )
                for number, name in enumerate(self.cells)
            ]  # fmt: skip


def shared(jobs, count):
    """The names of the cells of each job, for each of the shards."""
    return [
        [[task.path.name for task in job.wanted] for job in shards.share(jobs, "smoke", number, count)]
        for number in range(1, count + 1)
    ]


def test_shards_take_about_the_same_time_and_cases_stay_together():
    """Longest first is within 4/3 of the best (Graham); here the best is 12 each, and 14 what it finds."""
    jobs = [Job("p" * 7 + "q" * 5 + "r" * 6 + "s" * 6 + "t" * 4 + "u" * 4 + "v" * 4, 1)]
    made = ["".join(sorted({name[0] for name in part[0]})) for part in shared(jobs, 3)]
    assert made == ["pu", "qr", "stv"]  # after 7, 6 and 6 come 5, 4, 4, and 4 to 10
    sizes = [len(part[0]) for part in shared(jobs, 3)]
    assert sorted(sizes) == [11, 11, 14] and sum(sizes) == len(jobs[0].wanted)


def test_a_cell_that_several_artefacts_show_is_in_one_shard_and_counts_once():
    first = Job("xxxy", 2)
    again = Job("", 2, wanted=first.wanted[:3])
    other = Job("z", 5, "b")
    assert shared([first, again, other], 2) == [
        [["x0", "x1", "x2"], ["x0", "x1", "x2"]],
        [["y3"], ["z0"]],
    ]


def test_a_shard_may_be_empty_and_what_cannot_be_run_is_in_each():
    assert shared([Job("x", 1)], 2) == [[["x0"]], []]
    assert shared([Job("", 1, problem="broken")], 2) == [[[]], [[]]]


@pytest.mark.parametrize("text", ["", "3", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "plan.json"])
def test_what_is_no_shard_is_refused(text):
    assert shards.parse("2/8") == (2, 8)
    with pytest.raises(UnknownName, match="as in 2/8"):
        shards.parse(text)
