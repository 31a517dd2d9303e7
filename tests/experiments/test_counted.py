"""Non-zeros that a kernel counts: as many as a mesh's edges give, and refused where they are not."""

import csv
import io

import numpy as np
import pandas
import pytest
import scipy.sparse

from experiments import counted
from kernels.spmv import csr_scalar
from repro import discovery
from repro.model import COLUMNS, Cell, Row
from repro.run.context import Run
from repro.show.tables import Results

ONLY = ("--backend", "openmp", "--only", "method=mesh", "--only")


@pytest.fixture
def counts(bench, openmp):
    def run(artefact, case):
        code = bench.run(artefact, *ONLY, f"case={case}")
        with next(bench.folder.rglob(f"{artefact.partition('-')[2]}.smoke.csv")).open(newline="") as stream:
            return code, {(row["backend"], row["metric"]): row for row in csv.DictReader(stream)}

    run.folder = bench.folder / "bench"
    return run


def test_counts_are_those_of_the_grid(counts):
    code, rows = counts("fu2014-table1", "regular")
    # 12³ cubes of 6 tetrahedra have 13³ nodes, and edges along 3 axes, the diagonals of 3 faces, and the cube's.
    edges = 3 * 12 * 13**2 + 3 * 12**2 * 13 + 12**3
    assert code == 0 and float(rows["openmp", "counted"]["value"]) == 13**3 + 2 * edges
    assert float(rows["openmp", "product"]["value"]) > 0
    text = (counts.folder / "fu2014" / "table1.smoke.md").read_text()
    assert f"| Regular | openmp | {13**3 + 2 * edges:,} |" in text


def test_a_product_that_loses_a_row_fails(counts, monkeypatch):
    def losing(self, x, y, alpha, beta):
        self.kernel(self.shape[0], self.shape[0] - 1, alpha, beta, *self.arrays.values(), x, y)

    monkeypatch.setattr(csr_scalar.Packed, "enqueue", losing)
    code, rows = counts("geveler2011-figure1", "circle")
    assert code == 1 and rows["openmp", "product"]["status"] == "failed"
    assert rows["host", "nodes"]["status"] == "done"


class Namespace:
    """NumPy's, but for ones that are of a card, as CuPy's: they become no array of NumPy by themselves."""

    def __getattr__(self, name):
        return getattr(np, name)

    def ones(self, size):
        return self

    def __array__(self, *given, **named):
        raise TypeError("this array is on a card")


def test_a_matrix_of_scipy_is_counted_where_the_namespace_is_another(openmp, monkeypatch):
    monkeypatch.setattr(openmp, "xp", Namespace())
    run = Run(Cell("case", "matrix", "openmp"), "fu2014-table1", "smoke")
    counted.of_matrix(run, scipy.sparse.eye_array(5, format="csr"), 5)
    assert {row.metric: row.value for row in run.rows}["counted"] == 5


COUNTED = [artefact for artefact in discovery.find() if hasattr(discovery.load(artefact), "counted")]


@pytest.mark.parametrize("artefact", COUNTED, ids=lambda artefact: artefact.id)
def test_what_a_kernel_counted_alone_is_shown(artefact):
    """A run of one back end has nothing of what the host counts."""
    module = discovery.load(artefact)
    rows = [
        Row(artefact.id, "smoke", cell.case, cell.method, "cuda", "GPU 1", metric, 9.0, unit).as_dict()
        for cell in module.cells("smoke") if cell.backend == "cuda"
        for metric, unit in (("product", "s"), ("counted", "count"))
    ]  # fmt: skip
    results = Results(pandas.DataFrame(rows, columns=list(COLUMNS)), "smoke", "m", artefact.id)
    assert any("cuda" in table.to_markdown() for table in module.tables(results))
    if (figure := module.plot(results)) is not None:
        figure.savefig(io.BytesIO(), format="svg")
