"""``repro figures`` draws what is stored, in every format, without measuring."""

import json
import shutil

import pytest

from repro.cache.store import content, write_packed
from repro.cli import main
from repro.judge import spread, verify
from repro.judge.verify import LIST, WRONG
from repro.model import DONE, Skip
from repro.show import redraw as redrawing


@pytest.fixture
def measured(laboratory, capsys):
    laboratory.has_run("table1")
    capsys.readouterr()
    return laboratory


def figures(laboratory, *arguments):
    return main(["figures", "--results", str(laboratory.results), *arguments])


def results_of(laboratory):
    from repro.show.measurements import measurements

    return measurements(laboratory.results, ["demo2020-table1"])[0].results()


def test_figures_are_drawn_again_without_measuring(measured, capsys):
    drawn = measured.file("table1.smoke.png")
    before = drawn.read_bytes()
    assert not measured.file("table1.smoke.svg").exists()
    traces = measured.traces()
    drawn.unlink()
    assert figures(measured) == 0
    assert drawn.read_bytes() == before and "<svg" in measured.file("table1.smoke.svg").read_text()
    assert measured.file("table1.smoke.pdf").read_bytes().startswith(b"%PDF")
    assert measured.traces() == traces
    assert "1 figure drawn" in capsys.readouterr().err


def test_tables_know_the_cells_whose_samples_were_disturbed_to_the_end(measured):
    path = measured.file("table1.smoke.samples.json.xz")
    archive = json.loads(content(path.with_suffix("")))
    assert results_of(measured).disturbed == frozenset()
    first, second, *_ = (cell for cell in archive["cells"] if cell["status"] == DONE)
    first["notes"], second["notes"] = ["sum was disturbed, and not to be had otherwise: steal"], ["another note"]
    write_packed(path.with_suffix(""), json.dumps(archive).encode())
    assert results_of(measured).disturbed == {(first["case"], first["method"], first["backend"])}


def test_packed_rows_are_read_by_every_command_and_by_pandas(measured, capsys, monkeypatch):
    import pandas

    table = measured.file("table1.smoke.csv")
    before, packed = table.read_bytes(), table.with_name("table1.smoke.csv.xz")
    results_before = results_of(measured).frame
    assert figures(measured, "--pack") == 0 and not table.exists()
    assert "the rows of 1 artefact compressed" in capsys.readouterr().err
    assert len(pandas.read_csv(packed)) == len(results_before)
    assert results_of(measured).frame.equals(results_before)
    assert [each for each in verify.verify(measured.results).problems if "table1" in each.file and each.kind == WRONG
            and LIST not in each.what] == []  # fmt: skip
    write_packed(table, before.replace(b",sum,", b",mus,"))
    assert any("is not the one" in each.what for each in verify.verify(measured.results).problems)
    write_packed(table, before)
    shutil.rmtree(measured.results / "bench" / ".cells")  # as in a clone
    traces = measured.traces()
    assert measured.run("table1", "--only", "method=loop") == 0 and measured.traces() == traces
    assert table.exists() and not packed.exists()


def test_what_lies_beside_a_figure_is_made_again_or_skipped_with_the_reason(measured, capsys, monkeypatch, tmp_path):
    from fakelab.demo2020 import table1_sums

    page, notes = measured.file("table1.smoke.md"), measured.file("table1.smoke.notes.txt")
    notes.write_text("of before")
    monkeypatch.setattr(table1_sums, "extras", lambda results: {".notes.txt": results.machine.encode()}, raising=False)
    assert figures(measured, "--output", str(tmp_path / "out")) == 0 and notes.read_text() == "of before"
    assert (tmp_path / "out" / "bench" / "demo2020" / notes.name).read_text() == "bench"
    assert figures(measured) == 0 and notes.read_text() == "bench"
    assert "1 figure drawn, 1 file beside\n" in capsys.readouterr().err

    def lacking(results):
        raise Skip("no cuda device")

    notes.write_text("of before")
    page.write_text(page.read_text().replace("# demo2020", "# of before, demo2020", 1))
    monkeypatch.setattr(table1_sums, "extras", lacking)
    assert figures(measured) == 0 and notes.read_text() == "of before"
    said = capsys.readouterr().err
    assert "demo2020-table1 on bench: skipped, because no cuda device" in said and "1 figure drawn; the pages" in said
    monkeypatch.setattr(table1_sums, "extras", lambda results: {".notes.txt": results.nothing})
    assert figures(measured) == 1 and "demo2020-table1 on bench: AttributeError" in capsys.readouterr().err
    monkeypatch.setattr(table1_sums, "tables", lambda results: [])  # as in a run, of which it is not asked then
    assert figures(measured) == 0 and notes.read_text() == "of before"


