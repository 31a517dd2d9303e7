"""Storage: entries that each format keeps for an entry of the matrix.

As in the paper slices have 32 rows, of rows or block rows sorted by length over the whole matrix, and blocks are 2 × 2
in the plane, 3 × 3 in space. Formats beyond the paper's are in the second table.

No equation: the factor is the number of entries stored over the number in the matrix.
Timed: `run.time("packing", pack)`, where `pack` is `spmv.pack(form, device, made.matrix, **options)`.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments.methods import Methods
from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels
from experiments.zhang2013.systems import system
from kernels import spmv
from repro import Cell
from repro.run.timing import HostClock
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import Column, Table, device_notes, paper_table, with_ours

MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 6, "large": 20}
SLICE = 32
OPTIONS = Methods()  # of formats, by the rows of a matrix and the unknowns of a node
UNPADDED = ("coo", "csr_merge", "csr_scalar", "csr_vector")
SECONDS = {"smoke": 0.02, "small": 0.06, "paper": 0.2, "large": 1}


def cells(scale):
    """Return every mesh in every format on every back end: storage is the same on all, packing is not."""
    return [Cell(mesh, form, backend, {"format": form}, (f"zhang2013/{mesh}",))
            for mesh in MESHES for backend in DEVICES for form in spmv.FORMATS]  # fmt: skip


def measure(cell, run):
    """Pack a matrix, time the packing and multiply once to see that nothing is lost."""
    device, form = run.device, cell.parameters["format"]
    made = system(run)
    sizes = made.matrix.shape[0], run.dataset(cell.data[0]).points.shape[1]
    options, packed = OPTIONS[form](*sizes) if form in OPTIONS else {}, []

    def pack():
        packed[:] = [spmv.pack(form, device, made.matrix, **options)]
        device.synchronize()

    x, y = run.rng.uniform(-1, 1, made.matrix.shape[1]), device.zeros(made.matrix.shape[0], "float64")
    vector = device.array(x)

    def error():
        packed[0].multiply(vector, y)
        return made.product_error(x, np.array(device.to_host(y)))

    try:
        run.time("packing", pack, check=error, tolerance=1e-13, device=HostClock(), max_seconds=SECONDS[run.scale])
    except spmv.Unsuitable as refused:
        run.skip(str(refused))
    run.value("storage_factor", packed[0].padding, "x")
    run.value("bytes_per_nonzero", packed[0].bytes / packed[0].nonzeros, "B")


@OPTIONS("sell")
def _sorted(rows, unknowns):
    return {"slice_size": SLICE, "window": rows}  # over the whole matrix, as in the paper


@OPTIONS("bell")
def _in_blocks(rows, unknowns):
    return {"size": unknowns}


@OPTIONS("sbell")
def _sorted_in_blocks(rows, unknowns):
    return {"slice_size": SLICE, "window": rows, "size": unknowns}


@OPTIONS("sbell16")
def _in_narrow_blocks(rows, unknowns):
    return {"size": unknowns}


def tables(results):
    """Return Table 2, and every format with its bytes and its packing."""
    paper = paper_table(
        results,
        "Table 2: entries stored, over those of CSR",
        [
            Column("ELLPACK", "ellpack", "storage_factor", "x"),
            Column("BELL", "bell", "storage_factor", "x"),
            Column("SELL", "sell", "storage_factor", "x"),
            Column("SBELL", "sbell", "storage_factor", "x"),
        ],
        cases=labels(results),
        row="Name",
        notes=["The paper has one column for ELLPACK and BELL.", LOADS],
    )
    rows = []
    for row in results.done[results.done["metric"] == "storage_factor"].to_dict("records"):
        key = row["case"], row["method"]
        size, seconds = (results.value(*key, metric, row["backend"]) for metric in ("bytes_per_nonzero", "packing"))
        rows.append({"Name": labels(results)[row["case"]], "Format": row["method"], "Back end": row["backend"],
                     "Factor": row["value"], "Bytes a non-zero": size, "Packing [ms]": 1e3 * seconds})  # fmt: skip
    notes = device_notes(results, "storage_factor")
    return with_ours([paper, Table("All formats, double precision", pandas.DataFrame(rows), notes)])


def plot(results):
    """Draw the factors of every format that may pad, the paper's beside."""
    made, (axes,) = figure(PAGE, 2.6)
    cases = {case: label.replace(" ", "\n", 1) for case, label in labels(results).items()}
    padded = [form for form in spmv.FORMATS if form not in UNPADDED]
    bars(axes, results, "storage_factor", padded, unit="x", quantity="Entries stored, over non-zeros", cases=cases,
         log=False)  # fmt: skip
    caption(made, results)
    return made
