"""Lines hold the points, intervals and published marks that they are given."""

import numpy as np
import pytest

from repro.show import plots
from tests.repro.test_plots import legend_of


def test_lines_hold_points_intervals_and_published_marks():
    _, (axes,) = plots.figure(plots.PAGE)
    series = {"patch-pcgamg": [(2, 20.0, 18.0, 23.0), (1, 30.0, None, None)], "cg": []}
    published = {"patch-pcgamg": [(2, 19)], "cg": [(1, 300), (2, 290)]}
    plots.lines(axes, series, x="Inner iterations", y="Iterations", published=published, whole_x=True)
    assert legend_of(axes) == ["patchPCGAMG", "CG (paper)", "paper"]
    solid = next(line for line in axes.lines if line.get_label() == "patchPCGAMG")
    assert (list(solid.get_xdata()), list(solid.get_ydata())) == ([1, 2], [30.0, 20.0])
    spans = [segment[:, 1].tolist() for collection in axes.collections for segment in collection.get_segments()]
    assert [18.0, 23.0] in spans
    assert any(list(line.get_ydata()) == [19] and line.get_markerfacecolor() == "none" for line in axes.lines)
    assert list(axes.get_xticks()) == [1, 2]


def test_categories_are_named_and_not_joined():
    _, (axes,) = plots.figure(plots.PAGE)
    plots.lines(axes, {"a": [(0, 1.0), (1, 2.0)]}, x="", y="Speed-up", published={"a": [(1, 3.0)]},
                categories=["random", "sorted"])  # fmt: skip
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["random", "sorted"]
    assert {line.get_linestyle() for line in axes.lines} == {"None"}


def stems(axes):
    """Return the abscissae of a panel's stems, and how many points aside of them each is drawn."""
    found = []
    for collection in axes.collections:
        for segment in collection.get_segments():
            there = collection.get_transform().transform(segment[0]) - axes.transData.transform(segment[0])
            found.append((segment[0, 0], round(float(there[0]) * 72 / axes.figure.dpi, 3)))
    return sorted(found)


def test_stems_that_would_overprint_stand_side_by_side():
    _, (axes,) = plots.figure(plots.PAGE)
    series = {"a": [(1, 3.0, 2.0, 4.0), (2, 3.0, 2.9, 3.1)], "b": [(1, 3.5, 3.0, 5.0), (2, 9.0, 8.0, 10.0)],
              "c": [(1, 9.0, 8.0, 10.0), (2, 5.0)]}  # fmt: skip
    plots.lines(axes, series, x="x", y="y")
    assert stems(axes) == [(1, -0.8), (1, 0), (1, 0.8), (2, 0), (2, 0)]
    assert all(line.get_transform() == axes.transData for line in axes.lines if line.get_label() in series)


def test_marks_of_a_category_stand_side_by_side_with_their_stems():
    _, (axes,) = plots.figure()
    series = {name: [(0, 3.0, 2.0, 4.0), (1, 5.0, 4.0, 6.0)] for name in "ab"}
    plots.lines(axes, series, x="", y="y", categories=["p", "q"], published={"a": [(0, 3.0)]})
    assert stems(axes) == [(0, -3), (0, 3), (1, -3), (1, 3)] and axes.get_xlim() == (-0.5, 1.5)
    for line, aside in (("a", -3), ("b", 3)):
        marks = next(each for each in axes.lines if each.get_label() == line)
        places = marks.get_transform().transform(marks.get_xydata()) - axes.transData.transform(marks.get_xydata())
        assert list(marks.get_xdata()) == [0, 1] and places[:, 0] * 72 / axes.figure.dpi == pytest.approx(aside)
    ring = next(each for each in axes.lines if each.get_markerfacecolor() == "none")
    place = ring.get_transform().transform((0, 3.0)) - axes.transData.transform((0, 3.0))
    assert place[0] * 72 / axes.figure.dpi == pytest.approx(-3)


def test_lines_of_nothing_say_so():
    _, (axes,) = plots.figure()
    plots.lines(axes, {"patch": []}, x="x", y="y")
    assert [text.get_text() for text in axes.texts] == ["not measured"]


def test_a_line_stops_where_the_paper_has_a_point_and_it_has_none():
    _, (axes,) = plots.figure(plots.COLUMN)
    series = {"fine": [(8, 10.0), (16, 20.0), (64, 80.0)], "both": [(8, 5.0), (64, 6.0)]}
    published = {"fine": [(x, 9.0) for x in (8, 16, 32, 64, 128)]}
    plots.lines(axes, series, x="Size", y="Iterations", published=published, whole_x=True)
    fine, both = (line.get_xydata() for line in axes.get_lines()[:2])
    assert fine[:, 0].tolist() == [8, 16, 32, 64] and np.isnan(fine[:, 1]).tolist() == [False, False, True, False]
    assert both[:, 0].tolist() == [8, 64]
    _, (axes,) = plots.figure(plots.COLUMN)
    plots.lines(axes, series, x="Unknowns", y="Iterations", published=published)  # the paper's unknowns are not ours
    assert not np.isnan(axes.get_lines()[0].get_ydata()).any()
