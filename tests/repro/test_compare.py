"""Ours beside published, and two sets of results beside each other."""

import pandas
import pytest

from repro.compare import ADDED, CHANGED, FASTER, LOST, SAME, SLOWER, UNDECIDED, compare, compare_results
from repro.model import ReproError, Row
from repro.published import load


def frame(*rows):
    return pandas.DataFrame([row.as_dict() for row in rows])


def row(case="regular", method="patch", metric="assembly", value=0.01, unit="s", **more):
    more = {"backend": "opencl", "device": "d"} | more
    return Row("fu2014-table2", "small", case, method, metric=metric, value=value, unit=unit, **more)


def test_ours_stands_beside_the_papers_in_its_unit():
    rows = frame(
        row(value=14.9, unit="ms", ci_low=14.0, ci_high=15.0),
        row(case="heart", method="numba", backend="host", value=6.228),
        row(case="brain", value=None, status="failed", reason="wrong"),
        row(metric="reordering", value=1.0),
    )
    table = compare(rows, load("fu2014-table2"), {"numba": "serial"})
    assert table["case"].tolist() == ["regular", "heart"]
    assert table["ours"].tolist() == pytest.approx([0.0149, 6.228])
    assert table["published"].tolist() == [0.0298, 3.114]
    assert table["ratio"].tolist() == pytest.approx([0.5, 2.0])
    assert (table["ci_low"][0], table["ci_high"][0]) == pytest.approx((0.014, 0.015))
    assert table["place"][1] == "Table 2, row Heart, column CPU" and table["unit"].tolist() == ["s", "s"]


def test_units_that_measure_different_things_are_an_error():
    with pytest.raises(ReproError, match="cannot be given"):
        compare(frame(row(unit="GB/s")), load("fu2014-table2"))


def test_nothing_in_common_is_an_empty_table():
    assert compare(frame(row(case="sphere")), load("fu2014-table2")).empty


@pytest.mark.parametrize(
    ("old", "new", "unit", "verdict"),
    [
        ((1.0, 0.99, 1.01), (1.02, 1.01, 1.03), "s", SAME),
        ((1.0, 0.99, 1.01), (1.2, 1.19, 1.21), "s", SLOWER),
        ((1.0, 0.99, 1.01), (0.8, 0.79, 0.81), "s", FASTER),
        ((1.0, 0.99, 1.01), (1.2, 1.19, 1.21), "GB/s", FASTER),
        ((1.0, 0.99, 1.01), (0.8, 0.79, 0.81), "GFLOP/s", SLOWER),
        ((1.0, 0.8, 1.3), (1.2, 1.0, 1.4), "s", UNDECIDED),
        ((1.0, 0.99, 1.01), (1.07, 1.055, 1.08), "s", UNDECIDED),  # apart, but by less than the threshold
        ((1.0, None, None), (2.0, 1.9, 2.1), "s", UNDECIDED),
        ((1.0, None, None), (1.01, None, None), "s", SAME),
        ((19, None, None), (19, None, None), "", SAME),
        ((100, None, None), (101, None, None), "", CHANGED),
        ((0.5, None, None), (0.51, None, None), "", SAME),
        ((0.5, None, None), (0.6, None, None), "", CHANGED),
        ((0, None, None), (0, None, None), "", SAME),
        ((0, None, None), (3, None, None), "", CHANGED),
    ],
)
def test_verdicts_follow_the_intervals(old, new, unit, verdict):
    def one(numbers):
        value, low, high = numbers
        return frame(row(value=value, ci_low=low, ci_high=high, unit=unit))

    table = compare_results(one(old), one(new), threshold=0.05)
    assert table["verdict"].tolist() == [verdict]


def test_units_of_the_two_sets_may_differ():
    table = compare_results(frame(row(value=0.002)), frame(row(value=2.0, unit="ms")))
    assert table["verdict"].tolist() == [SAME] and table["new"].tolist() == pytest.approx([0.002])


def test_values_that_come_and_go_are_said_with_the_reason():
    old = frame(row(), row(case="heart"), row(case="brain"))
    new = frame(
        row(), row(case="blobs"), row(case="heart", metric="", value=None, status="failed", reason="error 1 exceeds")
    )
    table = compare_results(old, new).set_index("case")
    assert table["verdict"].to_dict() == {"regular": SAME, "heart": LOST, "brain": LOST, "blobs": ADDED}
    assert table["reason"]["heart"] == "error 1 exceeds" and table["reason"]["brain"] == "not in the new results"
