"""Table 2 from the command line: what is written, what a wrong kernel does to it, and a mesh of the user's own."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

from datasets.mesh import Mesh
from experiments.fu2014 import table2_assembly
from kernels import assembly

pytestmark = pytest.mark.usefixtures("openmp")


def test_every_method_is_right_and_every_file_is_there(bench):
    chosen = ("--only", "case=regular", "--only", "backend=openmp", "--only", "backend=host")
    assert bench.run("fu2014-table2", *chosen) == 0
    times = {row["method"]: row for row in bench.rows("table2.smoke.csv") if row["metric"] == "assembly"}
    assert {"patch", "ring", "atomic", "serial"} < times.keys()
    for row in times.values():
        assert row["status"] == "skipped" or (0 < float(row["error"]) < 1e-14 and 0 < float(row["value"]) < 10)
    assert {path.suffix for path in bench.file("").iterdir()} == {".csv", ".md", ".png", ".json", ".xz"}


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
