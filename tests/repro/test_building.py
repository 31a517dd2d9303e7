import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from repro import environment
from repro.cli import main
from repro.model import SKIPPED, Cell
from repro.run import building, memory
from repro.run.building import Wanted

# Entries that do what their names say; `slow` has a program of its own, and a part file that goes when it is ended.
ENTRIES = """
import signal
import subprocess
import time

SECONDS = {"demo2020/slow": 9.0, "demo2020/dying": 7.0, "demo2020/failing": 6.0, "demo2020/numbers": 5.0}


def dataset_cost(name, scale):
    return SECONDS[name], 1e6


def _build(self, scale):
    folder, action = Path(os.environ["FAKELAB_LOG"]).parent, self.name.partition("/")[2]
    if action == "failing":
        raise ValueError("disk [full]")
    if action == "dying":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "slow":
        program = subprocess.Popen(["sleep", "60"])
        (folder / "part.new").write_text(f"{program.pid}")
        (folder / "part.new").rename(folder / "part")
        try:
            program.wait()
        finally:
            program.kill()
            program.wait()
            (folder / "part").unlink()
    if action == "numbers":
        while (folder / "wait").exists() and not (folder / "part").exists():
            time.sleep(0.01)
        with (folder / "built").open("a") as stream:
            stream.write(f"{scale}\\n")
    return folder / f"{self.name}-{scale}"


Entry.build = _build


def catalogue():
    return [Entry(name) for name in SECONDS]
"""


@pytest.fixture
def folder(laboratory):
    path = laboratory.folder / "fakelab" / "environment.py"
    path.write_text(path.read_text() + ENTRIES)
    return laboratory.folder


def _is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"  # nobody has waited for it


