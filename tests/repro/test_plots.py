"""Figures hold the numbers they are given, look the same every time, and are the same bytes."""

import io
import itertools
from dataclasses import replace
from pathlib import Path

import matplotlib.colors
import matplotlib.image
import matplotlib.text
import numpy as np
import pandas
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from repro.judge.roofs import Roofs
from repro.model import Row
from repro.rows import frame
from repro.show import looks, panels, plots
from repro.show.looks import families
from repro.show.results import Results

FAMILIES = families()


def row(case, method, value, low=None, high=None, backend="opencl", status="done"):
    device = f"{backend} device"
    return Row(
        "fu2014-table2", "paper", case, method, backend, device, "assembly", value, "s", low, high, 9, status=status
    )  # fmt: skip


@pytest.fixture
def results():
    rows = [
        row("regular", "patch", 0.03, 0.028, 0.033),
        row("heart", "patch", 0.05),
        row("regular", "serial", 1.2, 1.1, 1.4, backend="host"),
        row("heart", "serial", None, backend="host", status="failed"),
    ]
    return Results(pandas.DataFrame([each.as_dict() for each in rows]), "paper", "somewhere", "fu2014-table2")


def drawn(results, **options):
    made, (axes,) = plots.figure()
    plots.bars(axes, results, "assembly", ["patch", "serial"], **options)
    plots.caption(made, results)
    return made, axes


def marks_of(axes):
    """Return the values of filled marks, and of open ones, by their ordinates."""
    points = [(line.get_marker(), line.get_markerfacecolor(), float(y)) for line in axes.lines
              if line.get_linestyle() == "None" and line.get_marker() != "_" for y in line.get_ydata()]  # fmt: skip
    return [sorted(round(y, 9) for _, face, y in points if (face == "none") == is_open) for is_open in (False, True)]


def test_marks_are_the_medians_in_the_axis_unit_and_gaps_stay_gaps(results):
    _, axes = drawn(results, unit="ms")
    assert marks_of(axes)[0] == [30.0, 50.0, 1200.0]
    assert not axes.patches  # a bar has nothing to stand on
    assert axes.get_ylabel() == "Time [ms]" and axes.get_yscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["Regular", "Heart"]


def test_bars_are_the_medians_on_a_linear_axis(results):
    alike = results.frame.assign(value=[0.03, 0.05, 1.2, None])
    _, axes = drawn(Results(alike, "paper", "somewhere", "fu2014-table2"), unit="ms", log=False, published={})
    assert sorted(round(bar.get_height(), 9) for bar in axes.patches) == [30.0, 50.0, 1200.0]
    assert axes.get_ylim()[0] == 0


def test_panels_with_one_axis_are_drawn_alike(results):
    apart = Results(results.frame.assign(value=[0.003, 0.05, 1.2, None]), "paper", "somewhere", "fu2014-table2")
    options = {"unit": "ms", "cases": {"heart": "Heart"}, "published": {}}  # one value, which has a bar by itself
    for beside, scale in ((), "linear"), (["regular"], "log"):
        _, axes = drawn(apart, beside=beside, **options)
        assert axes.get_yscale() == scale and bool(axes.patches) == (scale == "linear")


def test_where_bars_would_vanish_the_axis_is_logarithmic_whatever_is_asked_for(results):
    _, axes = drawn(results, unit="ms", log=False)  # the paper's go to a hundred times the least
    assert axes.get_yscale() == "log" and not axes.patches
    assert marks_of(axes) == [[30.0, 50.0, 1200.0], [29.8, 46.5, 1080.0, 3114.0]]


