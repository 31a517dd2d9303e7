"""Whole runs: what is written, what a failure costs, and what survives when a run is killed."""

import csv
import errno
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from repro.cache import store
from repro.cache.code import digest
from repro.cache.store import content, read_json
from repro.run import execution, runner

GOLDEN = Path(__file__).parent / "golden"
VARYING = ("- cores at work", "- command", "- machine", "- measured", "- no ceil")
WHEN = ("commit", "host", "date")
MEASURED = ("device", "value", "ci_low", "ci_high", "n", "outliers", "disturbed")


def rows(laboratory, name="table1.smoke.csv"):
    return list(csv.DictReader(laboratory.file(name).read_text().splitlines()))


def options(laboratory, *more):
    return ["run", "table1", "--scale", "smoke", "--results", str(laboratory.results), *more]


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


def test_golden_files_with_times_blanked(laboratory, sampled):
    assert laboratory.run("--all") == 0
    for name in ("table1.smoke.csv", "figure2.smoke.csv"):
        found = rows(laboratory, name)
        for row in found:
            is_time = row["metric"] == "time"
            for column in (*MEASURED, *WHEN) if is_time else ("device", *WHEN):
                # On a busy machine there may be too few samples for an interval.
                row[column] = "*" if row[column] or (is_time and column in ("ci_low", "ci_high")) else ""
        text = "\n".join([",".join(found[0]), *(",".join(row.values()) for row in found)]) + "\n"
        assert text == (GOLDEN / name).read_text()
    made = laboratory.file("table1.smoke.md").read_text()
    stays = [line for line in made.splitlines() if not line.startswith(VARYING) and "lost their cores" not in line]
    assert "\n".join(stays) + "\n" == (GOLDEN / "table1.smoke.md").read_text()


def test_times_that_may_hold_launch_cost_say_so(laboratory, sampled):
    environment = laboratory.folder / "fakelab" / "environment.py"
    more = '    def capture(self, function):\n        raise RuntimeError("it allocates")\n\n'
    environment.write_text(environment.read_text().replace("    def __init__(self):", f"{more}    def __init__(self):"))
    assert laboratory.run("table1") == 0
    (note,) = [line for line in laboratory.file("table1.smoke.md").read_text().splitlines() if "launch cost" in line]
    assert note == "- time of kernel on opencl may hold launch cost: not captured: it allocates"


def test_every_command_that_measured_is_named(laboratory):
    first, second = ("--only", "case=first"), ("--only", "case=second")
    for chosen in (first, second, second):
        assert laboratory.call(*options(laboratory, *chosen)).returncode == 0
    lines = laboratory.file("table1.smoke.md").read_text().splitlines()
    commands = [line for line in lines if line.startswith("- command")]
    assert [" ".join(chosen) in line for line, chosen in zip(commands, (first, second), strict=True)] == [True, True]
    manifest = laboratory.file("table1.smoke.json").read_text()
    assert "--results" not in manifest + "".join(lines)  # where it was written to says nothing of what was measured
    cells = read_json(laboratory.file("table1.smoke.json"))["cells"]
    assert {cell["case"]: f"case={cell['case']}" in cell["command"] for cell in cells} == {
        "first": True,
        "second": True,
    }


def test_every_file_of_an_artefact(laboratory, sampled):
    assert laboratory.run("table1") == 0
    names = {path.name for path in laboratory.file("").iterdir()}
    assert names == {f"table1.smoke.{end}" for end in ("csv", "md", "png", "json", "samples.json.xz")}
    manifest = read_json(laboratory.file("table1.smoke.json"))
    assert manifest["seed"] == 0 and manifest["data"].keys() == {"demo2020/numbers"} and len(manifest["cells"]) == 9
    assert any("fakelab/demo2020/adding.py" in key["code"] for key in manifest["keys"])
    samples = json.loads(content(laboratory.file("table1.smoke.samples.json")))["samples"]
    taken = {(s["case"], s["method"]): s["rounds"][0]["samples"]["time"]["seconds"] for s in samples}
    for row in rows(laboratory):
        if row["metric"] == "time" and row["backend"] == "host":
            assert len(taken[row["case"], row["method"]]) == int(row["n"]) > 1