def _until(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_the_longest_begins_first_and_one_that_fails_or_dies_costs_no_other(folder, monkeypatch):
    monkeypatch.setattr(building.machine, "cores", lambda: 1)
    said = []
    names = ["demo2020/numbers", "demo2020/failing", "demo2020/dying"]
    found = building.build([(name, "smoke") for name in names], said.append)
    assert [line.split()[0] for line in said if line.endswith(" ...")] == names[::-1]
    numbers, failing, dying = found
    assert numbers.path == str(folder / "demo2020/numbers-smoke")
    assert (failing.kind, failing.error) == ("ValueError", "disk [full]")
    assert dying.error == "the process that built it died: SIGKILL"
    assert said[1].startswith("demo2020/dying: Died: ") and said[1].endswith(", 1/3)")
    assert (folder / "built").read_text() == "smoke\n"


def test_an_interrupt_ends_all_that_is_being_built(folder, monkeypatch):
    monkeypatch.setattr(building.machine, "cores", lambda: 2)
    (folder / "wait").touch()
    programs = []

    def tell(line):
        if line.startswith("demo2020/numbers: built"):  # by then the other is in the middle of it
            programs.append(int((folder / "part").read_text()))
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        building.build([("demo2020/numbers", "smoke"), ("demo2020/slow", "smoke")], tell)
    assert _is_gone(*programs) and not (folder / "part").exists()
    assert time.monotonic() - begun < building.PATIENCE


@pytest.mark.parametrize(("by", "status"), [(signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_command_that_is_ended_leaves_nothing(laboratory, folder, by, status):
    process = laboratory.start("data", "build", "--scale", "smoke", "demo2020/slow")
    _until((folder / "part").exists)
    program = int((folder / "part").read_text())
    process.send_signal(by)
    process.communicate(timeout=20)
    assert process.returncode == status
    _until(lambda: not (folder / "part").exists() and _is_gone(program))


def test_only_what_fits_into_memory_is_built_at_once():
    large, medium, small = (Wanted(name, "paper", 1.0, size) for name, size in (("l", 9.0), ("m", 5.0), ("s", 1.0)))
    assert building._next([large, medium, small], [], 2.0) == large  # beside nothing, whatever it takes
    assert building._next([medium, small], [large], 10.0) == small
    assert building._next([medium, small], [large], 14.0) == medium
    assert building._next([medium], [large], 10.0) is None


def test_memory_bounds_how_many_are_built_at_once(folder, monkeypatch):
    """Two of a megabyte each, and room for one: the second begins when the first has ended."""
    monkeypatch.setattr(building.machine, "cores", lambda: 2)
    monkeypatch.setattr(memory, "host_available", lambda: 1.5e6 / memory.SHARE)
    said = []
    building.build([("demo2020/numbers", "smoke"), ("demo2020/failing", "smoke")], said.append)
    assert [line.endswith(" ...") for line in said] == [True, False, True, False]


@pytest.fixture
def ahead(monkeypatch):
    """Return a function that gives what would be built ahead of cells, each a tuple of datasets or a task."""
    entry = SimpleNamespace(scales=("smoke",), is_cached=lambda scale: False)
    names = ("a", "b", "cached")
    entries = {name: SimpleNamespace(**vars(entry), name=name) for name in names}
    entries["cached"].is_cached = lambda scale: True
    entries["large"] = SimpleNamespace(name="large", scales=("large",), is_cached=lambda scale: False)
    monkeypatch.setattr(environment.load(), "catalogue", lambda: list(entries.values()))
    monkeypatch.setattr(environment.load(), "dataset_cost", lambda name, scale: (building.WORTH, 1.0))
    built = []
    monkeypatch.setattr(building, "build", lambda pairs, tell, until: built.extend(pairs))

    def needed(*tasks, overrides=()):
        del built[:]
        settings = SimpleNamespace(scale="smoke", overrides=dict.fromkeys(overrides, "file"))
        watcher = SimpleNamespace(tell=print)
        building.build_ahead(tasks, settings, watcher)
        return [name for name, _ in built]

    needed.entries = entries
    return needed


def test_nothing_is_built_when_time_is_over(monkeypatch):
    monkeypatch.setattr(environment.load(), "dataset_cost", lambda name, scale: (building.WORTH, 1.0))
    said = []
    assert building.build([("a", "smoke")], said.append, until=time.monotonic()) == said == []


def _task(*data, stands=False, status="done"):
    return SimpleNamespace(cell=Cell("case", "method", data=data), stands=stands, record={"status": status})


def test_ahead_of_cells_only_what_they_need_and_is_not_there_is_built(ahead, repro_cache):
    assert ahead(_task("a", "cached"), _task("a"), _task("large")) == ["a"]
    assert ahead(_task("a"), _task("b")) == ["a", "b"]
    assert ahead(_task("a"), _task("b"), overrides=["a"]) == ["b"]
    assert ahead(_task()) == []
    assert ahead(_task("a", stands=True, status=SKIPPED), _task("b", status=SKIPPED)) == ["b"]


def test_ahead_of_cells_little_is_not_worth_a_process(ahead, repro_cache, monkeypatch):
    monkeypatch.setattr(environment.load(), "dataset_cost", lambda name, scale: (0.4 * building.WORTH, 1.0))
    assert ahead(_task("a"), _task("b")) == []


def test_what_another_run_has_built_meanwhile_is_not_built_again(ahead, monkeypatch):
    def alone(waiting):
        ahead.entries["a"].is_cached = lambda scale: True
        return pytest.MonkeyPatch.context()

    monkeypatch.setattr(building, "alone", alone)
    assert ahead(_task("a"), _task("b")) == ["b"]


def test_a_run_builds_before_it_measures_and_who_only_looks_builds_nothing(laboratory, folder, capsys):
    options = ("table1", "--scale", "small", "--results", str(laboratory.results))
    only = ("--only", "case=first", "--only", "method=loop")
    laboratory.results.mkdir()
    assert main(["run", *options, "--dry-run"]) == 0 and main(["status", *options]) == 0 and main(["list"]) == 0
    assert not (folder / "built").exists() and not laboratory.traces()
    capsys.readouterr()
    assert main(["run", *options, *only]) == 0 and (folder / "built").read_text() == "small\n"
    said = capsys.readouterr().err
    first, second = (said.index(text) for text in ("demo2020/numbers: built, ", "first loop host stride=1: done"))
    assert first < second
    assert main(["run", *options, *only]) == 0
    assert (folder / "built").read_text() == "small\n"  # no cell is pending
