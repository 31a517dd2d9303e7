"""A result that stands where it does not belong is found, though its own samples and hashes agree."""

import copy

import pytest

from repro.judge import belonging
from repro.judge.across import Across

ARTEFACT = "wong2015-table7"  # whose cells choose a block by timing
CELL = {"case": "ship", "method": "k1", "backend": "cuda", "status": "done", "parameters": {"format": "ellwarp"},
        "data": ["wong2015/ship"], "key": 0, "date": "2026-11-20T12:00:00+00:00"}  # fmt: skip
KEY = {"code": {"experiments/wong2015/products.py": "1"}, "data": {"wong2015/ship": "2"}, "kernels": {}, "seed": 0}
FINISHED = 1795176000.4  # that date


def round_of(day=0, host="a", **values):
    return {"host": host, "finished": FINISHED + 86400 * day, "date": f"2026-11-{20 + day}T12:00:00+00:00",
            "commit": "0" * 40, "values": {"spmv": 1.0, "padding": 1.5, **values},
            "samples": {"spmv": {"seconds": [1.0]}}}  # fmt: skip


def row_of(metric, unit, n=None, **more):
    return {"artefact": ARTEFACT, "scale": "paper", "case": "ship", "method": "k1", "backend": "cuda",
            "metric": metric, "unit": unit, "n": n, "parameters": {"format": "ellwarp", "repeats": 1},
            "device": "GPU", "status": "done", "value": 1.0} | more  # fmt: skip


@pytest.fixture
def stored():
    """A manifest, its rows and samples, in which everything belongs where it is."""
    manifest = {"artefact": ARTEFACT, "scale": "paper", "overrides": {}, "cells": [copy.deepcopy(CELL)], "devices": [],
                "keys": [copy.deepcopy(KEY)]}  # fmt: skip
    rows = [row_of("spmv", "s", 1), row_of("padding", "")]
    for row in rows:
        row["parameters"].pop("repeats")
    samples = [{**{name: CELL[name] for name in ("case", "method", "backend", "parameters")}, "rounds": [round_of()]}]
    assert list(belonging.problems(manifest, rows, samples)) == []
    return manifest, rows, samples


def told(stored):
    return "; ".join(belonging.problems(*stored))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("scale", "large", "scale is large, and paper by its manifest"),
        ("artefact", "wong2015-table8", "artefact is wong2015-table8, and wong2015-table7 by its manifest"),
        ("parameters", {"format": "csr"}, "format is another than its cell's"),
        ("parameters", {}, "format is another than its cell's"),
    ],
)
def test_a_row_of_another_scale_table_or_format_is_found(stored, name, value, words):
    stored[1][0][name] = value
    assert told(stored) == f"ship k1 cuda spmv: {words}"


@pytest.mark.parametrize(
    ("part", "words"), [("code", "its key has no code of wong2015"), ("data", "its key has no entry of wong2015/ship")]
)
def test_a_key_that_proves_nothing_is_found(stored, part, words):
    stored[0]["keys"][0][part] = {}
    assert told(stored) == f"ship k1 cuda: {words}"
    stored[0]["cells"][0]["status"] = "skipped"
    assert told(stored) == ""


def test_a_manifest_of_no_artefact_costs_no_other_problem(stored):
    manifest, rows, (samples,) = stored
    for each in (manifest, *rows):
        each["artefact"] = "wong2015-table99"
    samples["rounds"] = [round_of(), round_of()]
    assert told(stored) == "ship k1 cuda has a round twice"


def test_a_round_that_counts_twice_or_out_of_turn_is_found(stored):
    manifest, _, (samples,) = stored
    samples["rounds"] = [round_of(), round_of()]
    assert told(stored) == "ship k1 cuda has a round twice"
    samples["rounds"] = [round_of(), round_of(host="b")]  # two hosts may end in one moment
    assert told(stored) == ""
    samples["rounds"] = [round_of(1), round_of()]
    assert told(stored) == "ship k1 cuda has rounds out of order"
    samples["rounds"] = [round_of(), round_of(1)]
    last = "2026-11-21T12:00:00+00:00"
    assert told(stored) == f"ship k1 cuda is of {CELL['date']}, and its last round of {last}"
    manifest["cells"][0]["date"] = last
    assert told(stored) == ""


def test_a_date_of_another_moment_and_a_commit_without_a_hash_are_found(stored):
    (only,) = stored[2][0]["rounds"]
    only["finished"] += 2
    assert "ended at another moment" in told(stored)
    only["finished"] = FINISHED
    only["commit"] = "HEAD"
    assert told(stored) == "ship k1 cuda has a round of HEAD, which is no commit's name"
    only["commit"] = None  # of which `repro verify` says that it is unproven
    assert told(stored) == ""


def test_a_fact_that_differs_between_rounds_is_found_unless_a_round_chose_otherwise(stored):
    manifest, rows, (samples,) = stored
    manifest["cells"][0]["date"] = "2026-11-21T12:00:00+00:00"
    samples["rounds"] = [round_of(), round_of(1, padding=0.5)]
    assert told(stored) == "ship k1 cuda padding differs between two rounds"
    samples["rounds"] = [round_of(spmv=1.0), round_of(1, spmv=2.0)]  # a time
    assert told(stored) == ""
    rows.append({**rows[1], "metric": "block_size", "unit": "count"})
    samples["rounds"] = [round_of(block_size=32.0), round_of(1, block_size=64.0, padding=0.5)]
    assert told(stored) == ""


@pytest.mark.parametrize(
    ("method", "seconds", "words"),
    [
        ("k1", 1.0, []),  # two tables may show one cell
        ("k1", 3.0, ["ship k1 cuda has a round of the moment of another, ship k1 cuda in box/wong2015/table7"]),
        ("k2", 1.0, ["ship k2 cuda has a round of the moment of another, ship k1 cuda in box/wong2015/table7"]),
    ],
)
def test_one_moment_has_one_cell_and_its_samples(stored, method, seconds, words):
    manifest, rows, samples = stored
    across = Across()
    across.add("box/wong2015/table7", manifest, rows, samples)
    changed = copy.deepcopy(samples)
    changed[0]["method"] = method
    changed[0]["rounds"][0]["samples"]["spmv"]["seconds"] = [seconds]
    across.add("box/wong2015/table8", manifest | {"artefact": "wong2015-table8"}, [], changed)
    assert [what for _, what in across.problems()] == words
