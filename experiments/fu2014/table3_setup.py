"""Set-up of the multigrid solvers: hierarchy, transfers and packed matrices.

A solver is set up once for a matrix: nodes are gathered into aggregates, these into patches, and transfers and coarse
matrices follow from them, level by level. The cells come from Table 5.

Equations 5 and 6: P = (I - ω D⁻¹A) P̃, with P̃_ij = 1 where aggregate j has node i; the next matrix is PᵀAP.
Timed, in `fu2014/solvers.py`: `run.time("setup", solver.set_up)`.
"""

from __future__ import annotations

from experiments.fu2014 import cases as meshes
from experiments.fu2014 import labels, solvers, table5_solve
from experiments.fu2014.solver_tables import S1, S2, STANDS_IN, columns, everything, of_caption, threads
from experiments.fu2014.table5_solve import measure
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import paper_table

__all__ = ["cells", "measure", "plot", "tables"]

MINUTES = {"smoke": 1, "small": 2, "paper": 10, "large": 60}

DRAWN = ("patch-pcgamg", "jacobi-pcgamg", "hypre-pcgamg", "hypre-extended", "amgcl", "pyamg-rs", "pyamg-sa")


def cells(scale):
    """Return the cells of Table 5 that have a set-up."""
    return [cell for cell in table5_solve.cells(scale) if cell.method not in solvers.WITHOUT_SET_UP]


def tables(results):
    """Return the paper's table, and all set-ups."""
    names = labels(results)
    patch, hypre, jacobi = columns("setup", "ms", ("patch-pcgamg", "hypre-pcgamg", "jacobi-pcgamg"))
    notes = [f"{STANDS_IN}.", *threads(results, "setup")]
    columns_shown = [patch, hypre, S1, jacobi, S2]
    paper = paper_table(results, "Table 3: set-up", columns_shown, cases=meshes.every(results), notes=notes)
    return meshes.told(results, [paper, everything(results, names)])


def plot(results):
    """Draw the time of every set-up."""
    made, (axes,) = figure(PAGE, 2.8)
    published = solvers.published(results, DRAWN)
    bars(axes, results, "setup", DRAWN, unit="ms", quantity="Time to set up", cases=meshes.ticks(results),
         published=published)  # fmt: skip
    caption(made, results, of_caption(results, DRAWN))
    return made
