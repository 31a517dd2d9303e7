"""Tables and plots of results that are whole, of one back end, partly failed, and without any value."""

import importlib
import itertools

import pandas
import pytest

from experiments.fu2014 import EVERY
from repro.model import COLUMNS, DONE, FAILED, SKIPPED, Row
from repro.show.tables import Results
from tests.experiments.shown import ROOFS, marks, rows_of, shown

TABLE1, TABLE2 = "table1_meshes", "table2_assembly"
METRICS = {
    TABLE1: {"nodes": 2197, "elements": 10368, "valence_min": 3, "valence_max": 18, "nonzeros": 28_000,
             "nonzeros_upper": 15_000, "nonzeros_euler": 28_000, "boundary_faces": 3456, "dihedral_min": 35.3,
             "radius_ratio_mean": 0.75},
    TABLE2: {"elements": 10368, "preparation": 0.25, "assembly": 0.002},
}  # fmt: skip


def show(name, status_of):
    """Return tables as one Markdown text, and the figure, of rows whose status is `status_of(cell)` (None: not run)."""
    module = importlib.import_module(f"experiments.fu2014.{name}")
    artefact = f"fu2014-{name.partition('_')[0]}"

    def made(cell):
        for metric, value in METRICS[name].items():
            is_time = metric in ("preparation", "assembly")
            value *= 4 if is_time and cell.backend == "host" else 1
            yield {"metric": metric, "value": value, "unit": "s" if is_time else "", "work_bytes": 0.5e9 * value}

    rows = rows_of(artefact, module.cells("smoke"), status_of, made)
    results = Results(
        pandas.DataFrame([row.as_dict() for row in rows], columns=list(COLUMNS)), "smoke", "m", artefact, roofs=ROOFS
    )
    return shown(module, results, may_draw_nothing=True)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("status", [SKIPPED, FAILED])
def test_without_a_value(name, status):
    text, figure = show(name, lambda cell: status)
    assert marks(figure) == 0
    assert f"{status} on purpose" in text


@pytest.mark.parametrize("name", METRICS)
def test_whole(name):
    text, figure = show(name, lambda cell: DONE)
    assert marks(figure) >= 10 and "on purpose" not in text
    assert text.count("| Heart (stand-in) |") >= 1 and "| Regular |" in text


@pytest.mark.parametrize("backend", ["opencl", "cuda"])
def test_table2_of_one_back_end(backend):
    text, _ = show(TABLE2, lambda cell: DONE if cell.backend in (backend, "host") else None)
    regular = next(line for line in text.splitlines() if line.startswith("| Regular |")).split(" | ")
    assert f"GPU [ms], {backend}" in text
    # Ours 2 ms and 8 ms, a speed-up of four; the paper's beside.
    assert regular[1:] == ["2.00", "29.8", "8.00", "1,080", "4.0", "36 |"]
    assert f"| Regular | ring | {backend} | 2.00 | 5.18 | 50.0 | 250 |" in text


def test_table2_has_the_kernels_on_the_processor_beside_the_loops():
    text, _ = show(TABLE2, lambda cell: DONE if cell.backend in ("cuda", "openmp", "host") else None)
    heads = next(line for line in text.splitlines() if "threaded / patch" in line).strip("| ").split(" | ")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| Regular |")]
    row = dict(zip(heads, lines[1], strict=True))
    # Kernels take 2 ms on both back ends, loops 8.
    assert (row["patch, openmp [ms]"], row["patch, openmp / patch"], row["serial / patch"]) == ("2.00", "1.0", "4.0")


def test_table2_takes_openmp_where_opencl_has_the_processor():
    def on(backends):
        return show(TABLE2, lambda cell: DONE if cell.backend in (*backends, "host") else None)[0]

    # All devices have one name here, so that OpenCL's is the processor.
    text = on(("opencl", "openmp"))
    assert "GPU [ms], openmp" in text and "| patch, openmp [ms] |" not in text and "ring, openmp / patch" in text
    assert "GPU [ms], opencl" in on(("opencl",)) and "GPU [ms], cuda" in on(("cuda", "opencl", "openmp"))


