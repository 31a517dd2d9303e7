"""In a glance everything is asked once; outside each time."""

import gc

from repro.cache import code, glance
from repro.cache.plan import Selection
from repro.discovery import find
from repro.run.jobs import make_jobs
from repro.settings import make_settings


def test_what_is_asked_in_a_glance_is_asked_once_and_by_no_later_one():
    answers = iter(range(9))

    def ask():
        return glance.once("a", lambda: next(answers))

    assert [ask(), ask()] == [0, 1]
    with glance.glance():
        assert ask() == 2
        with glance.glance():
            assert ask() == 2
        assert [ask(), gc.isenabled()] == [2, False]
    assert ask() == 3 and gc.isenabled()


def test_planning_hashes_each_source_once_however_many_cells_ran_it(laboratory, monkeypatch):
    laboratory.has_run("table1")
    asked, real = [], code.hash_of
    monkeypatch.setattr(code, "hash_of", lambda *given: asked.append(given) or real(*given))
    jobs = make_jobs(find(), make_settings("smoke", laboratory.results, "bench"), Selection())
    assert sum(task.stands for job in jobs for task in job.tasks) >= 6
    assert len(asked) == len(set(asked)) <= 6
    next(iter((laboratory.paper).glob("adding.py"))).write_text("def total(numbers):\n    return 0\n")
    jobs = make_jobs(find(), make_settings("smoke", laboratory.results, "bench"), Selection())
    assert any("adding.py changed" in task.reason for job in jobs for task in job.tasks)
