"""The wall tells whole results from results that lack cells, or back ends."""

import shutil
from types import SimpleNamespace

import pandas
import pytest

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from repro.model import Cell
from repro.show import render
from repro.show.measurements import measurements
from repro.site.report import files, wall
from repro.site.showcase import status

from .test_report import Outline, tile_of

LACKS = "## Not measured yet, or no longer valid\n\n- never run: 2 on opencl (patch)\n- sources changed: 1 on cuda\n\n"


@pytest.fixture
def lacking(results, tmp_path):
    """Results of which the best lacks cells, and a smaller size's results, too."""
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    for stem in ("big-gpu/fu2014/table2", "laptop/zhang2013/figure8"):
        path = folder / f"{stem}.md"
        path.write_text(path.read_text().replace("## How", f"{LACKS}## How"))
    return folder


def tiles(folder):
    known = wall.catalogue()
    return {tile.id: tile for paper in wall.wall(known, measurements(folder, known)) for tile in paper.tiles}


def test_what_lacks_cells_is_not_told_as_measured(lacking, built):
    outline = Outline(built(lacking))
    assert tile_of(outline, "fu2014-table2")["data-state"] == "partly"
    assert tile_of(outline, "zhang2013-figure8")["data-state"] == "smaller"
    assert ("At full size, some cells missing : on big-gpu at scale paper, never run: 2 on opencl (patch); "
            "sources changed: 1 on cuda.") in outline.text  # fmt: skip
    assert "A cell is one case by one method on one back end." in outline.text


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        (["never run: 2 on opencl (patch), 3 on openmp"], "chosen"), (["never run: 2 on host (serial)"], "partly"),
        (["never run: 2 on opencl", "kernels/a.c changed: 1 on cuda (patch)"], "partly"), ([], "measured"),
    ],
)  # fmt: skip
def test_back_ends_of_which_nothing_was_measured_are_told_from_gaps(lacking, lines, state):
    path = lacking / "big-gpu/fu2014/table2.md"
    path.write_text(
        path.read_text().replace(LACKS.partition("\n\n")[2], "".join(f"- {line}\n" for line in lines) + "\n")
    )
    assert tiles(lacking)["fu2014-table2"].state == state


def test_cells_that_failed_are_missing(results, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    path = folder / "big-gpu/fu2014/table2.csv"
    frame = pandas.read_csv(path, keep_default_na=False, dtype=str)
    assert len(frame) > 1 and tiles(folder)["fu2014-table2"].state == "measured"
    frame.loc[0, ["status", "reason"]] = "failed", "out of memory"
    frame.to_csv(path, index=False)
    tile = tiles(folder)["fu2014-table2"]
    assert tile.state == "partly" and tile.because == "on big-gpu at scale paper, 1 failed: out of memory"


def test_counts_say_of_how_many_artefacts_and_cells(lacking):
    page = lacking / "big-gpu/fu2014/table2.md"
    page.write_text(page.read_text() + "- measured: 2026-11-20T20:08:02 to 2026-11-21T09:00:00; 4 of 1234 cells\n")
    (line,) = [line for line in status.table(measurements(lacking, wall.catalogue()), "..").splitlines()
               if "`fu2014`" in line]  # fmt: skip
    assert "[1 of 10 at `paper` (4 of 1,234 cells), 1 of 10 at `large` (4 of 6 cells)](../big-gpu/fu2014)" in line
    assert "[1 of 10 at `small` (2 of 4 cells)](../laptop/fu2014)" in line


def test_what_lacks_cells_is_what_rendering_says(tmp_path):
    task = SimpleNamespace(path="a", reason="never run", left_out="", cell=Cell("a", "patch", "opencl"))
    artefact, rendered = SimpleNamespace(id="p-table1", title="t"), render.Rendered(None)
    store = SimpleNamespace(folder=tmp_path)
    settings = SimpleNamespace(command="", scale="paper", machine="m", seed=0, overrides={}, store=store)
    assert files.missing(render._markdown(artefact, [task], [], rendered, settings)) == [
        "never run: 1 on opencl (patch)"
    ]
    assert files.missing(render._markdown(artefact, [], [], rendered, settings)) == []
