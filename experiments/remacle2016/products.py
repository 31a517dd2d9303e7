"""The operator of one order on mesh 2, checked, timed, and counted as the paper counts; Tables 2 and 3 share it."""

from __future__ import annotations

import numpy as np
import pandas

from repro import Cell
from repro.show.tables import Column, Table, paper_table

# The paper's kernels r and r' are in single precision, with the factor of the mass matrix; the others are beside them.
METHODS = {
    "stored": ("stored", "float32", True),
    "trilinear": ("trilinear", "float32", True),
    "stored-fp64": ("stored", "float64", True),
    "trilinear-fp64": ("trilinear", "float64", True),
    "stored-no-mass": ("stored", "float32", False),
    "stored-fp64-no-mass": ("stored", "float64", False),
    "trilinear-fp64-no-mass": ("trilinear", "float64", False),
}
PAPER = ("stored", "trilinear")
EXECUTED = (
    ("r", "stored", "executed_rate"), ("r'", "trilinear", "executed_rate"),
    ("z", "solve-trilinear", "executed_rate_fine"),
)  # fmt: skip
TITLES = {
    "stored": "factors stored, with mass, single precision (the paper's r)",
    "trilinear": "factors recomputed from the vertices, with mass, single precision (the paper's r')",
    "stored-fp64": "r in double precision",
    "trilinear-fp64": "r' in double precision",
    "stored-no-mass": "stiffness alone, six factors stored, single precision",
    "stored-fp64-no-mass": "stiffness alone, six factors stored, double precision",
    "trilinear-fp64-no-mass": "stiffness alone, factors recomputed, double precision",
}
NODES = 23e6  # of the large scale, as near as eights of elements come to it
ELEMENTS = {"smoke": lambda n: 8, "small": lambda n: 16, "paper": lambda n: 32,
            "large": lambda n: min(128, 8 * round(NODES ** (1 / 3) / n / 8))}  # fmt: skip
ORDERS = {"smoke": (2, 4), "small": (2, 3, 5, 7), "paper": range(2, 8), "large": range(1, 16)}
CASES = {f"n{order}": order for order in range(1, 16)}
BRIEF = {"smoke": (2,), "small": (3, 7)}  # orders of kernels beyond the paper's, one of which libraries' matrices have
SECONDS = {"smoke": 0.02, "small": 0.06, "paper": 0.3, "large": 0.3}  # of sampling each product
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}
SAMPLE = 500  # elements that are compared with NumPy's sums
GEOMETRY_FLOPS = 242  # operations a node, as the paper counts them for r'
OPERATIONS = (
    "Operations are the paper's counts, O_R of the operator and O_P of the local solves z, over the kernel's time. O_R "
    "counts a product and its addition as two, O_P as one: by O_R's rule z would have nearly twice as many. Ours takes "
    "sums and differences first, as modes are even or odd, and so does about what O_P says."
)
BYTES = (
    "Bytes are the paper's counts, B_R of the operator and B_P of the local solves z, over the kernel's time. A cache "
    "may spare some of them, so that they can come faster than the memory's."
)
WITH_GEOMETRY = (
    f"With geometry: {GEOMETRY_FLOPS} operations a node more, which the paper's kernel does; ours needs a third of "
    "these or fewer, so that such a rate is no share of a peak."
)
# At the peak of set-up: for an element; for its subdomain and coarse spaces; for each of its nodes, without stored
# factors. On a host they are a fifth or more over what whole cells take, of orders 1 to 7; a GPU makes more at once.
SETUP_BYTES = {"host": (1000, 5500, 120), "device": (0, 6000, 210)}


def cells(scale, backends):
    """Return every order by every kernel on some back ends; on a laptop the paper's, and the others at some."""
    orders = ORDERS[scale]
    return [
        cell(method, backend, scale, order)
        for backend in backends
        for order in orders
        for method in METHODS
        if method in PAPER or order in BRIEF.get(scale, orders)
    ]


def cell(method, backend, scale, order):
    """Return the cell of a method at an order, on mesh 2 as the scale has it."""
    elements = ELEMENTS[scale](order)
    return Cell(
        f"n{order}", method, backend, {"order": order, "elements": elements}, (f"remacle2016/mesh2-{elements}",)
    )


def need(run, device, mesh, order: int, *, factors: int = 0, overlaps: bool = True, there: int = 0) -> None:
    """Ask for the memory of an operator with so many bytes of factors a node, and of a solver's two scales.

    So many bytes of it are taken already, in the device's namespace.
    """
    asked = {}
    for where, takes_part in (("host", device.xp is np), ("device", device.is_gpu)):  # through OpenCL both
        element, overlap, node = SETUP_BYTES[where]
        each = element + overlaps * overlap + (node + factors) * (order + 1) ** 3
        asked |= {where: len(mesh.cells) * each} if takes_part else {}
    taking = "host" if device.xp is np else "device"
    run.need("the set-up", **asked | {taking: max(0, asked[taking] - there)})


