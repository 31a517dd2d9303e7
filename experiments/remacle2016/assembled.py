"""What a user would do in place of the operator: its matrix, assembled, times a vector, by libraries.

Without mass and with the boundary fixed, in double precision; at the orders whose matrix is small enough.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments.remacle2016 import products
from repro import Cell
from repro.show.tables import Table

# Back end, the module of baselines.spmv, and beside which back end's kernels it stands.
METHODS = {"cusparse-csr": ("cuda", "cusparse_csr", "cuda"), "mkl-csr": ("host", "mkl_csr", "openmp")}
TITLES = {
    "cusparse-csr": "stiffness alone as an assembled matrix, cuSPARSE's CSR, double precision",
    "mkl-csr": "the same by MKL's CSR on the host",
}
OURS, VARIANTS = "stored-fp64-no-mass", ("assembled", "assembled_atomic")
ORDERS = {"smoke": (2,), "small": (2, 3), "paper": (2, 3), "large": ()}
BYTES = 50  # for each entry of the element matrices, while they are summed
TOLERANCE = 1e-11


def cells(scale, backends):
    """Return the libraries beside some back ends."""
    return [
        Cell(cell.case, cell.method, backend, cell.parameters, cell.data)
        for method, (backend, _, beside) in METHODS.items()
        if beside in backends
        for order in ORDERS[scale]
        for cell in [products.cell(method, backend, scale, order)]
    ]


def measure(cell, run):
    """Time the product; check it against sums over the elements."""
    from baselines import spmv
    from baselines.sem.assembled import matrix
    from baselines.sem.sums import Sums
    from kernels.sem.numbering import number_nodes

    order, (backend, module, _) = cell.parameters["order"], METHODS[cell.method]
    mesh = run.dataset(cell.data[0])
    run.need("the assembled matrix", host=BYTES * len(mesh.cells) * (order + 1) ** 6)
    numbering = number_nodes(mesh.cells, order)
    table, free = numbering.table, ~numbering.boundary
    csr = matrix(mesh.points, mesh.cells, order, table, free)
    rival = spmv.pack(module, csr)
    whole = np.where(free, run.rng.standard_normal(numbering.nodes), 0.0)
    local = Sums(mesh.points, mesh.cells, order).multiply(whole[table])
    expected = np.bincount(table.ravel(), weights=local.ravel())[free]
    xp = run.device.xp if backend == "cuda" else np
    x, y = xp.asarray(whole[free]), xp.empty(len(expected))

    def error():
        found = y.get() if backend == "cuda" else y
        return float(np.abs(found - expected).max() / np.abs(expected).max())

    seconds = run.time(
        "assembled", lambda: rival.multiply(x, y), check=error, tolerance=TOLERANCE, work=rival.least_work(),
        max_seconds=products.SECONDS[run.scale],
    ).median  # fmt: skip
    run.value("nodes", numbering.nodes, "count")
    run.value("assembled_rate", numbering.nodes / seconds / 1e9, "GDOF/s")


def tables(results):
    """Return, by order and back end, the product from assembled to assembled vector, ours and the libraries'."""
    rows = []
    for case, order in products.CASES.items():
        for method, (backend, _, beside) in METHODS.items():
            theirs = results.value(case, method, "assembled_rate", backend)
            nodes, *seconds = (results.value(case, OURS, metric, beside) for metric in ("nodes", *VARIANTS))
            if theirs and nodes and all(seconds):
                ours = nodes / min(seconds) / 1e9
                rows.append({
                    "n": order, "Library": method, "Theirs [GDOF/s]": theirs, "Ours by": beside, "Ours [GDOF/s]": ours,
                    "Ours over theirs": ours / theirs,
                })  # fmt: skip
    notes = [f"`{method}`: {text}." for method, text in TITLES.items()]
    notes.append(f"Ours: `{OURS}`, gathered or by atomics, the faster.")
    return [Table("From assembled to assembled vector: libraries", pandas.DataFrame(rows), notes)] if rows else []