def test_table2_without_a_device():
    text, _ = show(TABLE2, lambda cell: DONE if cell.backend == "host" else SKIPPED)
    regular = next(line for line in text.splitlines() if line.startswith("| Regular |")).split(" | ")
    assert regular[1:] == ["8.00", "1,080 |"]  # what was not measured is no column
    assert "Left out, since nothing of it was measured: GPU; Speedup." in text and "Skipped: patch on cuda" in text


def test_a_mesh_that_was_not_measured_is_a_line_of_dashes_and_a_gap_that_says_so():
    text, figure = show(TABLE2, lambda cell: None if cell.case == "blobs" else DONE)
    blobs = next(line for line in text.splitlines() if line.startswith("| Blobs (stand-in) |")).split(" | ")
    assert blobs[1:] == ["–", "31.9", "–", "2,525", "–", "79 |"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()][-1] == "Blobs\n(stand-in)\nnot\nmeasured"
    assert "Blobs (stand-in) | patch" not in text


def test_a_failed_cell_is_a_dash_with_its_reason():
    def status(cell):
        return FAILED if (cell.case, cell.method) == ("brain", "patch") else DONE

    text, figure = show(TABLE2, status)
    brain = next(line for line in text.splitlines() if line.startswith("| Brain (stand-in) |")).split(" | ")
    assert brain[1] == "–" and brain[3] == "8.00" and brain[5] == "–"
    assert "Failed: patch on cuda, Brain (stand-in): failed on purpose" in text
    assert "| Brain (stand-in) | patch" not in text and "| Brain (stand-in) | ring | cuda" in text
    assert marks(figure) == marks(show(TABLE2, lambda cell: DONE)[1]) - 1


def test_a_users_own_mesh_is_named_where_it_stands():
    table1_meshes = importlib.import_module("experiments.fu2014.table1_meshes")
    row = dict.fromkeys(COLUMNS) | {
        "case": "heart", "method": "mesh", "backend": "host", "metric": "nodes", "value": 4.0, "unit": "count",
        "status": "done", "artefact": "fu2014-table1", "scale": "paper",
    }  # fmt: skip
    frame = pandas.DataFrame([row])
    own = Results(frame, "paper", "here", "fu2014-table1", {"fu2014/heart": "/data/mine.vtu"})
    text = "".join(table.to_markdown() for table in table1_meshes.tables(own))
    assert "Heart (mine.vtu)" in text and "stand-in" not in text
    ours = "".join(table.to_markdown() for table in table1_meshes.tables(Results(frame, "paper", "here", own.artefact)))
    assert "do not test: Heart (stand-in)." in ours
    assert "fu2014/heart is the user's own /data/mine.vtu" in text


def test_what_kernels_alone_counted_is_drawn_and_no_table_or_panel_is_empty():
    table1_meshes = importlib.import_module("experiments.fu2014.table1_meshes")
    rows = [Row("fu2014-table1", "paper", mesh, "mesh", "cuda", "a device", metric=metric, value=4e6, unit=unit)
            for mesh in EVERY for metric, unit in (("counted", "count"), ("product", "s"))]  # fmt: skip
    results = Results(pandas.DataFrame([row.as_dict() for row in rows]), "paper", "m", "fu2014-table1", roofs=ROOFS)
    (table,) = table1_meshes.tables(results)
    assert "No table, since nothing of it was measured: Table 1: the meshes; Non-zeros and quality." in table.notes
    assert any(note.startswith("Biventricular and Cortex: anatomies that others publish") for note in table.notes)
    figure = table1_meshes.plot(results)
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [4.0] * len(EVERY)
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if not label.get_rotation()]
    assert not any(one.x1 > next_.x0 for one, next_ in itertools.pairwise(boxes))


def test_no_panel_has_the_papers_values_alone():
    """The operator without mass has no number in the paper, and the kernels that have were not measured here."""
    for name in ("table2_opencl", "table3_cuda"):
        rows = [Row("remacle2016-table3", "large", "n7", "stored-fp64-no-mass", "cuda", "a device", metric=metric,
                    value=4e6, unit=unit) for metric, unit in (("nodes", "count"), ("local", "s"))]  # fmt: skip
        module = importlib.import_module(f"experiments.remacle2016.{name}")
        frame = pandas.DataFrame([row.as_dict() for row in rows], columns=list(COLUMNS))
        assert module.plot(Results(frame, "large", "m", "remacle2016-table3", roofs=ROOFS)) is None
