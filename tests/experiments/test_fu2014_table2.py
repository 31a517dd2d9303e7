"""Table 2 from the command line: what is written, what a wrong kernel does to it, and a mesh of the user's own."""

import dataclasses
import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from datasets.mesh import Mesh
from experiments.fu2014 import table2_assembly
from kernels import assembly

pytestmark = pytest.mark.usefixtures("needs_c")

GOLDEN = Path(__file__).parent / "golden"
FIXED = ("elements",)  # the other facts depend on this machine's shared memory
TIMED = ("value", "ci_low", "ci_high", "n", "outliers", "disturbed")


def blanked_csv(rows):
    for row in rows:
        for column in TIMED if row["unit"] == "s" else () if row["metric"] in FIXED else ("value",):
            row[column] = "*"
        for column in ("device", "error", "host", "date"):
            row[column] = "*" if row[column] else ""
        row["commit"] = "*" if row["status"] == "done" else ""  # there is none without git
    return "\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n"


def blanked_markdown(text):
    """Blank our numbers, the names of devices and the lines that tell of the day; the paper's numbers stay."""
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith(("- command", "- machine", "- measured", "- libraries", "- ±", "- cores at work"))
    ]
    lines = [line for line in lines if not line.endswith("to other programs or to one another")]
    kept, ours = [], []
    for line in lines:
        cells = line.split(" | ")
        if line.startswith("| Mesh"):
            ours = [not (cell.strip("| ").endswith("paper") or cell.strip("| ") in ("Mesh", "Method", "Back end"))
                    for cell in cells]  # fmt: skip
        elif line.startswith("| ") and not line.startswith("| ---"):
            line = " | ".join(
                re.sub(r"\d[\d.,e-]*( ?[mµn]?s)?( ± [\d.,]+ %)?", "*", cell) if is_ours else cell
                for cell, is_ours in zip(cells, ours, strict=True)
            )
        line = re.sub(r"(on (openmp|host)), .*\.$", r"\1, *.", line)
        line = re.sub(r"\d+ cores?,", "* cores,", line)
        if "lost their cores" in line:  # on a busy machine
            continue
        kept.append(re.sub(r"^- no ceilings of .*?:", "- no ceilings of *:", line))
    return "\n".join(kept) + "\n"


def test_golden_files_with_times_blanked(bench):
    chosen = ("--only", "case=regular", "--only", "backend=openmp", "--only", "backend=host")
    assert bench.run("fu2014-table2", *chosen) == 0
    found = {
        "table2.smoke.csv": blanked_csv(bench.rows("table2.smoke.csv")),
        "table2.smoke.md": blanked_markdown(bench.file("table2.smoke.md").read_text()),
    }
    for name, text in found.items():
        if os.environ.get("REPRO_GOLDEN") == "write":  # after a change that is meant: look at the difference in git
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text(), f"{name} differs"
    for row in bench.rows("table2.smoke.csv"):
        if row["metric"] == "assembly":
            assert 0 < float(row["error"]) < 1e-14 and 0 < float(row["value"]) < 10
    assert {path.suffix for path in bench.file("").iterdir()} == {".csv", ".md", ".png", ".json", ".gz"}


@pytest.mark.parametrize("wrong", [1e-9, np.nan, "transposed"])
def test_a_wrong_entry_fails_its_cell_alone(bench, monkeypatch, capsys, wrong):
    """One entry off by 1e-9 of the largest, one that is no number, and two entries exchanged."""
    prepare = assembly.prepare

    def planted(method, device, problem, **options):
        made = prepare(method, device, problem, **options)
        if method != "atomic":
            return made

        def result():
            matrix, rhs = made.result()
            matrix = matrix.copy()
            if wrong == "transposed":
                matrix.data[[0, 1]] = matrix.data[[1, 0]]
            else:
                matrix.data[matrix.nnz // 2] += wrong * abs(matrix).max()
            return matrix, rhs

        return dataclasses.replace(made, result=result)

    monkeypatch.setattr(assembly, "prepare", planted)
    chosen = ("--only", "case=regular", "--only", "backend=openmp", "--only", "method=atomic", "--only", "method=patch")
    assert bench.run("fu2014-table2", *chosen) == 1
    assert "1 cell measured, 0 as before, 0 skipped, 1 failed" in capsys.readouterr().err
    rows = {(row["method"], row["metric"]): row for row in bench.rows("table2.smoke.csv")}
    row = rows["atomic", "assembly"]
    assert (row["status"], row["value"]) == ("failed", "")
    assert re.match(r"assembly: error \S+ exceeds the tolerance 1e-12", row["reason"])
    assert rows["patch", "assembly"]["status"] == "done"
    text = bench.file("table2.smoke.md").read_text()
    assert "## Failed" in text and "exceeds the tolerance" in text
    assert not re.search(r"^\| Regular \| atomic", text, flags=re.MULTILINE)


def test_no_method_is_checked_against_itself(monkeypatch, perturbed_cube):
    class Asked(Exception):
        pass

    def asked(mesh, assembler):
        raise Asked(assembler)

    monkeypatch.setattr(table2_assembly, "reference", asked)
    mesh = Mesh(*perturbed_cube(1))
    for cell in table2_assembly.cells("smoke"):
        run = SimpleNamespace(
            device=None, dataset=lambda name: mesh, value=lambda *row: None, need=lambda *what, **sizes: None
        )
        with pytest.raises(Asked) as found:
            table2_assembly.measure(cell, run)
        assert str(found.value) in {"coo", "serial"} - {cell.method}, cell


def test_a_wrong_right_hand_side_fails(bench, monkeypatch):
    prepare = assembly.prepare

    def planted(*arguments, **options):
        made = prepare(*arguments, **options)
        return dataclasses.replace(made, result=lambda: (made.result()[0], made.result()[1] * (1 + 1e-10)))

    monkeypatch.setattr(assembly, "prepare", planted)
    chosen = ("--only", "case=regular", "--only", "backend=openmp", "--only", "method=ring")
    assert bench.run("fu2014-table2", *chosen) == 1
