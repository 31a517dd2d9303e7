"""A key is of what a cell runs: editing that voids the cell, and editing anything else does not."""

import json
import tomllib

import pytest

from repro.cache import code, reach
from repro.run import protocol, timing
from repro.site.report.files import sections

TABLE, ADDING = "table1_sums.py", "adding.py"


def edit(laboratory, name, old, new):
    path = laboratory.paper / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def void(laboratory):
    return {name: why for name, why in laboratory.reasons().items() if why and "cuda" not in name}


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        (TABLE, '"""Sums by two methods.', '"""Sums by methods.', ""),  # the title
        (TABLE, "figsize=(2, 2)", "figsize=(3, 2)", ""),  # the plot
        (TABLE, 'Table("Sums"', 'Table("More sums"', ""),
        (ADDING, "    return sum(numbers)", "    # in order\n    return sum(numbers)", ""),
        (ADDING, "return sum(numbers)", "return sum(list(numbers))", "fakelab/demo2020/adding.py changed"),
        (TABLE, "bytes=8 * len", "bytes=4 * len", "fakelab/demo2020/table1_sums.py changed"),
        (TABLE, 'os.environ.get("FAKELAB_RAISE")', 'os.environ.get("FAKELAB_FALL")',
         "fakelab/demo2020/table1_sums.py changed"),
    ],
)  # fmt: skip
def test_what_an_edit_voids(laboratory, name, old, new, why):
    laboratory.has_run("table1")
    edit(laboratory, name, old, new)
    assert set(void(laboratory).values()) == ({why} if why else set())


def test_constants_count_that_code_names_and_no_others(laboratory):
    edit(laboratory, ADDING, "def total", "FIRST, SECOND, MORE = 0, 0, []\nUNUSED = 1\nMORE.append(0)\n\n\ndef total")
    edit(laboratory, ADDING, "return sum(numbers)", "return sum(numbers, FIRST)")
    assert laboratory.run("table1") == 0
    edit(laboratory, ADDING, "UNUSED = 1", "UNUSED = 2")
    assert not void(laboratory)
    for before, after in (("= 0, 0, []", "= 0, 7, []"), ("append(0)", "append(1)")):
        edit(laboratory, ADDING, before, after)
        assert set(void(laboratory).values()) == {"fakelab/demo2020/adding.py changed"}
        edit(laboratory, ADDING, after, before)


KEPT = """
import functools
from repro.keeping import kept

def deep():
    return 0

@functools.cache
def cached():
    return deep()

def low():
    return 0

@kept(lambda: 1)
def once():
    return low()

def total(numbers):
    return sum(numbers, cached() + once())
"""


def test_a_cell_depends_on_what_an_earlier_one_has_kept(laboratory):
    """The same cells first and last in a process have the same keys."""
    path = laboratory.paper / ADDING
    path.write_text(path.read_text().replace("def total", "def unused") + KEPT)
    assert laboratory.run("table1", "--only", "backend=host") == 0
    found = [
        json.loads(path.read_text())["key"]["code"] for path in laboratory.cell_files() if "loop-host" in path.name
    ]
    assert len(found) == 3 and found[0] == found[1] == found[2]
    assert {"deep", "cached", "low", "once", "total"} <= set(found[0]["fakelab/demo2020/adding.py"]["names"])
    assert "unused" not in found[0]["fakelab/demo2020/adding.py"]["names"]


HOLDING = """
from functools import cached_property

class Held:
    def __init__(self):
        self.sizes = []

    @cached_property
    def size(self):
        return deep()

def deep():
    return 0
"""


def test_code_leads_to_files_beside_it_and_to_what_an_object_has_kept(tmp_path):
    """A program that a rival compiles, a table that is read, a property that an earlier cell asked for."""
    (tmp_path / "lab").mkdir()
    holding, reading, program = (tmp_path / "lab" / name for name in ("holding.py", "reading.py", "elements.c"))
    holding.write_text(HOLDING)
    reading.write_text('SOURCE = "elements.c"\n\n\ndef read(held):\n    return held.size, SOURCE\n')
    program.write_text("int main;")
    ran = {(reading, "read"), (holding, "Held.__init__")}
    found = reach.reached(tmp_path, ["lab"], ran)
    assert found - ran == {
        (reading, "SOURCE"), (program, ""),
        (holding, "Held.size"), (holding, "deep"), (holding, "import cached_property"),
    }  # fmt: skip
    was = code.hash_of(program)
    program.write_text("int other;")
    assert was and code.hash_of(program) != was


