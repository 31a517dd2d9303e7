"""Products with one of the paper's matrices: timed at 1, 50 and 1200 repeats, with the best parameters for each.

A cell's parameters are the format (`form`, with its options) or the `rival`; `search`, a format whose parameters are
searched for; and `variant`, which is timed at 50 repeats alone.
"""

from __future__ import annotations

import numpy as np

from baselines import spmv as rivals
from experiments.wong2015.matrices import cases, data, stand_in, system
from kernels import spmv
from repro import Cell, published

REPEATS = {"smoke": (1,), "small": (1, 50), "paper": (1, 50, 1200), "large": (1, 50, 1200)}
VARIANT = 50  # repeats of the variants, which have the plain kernels' parameters
SECONDS = {"smoke": 0.01, "small": 0.04, "paper": 0.05, "large": 0.2}
TOLERANCE = 1e-13
BACKENDS = ("cuda", "opencl")  # `experiments.processors.with_c` puts the C back end beside the latter
WINDOWS = (None, 1, 64, 128, 256, 512, 1024, 4096)  # rows, to search
FOUND = {"block": "block_size", "threshold": "threshold", "items": "values_per_thread", "window": "window",
         "width": "threads_a_row"}  # fmt: skip
CHOSEN_BY_TIMING = tuple(FOUND.values())  # another round may choose otherwise
BYTES = 20  # a non-zero, by which the paper counts bandwidth (Table 2): value, column and x

METHODS = {
    "csr_warp": "CSR, a warp a row (for CUSP-CSR)", "csr_vector": "CSR, threads a row searched for",
    "hyb": "HYB (for CUSP-HYB)", "cusparse_csr": "cuSPARSE CSR", "cusparse_csr_alg2": "cuSPARSE CSR, second algorithm",
    "cusparse_sell": "cuSPARSE SELL", "cusparse_bsr": "cuSPARSE BSR", "numba_csr": "Numba CSR",
    "mkl_csr": "MKL CSR",
    "csr_merge": "merge-path CSR", "k1": "K1", "k1-window": "K1, sorted in windows", "k2": "K2",
    "k2-window": "K2, sorted in windows",
}  # fmt: skip
LAYOUTS = {  # of methods that are not called by their format
    "csr_warp": {"form": "csr_vector", "width": 32},
    "cusparse_csr_alg2": {"rival": "cusparse_csr", "algorithm": "CSR_ALG2"},
}
SEARCHED = {"csr_merge": "csr_merge", "csr_vector": "csr_vector", "k1": "ellwarp", "k1-window": "ellwarp",
            "k2": "ellwarp2", "k2-window": "ellwarp2"}  # fmt: skip
# Rows near each other stay so: on a GPU for the sake of x, on a processor lest threads write into the same lines of y.
IN_WINDOWS = {"k1-window": ("openmp",), "k2-window": ("cuda", "openmp")}
PUBLISHED = {  # the paper's name of a method in Table 3, and its metrics there by our options
    "k1": ("k1", {"block": "block_size"}), "k2": ("k2", {"block": "block_size", "threshold": "threshold"}),
    "csr_merge": ("mgpu", {"items": "values_per_thread"}),
}  # fmt: skip
KERNELS = ("k1", "k1-window", "k2", "k2-window")
RIVALS = tuple(method for method in METHODS if method not in KERNELS)
STAND_INS = (
    "CSR with a warp a row and HYB stand in for CUSP's kernels, which no longer install; nothing does for ModernGPU's. "
    "K2 sorted in windows is beyond the paper: rows near each other stay so."
)
ON_CORES = (
    "So is K1 sorted in windows, which processors have: on an EPYC threads that wrote into the same lines of y waited "
    "for one another."
)


def variant_count(scale):
    """Return the repeats at which variants are timed: 50, or what a scale has."""
    return VARIANT if VARIANT in REPEATS[scale] else REPEATS[scale][-1]


def parameters_of(method) -> dict:
    """Return the parameters of one of `METHODS`, or of a format."""
    if method in LAYOUTS or method in rivals.RIVALS:
        return dict(LAYOUTS.get(method, {"rival": method}))
    search = SEARCHED.get(method)
    more = {"windows": True} if method in IN_WINDOWS else {}
    return {"form": search or method, **({"search": search} if search else {}), **more}


def product_cell(case, method, backend=None):
    """Return the cell of one of `METHODS`; a rival has its own back end."""
    parameters = parameters_of(method)
    place = rivals.backend(parameters["rival"]) if "rival" in parameters else backend
    return Cell(case, method, place, parameters, data(case))


def product_cells(scale, methods=tuple(METHODS), beside=()):
    """Return the cells of every matrix, and of others beside them, with these methods."""
    return [product_cell(case, method, backend) for case in (*cases(scale), *beside) for method in methods
            for backend in _backends(method)]  # fmt: skip