def measure(cell, run):
    """Time the product to element vectors, and the whole product with and without atomics."""
    from kernels.device import Unavailable
    from kernels.sem.stiffness import Operator

    device, order = run.device, cell.parameters["order"]
    geometry, dtype, has_mass = METHODS[cell.method]
    mesh = run.dataset(cell.data[0])
    factors = (6 + has_mass) * np.dtype(dtype).itemsize if geometry == "stored" else 0
    need(run, device, mesh, order, factors=factors, overlaps=False)
    try:
        operator = Operator(
            device, mesh.points, mesh.cells, order, dtype=dtype, geometry=geometry, mass=1.0 if has_mass else None,
            outputs=("parts", "both", "nodes"),
        )  # fmt: skip
    except Unavailable as missing:
        run.skip(missing.reason, missing.remedy)
    settings = {"max_seconds": SECONDS[run.scale]}
    x, local = rates(run, operator, mesh, {"mass": 1.0 if has_mass else 0.0}, settings)
    settings["tolerance"] = TOLERANCE[dtype]
    y = device.empty(operator.nodes, dtype)
    table = np.asarray(device.to_host(operator.numbering.table))
    parts = operator.layout.unpack(np.asarray(device.to_host(local)), np)
    summed = np.bincount(table.ravel(), weights=parts.ravel())

    def error():
        return float(np.abs(np.asarray(device.to_host(y)) - summed).max() / np.abs(summed).max())

    for name, multiply in (("assembled", operator.multiply), ("assembled_atomic", operator.multiply_atomic)):
        run.time(name, lambda multiply=multiply: multiply(x, y), check=error, work=operator.least_work(), **settings)
    run.value("nodes", operator.nodes, "count")


def picked(device):
    """Return what brings some entries of an array of the device to the host: of CUDA's alone no others travel."""
    if device.backend == "cuda":
        return lambda array, places: device.to_host(array[device.xp.asarray(places)])
    return lambda array, places: np.asarray(device.to_host(array))[places]


def rates(run, operator, mesh, coefficients, settings, has_fixed=False):
    """Check and time the product to element vectors; record rates by the paper's counts and by the least bytes.

    With `has_fixed` the vector is zero on the boundary, where the operator reads zero.

    Returns
    -------
    x, local : device arrays
        The vector, and its product.
    """
    from baselines.sem.sums import Sums

    device, dtype, order = operator.device, operator.dtype.name, operator.order
    host = run.rng.standard_normal(operator.nodes).astype(dtype)
    if has_fixed:
        host[np.asarray(device.to_host(device.array(operator.numbering.boundary)))] = 0
    chosen = np.unique(run.rng.integers(len(mesh.cells), size=SAMPLE))
    table = picked(device)(operator.numbering.table, chosen)
    expected = Sums(mesh.points, mesh.cells, order, **coefficients).multiply(host[table], chosen)
    x, local = device.array(host), device.empty(operator.layout.size, dtype)

    def error():
        ours = operator.layout.unpack(np.asarray(device.to_host(local)), np)[chosen]
        return float(np.abs(ours - expected).max() / np.abs(expected).max())

    work = operator.local_work()
    seconds = run.time(
        "local", lambda: operator.apply_local(x, local), check=error, tolerance=TOLERANCE[dtype], work=work, **settings
    ).median
    q, elements = order + 1, operator.elements
    flops = elements * (12 * q**4 + 18 * q**3)
    numbers = (10 if operator.geometry == "stored" else 3) * q**3 + q**2 + 2
    run.value("executed_rate", work.flops / seconds / 1e9, "GFLOP/s")
    run.value("flop_rate", flops / seconds / 1e9, "GFLOP/s")
    run.value("flop_rate_with_geometry", (flops + elements * GEOMETRY_FLOPS * q**3) / seconds / 1e9, "GFLOP/s")
    run.value("bandwidth", operator.dtype.itemsize * elements * numbers / seconds / 1e9, "GB/s")
    run.value("least_bandwidth", work.bytes / seconds / 1e9, "GB/s")
    run.value("node_rate", operator.nodes / seconds / 1e9, "GDOF/s")
    return x, local