def test_more_than_eight_methods_are_not_drawn_and_the_papers_are(results):
    names = [*"abcdefgh", "patch"]
    frame = pandas.DataFrame([row("regular", name, 1.0 + k).as_dict() for k, name in enumerate(names)])
    made, (left, right) = plots.figure(plots.PAGE, panels=2)
    plots.bars(left, Results(frame, "paper", "somewhere", "fu2014-table2"), "assembly", names)
    assert legend_of(left) == [*"abcdefg", "patches", "paper"]
    plots.lines(right, {name: [(1, 2.0)] for name in names}, x="x", y="y", published={"patch": [(1, 3.0)]})
    assert legend_of(right)[-2:] == ["patches", "paper"]
    plots.caption(made, results)
    assert made._supxlabel.get_text().replace("\n", " ").endswith(" · not drawn: h")


def panels_of(*looks, **options):
    """Return a figure with a panel for each mapping of names to methods, after its caption."""
    made, axes = plots.figure(plots.PAGE, 2.6, panels=len(looks))
    for panel, names in zip(axes, looks, strict=True):
        plots.lines(panel, {method: [(1, 2.0)] for method in names.values()}, x="x", y="y",
                    names={method: name for name, method in names.items()}, **options)  # fmt: skip
    return made, axes


def test_panels_share_a_legend_where_no_name_has_two_looks(results):
    made, axes = panels_of({"one": "patch", "two": "serial"}, {"one": "patch", "three": "cg"})
    plots.caption(made, results)
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["one", "two", "three"]
    assert not any(panel.get_legend() for panel in axes)
    made, axes = panels_of({"one": "patch", "two": "serial"}, {"one": "cg"})
    plots.caption(made, results)
    assert not made.legends and [legend_of(panel) for panel in axes] == [["one", "two"], ["one"]]


def test_stems_without_a_mark_share_a_legend(results):
    made, axes = plots.figure(plots.PAGE, panels=2)
    for panel in axes:
        panel.errorbar([1], [2.0], [[1.0], [1.0]], fmt="none", ecolor="red", label="range")
    plots.caption(made, results)
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["range"]


def test_the_papers_marks_do_not_hinder_a_shared_legend(results):
    made, axes = plots.figure(plots.PAGE, panels=2)
    for panel, method in zip(axes, ("patch", "serial"), strict=True):
        plots.lines(panel, {method: [(1, 2.0)]}, x="x", y="y", published={method: [(1, 3.0)]})
    plots.caption(made, results)
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["patches", "serial loop", "paper"]


def test_the_legend_names_the_papers_marks_where_ours_stand_beside_and_by_that_method():
    _, (axes,) = plots.figure(plots.PAGE)
    plots.lines(axes, {"patch": [(1, 2.0)]}, x="x", y="y", published={"cg": [(1, 3.0)], "patch": [(1, 3.0)]})
    entry = next(line for line in axes.lines if line.get_label() == "paper")
    assert legend_of(axes) == ["patches", "CG (paper)", "paper"] and entry.get_marker() == plots.marker("patch")
    _, (axes,) = plots.figure(plots.PAGE)
    plots.lines(axes, {"patch": [(1, 2.0)]}, x="x", y="y", published={"cg": [(1, 3.0)]})
    assert legend_of(axes) == ["patches", "CG (paper)"]


def test_texts_are_no_longer_than_their_vertical_axis(results):
    made, (axes,) = panels_of({f"a method with a long name, {k}": f"m{k}" for k in range(6)})
    axes.set_ylabel("A quantity of which there is much to say, more than the well-known axis is high")
    axes.set_title("title")
    before = axes.get_ylabel()
    plots.caption(made, results, "a note that takes room " * 8)
    made.canvas.draw()
    assert axes.yaxis.label.get_window_extent().height <= axes.get_window_extent().height
    assert (
        axes.get_ylabel().replace("\n", " ") == before
        and "well-known" in axes.get_ylabel()
        and "\n" in axes.get_ylabel()
    )
    made, (axes,) = panels_of({"one": "patch"})
    plots.caption(made, results)
    assert axes.get_ylabel() == "y"