def test_the_cores_are_those_of_the_manifest(measured, monkeypatch):
    from fakelab.demo2020 import table1_sums

    asked = []
    monkeypatch.setattr(table1_sums, "tables", lambda results: asked.append(results.cores) or [])
    path = measured.file("table1.smoke.json")
    assert measured.run("table1") == 0
    manifest = json.loads(path.read_text())
    assert asked == [manifest["machine"]["cores"]]
    manifest["machine"]["cores"] = 77
    path.write_text(json.dumps(manifest))
    assert figures(measured) == 0 and asked[-1] == 77


def test_tables_are_written_again_and_the_rest_stays(measured, capsys, monkeypatch):
    from fakelab.demo2020 import table1_sums

    path = measured.file("table1.smoke.md")
    before, tables = path.read_text(), table1_sums.tables
    assert figures(measured) == 0 and path.read_text() == before
    assert "pages" not in capsys.readouterr().err
    monkeypatch.setattr(table1_sums, "tables", lambda results: tables(results)[:1] * 2)
    assert figures(measured) == 0
    first, *rest = tables(results_of(measured))
    title, after = before.partition("\n")[0], before[before.index("![") :]
    told = path.read_text()
    assert told.startswith(title) and told.endswith(after)
    assert told.count(first.to_markdown().strip()) == 2 and not any(each.to_markdown().strip() in told for each in rest)
    assert "the pages of 1 artefact have changed" in capsys.readouterr().err


def test_a_page_has_the_title_of_today_above_it_and_for_each_picture(measured, capsys):
    path, rows = measured.file("table1.smoke.md"), measured.file("table1.smoke.csv").read_bytes()
    module, before = measured.paper / "table1_sums.py", path.read_text()
    other = "![Sums by two methods](table1.smoke.wave.png)\n\n## "
    path.write_text(before.replace("## ", other, 1))
    module.write_text(module.read_text().replace("Sums by two methods", "Sums by \\\\1 and another", 1))
    assert figures(measured) == 0 and "the pages of 1 artefact have changed" in capsys.readouterr().err
    wanted = before.replace("## ", other, 1).replace("Sums by two methods", r"Sums by \1 and another")
    assert path.read_text() == wanted and wanted.count("another") == 3
    assert measured.file("table1.smoke.csv").read_bytes() == rows
    assert figures(measured) == 0 and "pages" not in capsys.readouterr().err


def test_a_pdf_is_the_same_bytes_again_with_fonts_that_journals_take(measured):
    path = measured.file("table1.smoke.pdf")
    contents = []
    for _ in range(2):
        assert figures(measured, "--format", "pdf") == 0
        contents.append(path.read_bytes())
        path.unlink()
    assert contents[0] == contents[1]
    assert b"/Type3" not in contents[0] and b"CreationDate" not in contents[0]


def test_figures_go_to_another_folder(measured, tmp_path):
    measured.file("table1.smoke.png").unlink()
    text = measured.file("table1.smoke.md")
    text.write_text("# of my own\n")
    assert figures(measured, "--output", str(tmp_path / "out"), "--format", "png") == 0
    assert text.read_text() == "# of my own\n"
    assert [path.name for path in (tmp_path / "out/bench/demo2020").iterdir()] == ["table1.smoke.png"]
    assert not measured.file("table1.smoke.png").exists()


def test_an_older_picture_goes_where_there_is_no_figure_any_longer(measured, capsys, monkeypatch, tmp_path):
    from fakelab.demo2020 import table1_sums

    other = measured.file("table10.smoke.png")
    other.write_text("of another artefact")
    text = measured.file("table1.smoke.md")
    assert figures(measured) == 0 and figures(measured, "--output", str(tmp_path / "out")) == 0
    pictures = [measured.file(f"table1.smoke.{each}") for each in ("png", "svg", "pdf")]
    pictures += [tmp_path / "out" / "bench" / "demo2020" / path.name for path in pictures]
    before = text.read_text()
    assert all(path.exists() for path in pictures) and "](table1.smoke.png)" in before
    monkeypatch.setattr(table1_sums, "plot", lambda results: None)
    assert figures(measured, "--format", "png") == 0 and figures(measured, "--output", str(tmp_path / "out")) == 0
    assert not any(path.exists() for path in pictures) and other.exists()
    told = text.read_text()
    (line,) = [line for line in before.splitlines() if line.startswith("![")]
    assert told == before.replace(f"{line}\n\n", "") and "0 figures drawn" in capsys.readouterr().err


