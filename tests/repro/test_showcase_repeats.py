"""Whether intervals held, as a page tells it."""

import pytest

from repro.site.showcase import repeats


def taken(*rounds, mode="calls", name="solve", **more):
    """Rounds of a cell on several hosts, a day each, with five equal samples of so many seconds."""
    return [
        {"host": host, "date": f"2026-11-{day:02}T09:00:00+00:00",
         "samples": {name: {"seconds": [seconds] * 5, "mode": mode, "batch": 40, **more}}}
        for host, day, seconds in rounds
    ]  # fmt: skip


def named(*cells):
    return {(str(number),): rounds for number, rounds in enumerate(cells)}


def rows(where, *cells):
    return repeats.table({("bench", "paper", "fu2014", where): named(*cells)}).splitlines()[2:]


def test_further_rounds_are_counted_that_lie_in_the_interval_of_those_before():
    near, far = taken(("x", 1, 1.0), ("x", 1, 1.001)), taken(("x", 1, 1.0), ("y", 2, 1.5), ("y", 2, 1.25))
    once, other = taken(("x", 1, 1.0)), taken(("x", 1, 1.0), ("y", 1, 0.999))
    # The third of `far` lies between the two before it, of which one has its host and its day.
    assert rows("cuda", near, far, once, other) == [
        "| bench | `paper` | cuda | called | 4 | 2 | 1 | 3 | 75 | +0.0 |",
    ]


@pytest.mark.parametrize(("mode", "more", "kind"), [
    ("graph", {}, "replayed"), ("graph", {"batch": 1}, "single"), ("graph", {"cold": True, "batch": 1}, "cold"),
    ("calls", {}, "called"), ("calls", {"batch": 1}, "called"),
])  # fmt: skip
def test_kinds_of_samples_are_told_apart(mode, more, kind):
    (row,) = rows("cuda", taken(("x", 1, 1e-3), ("x", 1, 1e-3), mode=mode, **more))
    assert f"| cuda | {kind} | 1 |" in row


def test_a_processors_interval_grows_with_the_pace_of_its_cores():
    slower = ("x", 1, 1.0), ("x", 1, 1.3)
    (paced,) = rows("processor", taken(*slower, pace=[0.9, 1.5]))
    assert "| 1 | 0 | 0 | 1 | 100 |" in paced
    for where, more in (("processor", {}), ("cuda", {"pace": [0.9, 1.5]})):
        (row,) = rows(where, taken(*slower, **more))
        assert "| 1 | 0 | 0 | 0 | 0 |" in row


def test_a_metric_of_one_round_alone_is_no_repetition_and_no_table_is_one():
    first, second = taken(("x", 1, 1.0)), taken(("x", 1, 1.0), name="setup")
    assert repeats.table({("bench", "paper", "fu2014", "cuda"): named([*first, *second])}) == ""


def test_a_change_of_nothing_has_one_sign():
    (row,) = rows("cuda", taken(("x", 1, 1.0), ("x", 1, 0.9999)))
    assert row.endswith("| +0.0 |")


def test_rows_stand_in_one_order_whatever_comes_first():
    graph, calls = taken(("x", 1, 1.0), ("x", 1, 1.0), mode="graph"), taken(("x", 1, 1.0), ("x", 1, 1.0))
    places = [("b", "paper", "fu2014", "cuda"), ("a", "large", "fu2014", "cuda"), ("a", "paper", "fu2014", "processor"),
              ("a", "paper", "wong2015", "cuda")]  # fmt: skip
    _, _, *told = repeats.table({place: named(graph, calls) for place in places}).splitlines()
    assert [" ".join(row.strip("| ").split(" | ")[:4]).replace("`", "") for row in told] == [
        "a paper cuda called", "a paper cuda replayed", "a paper processor called", "a paper processor replayed",
        "a large cuda called", "a large cuda replayed", "b paper cuda called", "b paper cuda replayed",
    ]  # fmt: skip


def test_machines_are_compared_by_the_first_rounds_of_the_cells_that_both_have():
    one, two = taken(("x", 1, 1.0), ("x", 1, 3.0)), taken(("y", 2, 1.001), ("y", 2, 9.0))
    far, alone = taken(("y", 2, 2.0)), taken(("x", 1, 5.0))
    cells = {
        ("a", "paper", "fu2014", "processor"): {("p",): one, ("q",): one, ("r",): alone},
        ("b", "paper", "fu2014", "processor"): {("p",): two, ("q",): far},
        ("c", "paper", "fu2014", "processor"): {("another",): two},
        ("b", "small", "fu2014", "processor"): {("p",): two},
        ("a", "paper", "fu2014", "cuda"): {("p",): one}, ("b", "paper", "fu2014", "cuda"): {("p",): two},
    }  # fmt: skip
    found = repeats.across(cells)
    assert found == {("a, then b", "paper", "fu2014", "processor"): {
        ("p",): (one[0], two[0]), ("q",): (one[0], far[0])}}  # fmt: skip
    assert repeats.table(found).splitlines()[2:] == [
        "| a, then b | `paper` | processor | called | 2 | 2 | 2 | 1 | 50 | +50.0 |",
    ]