def test_marks_at_the_edge_are_whole_and_those_beyond_are_not_seen(results):
    made, (axes,) = plots.figure()
    plots.lines(axes, {"patch": [(1, 0.0), (2, 1.0)], "cg": [(1, -1.0)]}, x="x", y="y", published={"patch": [(1, 0)]})
    axes.set_ylim(bottom=0)
    plots.caption(made, results)
    shown = [line for line in axes.lines if len(line.get_xdata()) and line.get_marker() not in ("None", "_")]
    assert {(line.get_label() == "CG", line.get_clip_on()) for line in shown} == {(True, True), (False, False)}


def test_names_that_would_meet_are_slanted(results):
    turned = []
    for count in (2, 8):
        panels = plots.figure(plots.PAGE, panels=count)[1]
        plots.bars(panels[0], results, "assembly", ["patch"], cases={"regular": "Biventricular", "heart": "Heart"})
        turned.append([tick.get_rotation() for tick in panels[0].get_xticklabels()])
    assert turned == [[0, 0], [40, 40]]


def test_a_rate_above_the_memorys_has_a_line_at_that(results):
    ceilings = {"device": "card", "bandwidths": {"copy": [[1e9, 4e12]]}, "cold": {}, "rates": {}}
    place = ("wong2015-figure12", "paper", "circuit", "k1", "cuda", "card")
    for rate, drawn_at in ((5000.0, [4000.0]), (3000.0, [])):
        _, (axes,) = plots.figure()
        found = Results(frame([Row(*place, "bandwidth", rate, "GB/s").as_dict()]), "paper", "here", place[0],
                        roofs=Roofs({"card": {"gpu": True, "ceilings": ceilings}}))  # fmt: skip
        plots.bars(axes, found, "bandwidth", ["k1"], unit="GB/s")
        assert [line.get_ydata()[0] for line in axes.lines if line.get_label() == "memory, measured"] == drawn_at


def test_intervals_are_drawn(results):
    _, axes = drawn(results)
    spans = [segment[:, 1].tolist() for collection in axes.collections for segment in collection.get_segments()]
    assert [0.028, 0.033] in [pytest.approx(span) for span in spans]
    assert [1.1, 1.4] in [pytest.approx(span) for span in spans]


def test_published_values_are_open_marks_at_their_place_in_the_colour_of_the_method(results):
    _, axes = drawn(results, unit="ms")
    edges = {float(line.get_ydata()[0]): line.get_markeredgecolor() for line in axes.lines
             if len(line.get_ydata()) == 1 and line.get_markerfacecolor() == "none"}  # fmt: skip
    assert edges[29.8] == plots.colour("patch") and edges[1080.0] == plots.colour("serial")


def across(made, axes, x, y, points):
    """Return what a figure has of blue, white and black from a point of its axes up to some points above it."""
    made.set_dpi(800)
    canvas = FigureCanvasAgg(made)
    canvas.draw()
    column, row = (int(at) for at in axes.transData.transform((x, y)))
    step = 1 if points > 0 else -1
    pixels = np.asarray(canvas.buffer_rgba())[::-1][row : row + int(points * made.dpi / 72) : step, column, :3]
    known = {tuple(bytes.fromhex(plots.colour("patch")[1:])): "blue", (255,) * 3: "white", (0,) * 3: "black"}
    return [name for name, _ in itertools.groupby(known[each] for each in map(tuple, pixels) if each in known)]


