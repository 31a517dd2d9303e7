"""The same again: a run twice on a machine gives the same columns but for times, byte for byte; back ends agree."""

import csv
from pathlib import Path

import pytest

from kernels.device import Unavailable, open_device

TIMING = ("value", "ci_low", "ci_high", "n", "outliers", "disturbed")  # columns of rows that hold times or rates
ARTEFACTS = {
    "fu2014-table5": ("case=regular", "method=patch-pcgamg"),
    "zhang2013-table3": ("case=least-squares", "method=order-3-safeguard"),
    "geveler2011-table3": ("method=q1-hie-ellpack_r",),
    "remacle2016-table1": ("case=mesh1-8", "order=3"),
    "wong2015-table2": (),
}
SAME_ITERATIONS = 1  # between back ends, whose sums are taken in other orders


def measured(folder, artefact):
    paper, _, name = artefact.partition("-")
    with (folder / "bench" / paper / f"{name}.smoke.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def is_time(row):
    return row["unit"] in ("s", "ms", "us", "ns") or "/s" in row["unit"] or bool(row["n"])


def without_times(rows):
    rows = [{k: v for k, v in row.items() if k not in ("commit", "host", "date")} for row in rows]
    return [{k: v for k, v in row.items() if k not in TIMING or not is_time(row)} for row in rows]


@pytest.fixture
def twice(bench, capsys):
    def run(artefact):
        only = [word for choice in ARTEFACTS[artefact] for word in ("--only", choice)]
        found = []
        for number in (1, 2):
            bench.folder = Path(bench.folder).with_name(f"results-{number}")
            assert bench.run(artefact, *only) == 0, capsys.readouterr().err
            found.append(measured(bench.folder, artefact))
        return found

    return run


@pytest.mark.parametrize("artefact", ARTEFACTS)
def test_a_run_twice_gives_the_same_and_back_ends_agree(twice, artefact):
    first, second = map(without_times, twice(artefact))
    done = [row for row in first if row["status"] == "done"]
    assert done and {row["metric"] for row in done} - {"time"}
    assert first == second

    compared = 0
    places = {}
    for row in done:
        if "value" in row and row["backend"] in ("opencl", "openmp"):
            own = tuple(value for name, value in row.items() if name.startswith("p_"))
            places.setdefault((row["case"], row["method"], row["metric"], own), []).append(row)
    for (_, _, metric, _), rows in places.items():
        values = [float(row["value"]) for row in rows]
        if len(values) > 1 and metric.startswith(("iterations", "cycles")):
            assert max(values) - min(values) <= SAME_ITERATIONS, rows
            compared += 1
    if artefact == "wong2015-table2":  # which counts no iterations
        return
    try:
        open_device("openmp"), open_device("opencl")
    except Unavailable as missing:
        pytest.skip(f"the same twice, but with one back end alone: {missing}")
    assert compared
