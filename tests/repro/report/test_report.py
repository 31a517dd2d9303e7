"""The report is one small file that loads nothing, and holds every artefact with its state, results and reasons."""

import base64
import csv
import dataclasses
import gzip
import io
import json
import re
from html.parser import HTMLParser

import pytest

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from repro import published
from repro.cli import main
from repro.judge import claims, consistency
from repro.model import ReproError
from repro.show.measurements import measurements
from repro.site.report import build, files, roofline
from repro.site.report import page as report


class Outline(HTMLParser):
    """Ids, elements by tag with their attributes, and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self.silent = [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.silent += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.silent -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.silent:
            self.words.append(data)

    def all(self, tag, **attributes):
        return [
            found for name, found in self.elements
            if name == tag and all(found.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]  # fmt: skip

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="session")
def page(whole):
    return whole


def carried(page):
    return json.loads(gzip.decompress(base64.b64decode(re.search(r'id="carried">(.*?)</script>', page, re.S)[1])))


def filled(page):
    """The page as its script makes it: the panels in their places, with their pictures."""
    inside = carried(page)

    def panel(found):
        html = inside["panels"][found[2]]
        return found[1] + html.replace("<img ", f'<img src="{inside["pictures"].get(found[2])}" ')

    return re.sub(r'(data-panel="([^"]+)"[^>]*>)(?=</section>)', panel, page)


@pytest.fixture(scope="session")
def outline(page):
    return Outline(filled(page))


def tile_of(outline, artefact):
    (found,) = outline.all("details", id=artefact)
    return found


def test_every_artefact_of_the_papers_is_there_with_its_state(outline):
    ids = [entry["id"] for key in published.papers() for entry in published.artefacts(key)]
    assert len(ids) == len(set(ids)) == 52
    shown = {found["id"]: found["data-state"] for found in outline.all("details", class_="artefact")}
    assert set(ids) <= shown.keys()
    assert shown["fu2014-table2"] == "measured" and shown["zhang2013-figure8"] == "smaller"
    assert shown["zhang2013-table5"] == "unmeasured"
    assert {state for id, state in shown.items() if not id.startswith(("fu2014-table2", "zhang"))} <= {
        "unmeasured", "unwritten",
    }  # fmt: skip
    assert {found["href"] for found in outline.all("a")} >= {f"#{id}" for id in ids}


def test_what_is_not_measured_says_why(outline):
    assert "skipped on laptop: no <b>licence</b> for it" in outline.text
    assert "never run; it takes about" in outline.text
    assert "cells: 4 of 6 done, 2 skipped" in outline.text


def test_markup_of_results_is_shown_and_not_obeyed(page, outline):
    assert "<script>alert(1)</script>" in outline.text
    page = filled(page)
    assert "<script>alert(1)" not in page and "<b>licence" not in page


def test_rows_are_carried_as_they_are(page, results):
    rows = carried(page)["rows"]
    for key, path in {
        "big-gpu-fu2014-table2.large": "big-gpu/fu2014/table2.large.csv",
        "laptop-zhang2013-figure8": "laptop/zhang2013/figure8.csv",
    }.items():
        length = max(map(len, rows[key]))
        whole = [column if len(column) == length else [column[0], *[column[1]] * (length - 1)] for column in rows[key]]
        assert whole != rows[key] and [column[0] for column in rows[key] if len(column) == 2 < length]
        with (results / path).open(newline="") as stream:
            assert [list(line) for line in zip(*whole, strict=True)] == list(csv.reader(stream))


@pytest.mark.parametrize("is_papers", [True, False])
def test_the_papers_columns_stand_where_the_sizes_are_the_papers(is_papers):
    table = "**T**\n\n| Mesh | t, ours | t, paper |\n| --- | ---: | ---: |\n| a\\|b | 1 | 2 |"
    text = f"# a\n\n{table}\n\n- A note.\n- The paper's columns."
    (part,) = files.sections(text, is_papers)
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", part.html)
    assert cells == (["Mesh", "t, ours", "t, paper", "a|b", "1", "2"] if is_papers else ["Mesh", "t, ours", "a|b", "1"])
    assert "A note." in part.html and ("The paper" in part.html) is is_papers and part.html.count("<table>") == 1


def test_a_panel_says_where_its_numbers_come_from(outline):
    assert "0123456789+" in outline.text and "command: x" in outline.text
    assert "results/big-gpu/fu2014/table2.large.{csv,json,samples.json}*" in outline.text


def test_nothing_is_loaded(outline):
    for tag, name in (("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")):
        assert all(found.get(name, "data:").startswith("data:") for found in outline.all(tag))
    assert all(found["src"].startswith("data:image/webp;") for found in outline.all("img"))
    assert all(found["href"].startswith(("#", "data:")) for found in outline.all("a"))


def test_it_can_be_read_without_seeing_it(outline):
    assert outline.all("html")[0]["lang"] == "en"
    assert all(len(outline.all(tag)) == 1 for tag in ("main", "header", "footer", "h1", "title"))
    ids = [found["id"] for _, found in outline.elements if "id" in found]
    assert len(ids) == len(set(ids))
    assert all("alt" in found for found in outline.all("img"))
    for _, found in outline.elements:
        for name in ("aria-labelledby", "aria-controls"):
            assert name not in found or found[name] in ids
    assert all(
        found.get("aria-label") and found.get("tabindex") == "0" for found in outline.all("div", class_="scroll")
    )
    assert all(found.get("aria-live") == "polite" for found in outline.all("p", role="status"))
    fragments = {found["href"][1:] for found in outline.all("a") if found["href"].startswith("#")}
    assert fragments <= set(ids)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [r":root \{(.*?)\}", r":root\.dark \{(.*?)\}"])
def test_colours_have_contrast_enough(page, theme):
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", re.search(theme, page, re.S)[1]))
    for ground in ("ground", "raised", "wash"):
        for ink in ("ink", "soft", "accent"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for mark in ("good", "half", "bad", "none", "strong-line"):
            assert contrast(colours[mark], colours[ground]) >= 3, (mark, ground)


def test_claims_stand_by_their_artefacts_and_in_the_ledger(page, outline, judged):
    known = claims.claims()
    assert f"{len(known)} of {len(known)} shown" in outline.text
    assert len(outline.all("details", class_="claim")) == len(known)
    verdict = next(each for each in judged if "fu2014-table2" in each.claim.artefacts)
    article = page[page.index('id="fu2014-table2"') :].partition("</details>\n")[0]
    assert f'href="#claim-fu2014-{verdict.id}">{verdict.label}</a>' in article
    cited = next(each for each in judged if each.label == "cited")
    assert f'id="claim-{cited.paper}-{cited.id}" data-paper="{cited.paper}" data-state="cited"' in page
    assert "<option>cited</option>" in page


def test_the_answers_come_first(page, outline):
    assert page.index('id="answers"') < page.index("best kernels") < page.index('id="claims"') < page.index('id="wall"')
    assert "the effect goes the same way but is smaller" in outline.text


def test_kernels_stand_against_bound_and_rivals_on_every_machine(page, outline):
    first, second = (part.partition("</details>")[0] for part in page.split('<details class="kernels"')[1:])
    assert first.startswith(" open") and "big-gpu" in first and "laptop" in second
    # The slower of two meshes, half of the bound for `patch`, and no baseline in these results.
    patch, at_large = [line for line in first.split("<tr>") if "<code>patch</code>" in line]
    assert "scale <code>large</code>" in at_large and "scale" not in patch
    assert 'href="#fu2014-table2"' in patch and "heart" in patch and "no rival in this run" in patch
    assert "200\u00a0µs" in patch and "50\u00a0%, why (H200)" in patch
    assert "opencl, scale <code>small</code>" in second and "Not measured there" in second
    assert outline.all("section", id="kernels") and outline.all("a", href="#kernels")


def test_findings_are_those_of_the_papers(outline):
    found = [finding for key in published.papers() for finding in consistency.check(key)]
    assert found
    assert all(finding.number.place in outline.text for finding in found)


def test_points_of_the_roofline_are_the_rows(results):
    found = measurements(results, ["fu2014-table2"])
    (best,) = [
        point for point in roofline.points(found)
        if (point["machine"], point["scale"]) == ("big-gpu", "paper")
        and (point["case"], point["method"]) == ("regular", "patch")
    ]  # fmt: skip
    assert best["intensity"] == pytest.approx(0.3)
    assert best["rate"] == pytest.approx(3e7 / 1e-4 / 1e9) and best["bandwidth"] == pytest.approx(1e8 / 1e-4 / 1e9)
    assert best["bound"] == pytest.approx(0.5)  # 0.1 GB at 2 TB/s take half of it
    assert best["device"] == "Big GPU"


def test_a_measurement_that_two_artefacts_show_is_one_point(results):
    found = measurements(results, ["fu2014-table2"])
    again = [dataclasses.replace(each, artefact="fu2014-table5") for each in found]
    shown = roofline.points([*found, *again])
    assert shown and shown == roofline.points(found)


def test_roofs_are_the_measured_ceilings(results):
    shown = roofline.points(measurements(results, ["fu2014-table2"]))
    lines = [line for line in roofline.roofs(results, shown) if line["machine"] == "big-gpu"]
    double = [(line["intensity"], line["rate"]) for line in lines if line["roof"].startswith("double")]
    assert double[0] == (pytest.approx(0.15), pytest.approx(600)) and double[1] == (pytest.approx(7.5), 30000)
    assert double[2][1] == 30000
    assert max(line["rate"] for line in lines if line["roof"].startswith("single")) == 60000


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ReproError, match="nowhere"):
        build(tmp_path / "nowhere")


def test_a_damaged_manifest_is_said(results, tmp_path):
    folder = tmp_path / "bench/fu2014"
    folder.mkdir(parents=True)
    (folder / "table2.csv").write_bytes((results / "laptop/fu2014/table2.csv").read_bytes())
    (folder / "table2.json").write_text('{"cells": [')
    with pytest.raises(ReproError, match=r"table2\.json is damaged"):
        build(tmp_path)


def test_pictures_become_smaller(tmp_path):
    from PIL import Image

    path = tmp_path / "figure.png"
    gradient = Image.linear_gradient("L").resize((3000, 1500))
    Image.merge("RGB", [gradient, gradient.transpose(0), gradient.rotate(180)]).save(path)
    made = base64.b64decode(files.picture(path).removeprefix("data:image/webp;base64,"))
    assert len(made) < 0.6 * path.stat().st_size
    assert Image.open(io.BytesIO(made)).size == (1000, 500)


def test_the_command_writes_the_file(results, tmp_path, page, capsys):
    target = tmp_path / "page.html"
    assert main(["report", "--results", str(results), "--output", str(target)]) == 0
    assert target.read_text() == page  # the same results give the same page
    said = capsys.readouterr().err.splitlines()
    assert "page.html" in said[-1] and [line for line in said if line.endswith("...")] == said[:-1] != []


def test_a_file_that_cannot_be_written_is_said_before_the_page_is_made(results, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("repro.site.report.build", None)
    (tmp_path / "file").touch()
    assert main(["report", "--results", str(results), "--output", str(target := tmp_path / "file/page.html")]) == 1
    assert capsys.readouterr().err == f"repro: cannot write {target}: Not a directory\n"


def test_ours_stand_beside_the_published_with_ratio_and_share(results):
    (best,) = [each for each in measurements(results, ["fu2014-table2"]) if each.key == "big-gpu-fu2014-table2"]
    count, table = report._beside(best)
    printed = published.load("fu2014-table2").get("regular", "patch", "assembly")
    (line,) = [line for line in table.split("<tr>") if "<td>regular</td>" in line and ">patch<" in line]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", line)
    ratio = float(cells[9])
    assert cells[4:9] == ["s", "1.00e-04", "9.80e-05 to 1.03e-04", "0.0298", printed.place]
    assert ratio == pytest.approx(1e-4 / printed.value, rel=5e-3) and cells[10] == "50 %"
    assert count == table.count("<tr>") - 1 and ">ring<" not in table  # the paper has no such method


def test_places_of_measurements(outline):
    assert tile_of(outline, "fu2014-table2")["data-places"] == "big-gpu/cuda laptop/opencl"
    panels = [found["data-panel"] for found in outline.all("section", class_="panel")]
    assert panels[:1] == ["big-gpu-fu2014-table2"] or "big-gpu-fu2014-table2" in panels
    ours = [panel for panel in panels if panel.endswith(("fu2014-table2", "table2.large"))]
    assert ours == ["big-gpu-fu2014-table2", "big-gpu-fu2014-table2.large", "laptop-fu2014-table2"]
