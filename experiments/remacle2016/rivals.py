"""Libraries that a user would take in place of the operator, from assembled to assembled vector.

libCEED's operator where that is installed; and the assembled matrix by cuSPARSE and MKL, with the boundary fixed, at
the orders whose matrix is small enough. Without mass, in double precision.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments.remacle2016 import products
from repro.show.tables import Table

# Back end, the module of baselines.spmv that holds the matrix, and beside which back end's kernels it stands.
METHODS = {
    "libceed": ("cuda", None, "cuda"),
    "libceed-host": ("host", None, "openmp"),
    "cusparse-csr": ("cuda", "cusparse_csr", "cuda"),
    "mkl-csr": ("host", "mkl_csr", "openmp"),
}
TITLES = {
    "libceed": "libCEED's operator, /gpu/cuda/gen where it has that",
    "libceed-host": "libCEED's operator on the host",
    "cusparse-csr": "the assembled matrix, cuSPARSE's CSR",
    "mkl-csr": "the same by MKL's CSR on the host",
}
OURS, VARIANTS = "stored-fp64-no-mass", ("assembled", "assembled_atomic")
ASSEMBLED = {"smoke": (2,), "small": (2, 3), "paper": (2, 3), "large": ()}  # orders
BYTES = 50  # for each entry of the element matrices, while they are summed
TOLERANCE = 1e-11
WHOLE = 3e6  # local nodes, up to which the product is checked at all nodes; else at those inside some elements


def cells(scale, backends):
    """Return the libraries beside some back ends."""
    return [
        products.cell(method, backend, scale, order)
        for method, (backend, module, beside) in METHODS.items()
        if beside in backends
        for order in (ASSEMBLED if module else products.ORDERS)[scale]
    ]


def measure(cell, run):
    """Time the product; check it against sums over the elements."""
    from kernels.sem.numbering import number_nodes

    order, (backend, module, _) = cell.parameters["order"], METHODS[cell.method]
    mesh, xp = run.dataset(cell.data[0]), run.device.xp if backend == "cuda" else np
    numbering = number_nodes(mesh.cells, order)
    if module:
        free, (multiply, work) = ~numbering.boundary, _assembled(run, mesh, order, numbering, module)
    else:
        from baselines.sem import libceed

        free, work = np.ones(numbering.nodes, bool), None
        multiply = libceed.Product(mesh.points, mesh.cells, order, numbering.table, numbering.nodes, backend).multiply
    whole = np.where(free, run.rng.standard_normal(numbering.nodes), 0.0)
    nodes, expected = _expected(mesh, order, numbering.table, whole, run.rng)
    kept = free[nodes]
    places, expected = (np.cumsum(free) - 1)[nodes[kept]], expected[kept]
    x, y = xp.asarray(whole[free]), xp.empty(int(free.sum()))

    def error():
        found = (y.get() if backend == "cuda" else y)[places]
        return float(np.abs(found - expected).max() / np.abs(expected).max())

    seconds = run.time(
        "assembled", lambda: multiply(x, y), check=error, tolerance=TOLERANCE, work=work,
        max_seconds=products.SECONDS[run.scale], capture=bool(module),
    ).median  # fmt: skip
    run.value("nodes", numbering.nodes, "count")
    run.value("assembled_rate", numbering.nodes / seconds / 1e9, "GDOF/s")


def _assembled(run, mesh, order, numbering, module):
    from baselines import spmv
    from baselines.sem.assembled import matrix

    run.need("the assembled matrix", host=BYTES * len(mesh.cells) * (order + 1) ** 6)
    rival = spmv.pack(module, matrix(mesh.points, mesh.cells, order, numbering.table, ~numbering.boundary))
    return rival.multiply, rival.least_work()


def _expected(mesh, order, table, x, rng):
    """Return some nodes, or all, and the product there."""
    from baselines.sem.sums import Sums

    sums = Sums(mesh.points, mesh.cells, order)
    if table.size <= WHOLE or order == 1:
        return np.arange(len(x)), np.bincount(table.ravel(), weights=sums.multiply(x[table]).ravel())
    chosen = np.unique(rng.integers(len(table), size=products.SAMPLE))
    inside = np.zeros((order + 1,) * 3, bool)
    inside[1:-1, 1:-1, 1:-1] = True
    return table[chosen][:, inside.ravel()].ravel(), sums.multiply(x[table[chosen]], chosen)[:, inside.ravel()].ravel()


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
    there = {row["Library"] for row in rows}
    notes = [f"`{method}`: {text}." for method, text in TITLES.items() if method in there]
    notes.append(f"Ours: `{OURS}`, gathered or by atomics, the faster.")
    return [Table("From assembled to assembled vector: libraries", pandas.DataFrame(rows), notes)] if rows else []