@pytest.mark.parametrize("other", [1e3, 1])  # on a logarithmic axis, and with bars
def test_ours_and_the_papers_are_told_apart_where_they_are_equal(results, other):
    made, (axes,) = plots.figure()
    plots.lines(axes, {"patch": [(1, 2.0)]}, x="x", y="y", published={"patch": [(1, 2.0)]})
    assert across(made, axes, 1, 2.0, 10) == ["blue", "white", "blue", "white"]
    value = results.published.value("regular", "patch", "assembly")
    both = frame([row("regular", "patch", value).as_dict(), row("regular", "serial", other * value).as_dict()])
    made, (axes,) = plots.figure()
    plots.bars(axes, Results(both, "paper", "here", "fu2014-table2"), "assembly", ["patch", "serial"],
               cases={"regular": "Regular"}, published={"patch": "patch"})  # fmt: skip
    found = across(made, axes, -0.2, value, -10 if axes.patches else 10)
    mark, ring = ["blue", "black", "white", "blue", "white"], ["black", "blue", "white", "black", "white", "blue"]
    assert found == (ring if axes.patches else mark)


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_legend_names_the_paper_once_and_back_ends_where_they_differ(results):
    _, axes = drawn(results)
    assert legend_of(axes) == ["patches", "serial loop", "paper"]
    frame = results.frame.assign(backend=["opencl", "opencl", "cuda", "host"])
    _, axes = drawn(Results(frame, "paper", "somewhere", "fu2014-table2"))
    assert legend_of(axes) == ["patches (opencl)", "serial loop (cuda)", "paper"]


