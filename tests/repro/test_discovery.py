"""Artefacts are found by their place, and one that is broken hides no other."""

import sys

import pytest

from repro import discovery
from repro.model import ReproError

MODULE = (
    '"""Title of {0}."""\ndef cells(scale): ...\ndef measure(cell, run): ...\ndef tables(r): ...\ndef plot(r): ...\n'
)


@pytest.fixture
def folder(tmp_path):
    package = tmp_path / "lab"
    for place in ("b2020/figure10_late", "b2020/figure2_early", "b2020/table11_wide", "a2019/table3_setup"):
        path = package / f"{place}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MODULE.format(path.stem))
    return package


def test_order_ids_and_titles(folder):
    found = discovery.find(folder)
    assert [a.id for a in found] == ["a2019-table3", "b2020-table11", "b2020-figure2", "b2020-figure10"]
    assert found[0].title == "Title of table3_setup" and found[0].module == "lab.a2019.table3_setup"


def test_files_that_are_no_artefacts_are_left_out(folder):
    for name in ("common.py", "table_x.py", "tables1_x.py", "table1.py"):
        (folder / "a2019" / name).write_text(MODULE)
    (folder / "_private").mkdir()
    (folder / "_private" / "table1_x.py").write_text(MODULE)
    assert len(discovery.find(folder)) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def cells(:\n", "line 1"),
        ("\0", "null"),
        ('"""No measure."""\ndef cells(scale): ...\ndef tables(r): ...\ndef plot(r): ...\n', "no measure"),
        (MODULE + "MINUTES = {'small': f()}\n", "MINUTES"),
        (MODULE + "MINUTES = {'tiny': 1}\n", "tiny"),
    ],
)
def test_a_broken_module_is_reported_and_hides_no_other(folder, text, words):
    (folder / "a2019" / "table4_broken.py").write_text(text)
    found = discovery.find(folder)
    assert len(found) == 5
    (broken,) = [a for a in found if a.error]
    assert broken.id == "a2019-table4" and words in broken.error
    with pytest.raises(ReproError, match="a2019-table4 is broken"):
        discovery.load(broken)


def test_two_files_for_one_table_are_reported(folder):
    (folder / "a2019" / "table3_again.py").write_text(MODULE)
    (broken,) = [a for a in discovery.find(folder) if a.error]
    assert "table3_again.py" in broken.error and "table3_setup.py" in broken.error


def test_minutes_are_read_from_the_text(folder):
    (folder / "a2019" / "table3_setup.py").write_text(MODULE + 'MINUTES: dict = {"smoke": 0.5, "paper": 3}\n')
    assert discovery.find(folder)[0].minutes == {"smoke": 0.5, "paper": 3.0}


@pytest.mark.parametrize(
    ("names", "paper", "kind", "count"),
    [((), (), None, 4), (("b2020",), (), None, 3), (("table3", "figure2"), (), None, 2), ((), ("b2020",), "figure", 2)],
)
def test_selection(folder, names, paper, kind, count):
    assert len(discovery.select(names, paper, kind, folder)) == count


@pytest.mark.parametrize(
    ("names", "paper", "kind", "suggestion"),
    [
        (("a2019-tabel3",), (), None, "a2019-table3"), (("b2002",), (), None, "b2020"), ((), ("b2002",), None, "b2020"),
        ((), (), "tables", "table"), (("zzz",), (), None, "repro list"),
        (("tabel3",), ("b2020",), None, r"did you mean (?!.*(table3|a2019))"),
        (("a2019-table3",), ("b2020",), None, "no artefact matches"),
    ],
)  # fmt: skip
def test_unknown_names_suggest_the_nearest(folder, names, paper, kind, suggestion):
    with pytest.raises(discovery.UnknownName, match=suggestion):
        discovery.select(names, paper, kind, folder)


def test_listing_imports_no_artefact(laboratory):
    assert [a.id for a in discovery.find()] == ["demo2020-table1", "demo2020-figure2"]
    assert not [name for name in sys.modules if name.startswith("fakelab.")]


def test_an_import_that_fails_is_one_line(laboratory):
    path = laboratory.paper / "table1_sums.py"
    path.write_text("import no_such_module\n" + path.read_text())
    with pytest.raises(ReproError, match="demo2020-table1 cannot be imported: ModuleNotFoundError"):
        discovery.load(discovery.find()[0])
