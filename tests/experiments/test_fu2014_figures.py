"""Figures 4 and 5 from the command line: pictures that hold what their captions say."""

import matplotlib.image
import numpy as np
import pytest

from experiments.fu2014 import figure4_surfaces, figure5_cross_section


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    pytest.importorskip("tetgen")
    for module in (figure4_surfaces, figure5_cross_section):
        monkeypatch.setattr(module, "PIXELS", 150)


def share(image, colour, tolerance=0.12):
    """The share of the pixels that have a colour's hue, however bright."""
    shown = image.min(axis=2) < 0.97
    hue = image / np.maximum(np.linalg.norm(image, axis=2, keepdims=True), 1e-9)
    wanted = np.array(colour) / np.linalg.norm(colour)
    return (shown & (np.linalg.norm(hue - wanted, axis=2) < tolerance)).mean()


def test_figure4(bench):
    assert bench.run("fu2014-figure4", "--backend", "host", "--only", "case=heart", "--only", "case=brain") == 0
    image = matplotlib.image.imread(bench.file("figure4.smoke.png"))[..., :3]
    height, width, _ = image.shape
    left, right = image[:, : width // 2], image[:, width // 2 :]
    for half, case in ((left, "heart"), (right, "brain")):
        assert share(half, figure4_surfaces.COLOURS[case]) > 0.25
        lit, dark = half[: height // 2], half[height // 2 : int(0.85 * height)]
        assert lit[lit.min(axis=2) < 0.97].mean() > dark[dark.min(axis=2) < 0.97].mean()
    text = bench.file("figure4.smoke.md").read_text()
    assert "| Heart (stand-in) |" in text and "| Brain (stand-in) |" in text
    volumes = {row["case"]: float(row["value"]) for row in bench.rows("figure4.smoke.csv") if row["metric"] == "volume"}
    assert 16 < volumes["heart"] < 18 and 12 < volumes["brain"] < 15


def test_published_anatomies_lead_in_figure4():
    cases = dict.fromkeys(cell.case for cell in figure4_surfaces.cells("paper"))
    assert list(cases) == ["biventricular", "heart", "cortex", "brain"]
    assert cases.keys() == figure4_surfaces.COLOURS.keys() == figure4_surfaces.VIEWS.keys()


def test_figure5(bench):
    assert bench.run("fu2014-figure5", "--backend", "host") == 0
    image = matplotlib.image.imread(bench.file("figure5.smoke.png"))[..., :3]
    left, right = image[:, : image.shape[1] // 2], image[:, image.shape[1] // 2 :]
    assert share(left, figure5_cross_section.INSIDE) > 0.05 and share(right, figure5_cross_section.INSIDE) > 0.1
    assert share(left, figure5_cross_section.OUTSIDE) > 0.2 and share(right, figure5_cross_section.OUTSIDE) < 0.1
    values = {row["metric"]: float(row["value"]) for row in bench.rows("figure5.smoke.csv")}
    assert values["cut_area"] == pytest.approx(16, rel=1e-4) and values["volume"] == pytest.approx(64, rel=1e-9)
    assert 15 < values["volume_fraction"] < 25