def _backends(method):
    if "rival" in parameters_of(method):
        return (None,)
    return IN_WINDOWS.get(method, BACKENDS)


def measure(cell, run):
    """Time y = A x at each number of repeats, after comparing y with SciPy's; of a public matrix its stand-in, too."""
    made, asked = system(run), cell.parameters
    counts = (variant_count(run.scale),) if asked.get("variant") else REPEATS[run.scale]
    if cell.backend == "host":
        counts = counts[:1]
    kept: dict = {}
    for count in counts:
        options = _options(run, made, count)
        if kept.get("options", ...) != options:
            kept.update(options=options, product=_Product(run, made, options))
        _time(run, kept["product"], count)
        for name, value in options.items():
            metric = FOUND.get(name)
            if metric and value is not None:
                run.value(metric, value, "count", repeats=count)
    if "search" in asked and not asked.get("variant") and not asked.get("windows"):
        _time_as_published(run, made)
    beside = None if asked.get("variant") else stand_in(run)
    if beside is not None:
        other = _Product(run, beside, _options(run, beside, counts[0]))
        run.time("spmv_stand_in", other.multiply, check=other.error, tolerance=TOLERANCE, repeats=counts[0],
                 parameters={"repeats": counts[0]}, work=other.packed.least_work(),
                 max_seconds=SECONDS[run.scale])  # fmt: skip
    product = kept["product"]
    run.value("nonzeros", made.nonzeros, "count")
    run.value("padding", product.packed.padding, "x")
    run.value("stored", product.packed.stored, "count")
    run.value("least_bytes", product.packed.least_work().bytes, "B")


def _time_as_published(run, made):
    """Time a product with the parameters that the paper found best for it: what is lost by them, not which they are."""
    who, metrics = PUBLISHED.get(run.cell.method, ("", {}))
    table = published.load("wong2015-table3")
    numbers = {option: table.get(run.cell.case, who, metric, repeats=1) for option, metric in metrics.items()}
    if not numbers or None in numbers.values():
        return
    product = _Product(run, made, {option: int(number.value) for option, number in numbers.items()})
    run.time("spmv_as_published", product.multiply, check=product.error, tolerance=TOLERANCE, repeats=1,
             parameters={"repeats": 1}, work=product.packed.least_work(), max_seconds=SECONDS[run.scale])  # fmt: skip


def _options(run, made, count):
    """Return what the format is packed with: the cell's own options and the best found for so many repeats."""
    asked = dict(run.cell.parameters)
    own = {name: value for name, value in asked.items()
           if name not in ("form", "rival", "search", "windows", "variant")}  # fmt: skip
    if "search" not in asked:
        return own
    windows = WINDOWS if asked.get("windows") else (None,)
    return spmv.tuned(asked["search"], run.device, made.on(run.device), repeats=count, windows=windows) | own


class _Product:
    """A packed matrix with its vectors, and the product's distance from SciPy's."""

    def __init__(self, run, made, options):
        asked, on_host = run.cell.parameters, run.cell.backend == "host"
        try:
            if "form" in asked:
                packed = spmv.pack(asked["form"], run.device, made.on(run.device), **options)
            else:
                matrix = made.matrix if on_host else run.device.sparse.csr_matrix(made.matrix)
                packed = rivals.pack(asked["rival"], matrix, **options)
        except spmv.Unsuitable as refused:
            run.skip(str(refused))
        self.packed, self.made, self.x = packed, made, run.rng.uniform(-1, 1, packed.shape[1])
        self.rows = slice(None)
        given, y = self.x, np.full(packed.shape[0], np.nan)
        if asked.get("reorder"):
            order = packed.order
            order = np.asarray(order.get() if hasattr(order, "get") else order)
            given = self.x[order]
            self.rows = slice(None) if asked.get("remap") else order
        self.to_host = (lambda array: array) if on_host else lambda array: np.array(run.device.to_host(array))
        self.given, self.result = (given, y) if on_host else map(run.device.array, (np.ascontiguousarray(given), y))

    def multiply(self):
        """Enqueue the product."""
        self.packed.multiply(self.given, self.result)

    def error(self):
        """Return the relative difference from SciPy's product."""
        return self.made.error(self.x, self.to_host(self.result), self.rows)


def _time(run, product, count):
    summary = run.time(
        "spmv", product.multiply, check=product.error, tolerance=TOLERANCE, work=product.packed.least_work(),
        cold=count == 1 or "variant" in run.cell.parameters, max_seconds=SECONDS[run.scale], repeats=count,
        parameters={"repeats": count},
    )  # fmt: skip
    run.value("bandwidth", 1e-9 * BYTES * product.packed.nonzeros / summary.median, "GB/s", repeats=count)
