"""A product with one of the paper's matrices: in a format of ours, or by a rival."""

from __future__ import annotations

import numpy as np

from baselines import spmv as rivals
from experiments.zhang2013.systems import system
from kernels import spmv
from repro import Cell

SECONDS = {"smoke": 0.02, "small": 0.08, "paper": 0.2, "large": 0.4}
TOLERANCES = {"float64": 1e-13, "float32": 1e-5}
OPTIONS = ("slice_size", "size")
GLOBAL = {"window": "all"}  # rows are sorted over the whole matrix, as the paper has it


def product_cell(mesh, method, backend, **parameters):
    """Return the cell of a product; `measure` says what the parameters mean."""
    return Cell(mesh, method, backend, parameters, (f"zhang2013/{mesh}",))


def measure(cell, run):
    """Time y = A x, warm and cold, after comparing y with SciPy's.

    Parameters of the cell: `form`, a format of ours with what it takes, or `rival`, with `blocks` where it takes the
    blocks of the mesh's nodes; `dtype`; and `window`, within which rows are sorted by length, "all" for the whole
    matrix. A rival is given its rows in that order, and y has it, too.
    """
    made, asked = system(run), cell.parameters
    dtype, options = asked["dtype"], {name: asked[name] for name in OPTIONS if name in asked}
    on_host, order = cell.backend == "host", None
    matrix = made.host if on_host else made.matrix
    window = matrix.shape[0] if asked.get("window") == "all" else asked.get("window")
    try:
        if "form" in asked:
            options |= {"window": window} if window else {}
            packed = spmv.pack(asked["form"], made.device, matrix, dtype, **options)
        else:
            if asked.get("blocks"):
                options["size"] = run.dataset(cell.data[0]).points.shape[1]
            if window:
                order = spmv.by_length(
                    matrix.indptr[1:] - matrix.indptr[:-1], window, np if on_host else made.device.xp
                )
                matrix = matrix[order]
            packed = rivals.pack(asked["rival"], matrix, dtype, **options)
    except spmv.Unsuitable as refused:
        run.skip(str(refused))
    x = run.rng.uniform(-1, 1, packed.shape[1]).astype(dtype)
    y = np.full(packed.shape[0], np.nan, dtype)
    given, result = (x, y) if on_host else map(made.device.array, (x, y))

    def error():
        return made.product_error(x, result if on_host else np.array(made.device.to_host(result)), order)

    summary = run.time(
        "spmv", lambda: packed.multiply(given, result), check=error, tolerance=TOLERANCES[dtype],
        work=packed.least_work(), cold=run.scale != "smoke", max_seconds=SECONDS[run.scale],
    )  # fmt: skip
    run.value("nonzeros", packed.nonzeros, "count")
    run.value("rate", 2e-9 * packed.nonzeros / summary.median, "GFLOP/s")
    run.value("padding", packed.padding, "x")