def test_a_run_says_first_whose_results_it_replaces(laboratory, capsys):
    """In a clone, which has the files that are committed and not the store, on a machine of another kind."""
    chosen = ("table1", "--only", "case=first", "--only", "method=loop")
    assert laboratory.run("table1") == 0 and laboratory.run("table1") == 0
    assert "do not stand" not in capsys.readouterr().err
    laboratory.cell("third-kernel-opencl").write_text("{")  # damaged, but measured here
    assert laboratory.run("table1", "--dry-run") == 0
    assert "do not stand" not in capsys.readouterr().err
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    stored = laboratory.file("table1.smoke.json")
    manifest = read_json(stored)
    for key in manifest["keys"]:
        key["machine"]["cpu"] = "Another processor"
    stored.write_text(json.dumps(manifest))
    line = f"{laboratory.file('table1.smoke')}.* has 6 cells that do not stand here"
    assert laboratory.run(*chosen, "--dry-run") == 0
    assert line in capsys.readouterr().err and len(rows(laboratory)) == 15
    assert laboratory.run(*chosen) == 0
    said = capsys.readouterr().err.splitlines()
    (found,) = [number for number, text in enumerate(said) if text.startswith(line)]
    assert "--results or --machine keeps both" in said[found]
    assert found < min(number for number, text in enumerate(said) if ": done, " in text)
    assert {row["case"] for row in rows(laboratory) if row["status"] == "done"} == {"first"}
    assert laboratory.run("table1") == 0
    assert "do not stand" not in capsys.readouterr().err


def test_a_run_says_first_that_nothing_tells_its_sources(laboratory, capsys, monkeypatch):
    chosen = ("table1", "--only", "case=first", "--only", "method=loop")
    laboratory.run(*chosen)
    said = capsys.readouterr().err
    assert "set REPRO_COMMIT" in said and said.index("set REPRO_COMMIT") < said.index(": done, ")
    laboratory.run(*chosen)  # nothing is measured
    monkeypatch.setenv("REPRO_COMMIT", "0" * 40)
    laboratory.run(*chosen, "--force")
    assert "set REPRO_COMMIT" not in capsys.readouterr().err


def test_what_is_done_is_not_repeated(laboratory):
    assert laboratory.run("table1") == 0
    first = rows(laboratory)
    assert laboratory.run("table1") == 0
    assert len(laboratory.traces()) == 6 and rows(laboratory) == first
    assert laboratory.run("table1", "--only", "case=first", "--force") == 0
    assert sorted(laboratory.traces()[6:]) == ["first/kernel/opencl", "first/loop/host"]


def again(laboratory):
    """Add a table of the first sums, which the first table measures."""
    (laboratory.paper / "table3_again.py").write_text(
        '"""The first sums again."""\n'
        "from fakelab.demo2020 import table1_sums\n"
        "from fakelab.demo2020.table1_sums import measure, plot, tables\n\n\n"
        "def cells(scale):\n"
        '    return [cell for cell in table1_sums.cells(scale) if cell.case == "first"]\n'
    )


def test_two_tables_of_the_same_cells_measure_them_once(laboratory, capsys):
    """An artefact that imports another's `measure` shows that one's cells."""
    again(laboratory)
    said = "demo2020-table3 shows cells of demo2020-table1, which are measured by that name"
    assert laboratory.run("table3") == 0
    assert len(laboratory.traces()) == 2 and capsys.readouterr().err.count(said) == 1
    assert laboratory.run("table1", "table3") == 0
    assert len(laboratory.traces()) == 6 and said not in capsys.readouterr().err
    assert {path.parent.name for path in laboratory.cell_files()} == {"demo2020-table1"}
    found = rows(laboratory, "table3.smoke.csv")
    assert {row["artefact"] for row in found} == {"demo2020-table3"} and {row["case"] for row in found} == {"first"}