def fine_rates(run, fine, mesh, coefficients, settings):
    """Check and time the local solves, the paper's kernel z; record rates by its counts O_P and B_P (section 5.2)."""
    from baselines.sem import boxes

    device, size = fine.device, len(mesh.cells)
    host = run.rng.standard_normal(fine.nodes).astype(fine.dtype)
    x, parts = device.array(host), device.empty(fine.layout.size, fine.dtype)
    chosen = [0, size // 3, size - 1]
    table = fine.layout.unpack(np.asarray(device.to_host(fine.maps.table)), np)[chosen]
    read = np.where(table < 0, 0, host[table])
    corners = mesh.points[mesh.cells[chosen]]
    expected = np.array([boxes.solve(c, fine.order, r, **coefficients) for c, r in zip(corners, read, strict=True)])

    def error():
        ours = fine.layout.unpack(np.asarray(device.to_host(parts)), np)[chosen]
        return float(np.abs(ours - expected).max() / np.abs(expected).max())

    fine.solve_local(x, parts)  # its kernel is built where it is first launched
    seconds = run.time(
        "fine", lambda: fine.solve_local(x, parts), check=error, tolerance=TOLERANCE[fine.dtype.name],
        work=fine.local_work(), **settings,
    ).median  # fmt: skip
    p, elements = fine.order + 3, fine.elements
    run.value("executed_rate_fine", fine.local_work().flops / seconds / 1e9, "GFLOP/s")
    run.value("flop_rate_fine", elements * (6 * p**4 + 15 * p**3) / seconds / 1e9, "GFLOP/s")
    run.value("bandwidth_fine", elements * fine.dtype.itemsize * (3 * p**3 + 4 * p**2) / seconds / 1e9, "GB/s")


def tables(results, title, backend, z=(), wall=()):
    """Return the paper's table, with further columns, and every kernel on every back end."""
    columns = [Column("N", "stored", "nodes", "million", published="mesh", backend=backend)]
    columns += [Column(f"{name} rate", method, "flop_rate", "GFLOP/s", backend=backend)
                for name, method in (("r", "stored"), ("r'", "trilinear"))]  # fmt: skip
    columns.append(Column("r' with geometry", "trilinear", "flop_rate_with_geometry", "GFLOP/s", backend=backend))
    columns += z[:1]
    columns += [Column(f"{name} executed", method, metric, "GFLOP/s", backend=backend)
                for name, method, metric in EXECUTED]  # fmt: skip
    columns += [Column(f"{name} bandwidth", method, "bandwidth", "GB/s", backend=backend)
                for name, method in (("r", "stored"), ("r'", "trilinear"))]  # fmt: skip
    columns += z[1:]
    cases = {case: str(CASES[case]) for case in results.cases if case in CASES}
    notes = [
        OPERATIONS,
        BYTES,
        WITH_GEOMETRY,
        "The least bytes are under All kernels. Executed: what the kernels' text says, counted by a build whose "
        "numbers count.",
    ]
    paper = [paper_table(results, title, columns, row="n", cases=cases, notes=notes)]
    if wall:
        notes = [
            "Poisson's equation with the two-scale preconditioner in single precision: the paper's, as our Table 1's "
            "two-scale, and ours, as weighted there. The paper's stopping test is not printed: wall time is to "
            "the residual of our Table 1, and to 1e-6 of the one that is carried along: of the true one single "
            "precision leaves what rounding makes of it.",
        ]
        paper.append(paper_table(results, f"{title}, wall time", wall, row="n", cases=cases, notes=notes))
    rows = []
    for row in results.done[results.done["metric"] == "local"].to_dict("records"):
        if row["method"] not in METHODS:
            continue
        place = (row["case"], row["method"])
        found = {metric: results.value(*place, metric, row["backend"])
                 for metric in ("node_rate", "least_bandwidth", "nodes", "assembled", "assembled_atomic")}  # fmt: skip
        whole = {name: found["nodes"] / found[name] / 1e9 for name in ("assembled", "assembled_atomic")}
        rows.append({
            "n": CASES[row["case"]], "Kernel": row["method"], "Back end": row["backend"],
            "Time [ms]": 1e3 * row["value"], "GDOF/s": found["node_rate"],
            "Bytes [GB/s]": found["least_bandwidth"],
            "Of bound [%]": results.of_bound(row), "Of the problem's [%]": results.of_bound(row, of_problem=True),
            "Gathered [GDOF/s]": whole["assembled"], "Atomics [GDOF/s]": whole["assembled_atomic"],
        })  # fmt: skip
    there = {row["Kernel"] for row in rows}
    notes = [f"`{method}`: {text}." for method, text in TITLES.items() if method in there]
    notes.append("GDOF/s: unknowns of the assembled vector; the first from assembled to element vector, the last two "
                 "from assembled to assembled vector. Bytes: the least that the product must move, by its format. "
                 "The problem's: places of the vertices and vectors alone.")  # fmt: skip
    return [*paper, Table("All kernels", pandas.DataFrame(rows), notes)]
