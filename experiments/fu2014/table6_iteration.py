"""Time of one iteration of the multigrid solvers, and what the format of the patches' inside costs or brings.

A solve of Table 5 over its iterations. Each has a V-cycle, and most of that is relaxation on patches, whose entries the
paper keeps in SymCOO. Other formats of them stand beside it, and products with the matrix and with element matrices.

Equation 8: u ← u + ω M⁻¹(b - Au), with M = diag(A_kk), a block for each patch.
Timed, in `fu2014/solvers.py`: `run.time("solve", solver.solve)`; in `fu2014/products.py`:
`run.time("product", lambda: made.multiply(given, found))`.
"""

from __future__ import annotations

import pandas

from experiments.fu2014 import EVERY, labels, products, solvers, table5_solve
from experiments.fu2014 import cases as meshes
from experiments.fu2014.solver_tables import S1, S2, STANDS_IN, columns, everything, of_caption, threads
from experiments.fu2014.table5_solve import measure
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import Table, paper_table, trimmed
from repro.units import significant

__all__ = ["cells", "measure", "plot", "tables"]

MINUTES = {"smoke": 1, "small": 2, "paper": 12, "large": 60}

FORMATS = {
    "symcoo": "SymCOO, the paper's: half of the entries, as coordinates",
    "half": "half of the entries, by rows",
    "ell": "ELL, all entries",
    "csr": "CSR, all entries",
}
SIZES = ("paper", "large")
DRAWN = ("patch-pcgamg", "jacobi-pcgamg", "hypre-pcgamg", "hypre-extended", "amgcl", "pyamg-sa")


def cells(scale):
    """Return the cells of Table 5 with multigrid, and cells that change one thing of the paper's solver, on each mesh.

    The one thing is the format of the inside, SELL, the radii of the independent sets, or double precision. Products
    with element matrices stand beside them.
    """
    apart = (*solvers.WITHOUT_SET_UP, *table5_solve.ALIKE)
    shared = [cell for cell in table5_solve.cells(scale) if cell.method not in apart]
    others = (*solvers.INSIDE, *solvers.RADII, "patch-double", *products.METHODS)
    inside = dict.fromkeys(others, solvers.DEVICES) | {"patch-sell": ("cuda",)}
    formats = solvers.cells({mesh: (f"fu2014/{mesh}",) for mesh in EVERY}, inside)
    return sorted(shared + formats, key=lambda c: EVERY.index(c.case))


def tables(results):
    """Return the paper's table, the formats of the inside, both kinds of products, and all solvers."""
    names = labels(results)
    patch, hypre, jacobi = columns("time_per_iteration", "ms", ("patch-pcgamg", "hypre-pcgamg", "jacobi-pcgamg"))
    notes = [f"{STANDS_IN}.", "Time to solve over iterations."]
    notes += _by_size(results)
    notes += threads(results, "time_per_iteration")
    paper = paper_table(
        results,
        "Table 6: time of an iteration",
        [patch, hypre, S1, jacobi, S2],
        cases=meshes.every(results),
        notes=notes,
    )
    return meshes.told(results, [
        paper, *_formats(results, names), *products.tables(results, names), everything(results, names)
    ])  # fmt: skip


def _by_size(results) -> list[str]:
    """A note of the meshes on which patches are faster, where a GPU measured the paper's sizes and larger ones."""
    there = {scale: results.at(scale) for scale in SIZES}
    if results.scale not in SIZES or None in there.values():
        return []
    told = []
    for scale, rows in there.items():
        times = [[rows.value(case, method, "time_per_iteration", "cuda") for method in DRAWN[:2]] for case in EVERY]
        ratios = [jacobi / patch for patch, jacobi in times if patch and jacobi]
        if not ratios:
            return []
        faster = f"on {sum(ratio > 1 for ratio in ratios)} of {len(ratios)} meshes at scale {scale}"
        told.append(f"{faster} (Jacobi's time over it {significant(min(ratios))} to {significant(max(ratios))})")
    return [f"By the medians an iteration with patches is faster {' and '.join(told)}. The claim `real-meshes-larger` "
            "judges this by intervals, and `real-meshes` the paper's format."]  # fmt: skip


def _formats(results, names):
    """A table a back end of the formats: the paper has SymCOO as the fastest."""
    found = []
    for backend in results.backends("inside-symcoo", "time_per_iteration"):
        rows = []
        for case, name in names.items():
            row = {"Mesh": name}
            for method, heading in solvers.INSIDE.items():
                value = results.value(case, method, "time_per_iteration", backend)
                row[f"{heading} [ms]"] = None if value is None else 1e3 * value
            rows.append(row)
        notes = [f"{name}: {about}." for name, about in FORMATS.items()]
        found.append(
            Table(
                f"An iteration by the format of the patches' inside, {backend}",
                pandas.DataFrame(rows, dtype=object),
                notes,
            )
        )
        found += _relaxation(results, names, backend)
    return found


def _relaxation(results, names, backend):
    """The kernel that the format matters to, by itself, warm and cold."""
    rows = []
    for case, name in names.items():
        for method, heading in solvers.INSIDE.items():
            row = {"Mesh": name, "Format": heading}
            for metric, text in (("prerelaxation", "warm"), ("prerelaxation_cold", "cold")):
                found = results.row(case, method, metric, backend)
                row |= {f"{text} [µs]": found and 1e6 * found["value"],
                        f"{text}, of bound [%]": results.of_bound(found)}  # fmt: skip
            for metric, text in (("prerelaxation_apart", "in two kernels"), ("boundary", "boundary")):
                found = results.value(case, method, metric, backend)
                row[f"{text} [µs]"] = found and 1e6 * found
            if row["warm [µs]"]:
                rows.append(row)
    note = (
        "All patches of the finest level, in single precision, with the residual but for the boundary. Bound, whatever "
        "the format: b, the diagonal and half of the inside with 16-bit indices read, two vectors written. "
        "In two kernels: the residual apart from the relaxation. Boundary: the product that completes the residual."
    )
    title = f"Prerelaxation by the format of the patches' inside, {backend}"
    return [trimmed(Table(title, pandas.DataFrame(rows, dtype=object), [note]), 2)] if rows else []


def plot(results):
    """Draw the time of an iteration: of the solvers, and by format where any was measured."""
    inside = any(results.backends(method, "time_per_iteration") for method in solvers.INSIDE)
    made, panels = figure(PAGE, 3.0, panels=1 + inside)
    published = solvers.published(results, DRAWN)
    options = {"unit": "ms", "quantity": "Time of an iteration", "cases": meshes.ticks(results)}
    bars(panels[0], results, "time_per_iteration", DRAWN, published=published, **options)
    if inside:
        theirs = dict.fromkeys(solvers.INSIDE, "") | solvers.published(results, ("patch-pcgamg",))
        theirs["inside-symcoo"] = theirs.pop("patch-pcgamg")
        bars(panels[1], results, "time_per_iteration", list(solvers.INSIDE), published=theirs, **options)
        panels[0].set_title("Solvers with multigrid")
        panels[1].set_title("patchPCGAMG by the format inside its patches")
    caption(made, results, of_caption(results, DRAWN))
    return made
