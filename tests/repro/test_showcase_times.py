"""Numbers of rounds of cells, as a page tells them."""

import json
from types import SimpleNamespace

import pytest

from repro.site.showcase import times


def at(*rounds, metric="solve"):
    return [{"host": host, "date": f"2026-11-{day:02}T09:00:00+00:00", "seconds": 60.0 * day, "samples": {metric: {}},
             "commit": f"{day}23456789012345", "dirty": day == 5} for host, day in rounds]  # fmt: skip


@pytest.fixture
def results(tmp_path):
    """Table 1 and Table 2 share a cell; Table 2 has one more round of another."""
    shared = {"case": "a", "method": "m", "backend": "cuda", "parameters": {}, "rounds": at(("x", 1), ("x", 2))}
    own = {**shared, "case": "b", "rounds": at(("x", 1), ("y", 1), ("y", 3))}
    loops = {**shared, "backend": "openmp", "rounds": at(("x", 4))}
    (tmp_path / "bench/fu2014").mkdir(parents=True)
    once = {**shared, "rounds": shared["rounds"][:1]}  # as an artefact has it that was not written again
    for name, samples in (("table1", [shared, loops]), ("table2", [once, own, {**loops, "backend": "host"}])):
        keys = [{"machine": {"cpu": "A model", "cores": "16"}}]
        cells = [{**sample, "key": 0} for sample in samples]
        archive = {"samples": samples, "cells": cells, "keys": keys}
        (tmp_path / f"bench/fu2014/{name}.samples.json").write_text(json.dumps(archive))
    return tmp_path


def measured(results, name, **given):
    each = {"artefact": f"fu2014-{name}", "machine": "bench", "scale": "paper", "overrides": {}} | given
    archive = json.loads((results / f"bench/fu2014/{name}.samples.json").read_text())
    return SimpleNamespace(**each, archive=archive, beside=lambda suffix: SimpleNamespace(name=name + suffix))


def test_cells_are_counted_once_by_their_rounds_hosts_and_days(results):
    text = times.tables(times.cells_of([measured(results, "table1"), measured(results, "table2")]))
    heading, often, _ = text.split("\n\n")
    assert heading == "### bench" and often.splitlines()[2:] == [
        "| `paper` | `fu2014` | cuda | 2 | 0 | 1 | 1 | 1 | 2 | 5 | 2026-11-01 to 2026-11-03 |",
        "| `paper` | `fu2014` | processor | 2 | 2 | 0 | 0 | 0 | 0 | 8 | 2026-11-04 |",
    ]


def test_hosts_are_told_with_the_rounds_that_each_measured(results):
    cells = times.cells_of([measured(results, "table1"), measured(results, "table2")])
    cells |= {(machine, "large", "fu2014", "cuda"): {("a",): at(("y", 5))} for machine in ("bench", "other")}
    headings, tables = (times.tables(cells).split("\n\n")[k::3] for k in (0, 2))
    assert headings == ["### bench", "### other"] and tables[1].count("`y`") == 1
    x = "`fu2014` cuda 2; `fu2014` processor 2 | `fu2014` cuda 1 |  |"
    y = "`fu2014` cuda at `large` 1 | `fu2014` cuda 1 | `fu2014` cuda 1 |"
    cells["other", "large", "fu2014", "cuda"]["a",][0]["commit"] = None  # as sources without git have it
    assert "| 2026-11-05 09:00 | + |" in times.tables(cells)
    assert tables[0].splitlines()[2:] == [
        f"| `x` | 2026-11-01 09:00 | 2026-11-04 09:00 | 123456789012, 223456789012, 423456789012 | {x}",
        f"| `y` | 2026-11-01 09:00 | 2026-11-05 09:00 | 123456789012, 323456789012, 523456789012+ | {y}",
    ]


def test_cells_of_two_artefacts_that_measured_another_thing_are_two(results):
    path = results / "bench/fu2014/table2.samples.json"
    archive = json.loads(path.read_text())
    archive["samples"][0]["rounds"] = at(("x", 1), metric="spmv")
    path.write_text(json.dumps(archive))
    cells = times.cells_of([measured(results, "table1"), measured(results, "table2")])
    assert len(cells["bench", "paper", "fu2014", "cuda"]) == 3


def test_cells_of_a_processor_are_named_by_its_model_and_cores(results):
    cells = times.cells_of([measured(results, "table1")])
    assert list(cells["bench", "paper", "fu2014", "processor"]) == [
        ("a", "m", "openmp", "{}", "solve", "A model", "16")
    ]
    assert list(cells["bench", "paper", "fu2014", "cuda"]) == [("a", "m", "cuda", "{}", "solve")]


def test_a_users_own_file_is_no_result_of_the_paper(results):
    assert times.tables(times.cells_of([measured(results, "table1", overrides={"mesh": "own.vtk"})])) == ""


def test_rows_without_a_manifest_are_left_to_verify(results):
    bare = SimpleNamespace(**vars(measured(results, "table1")) | {"beside": lambda suffix: None})
    assert times.tables(times.cells_of([bare])) == ""
