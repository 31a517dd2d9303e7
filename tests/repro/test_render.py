"""Text of an artefact's Markdown file beside its tables, and its manifest's facts of its cells."""

import pandas

from repro import machine
from repro.cache.store import read_json
from repro.cli import main
from repro.model import Cell
from repro.run import manifest
from repro.show import provenance, render, results
from repro.show.render import FEWER_ROUNDS, MEASURED_BEFORE, NO_TABLE, _missing, as_markdown
from repro.show.results import Results
from repro.show.tables import Table


def record(case, *notes, method="serial", backend="host"):
    return {"identity": {"case": case, "method": method, "backend": backend}, "notes": list(notes)}


def test_a_note_on_some_cases_names_them():
    lost, all_lost = "serial on host: lost its cores", "coo on host: lost its cores"
    records = [record("a", lost), record("b"), record("c", lost, lost), record("b", all_lost, method="coo")]
    assert provenance.notes(records) == [all_lost, f"{lost} (a, c)"]


def test_what_is_missing_is_named_by_methods_or_cases_where_few():
    def tasks(methods, cases, backend):
        return [(Cell(case, method, backend), "never run") for case in cases for method in methods]

    assert _missing(
        [*tasks("abcd", ["tri"], "cuda"), *tasks("ab", "wxyz", "host"), *tasks("abcd", "wxyz", "openmp")]
    ) == ["- never run: 4 on cuda (tri), 8 on host (a, b), 16 on openmp"]


def test_a_table_without_a_line_is_not_written_and_none_at_all_is_said():
    whole, empty = (Table(name, pandas.DataFrame(rows, columns=["Mesh"])) for name, rows in (("A", ["b"]), ("C", [])))
    assert as_markdown([empty, whole]) == ["**A**\n\n| Mesh |\n| --- |\n| b |"]
    assert as_markdown([empty]) == [NO_TABLE]


def test_cells_name_the_host_that_measured_them(laboratory):
    assert laboratory.run("table1", "--only", "backend=host") == 0
    cells = read_json(laboratory.file("table1.smoke.json"))["cells"]
    assert {cell["revision"]["host"] for cell in cells} == {machine.host()}


def test_the_tables_of_a_run_have_what_is_stored_at_other_scales(laboratory):
    table = laboratory.paper / "table1_sums.py"
    scales = "[each and each.scale for each in map(results.at, ('small', 'smoke', 'large'))]"
    table.write_text(table.read_text().replace('Table("Sums"', f'Table(f"Sums, {{{scales}}}"'))
    for scale in ("small", "smoke"):
        assert laboratory.run("table1", "--only", "backend=host", "--scale", scale) == 0
    assert "**Sums, ['small', 'smoke', None]**" in laboratory.file("table1.smoke.md").read_text()


def test_cells_that_stand_and_lack_rounds_are_apart_from_those_that_do_not_stand(laboratory):
    def headings():
        page = laboratory.file("table1.smoke.md").read_text()
        return [name for name in (FEWER_ROUNDS, MEASURED_BEFORE) if f"## {name}\n\n- " in page], page

    assert laboratory.run("table1") == 0
    assert laboratory.run("table1", "--only", "case=first", "--rounds", "2") == 0
    (found, page) = headings()
    assert found == [FEWER_ROUNDS] and f"## {FEWER_ROUNDS}\n\n- 1 of 2 rounds: " in page
    source = laboratory.paper / "adding.py"
    source.write_text(source.read_text().replace("sum(numbers)", "sum(list(numbers))"))
    assert laboratory.run("table1", "--only", "case=first") == 0
    assert headings()[0] == [MEASURED_BEFORE]


def test_a_page_names_each_of_several_hosts_with_its_back_ends():
    pairs = [("two", "cuda"), ("one", "cuda"), ("two", "cuda"), ("two", "host"), ("", "openmp"), (None, "openmp")]
    told = "- hosts: one measured cuda; two measured cuda, host"
    assert provenance.hosts_that_measured(pairs) == [told] and provenance.hosts_that_measured(pairs[1:2]) == []


def test_a_run_says_whose_samples_were_disturbed(laboratory, monkeypatch, capsys):
    note = "sum of loop on host was disturbed, and not to be had otherwise: steal"
    monkeypatch.setattr(provenance, "notes", lambda records: ["a note on something else", note])
    assert laboratory.run("table1", "--only", "backend=host") == 0
    err = " ".join(capsys.readouterr().err.split())
    assert f"demo2020-table1: {note}" in err and "demo2020-table1: a note" not in err


def test_tables_of_a_run_know_which_cells_were_disturbed(laboratory, monkeypatch):
    made = []
    monkeypatch.setattr(render, "Results", lambda *given: made.append(Results(*given)) or made[-1])
    monkeypatch.setattr(results, "was_disturbed", lambda notes: True)
    assert laboratory.run("table1", "--only", "backend=host") == 0
    assert made[-1].disturbed == {(row["case"], row["method"], "host") for row in made[-1].done.to_dict("records")}


def test_a_page_names_its_hosts_where_several_measured(laboratory, monkeypatch):
    def page():
        return laboratory.file("table1.smoke.md")

    revision = manifest.revision
    for host, more, told in (("b", [], ""), ("a", ["--rounds", "2"], "- hosts: a measured host; b measured host\n")):
        monkeypatch.setattr(manifest, "revision", lambda root, host=host: {**revision(root), "host": host})
        assert laboratory.run("table1", "--only", "case=first", "--backend", "host", "--in-process", *more) == 0
        assert ("- hosts: " in page().read_text()) == bool(told) and told in page().read_text()
    whole = page().read_text()
    for without in (whole.replace(told, ""), whole.replace(told, "- hosts: c measured cuda\n")):
        page().write_text(without)
        assert main(["figures", "--results", str(laboratory.results), "--format", "png"]) == 0
        assert page().read_text() == whole
