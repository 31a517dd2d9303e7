"""Words on pages and pictures of geveler2011: legends, and which solves were counted from some of their cycles."""

from types import SimpleNamespace

import pandas
import pytest

from experiments.geveler2011 import NUMBERINGS, TITLES, layout, table2_spmv, table3_circle
from repro.model import Row
from repro.rows import frame
from repro.show.plots import PAGE, figure, lines
from repro.show.tables import Results


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
    rows = pandas.DataFrame([("circle-l10", "q1", "cpu-1", "some_cycles"), ("circle-l9", "q1", "cpu-all", "solve"),
                             ("circle-l9", "q2", "cpu-all", "some_cycles"),
                             ("circle-l9", "q1", "pyamg", "some_cycles"),
                             ("circle-l8", "q1", "sell", "some_cycles")],
                            columns=["case", "p_element", "p_variant", "metric"])  # fmt: skip
    (note,) = layout.by_some_cycles(SimpleNamespace(done=rows), "q1")
    assert note.endswith("circle-l8, `sell`; circle-l10, `cpu-1`.")  # PyAMG's is no column
    (note,) = layout.by_some_cycles(SimpleNamespace(done=rows))
    assert note.endswith("circle-l8, `sell`; circle-l9, `cpu-all`, `pyamg`; circle-l10, `cpu-1`.")
    assert layout.by_some_cycles(SimpleNamespace(done=rows[1:2]), "q1") == []


def test_a_numbering_is_the_best_of_several_or_that_which_sto_is_compared_with(monkeypatch):
    times = {("xyz", "cpu-1"): (1.0, 0.9, 1.1), ("xyz", "cpu-all"): (1.0, 0.6, 1.4),
             ("sto", "cpu-all"): (3.0, 3.0, 3.0), ("hie", "cpu-all"): (1.2, 0.9, 1.5),
             ("2lv", "cpu-all"): (2.4, 2.3, 2.5), ("xyz", "ellpack_r"): (2.0, 1.9, 2.1),
             ("hie", "ellpack_r"): (1.0, 0.9, 1.1)}  # fmt: skip
    known = {layout.method_of("q1", *place): time for place, time in times.items()}
    monkeypatch.setattr(layout, "cases_of", lambda results, element: ["circle-l7"])
    monkeypatch.setattr(layout, "_backend", lambda results, metric: "cuda")
    monkeypatch.setattr(layout, "point", lambda results, case, method, metric, unit, where: known.get(method))
    (row,) = layout.factors(None, "q1")
    one, everything, device = (layout.HEADINGS[name] for name in ("cpu-1", "cpu-all", "ellpack_r"))
    assert (row[one], row[f"best, {one}"]) == (None, None)
    assert row[everything].startswith("3.0 (") and row[f"best, {everything}"] == f"{TITLES['xyz']}, {TITLES['hie']}"
    assert (row[device], row[f"best, {device}"]) == (None, TITLES["hie"])


@pytest.mark.parametrize(("module", "metric"), [(table2_spmv, "rate"), (table3_circle, "solve")])
def test_a_caption_names_the_device_that_is_drawn_and_no_processor(module, metric):
    where = {"artefact": "geveler2011-table", "scale": "paper", "metric": metric, "value": 1.0,
             "unit": "GFLOP/s" if metric == "rate" else "s", "case": "circle-l7"}  # fmt: skip
    places = ("ellpack_r", "cuda", "A card"), ("cpu-all", "host", "A processor")
    rows = [Row(**where, method=f"q1-xyz-{variant}", backend=backend, device=device,
                parameters={"element": "q1", "numbering": "xyz", "variant": variant}).as_dict()
            for variant, backend, device in places]  # fmt: skip
    caption = module.plot(Results(frame(rows), "paper", "m", "geveler2011-table3")).get_supxlabel()
    assert "A card" in caption and "A processor" not in caption


@pytest.mark.parametrize("places", [("cuda", "openmp"), ("openmp",)])
def test_kernels_on_the_processor_have_a_column_where_the_device_is_another(places):
    where = {"artefact": "geveler2011-table3", "scale": "paper", "case": "circle-l7", "metric": "solve", "unit": "s"}
    rows = [Row(**where, value=2.0 + k, method="q1-xyz-ellpack_r", backend=backend, device="d",
                parameters={"element": "q1", "numbering": "xyz", "variant": "ellpack_r"}).as_dict()
            for k, backend in enumerate(places)]  # fmt: skip
    made = layout.by_numbering(Results(frame(rows), "paper", "m", "geveler2011-table3"), "T", "q1", "solve", "s")
    line = made.frame[made.frame["Numbering"] == TITLES["xyz"]].iloc[0]
    assert line["device [s]"] == "2.00"
    assert line.get("all threads, ELLPACK-R [s]") == ("3.00" if "cuda" in places else None)
    assert "ELLPACK-R [s]" not in " ".join(made.notes)


def test_a_page_tells_where_the_bound_counts_more_than_tiles_need():
    told = "The bound counts each step of a cycle by itself. `small`, `mixed` do several at once"
    for variants, is_told in ((["sell", "small", "mixed"], True), (["sell", "mixed-spai"], False)):
        notes = layout.meanings("circle", [{"Variant": each} for each in variants])
        assert any(note.startswith(told) for note in notes) == is_told
