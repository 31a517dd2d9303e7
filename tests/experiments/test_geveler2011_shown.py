"""What pages and pictures of geveler2011 say: legends, and which solves were counted from some of their cycles."""

from types import SimpleNamespace

import pandas

from experiments.geveler2011 import NUMBERINGS, TITLES, layout
from repro.show.plots import PAGE, figure, lines


def test_a_legend_names_a_numbering_once_and_stays_within_the_page():
    made, axes = figure(PAGE, panels=2)
    everything = {numbering: [(7, 1.0), (8, 2.0)] for numbering in NUMBERINGS}
    first = {key: points for key, points in everything.items() if key != "sto"}
    for axis, series in zip(axes, (first, {"xyz": [(7, 1.0)]}), strict=True):
        lines(axis, series, names=TITLES, published=everything, x="", y="")
    layout.one_legend(made, axes)
    made.canvas.draw()
    (drawn,) = made.legends
    assert [text.get_text() for text in drawn.get_texts()] == ["2LV", "CM", "XYZ", "HIE", "STO (paper)", "paper"]
    assert made.bbox.x0 <= drawn.get_window_extent().x0 and drawn.get_window_extent().x1 <= made.bbox.x1


def test_a_page_tells_which_solves_were_counted_from_some_cycles():
    rows = pandas.DataFrame([("circle-l10", "cpu-1", "some_cycles"), ("circle-l9", "cpu-all", "solve")],
                            columns=["case", "p_variant", "metric"])  # fmt: skip
    (note,) = layout.by_some_cycles(SimpleNamespace(done=rows))
    assert note.endswith("circle-l10, `cpu-1`.") and "circle-l9" not in note
    assert layout.by_some_cycles(SimpleNamespace(done=rows[1:])) == []