def test_a_name_that_is_imported_from_elsewhere_is_another(tmp_path):
    (tmp_path / "lab").mkdir()
    package, using, first = (tmp_path / "lab" / name for name in ("__init__.py", "using.py", "first.py"))
    package.write_text("from lab.first import solve\n")
    using.write_text("from lab import solve\n\n\ndef use():\n    return solve()\n")
    first.write_text("def solve():\n    return 0\n")
    (tmp_path / "lab" / "second.py").write_text(first.read_text())
    ran = {(using, "use"), (first, "solve")}
    found = reach.reached(tmp_path, ["lab"], ran)
    assert found - ran == {(using, "import solve"), (package, "import solve")}
    was = [code.hash_of(path, ["import solve"]) for path in (using, package)]
    package.write_text("from lab.second import solve\n")
    using.write_text(using.read_text().replace("lab import", "lab.second import"))
    assert not {code.hash_of(path, ["import solve"]) for path in (using, package)} & {*was}


def test_a_file_edited_while_it_was_loaded_is_not_taken_for_what_ran(laboratory):
    assert laboratory.run("table1", "--only", "case=first", "--only", "backend=host") == 0
    edit(laboratory, ADDING, "return sum(numbers)", "return sum(list(numbers))")  # it is loaded as it was
    assert laboratory.run("table1", "--only", "case=second", "--only", "backend=host") == 0
    key = json.loads(laboratory.cell("second-loop-host").read_text())["key"]
    assert key["code"]["fakelab/demo2020/adding.py"] == code.EDITED


def test_the_number_of_the_protocol_stands_for_the_code_that_takes_times():
    """Where this fails, decide: raise PROTOCOL if times may be others now, and note the new hash in either case."""
    assert code.protocol_hash(timing_folder(), protocol.TIMING) == protocol.CODE


def timing_folder():
    from pathlib import Path

    return Path(timing.__file__).parent


@pytest.mark.parametrize("is_right", [True, False])
def test_a_belief_is_tried_on_a_sample_and_lets_cells_stand(laboratory, capsys, is_right):
    from repro.cli import main

    assert laboratory.run("table1") == 0
    for path in laboratory.cell_files():  # times of a function of a microsecond agree by chance
        record = json.loads(path.read_text())
        for row in record["rows"]:
            if row["metric"] == "time":
                row["ci_low"], row["ci_high"] = 0.0, 1e9
        path.write_text(json.dumps(record))
    (laboratory.results / "bench" / "demo2020" / "table1.smoke.json").unlink()
    changed = "sum(list(numbers))" if is_right else "sum(numbers) + 0 * 1 or 1"
    edit(laboratory, ADDING, "return sum(numbers)", f"return {changed}")
    if not is_right:
        edit(laboratory, TABLE, 'run.value("sum", result[0])', 'run.value("sum", 2 * result[0])')
    assert len(void(laboratory)) == 6
    stored = {path: path.read_bytes() for path in laboratory.cell_files()}
    arguments = ["believe", "A list\nis as good", "table1", "--scale", "smoke", "--results", str(laboratory.results)]
    assert main(arguments) == (0 if is_right else 1)
    assert {path: path.read_bytes() for path in laboratory.cell_files()} == stored
    found = list((laboratory.results / "bench" / "beliefs").glob("*-a-list-is-as-good.toml"))
    assert len(found) == is_right and bool(void(laboratory)) != is_right
    if is_right:
        belief = tomllib.loads(found[0].read_text())
        capsys.readouterr()
        assert laboratory.run("table1") == 0
        line = "6 of 6 cells stand by a belief, “A list is as good”, of "
        page = laboratory.file("table1.smoke.md").read_text()
        assert main(["figures", "--results", str(laboratory.results), "--format", "png"]) == 0
        assert laboratory.file("table1.smoke.md").read_text() == page, "told again it has the same of it"
        assert page.count(line) == 2 and line in capsys.readouterr().out
        told = next(each for each in sections(page) if each.title == "Stands by a belief")
        assert "A list is as good" in told.html and found[0].name in told.html
        assert belief["reason"] == "A list\nis as good" and len({each["cell"] for each in belief["sample"]}) >= 5
        assert {each["name"] for each in belief["changes"]} == {"fakelab/demo2020/adding.py"}
        edit(laboratory, ADDING, "sum(list(numbers))", "sum(tuple(numbers))")
        assert len(void(laboratory)) == 6, "it holds for that change alone"
    else:
        assert "it matters" in capsys.readouterr().err