def test_a_run_writes_tables_that_it_does_not_name_where_they_show_what_it_measured(laboratory, capsys):
    again(laboratory)
    chosen = ("table1", "--only", "case=first", "--force")
    assert laboratory.run(*chosen) == 0
    assert not laboratory.file("table3.smoke.md").exists()  # nobody has asked for it yet
    assert laboratory.run("table1", "table3") == 0
    capsys.readouterr()
    assert laboratory.run(*chosen) == 0
    told = capsys.readouterr()
    assert f"demo2020-table3: {laboratory.file('table3.smoke.md')}" in told.err and told.out.count("Sums") == 1
    of = {name: rows(laboratory, f"{name}.smoke.csv") for name in ("table1", "table3")}
    first = [{**row, "artefact": "demo2020-table3"} for row in of["table1"] if row["case"] == "first"]
    assert of["table3"] == first


def test_a_table_that_a_run_does_not_name_loses_no_cell_by_it(laboratory, capsys):
    again(laboratory)
    assert laboratory.run("table1", "table3") == 0
    stored = laboratory.file("table3.smoke.json")
    manifest = read_json(stored)
    (other,) = [cell for cell in manifest["cells"] if cell["method"] == "loop"]
    manifest["cells"].append({**other, "case": "of a form that code has no more"})
    stored.write_text(json.dumps(manifest))
    before = laboratory.file("table3.smoke.csv").read_text()
    assert laboratory.run("table1", "--only", "case=first", "--force") == 0
    assert "table3 shows cells of this run, but its files stay older: of their cells 1" in capsys.readouterr().err
    assert laboratory.file("table3.smoke.csv").read_text() == before


def test_a_short_run_writes_each_table_that_shows_what_it_measured(laboratory, monkeypatch):
    again(laboratory)
    monkeypatch.setattr(runner, "SOONEST", "host")  # all is measured by the first table, before the other's turn
    short = "table1", "table3", "--only", "method=loop", "--minutes", "1"
    monkeypatch.setenv("FAKELAB_RAISE", "first")
    assert laboratory.run(*short) == 1
    monkeypatch.delenv("FAKELAB_RAISE")
    assert laboratory.run(*short) == 0
    assert {row["status"] for row in rows(laboratory, "table3.smoke.csv")} == {"done"}


def test_selection_leaves_other_cells_and_says_so(laboratory):
    assert laboratory.run("table1", "--only", "case=first", "--only", "case=third", "--only", "method=loop") == 0
    assert laboratory.traces() == ["first/loop/host", "third/loop/host"]
    text = laboratory.file("table1.smoke.md").read_text()
    assert "never run: 3 on opencl (kernel), 3 on cuda (kernel), 1 on host (loop)" in text
    assert laboratory.run("table1", "--backend", "cuda") == 0
    assert laboratory.traces()[2:] == ["second/loop/host"]


def test_a_wrong_result_is_a_failed_row_and_costs_no_other(laboratory, monkeypatch):
    monkeypatch.setenv("FAKELAB_WRONG", "second")
    assert laboratory.run("table1") == 1
    failed = [row for row in rows(laboratory) if row["status"] == "failed"]
    assert [(row["case"], row["method"], row["metric"]) for row in failed] == [
        ("second", "loop", "time"), ("second", "kernel", "time"),
    ]  # fmt: skip
    assert all(row["value"] == "" and float(row["error"]) > 0 and "exceeds" in row["reason"] for row in failed)
    assert sum(row["status"] == "done" for row in rows(laboratory)) == 8
    assert "## Failed" in laboratory.file("table1.smoke.md").read_text()
    # It is not kept: once it is right, it is measured, and the others are not.
    monkeypatch.delenv("FAKELAB_WRONG")
    count = len(laboratory.traces())
    assert laboratory.run("table1") == 0
    assert laboratory.traces()[count:] == ["second/loop/host", "second/kernel/opencl"]


def test_an_exception_is_a_failed_row_with_its_traceback(laboratory, monkeypatch, capsys):
    monkeypatch.setenv("FAKELAB_RAISE", "third")
    assert laboratory.run("table1") == 1
    assert {row["reason"] for row in rows(laboratory) if row["status"] == "failed"} == {"ZeroDivisionError: on purpose"}
    assert "in _misbehave" in capsys.readouterr().err


