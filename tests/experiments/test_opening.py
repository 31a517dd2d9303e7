"""Every artefact opens with its problem, the paper's equation and the call that is timed, in words that are true."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import experiments
from repro import discovery
from repro.cache.store import tables
from repro.rows import read_file

FOLDER = Path(experiments.__file__).parent
ARTEFACTS = discovery.find()
EQUATION = re.compile(
    r"^(?:Equations? \d+(?: (?:and|to) \d+)?|Equation, section [\d.]+): .*\S [=←≤] \S|^No equation: ", re.M
)
TIMED = re.compile(r"^Timed(?=[:,])", re.M)


def squeezed(text):
    return re.sub(r"\s", "", text)


@cache
def imported(path):
    """Return the files of experiments that a module of them imports, and these import, itself among them."""
    found, new = set(), [path]
    while new:
        found.add(path := new.pop())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "experiments":
                at = FOLDER.joinpath(*node.module.split(".")[1:])
                there = [at.with_suffix(".py"), *(at / f"{each.name}.py" for each in node.names)]
                new += [each for each in there if each.is_file() and each not in found]
    return found


def wrong(path):
    """Return what an artefact's docstring lacks, or says that its files do not have."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    found = [] if EQUATION.search(text) else ["no equation"]
    if len(TIMED.findall(text)) != 1:
        return [*found, "not one timed call"]
    timed, file, calls = text[TIMED.search(text).start() :], path, 0
    for quoted in re.findall(r"`([^`]*)`", timed):
        if quoted.endswith(".py"):
            file = FOLDER / quoted
            found += [] if file in imported(path) else [f"{quoted} is not imported"]
        elif "(" in quoted:
            calls += quoted.startswith("run.time(")
            source = re.sub(r'""".*?"""', "", file.read_text(encoding="utf-8"), flags=re.S)
            found += [] if squeezed(quoted).removesuffix(")") in squeezed(source) else [f"no {quoted} in {file.name}"]
    if (calls == 0) != timed.startswith("Timed: nothing;"):
        found.append("neither a call nor nothing")
    return found


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_an_artefact_has_its_equation_and_the_call_that_is_timed(artefact):
    assert wrong(artefact.path) == []


def test_where_nothing_is_timed_no_stored_row_has_samples():
    results = FOLDER.parent / "results"
    silent = [each for each in ARTEFACTS if "\nTimed: nothing;" in each.path.read_text(encoding="utf-8")]
    stored = [path for each in silent for path in tables(results, f"*/{each.paper}/{each.id.partition('-')[2]}")]
    assert 0 < len(silent) < 6 and [path for path in stored if read_file(path)["n"].notna().any()] == []


def test_other_words_than_the_code_has_are_found(tmp_path):
    path = FOLDER / "zhang2013" / "figure8_formats.py"
    text = path.read_text(encoding="utf-8")
    changes = {
        "no equation": ("Equation, section 3: y = A x.", "As ever."),
        "not one timed call": ("Timed, in", "It times, in"),
        "products.py is not imported": ("zhang2013/products.py", "fu2014/products.py"),
        "in products.py": ("packed.multiply(given, result)", "packed.multiply(x, result)"),
        "neither a call nor nothing": ('run.time("spmv", lambda: packed.multiply(given, result))', "a product"),
    }
    for what, change in changes.items():
        assert change[0] in text
        other = tmp_path / "figure8_formats.py"
        other.write_text(text.replace(*change), encoding="utf-8")
        assert any(what in each for each in wrong(other)), what
