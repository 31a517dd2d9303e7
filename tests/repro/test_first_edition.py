"""Names of the first edition, read as parameters."""

import gzip
import json

import pytest

from repro import environment, first_edition
from repro.cache.files import Files
from repro.model import ReproError
from repro.rows import FIRST_EDITION, as_csv, read_file
from repro.show.results import Results

TEXT = """
[metrics]
"spmv_at_{repeats}_cold" = "spmv_cold"
"spmv_at_{repeats}" = "spmv"
"rows_of_{length}" = "rows_of_length"
[methods]
table1 = ["{element}-{levels}lv-{place}", "{element}-{place}"]
"""


@pytest.fixture
def forms(tmp_path, monkeypatch):
    """Return what writes the file of the demo's paper."""

    def write(text):
        path = tmp_path / "experiments" / "demo" / first_edition.FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        first_edition._forms.cache_clear()

    monkeypatch.setattr(environment, "experiments_folder", lambda: tmp_path / "experiments")
    write(TEXT)
    return write


def test_the_first_form_that_fits_gives_the_name_and_the_parameters(forms):
    assert first_edition.renamed("demo-table1", "spmv_at_50") == ("spmv", {"repeats": 50})
    assert first_edition.renamed("demo-table1", "spmv_at_1_cold") == ("spmv_cold", {"repeats": 1})
    assert first_edition.renamed("demo-table9", "rows_of_7") == ("rows_of_length", {"length": 7})
    assert first_edition.renamed("demo-table1", "solve") == ("solve", {})
    assert first_edition.renamed("other-table1", "spmv_at_50") == ("spmv_at_50", {})
    assert first_edition.parameters("demo-table1", "q1-2lv-gpu") == {"element": "q1", "levels": 2, "place": "gpu"}
    assert first_edition.parameters("demo-table1", "q1-cpu-4") == {"element": "q1", "place": "cpu-4"}
    assert first_edition.parameters("demo-table2", "q1-cpu") == first_edition.parameters("demo-table1", "q") == {}


def test_what_else_the_file_has_is_an_error(forms):
    forms("[metric]\nx = 'y'")
    with pytest.raises(ReproError, match="metrics and methods, and nothing else"):
        first_edition.renamed("demo-table1", "x")


def test_files_of_the_first_edition_are_read_with_parameters(forms, tmp_path):
    """The rows, and the samples by the names that the rows have now."""
    path = tmp_path / "box" / "demo" / "table1.csv"
    path.parent.mkdir(parents=True)
    line = "demo-table1,paper,a,q1-gpu,cuda,GPU,{},{},s,1,3,9,0,,,done,"
    metrics = {"spmv_at_1": 2.0, "spmv_at_50": 1.5}
    csv = "\n".join([",".join(FIRST_EDITION), *(line.format(*each) for each in metrics.items()), ""])
    path.write_text(csv)
    cell = {"case": "a", "method": "q1-gpu", "backend": "cuda", "parameters": {"form": "ell"}, "data": []}
    samples = [{**cell, "samples": {name: {"seconds": [value] * 9} for name, value in metrics.items()}}]
    packed = gzip.compress(json.dumps(samples).encode())
    path.with_suffix(".samples.json.gz").write_bytes(packed)
    from repro.cache.code import digest

    told = {
        "status": "done",
        "reason": "",
        "date": "2026-11-20T10:00:00+00:00",
        "checks": [],
        "notes": [],
        "seconds": 1.0,
    }
    manifest = {
        "artefact": "demo-table1", "scale": "paper", "seed": 0, "cells": [{**cell, **told}], "data": {}, "devices": [],
        "overrides": {}, "sources": {}, "environment": {}, "machine": {"cpu": "CPU"},
        "files": {".csv": digest(csv.encode()), ".samples.json.gz": digest(packed)},
    }  # fmt: skip
    path.with_suffix(".json").write_text(json.dumps(manifest))

    frame = read_file(path)
    assert list(frame["metric"]) == ["spmv", "spmv"] and list(frame["p_repeats"]) == [1, 50]
    assert set(frame["p_form"]) == {"ell"} and set(frame["p_element"]) == {"q1"}
    results = Results(frame, "paper", "box", "demo-table1")
    assert results.value("a", "q1-gpu", "spmv", repeats=50) == 1.5
    assert results.backends("q1-gpu", "spmv", repeats=7) == []
    with pytest.raises(ReproError, match="has 2 rows of a, q1-gpu, spmv on cuda"):
        results.value("a", "q1-gpu", "spmv", element="q1")

    record = Files(path.with_suffix(""), "paper").record("demo-table1", cell)
    assert [row["parameters"]["repeats"] for row in record["rows"]] == [1, 50]
    assert sorted(record["samples"]) == [
        'spmv {"element": "q1", "place": "gpu", "repeats": 1}', 'spmv {"element": "q1", "place": "gpu", "repeats": 50}',
    ]  # fmt: skip
    path.write_text(as_csv(record["rows"]))
    assert list(read_file(path)["p_repeats"]) == [1, 50]  # as the second edition writes them