def test_a_run_that_draws_none_removes_the_older_picture(measured, monkeypatch):
    from fakelab.demo2020 import table1_sums

    assert figures(measured) == 0
    drawn, plot = [measured.file(f"table1.smoke.{each}") for each in ("png", "svg", "pdf")], table1_sums.plot
    for made in (lambda results: None, lambda results: object()):  # none, and one that cannot be saved
        monkeypatch.setattr(table1_sums, "plot", plot)
        assert measured.run("table1") == 0 and drawn[0].exists()
        monkeypatch.setattr(table1_sums, "plot", made)
        measured.run("table1")
        assert not any(path.exists() for path in drawn)


def test_a_figure_that_cannot_be_drawn_is_said_and_hides_no_other(measured, capsys, monkeypatch):
    from fakelab.demo2020 import table1_sums

    def fail(results):
        raise ValueError("on purpose")

    monkeypatch.setattr(table1_sums, "plot", fail)
    assert figures(measured) == 1
    assert "demo2020-table1 on bench: ValueError: on purpose" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--format", "gif"), ("--machine", "nobody"), ("table99",)])
def test_wrong_names_are_refused(measured, arguments):
    assert figures(measured, *arguments) == 2


def test_rows_follow_the_rule_for_intervals_of_today_by_the_samples_beside_them(measured, capsys, monkeypatch):
    """As verify does, which computes them from the bottom; the samples stay, and so do rows that the rule leaves."""

    def wrong():
        found = verify.verify(measured.results).problems
        return [each for each in found if "table1" in each.file and each.kind == WRONG and LIST not in each.what]

    files = [measured.file(f"table1.smoke{suffix}") for suffix in (".csv", ".json", ".samples.json.xz")]
    before = [each.read_bytes() for each in files]
    old = results_of(measured).frame.set_index(["case", "method", "metric"])
    assert figures(measured, "--format", "png") == 0 and [each.read_bytes() for each in files] == before
    assert "intervals" not in capsys.readouterr().err

    seen, retell = [], redrawing.retell
    monkeypatch.setattr(redrawing, "retell", lambda artefact, of: (seen.append(of.frame), retell(artefact, of))[1])
    wider = spread.Prior(3 * spread.WITH_HOST.scale, spread.WITH_HOST.freedom)
    with monkeypatch.context() as patched:
        patched.setattr(spread, "WITH_HOST", wider)
        assert any("by its samples" in each.what for each in wrong())
        assert figures(measured, "--format", "png") == 0 and not wrong()
    assert "the intervals of 1 artefact have changed" in capsys.readouterr().err
    assert [each.read_bytes() == held for each, held in zip(files, before, strict=True)] == [False, False, True]
    assert json.loads(files[1].read_text())["summarised"]["command"] == "repro figures"
    new = results_of(measured).frame.set_index(["case", "method", "metric"])
    assert seen[-1].set_index(["case", "method", "metric"])["ci_high"].equals(new["ci_high"])  # pages have them at once
    timed = new["n"].notna()
    assert timed.any()
    assert (new["ci_high"] > old["ci_high"])[timed].all() and (new["ci_low"] < old["ci_low"])[timed].all()
    assert new.drop(columns=["ci_low", "ci_high"]).equals(old.drop(columns=["ci_low", "ci_high"]))

    traces = measured.traces()  # a run that measures nothing writes them by the rule as well
    assert measured.run("table1") == 0 and measured.traces() == traces
    assert not wrong() and results_of(measured).frame.set_index(["case", "method", "metric"]).equals(old)


@pytest.mark.parametrize("of_the_rows", [True, False])
def test_edited_files_are_refused_and_no_manifest_vouches_for_them(measured, capsys, monkeypatch, of_the_rows):
    """No change of the rule for intervals excuses them: its new digest would pass the edit off as a run's."""
    path = measured.file("table1.smoke.csv" if of_the_rows else "table1.smoke.samples.json.xz")
    others = [measured.file(f"table1.smoke{suffix}") for suffix in (".json", ".md", ".png")]
    if of_the_rows:
        path.write_bytes(path.read_bytes().replace(b",done,", b",done,edited", 1))
    else:
        name = path.with_suffix("")
        write_packed(name, content(name).replace(b'"disturbed": 0', b'"disturbed": 1', 1))
    held = path.read_bytes()
    before = [each.read_bytes() for each in others]
    monkeypatch.setattr(spread, "WITH_HOST", spread.Prior(3 * spread.WITH_HOST.scale, spread.WITH_HOST.freedom))
    assert figures(measured, "--format", "png") == 1
    assert (
        f"{path.name.removesuffix('.xz')} is not the one that its manifest was written with" in capsys.readouterr().err
    )
    assert [each.read_bytes() for each in others] == before and path.read_bytes() == held
    traces = measured.traces()  # the cells are still kept, so that a run writes the files without measuring
    assert measured.run("table1") == 0 and measured.traces() == traces and path.read_bytes() != held
    assert figures(measured, "--format", "png") == 0
