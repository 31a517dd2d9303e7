"""Products with the assembled matrix, and with the element matrices that it is the sum of (section 2, paragraph 4)."""

from __future__ import annotations

import numpy as np
import pandas

from experiments.fu2014 import solvers
from experiments.fu2014.problems import helmholtz, helmholtz_matrix
from experiments.methods import Methods
from kernels import spmv
from kernels.assembly.local import LocalMatrices
from repro.show.tables import Table, trimmed

METHODS = Methods()
TOLERANCE = 1e-13
BYTES = 140  # an element, of both matrices and while they are made


def measure(cell, run) -> None:
    """Time a product, after comparing it with SciPy's."""
    device, mesh = run.device, run.dataset(cell.data[0])
    problem, matrix = helmholtz(mesh), helmholtz_matrix(mesh)
    run.need("the product", device=BYTES * problem.elements)
    made = METHODS[cell.method](device, problem, matrix)
    x = run.rng.uniform(-1, 1, problem.nodes)
    expected = matrix @ x
    given, found = device.array(x), device.array(np.full(problem.nodes, np.nan))

    def error():
        return float(np.linalg.norm(np.array(device.to_host(found)) - expected) / np.linalg.norm(expected))

    run.time(
        "product", lambda: made.multiply(given, found), check=error, tolerance=TOLERANCE, work=made.least_work(),
        cold=run.scale != "smoke", max_seconds=solvers.SECONDS[run.scale],
    )  # fmt: skip


@METHODS("product-assembled")
def _assembled(device, problem, matrix):
    return spmv.pack(solvers.LAYOUT[device.is_gpu], device, device.sparse.csr_matrix(matrix))


@METHODS("product-local")
def _local(device, problem, matrix):
    return LocalMatrices(device, problem)


def tables(results, names) -> list[Table]:
    """Return the table of both products, on each back end on which one was measured."""
    rows = []
    for backend in results.backends(metric="product"):
        for case, name in names.items():
            row = {"Mesh": name, "Back end": backend}
            for method in METHODS:
                for metric, text in (("product", "warm"), ("product_cold", "cold")):
                    found = results.value(case, method, metric, backend)
                    row[f"{method}, {text} [µs]"] = found and 1e6 * found
            both = [row[f"{method}, warm [µs]"] for method in METHODS]
            if any(both):
                rows.append(row | {"local / assembled": both[1] / both[0] if all(both) else None})
    notes = [f"`{method}`: {solvers.title(method)}." for method in METHODS]
    title = "A product with local matrices and with the assembled one"
    return [trimmed(Table(title, pandas.DataFrame(rows, dtype=object), notes), 2)] if rows else []