def test_a_crash_costs_its_cell_alone(laboratory):
    done = laboratory.call(*options(laboratory), isolate=True, FAKELAB_CRASH="first")
    assert done.returncode == 1, done.stderr
    statuses = laboratory.statuses()
    assert {name for name, status in statuses.items() if status == "failed"} == {
        "smoke-first-loop-host", "smoke-first-kernel-opencl",
    }  # fmt: skip
    assert list(statuses.values()).count("done") == 4
    assert "the measuring process died: SIGSEGV" in done.stderr


def test_an_artefact_that_cannot_be_imported_costs_no_other(laboratory, capsys):
    broken = laboratory.paper / "table3_broken.py"
    broken.write_text("def cells(:")
    assert laboratory.run("--all") == 1
    assert "demo2020-table3 is broken" in capsys.readouterr().err
    assert len(rows(laboratory)) > 0 and laboratory.file("figure2.smoke.md").exists()


@pytest.mark.parametrize(("chosen", "kept"), [((), 15), (("--only", "case=first"), 5)], ids=["all", "some"])
def test_tables_that_cannot_be_made_are_a_failure_with_the_rows_kept(laboratory, chosen, kept):
    path = laboratory.paper / "table1_sums.py"
    path.write_text(path.read_text().replace('return [Table("Sums", pandas', 'return [Table(results["Sums"], pandas'))
    assert laboratory.run("table1", *chosen) == 1
    assert len(rows(laboratory)) == kept
    assert "tables() failed: TypeError" in laboratory.file("table1.smoke.md").read_text()


def test_killed_and_run_again_repeats_nothing(laboratory):
    """SIGKILL while a cell is measured: its process dies with the run, and what is stored is not measured again."""
    process = laboratory.start(*options(laboratory), FAKELAB_SLEEP="0.4")
    wait_for(lambda: len(laboratory.traces()) == 3)
    process.kill()
    process.communicate()
    stored = [name for name, status in laboratory.statuses().items() if status == "done"]
    assert len(stored) == 2
    before = {path: path.stat().st_mtime_ns for path in laboratory.cell_files()}

    again = laboratory.call(*options(laboratory), isolate=True)
    assert again.returncode == 0 and "4 cells measured, 2 as before, 3 skipped, 0 failed" in again.stderr
    traces = laboratory.traces()
    assert traces.count("first/loop/host") == traces.count("first/kernel/opencl") == 1
    assert len(traces) == 7  # the one that was being measured, twice
    done = [path for path, changed in before.items() if path.stat().st_mtime_ns == changed]
    assert len(done) == 2
    assert len(rows(laboratory)) == 15


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_shows_what_is_done(laboratory, sign):
    process = laboratory.start(*options(laboratory), FAKELAB_SLEEP="0.4")
    wait_for(lambda: len(laboratory.traces()) == 2)
    os.kill(process.pid, sign)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err and "Traceback" not in err
    assert [row["metric"] for row in rows(laboratory)] == ["time", "sum"]
    text = laboratory.file("table1.smoke.md").read_text()
    assert "never run: 3 on opencl (kernel), 3 on cuda (kernel), 2 on host (loop)" in text


@pytest.mark.parametrize("waits", [False, True])
def test_a_cell_that_was_stored_when_the_run_was_cut_off_counts(laboratory, monkeypatch, capsys, waits):
    real = execution.execute

    def watched(task, settings, **given):
        measured = real(task, settings, **given)
        if task.cell.backend == "opencl":
            if waits:
                given["tell"](store.WAITING)
            raise KeyboardInterrupt
        return measured

    monkeypatch.setattr(execution, "execute", watched)
    assert laboratory.run("table1") == 130
    assert list(laboratory.statuses().values()) == ["done"] * 2 and len(rows(laboratory)) == 4
    counted = "1 cell measured, 1 as before" if waits else "2 cells measured, 0 as before"
    assert counted in capsys.readouterr().err