@pytest.mark.parametrize("width", [plots.COLUMN, plots.PAGE])
def test_no_text_is_smaller_than_seven_points_or_leaves_the_figure(results, width):
    made, (axes,) = plots.figure(width)
    plots.bars(axes, results, "assembly", ["patch", "serial"])
    plots.caption(made, results, "a note that is as long as the longest that an artefact has to say")
    made.savefig(io.BytesIO())
    texts = [text for text in made.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 7
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 and box.x1 <= made.bbox.width + 1, text.get_text()


@pytest.mark.parametrize("scale", ["smoke", "small", "large"])
def test_the_legend_says_that_the_papers_marks_are_of_other_sizes(results, scale):
    _, axes = drawn(Results(results.frame, scale, "somewhere", "fu2014-table2"))
    assert axes.get_legend().get_texts()[-1].get_text() == "paper, its own sizes"


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_lines_say_so_where_the_abscissa_does_not(scale):
    _, (axes,) = plots.figure()
    plots.lines(axes, {"cg": [(1, 2.0)]}, x="Order", y="Time [s]", published={"cg": [(1, 3.0)]}, scale=scale)
    assert legend_of(axes) == ["CG", "paper, its own sizes" if scale == "small" else "paper"]


def test_the_caption_names_machine_scale_and_devices(results):
    made, _ = drawn(results)
    text = made._supxlabel.get_text().replace("\n", " ")
    assert all(
        word in text
        for word in ("fu2014-table2", "somewhere", "scale paper", "opencl device", "host device", "through opencl")
    )


def test_the_caption_names_no_device_of_kernels_that_are_not_drawn(results):
    frame = pandas.concat([results.frame, pandas.DataFrame([row("heart", "patch", 9.0, backend="openmp").as_dict()])])
    made, _ = drawn(Results(frame, "paper", "somewhere", "fu2014-table2"))
    text = made._supxlabel.get_text().replace("\n", " ")
    assert "openmp device" not in text and "opencl device" in text and "host device" in text


def test_the_caption_names_devices_and_cores_of_what_was_asked_for_alone(results):
    told = {}
    for backend in ("opencl", "host"):
        some = Results(results.frame, "paper", "somewhere", "fu2014-table2", cores=12)
        made, (axes,) = plots.figure()
        part = replace(some, frame=some.frame[some.frame["case"] == "regular"])
        method = {"opencl": "patch", "host": "serial"}[backend]
        plots.lines(axes, {method: [(1, part.value("regular", method, "assembly"))]}, x="x", y="y")
        plots.caption(made, some)
        told[backend] = made._supxlabel.get_text().replace("\n", " ")
    assert "opencl device" in told["opencl"] and not {"host", "12", "cores"} & {*told["opencl"].split()}
    assert "host device" in told["host"] and "12 cores" in told["host"] and "opencl" not in told["host"]


def test_the_caption_tells_of_no_other_scale(results, monkeypatch):
    import repro.show.results as module

    monkeypatch.setattr(module, "read", lambda *place: results.frame)
    here = replace(results, folder=Path("results"))
    here.at("small").value("regular", "patch", "assembly")
    assert here.asked == {} and here.value("heart", "patch", "assembly") and len(here.asked) == 1


def test_the_caption_names_the_devices_of_the_times_behind_a_ratio_and_none_of_a_count():
    place = ("fu2014-table2", "paper", "heart", "patch", "cuda", "card")
    rows = frame([Row(*place, "gain", 2.0, "x").as_dict(), Row(*place, "rows", 9, "count").as_dict(),
                  Row(*place[:-1], "processor", "packing", 1.0, "s", 0.9, 1.1, 9).as_dict()])  # fmt: skip
    for metric, devices in (("gain", ["card", "processor"]), ("rows", ["card"])):
        some = Results(rows, "paper", "somewhere", "fu2014-table2")
        made, _ = plots.figure(plots.PAGE)
        some.value("heart", "patch", metric)
        plots.caption(made, some)
        assert made._supxlabel.get_text().split(" · ")[1:] == devices


def test_the_same_data_give_the_same_bytes(results, tmp_path):
    contents = []
    for name in ("a", "b"):
        made, _ = drawn(results)
        contents.append(
            [path.read_bytes() for path in plots.save(made, tmp_path / name / "table2.small", ["png", "svg"])]
        )
    assert contents[0] == contents[1]
    assert matplotlib.image.imread(tmp_path / "a" / "table2.small.png").shape[1] == round(plots.COLUMN * 200)
    assert contents[0][0].startswith(b"\x89PNG") and b"<svg" in contents[0][1]
    assert (tmp_path / "a" / "table2.small.png").is_file() and b"dc:date" not in contents[0][1]


def saved(made, folder):
    """Return the colours of a figure's picture, a row each."""
    (path,) = plots.save(made, folder / "a")
    return np.unique((matplotlib.image.imread(path)[..., :3] * 255).round().astype(int).reshape(-1, 3), axis=0)


def test_pictures_have_few_colours_and_those_of_all_marks(tmp_path):
    wanted = sorted({colour for family in FAMILIES.values() for colour, _ in family.values()})
    made, (axes,) = plots.figure()
    axes.bar(range(len(wanted)), 1, color=wanted)
    found = saved(made, tmp_path)
    assert len(found) <= 64
    for colour in wanted:
        assert [*bytes.fromhex(colour[1:])] in found.tolist(), colour
    axes.imshow(np.linspace(0, 1, 3 * 128**2).reshape(128, 128, 3), extent=(0, 1, 0, 1))
    assert 64 < len(saved(made, tmp_path)) <= 256


def test_the_colours_of_marks_and_of_the_grid_are_saved_as_they_are(results, tmp_path):
    names = [*FAMILIES["kernels of wong2015"]][: 2 * panels.MOST]
    made, both = plots.figure(plots.PAGE, panels=2)
    for axes, shown in zip(both, (names[: panels.MOST], names[panels.MOST :]), strict=True):
        series = {name: [(x, x + k) for x in (1, 2, 3)] for k, name in enumerate(shown)}
        plots.lines(axes, series, x="x", y="y", published={name: [(1, 9)] for name in shown})
    plots.caption(made, results)
    found = {tuple(colour) for colour in saved(made, tmp_path).tolist()}
    for colour in (looks.GRID, "#FFFFFF", *map(plots.colour, names)):
        assert tuple(bytes.fromhex(colour[1:])) in found, colour


def test_axes_without_a_measurement_say_so(results):
    made, (axes,) = plots.figure()
    plots.bars(axes, results, "no such metric", ["patch", "serial"], unit="ms")
    plots.caption(made, results)
    made.savefig(io.BytesIO())
    assert [text.get_text() for text in axes.texts] == ["not measured"] and not axes.get_yticks().size
