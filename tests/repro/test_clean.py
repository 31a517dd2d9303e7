"""What `repro clean` removes, and what it leaves."""

import subprocess
import sys

import pytest

from repro.cli import main


def test_clean_removes_cells_and_nothing_else(laboratory, capsys):
    where = ["--results", str(laboratory.results)]
    laboratory.run("--all")
    capsys.readouterr()
    assert main(["clean", "--dry-run", *where]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 10 == len(laboratory.cell_files())
    assert main(["clean", "table1", "--failed", "--yes", *where]) == 0
    laboratory.cell("first-loop-host").write_text("{")
    assert main(["clean", "table1", "--failed", "--yes", *where]) == 0
    assert len(laboratory.cell_files()) == 9
    assert main(["clean", "figure2", "--yes", *where]) == 0
    assert len(laboratory.cell_files()) == 8
    assert main(["clean", "--scale", "small", "--yes", *where]) == 0
    assert len(laboratory.cell_files()) == 8
    assert main(["clean", "--yes", *where]) == 0
    assert laboratory.cell_files() == [] and laboratory.file("table1.smoke.csv").exists()


def test_a_run_after_clean_speaks_of_no_other_machine(laboratory, capsys):
    assert laboratory.run("table1") == 0
    assert main(["clean", "table1", "--yes", "--results", str(laboratory.results)]) == 0
    for more in (["--dry-run"], ["--only", "case=first"], ["--only", "case=first"]):
        capsys.readouterr()
        assert laboratory.run("table1", *more) == 0
        assert "do not stand" not in capsys.readouterr().err


def test_clean_caches_leaves_what_is_not_its_own(laboratory, capsys):
    cache = laboratory.folder / "cache"
    made = ("datasets/a.npz", "kernels/cuda/b.cubin", "kernels/tuning/c.json", "waves/d.npz")
    for name in (*made, "kernels/mine.c", "datasets/notes.txt", "waves/sea.jpg", "thesis.tex"):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_text("")
    laboratory.run("figure2")
    assert main(["clean", "--caches", "--yes", "--results", str(laboratory.results)]) == 0
    left = {path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file()}
    assert left == {"kernels/mine.c", "datasets/notes.txt", "waves/sea.jpg", "thesis.tex", "measuring.lock"}
    assert len(laboratory.cell_files()) == 1


@pytest.mark.parametrize("choice", [["table1"], ["--paper", "demo2020"], ["--kind", "table"], ["--scale", "smoke"],
                                    ["--failed"]], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("option", ["--ceilings", "--caches"])
def test_ceilings_and_caches_are_removed_whole_and_take_no_choice_of_cells(laboratory, capsys, option, choice):
    laboratory.run("figure2")
    kept = laboratory.results / "bench" / "ceilings.json", laboratory.folder / "cache" / "datasets" / "a.npz"
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    capsys.readouterr()
    assert main(["clean", option, *choice, "--yes", "--results", str(laboratory.results)]) == 2
    assert "--ceilings and --caches remove all of theirs" in capsys.readouterr().err
    assert all(path.exists() for path in kept) and len(laboratory.cell_files()) == 1


def test_clean_asks_and_takes_silence_for_no(laboratory):
    laboratory.run("figure2")
    done = subprocess.run(
        [sys.executable, "-m", "repro", "clean", "--results", str(laboratory.results)], input="\n", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "remove 1 file" in done.stderr and len(laboratory.cell_files()) == 1


def test_clean_refuses_what_is_no_folder_of_results(laboratory, capsys):
    precious = laboratory.folder / "precious" / "bench"
    (precious / "demo2020-table1").mkdir(parents=True)
    (precious / "demo2020-table1" / "thesis.json").write_text("{}")
    assert main(["clean", "--yes", "--results", str(precious.parent)]) == 1
    assert "has no .cells" in capsys.readouterr().err
    assert (precious / "demo2020-table1" / "thesis.json").exists()


FIRST_SUMS = (
    '"""The first sums again."""\n'
    "from fakelab.demo2020 import table1_sums\n"
    "from fakelab.demo2020.table1_sums import measure, plot, tables\n\n\n"
    "def cells(scale):\n"
    '    return [cell for cell in table1_sums.cells(scale) if cell.case == "first"]\n'
)


@pytest.fixture
def shared(laboratory, capsys):
    """Table 3 shows three of table 1's nine cells; both were run."""
    (laboratory.paper / "table3_again.py").write_text(FIRST_SUMS)
    assert laboratory.run("table1", "table3") == 0
    assert len(laboratory.cell_files()) == 9
    capsys.readouterr()
    return laboratory


def clean(laboratory, *words):
    assert main(["clean", "--yes", "--results", str(laboratory.results), *words]) == 0
    return {path.name.split("-")[1] for path in laboratory.cell_files()}, len(laboratory.cell_files())


def test_a_cell_is_its_owners_whichever_others_show_it(shared, capsys):
    assert clean(shared, "table3") == ({"first", "second", "third"}, 9)
    assert "demo2020-table3 shows cells of demo2020-table1: name that" in capsys.readouterr().err
    assert clean(shared, "table1") == (set(), 0)
    assert "shows cells" not in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--paper", "demo2020"], ["--kind", "table"], ["demo2020"], []], ids=" ".join)
def test_all_that_show_them_are_named_by_more_than_their_names(shared, words):
    assert clean(shared, *words) == (set(), 0)
