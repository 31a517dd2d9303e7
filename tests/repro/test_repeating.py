"""Stored medians that are measured again: how many lie in their intervals is said, and nothing stored is changed."""

import json
import re

import pytest

from repro.cli import main
from repro.judge import believing
from repro.run import execution
from repro.run.worker import NEVER


class Here:
    """Measures as a worker does, in this process."""

    limit = NEVER

    def __init__(self, settings):
        self.settings = settings

    def dispatch(self, task, **options):
        return execution.execute(task, self.settings, **options)

    def close(self):
        pass


@pytest.fixture
def again(laboratory, capsys, monkeypatch):
    monkeypatch.setattr(believing, "Worker", Here)

    def found(*words):
        where = ["--scale", "smoke", "--results", str(laboratory.results), "--json", *words]
        capsys.readouterr()
        code = main(["repeat", "table1", "--only", "backend=host", *where])
        return code, json.loads(capsys.readouterr().out)

    return found


def test_medians_in_and_out_of_their_intervals_are_counted(laboratory, again, sampled):
    assert laboratory.run("table1", "--only", "backend=host") == 0
    for number, path in enumerate(laboratory.cell_files()):
        record = json.loads(path.read_text())
        for row in record["rows"]:
            if row["n"]:
                row["ci_low"], row["ci_high"] = (0.0, 1e9) if number else (1e8, 1e9)
        path.write_text(json.dumps(record))
    before = [path.read_text() for path in laboratory.cell_files()]
    code, found = again()
    assert (code, found["medians"], found["held"]) == (1, 3, 2)
    assert [path.read_text() for path in laboratory.cell_files()] == before
    assert again("--sample", "1")[1]["medians"] == 1


def test_what_is_known_of_the_devices_is_taken_along_and_each_cell_is_told(laboratory, sampled, capsys, monkeypatch):
    assert laboratory.run("table1", "--only", "backend=host") == 0
    folder, found = laboratory.results / "bench", []
    (folder / "ceilings.json").write_text('{"device": {}}')

    class Looks(Here):
        def dispatch(self, task, **options):
            there = self.settings.store.folder
            assert there != folder
            found.append([(there / name).read_text() for name in ("ceilings.json", "machine.json")])
            return super().dispatch(task, **options)

    monkeypatch.setattr(believing, "Worker", Looks)
    capsys.readouterr()
    main(["repeat", "table1", "--scale", "smoke", "--results", str(laboratory.results), "--sample", "1"])
    assert found == [['{"device": {}}', (folder / "machine.json").read_text()]]
    assert re.search(r"measuring demo2020-table1 .* \(1/1\)\n", capsys.readouterr().err)


def test_where_nothing_stands_nothing_is_measured(laboratory, capsys):
    assert main(["repeat", "table1", "--scale", "smoke", "--results", str(laboratory.results)]) == 1
    assert "nothing to measure again" in capsys.readouterr().err and not laboratory.traces()
