"""Non-zeros that a kernel counts: a pattern times ones is the lengths of its rows.

The tables and figures of meshes and matrices count on the host. Beside that stands this product, by the simplest of our
kernels, so that what runs kernels on a machine is tried by every artefact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas
import scipy.sparse

from kernels import spmv
from repro import Cell
from repro.show.tables import Table, device_notes

DEVICES = ("cuda", "opencl", "openmp")
SECONDS = {"smoke": 0.01, "small": 0.05, "paper": 0.1, "large": 0.1}  # of sampling the product
BYTES = 40  # an entry of an element's matrix, at the peak: SciPy's product of incidences, and the result's copy


def beside(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells that count on the host and, after all of them, each one's count on every back end."""
    found = list(cells)
    return [*found, *(replace(cell, backend=backend) for cell in found for backend in DEVICES)]


def of_mesh(run) -> None:
    """Count the non-zeros of the pattern of a cell's mesh, which its edges and faces must give, too."""
    run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    mesh = run.dataset(run.cell.data[0])
    run.need("the pattern", host=BYTES * mesh.cells.size * mesh.cells.shape[1])
    ends = np.arange(0, mesh.cells.size + 1, mesh.cells.shape[1])
    shape = len(mesh.cells), len(mesh.points)
    incidence = scipy.sparse.csr_array((np.ones(mesh.cells.size), mesh.cells.ravel(), ends), shape=shape)
    of_matrix(run, incidence.T @ incidence, mesh.facts()["nonzeros_full"])


def of_matrix(run, matrix, expected: int) -> None:
    """Count the non-zeros of a matrix, SciPy's or the device's, by a timed product: as many as expected."""
    is_there = hasattr(matrix, "get")  # on the device
    pattern = matrix if is_there else scipy.sparse.csr_matrix(matrix)
    ones = (run.device.xp if is_there else np).ones(pattern.nnz)
    pattern = type(pattern)((ones, pattern.indices, pattern.indptr), shape=pattern.shape)
    packed = spmv.pack("csr_scalar", run.device, pattern)
    x, y = run.device.array(np.ones(pattern.shape[1])), run.device.zeros(pattern.shape[0], "float64")

    def missed():
        return abs(float(np.asarray(run.device.to_host(y)).sum()) - expected)

    run.time("product", lambda: packed.multiply(x, y), check=missed, tolerance=0, work=packed.least_work(),
             max_seconds=SECONDS[run.scale])  # fmt: skip
    run.value("counted", expected, "count")


def tables(results, names: Mapping[str, str]) -> list[Table]:
    """Return a table of the products, where there are any, of cases by their names."""
    done = results.done[results.done["metric"] == "product"].to_dict("records")
    is_one = len({row["method"] for row in done}) == 1
    rows = [
        {"Pattern": names.get(row["case"], row["case"]) + ("" if is_one else f", {row['method']}"),
         "Back end": row["backend"],
         "Non-zeros": int(results.value(row["case"], row["method"], "counted", row["backend"])),
         "Product [µs]": 1e6 * row["value"],
         "Of bound [%]": results.of_bound(row)}
        for row in done
    ]  # fmt: skip
    notes = ["A product of the pattern with ones, a thread a row.", *device_notes(results, "product")]
    return [Table("Non-zeros as a kernel counts them", pandas.DataFrame(rows), notes)] if rows else []
