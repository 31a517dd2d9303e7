"""Every family of artefacts asks for memory before it takes it: what does not fit is skipped, with the sizes."""

import csv
import importlib

import pytest

# An artefact with choices that leave a few cells, and what says how many bytes it takes.
ASKING = [
    ("fu2014-table2", ("case=regular", "method=patch"), "fu2014.table2_assembly.METHOD_BYTES"),
    ("fu2014-table5", ("case=regular", "method=cg"), "fu2014.solvers.BYTES"),
    ("fu2014-figure7", ("case=regular",), "fu2014.solvers.BYTES"),
    ("geveler2011-table2", ("case=circle-l3",), "geveler2011.problems.BYTES"),
    ("zhang2013-table2", ("case=hex",), "zhang2013.systems.BYTES"),
    ("wong2015-table3", ("case=heart-3k",), "wong2015.matrices.BYTES"),
]


def enormous(given):
    """Return as many sizes as are given."""
    return {key: enormous(value) for key, value in given.items()} if isinstance(given, dict) else 1e12


@pytest.mark.parametrize(("artefact", "only", "where"), ASKING, ids=[artefact for artefact, *_ in ASKING])
def test_what_does_not_fit_is_skipped_with_the_sizes(bench, openmp, monkeypatch, artefact, only, where):
    module, _, name = where.rpartition(".")
    module = importlib.import_module(f"experiments.{module}")
    monkeypatch.setattr(module, name, enormous(getattr(module, name)))
    if hasattr(module, "_kept"):
        monkeypatch.setattr(module, "_kept", {})
    chosen = [word for choice in (*only, "backend=openmp") for word in ("--only", choice)]
    assert bench.run(artefact, *chosen) == 0
    paper, _, artefact = artefact.partition("-")
    with (bench.folder / "bench" / paper / f"{artefact}.smoke.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows and {row["status"] for row in rows} == {"skipped"}
    assert all("GB of memory on" in row["reason"] and "GB are free" in row["reason"] for row in rows), rows