def test_files_whose_writing_was_interrupted_are_written_again(laboratory, monkeypatch):
    """Else rows would be of this run, and manifest and page of an earlier one."""
    from repro.show import render

    assert laboratory.run("table1", "--only", "method=loop") == 0
    real, stops = render.write_atomically, [True]

    def watched(path, content):
        if path.suffix == ".json" and path.parent.name == "demo2020" and stops:
            raise KeyboardInterrupt(stops.pop())
        real(path, content)

    monkeypatch.setattr(render, "write_atomically", watched)
    assert laboratory.run("table1", "--only", "case=first") == 130 and not stops
    manifest = read_json(laboratory.file("table1.smoke.json"))
    assert digest(laboratory.file("table1.smoke.csv").read_bytes()) == manifest["files"][".csv"]
    places = {(row["case"], row["method"]) for row in rows(laboratory)}
    assert {(cell["case"], cell["method"]) for cell in manifest["cells"]} == places > {("first", "loop")}


def test_a_full_disk_keeps_what_is_stored(laboratory, monkeypatch, capsys):
    real, calls = os.replace, []

    def full(source, target):
        calls.append(target)
        if len(set(calls)) > 3:  # whose the folder is, and two cells
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(store.os, "replace", full)
        assert laboratory.run("table1") == 1
    err = capsys.readouterr().err
    assert "No space left on device" in err and "Traceback" not in err
    assert len(laboratory.cell_files()) == 2
    count = len(laboratory.traces())
    assert laboratory.run("table1") == 0
    assert "first/loop/host" not in laboratory.traces()[count:]


def test_a_source_edited_while_it_is_measured_is_not_trusted(laboratory):
    path = laboratory.paper / "adding.py"
    place = f"Path({str(path)!r})"
    edit = f"    {place}.write_text({place}.read_text().replace('return sum', 'return 1 + sum'))"
    path.write_text(planned := path.read_text().replace("    time.sleep", f"{edit}\n    time.sleep"))
    laboratory.run("table1", "--only", "case=first", "--only", "method=loop")
    path.write_text(planned)  # nor where the edit is undone: it is not known which of the two was measured
    assert laboratory.reasons()["first/loop/host"] == "fakelab/demo2020/adding.py changed"


def test_further_files_and_what_becomes_of_them_when_they_cannot_be_made(laboratory, capsys):
    path = laboratory.paper / "table1_sums.py"
    whole = path.read_text()
    path.write_text(whole + "\n\ndef extras(results):\n    return {'.notes.txt': b'nine cells'}\n")
    assert laboratory.run("table1") == 0
    assert laboratory.file("table1.smoke.notes.txt").read_bytes() == b"nine cells"
    path.write_text(whole + "\n\ndef extras(results):\n    return {'.notes.txt': results.nothing}\n")
    for name in [name for name in sys.modules if name.startswith("fakelab.demo2020")]:
        del sys.modules[name]
    assert laboratory.run("table1") == 1
    assert "extras() failed: AttributeError" in capsys.readouterr().err
    assert laboratory.file("table1.smoke.csv").exists() and laboratory.file("table1.smoke.png").exists()


def test_a_figure_that_cannot_be_drawn_is_a_failure_with_the_rows_kept(laboratory, capsys):
    path = laboratory.paper / "table1_sums.py"
    path.write_text(path.read_text().replace("    return figure", "    return 'no figure'"))
    assert laboratory.run("table1") == 1
    assert "the figure cannot be drawn: " in capsys.readouterr().err
    assert len(rows(laboratory)) == 15 and not laboratory.file("table1.smoke.png").exists()


def test_the_default_scale_needs_no_suffix(laboratory, monkeypatch):
    from repro import settings
    from repro.cache import files

    monkeypatch.setattr(files, "default_scale", lambda: "smoke")
    assert laboratory.run("table1") == 0 and settings.default_scale() != "smoke"
    assert laboratory.file("table1.csv").exists() and not laboratory.file("table1.smoke.csv").exists()
