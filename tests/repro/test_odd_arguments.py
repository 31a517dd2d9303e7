"""Odd arguments of every command: an answer, or a line that says what is wrong; never a traceback or a measurement."""

from pathlib import Path

import pytest
from typer.main import get_command

from repro.cli import app, main
from repro.model import COLUMNS

CHECKOUT = Path(__file__).resolve().parents[2]
ODD = (
    "", "--", "../..", "/dev/null", "a" * 5000, "табл2", "table2\nx", "*", "fu2014-table2;ls", "0", "-1", "1e999",
    "nan", "%s{}", "\x7f'", "NAME=", "=x",
)  # fmt: skip


def leaves(command, path=()):
    """The commands that do something, with the words that name them."""
    for name, found in command.commands.items():
        if hasattr(found, "commands"):
            yield from leaves(found, (*path, name))
        else:
            yield (*path, name), found


LEAVES = dict(leaves(get_command(app)))


@pytest.fixture(autouse=True)
def nothing_is_measured(laboratory, monkeypatch):
    """In a laboratory of small experiments, where a measurement would leave a trace."""
    monkeypatch.chdir(laboratory.folder)
    yield
    assert laboratory.traces() == []


def call(capsys, words):
    try:
        code = main(list(words))
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    assert code in (0, 1, 2), (words, code)
    assert "Traceback" not in said.err + said.out, words
    assert code == 0 or said.err.strip(), words
    return code


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_names(path, capsys):
    if path[:2] == ("data", "build") or "download" in path:
        pytest.skip("it builds what it is asked for; its options are tested below")
    for odd in ODD:
        if path == ("run",):
            call(capsys, [*path, "--dry-run", odd])
        else:
            call(capsys, [*path, odd])


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_options(path, capsys):
    """Each option that takes a value, with each odd one; a run is only planned."""
    for option in LEAVES[path].params:
        if option.param_type_name != "option" or option.is_flag:
            continue
        for odd in ODD:
            words = [*path, *(["--dry-run", "table1"] if path == ("run",) else []), option.opts[0], odd]
            call(capsys, words)


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_unknown_options_are_an_error(path, capsys):
    assert call(capsys, [*path, "--no-such-option"]) == 2
    assert call(capsys, [*path, "--help"]) == 0


def test_a_file_to_write_is_no_folder(laboratory, capsys):
    before = sorted(laboratory.folder.rglob("*"))
    assert main(["report", "--output", str(laboratory.folder)]) == 2
    assert capsys.readouterr() == ("", f"repro: --output names a file, and {laboratory.folder} is a folder\n")
    assert sorted(laboratory.folder.rglob("*")) == before


READING = (["status"], ["compare"], ["claims"], ["figures"], ["report"], ["readme"])


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_folder_of_results_that_is_named_has_to_be_there(laboratory, capsys, command):
    before = sorted(laboratory.folder.rglob("*.md"))
    assert main([*command, "--results", str(laboratory.results)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"repro: there is no folder of results {laboratory.results}\n")
    assert sorted(laboratory.folder.rglob("*.md")) == before and not (laboratory.folder / "report.html").exists()


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_folder_that_is_none_of_results_is_told(laboratory, capsys, command):
    """The folder of one machine, and a checkout, whose published numbers lie as deep as results would."""
    machine = laboratory.results / "bench"
    (machine / "fu2014").mkdir(parents=True)
    (machine / "fu2014" / "table1.csv").write_text(",".join(COLUMNS) + "\n")
    (machine / "fu2014" / "table2.csv").write_bytes(b"\xff\x00")  # damaged, and none of the answer
    for folder, told in ((machine, "has the results of one machine"), (CHECKOUT, "is no folder of results: ")):
        assert main([*command, "--results", str(folder)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"repro: {folder} {told}") and err.count("\n") == 1
    assert not (laboratory.folder / "report.html").exists()


@pytest.mark.parametrize("command", [["status"], ["compare"]], ids=" ".join)
def test_where_nothing_is_measured_yet_nothing_is_wrong(laboratory, capsys, monkeypatch, command):
    scale = ["--scale", "smoke"]
    assert main([*command, *scale]) == 0 and not laboratory.results.exists()
    monkeypatch.delenv("REPRO_MACHINE")
    assert main([*command, *scale]) == 0
    assert main([*command, *scale, "--machine", "bench"]) == 2
    assert "no machine 'bench'; there are none" in capsys.readouterr().err
    (laboratory.results / "bench" / ".cells").mkdir(parents=True)  # as of a run that has just begun
    assert main([*command, *scale, "--machine", "bench"]) == 0
