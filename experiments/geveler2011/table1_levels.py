"""Levels, degrees of freedom and non-zeros.

The matrices are of Poisson's equation in Q1 and Q2 on the refinements of both meshes. Both numbers are counted in the
matrices as they are assembled, rows of Dirichlet nodes being unit rows. So is what ELLPACK-R stores of them, and of
prolongation and restriction, which the paper fits into 2 GB.

Equation 3: P_ij = φ_j(ξ_i), the coarse basis at the fine nodes, is the prolongation.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the matrix's pattern times ones.
"""

from __future__ import annotations

import pandas

from datasets.geveler2011 import hierarchy
from experiments import counted
from experiments.geveler2011 import ELEMENTS, PLACES, case_of, label, level_of
from repro import Cell
from repro.keeping import kept
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, paper_label
from repro.show.tables import Table, trimmed, with_ours

MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 3, "large": 5}

LEVELS = {
    "smoke": {"circle": range(4, 6), "blood": range(4, 5)},
    "small": {"circle": range(4, 9), "blood": range(4, 7)},
    "paper": {"circle": range(4, 11), "blood": range(4, 9)},
    "large": {"circle": range(4, 12), "blood": range(4, 10)},
}


def cells(scale):
    """Return the cells of each mesh, level and element, and a kernel's; Q2 ends a level earlier, as in the paper."""
    return counted.beside(Cell(case_of(mesh, level), element, data=(f"geveler2011/{mesh}",),
                               parameters={"mesh": mesh, "level": level, "element": element})
                          for mesh, levels in LEVELS[scale].items() for element in ELEMENTS
                          for level in (levels if element == "q1" else list(levels)[:-1] or levels))  # fmt: skip


def measure(cell, run):
    """Count, and compare with what Euler's formula gives for that level."""
    from experiments.geveler2011.problems import DEGREES, need, set_up_by
    from kernels.multigrid import poisson, prolongation
    from kernels.multigrid.storage import ellpack_bytes

    mesh = run.dataset(cell.data[0])
    level, element = cell.parameters["level"], cell.parameters["element"]
    need(run, mesh, element, level)
    degree = DEGREES[element]
    facts, times = mesh.facts(), 4 ** (level - 1)
    elements, edges = facts["elements"] * times, facts["boundary_faces"] * 2 ** (level - 1)
    characteristic = facts["euler_characteristic"]
    xp, sparse, processor = set_up_by(None if cell.backend == "host" else run.device)
    found = _growing(mesh, xp).of(level)
    space = found.space(level, degree)
    matrix = poisson(space, xp=xp, sparse=sparse, device=processor).matrix
    expected = elements + edges // 2 + characteristic if degree == 1 else 4 * elements + edges + characteristic
    run.check(abs(len(space.points) - expected), 0, "degrees of freedom by Euler's formula")
    corners = edges - int((matrix.indptr[1:] - matrix.indptr[:-1] == 1).sum()) / degree  # none is missing
    run.check(abs(corners), 0, "unit rows on the boundary")
    if cell.backend != "host":
        return counted.of_matrix(run, matrix, matrix.nnz)
    run.value("dof", len(space.points), "count")
    run.value("nonzeros", matrix.nnz, "count")
    transfer = prolongation(found.space(level - 1, degree), space)
    run.value("operator_bytes", ellpack_bytes(matrix), "B")
    run.value("transfer_bytes", ellpack_bytes(transfer) + ellpack_bytes(transfer.T.tocsr()), "B")
    run.value("boundary", int(space.boundary.sum()), "count")


class _Growing:
    """A mesh refined as often as any cell wanted so far, from which finer levels go on."""

    def __init__(self, mesh, xp):
        self._mesh, self._xp, self._found = mesh, xp, hierarchy(mesh, 2, xp)

    def of(self, levels: int):
        """Return a hierarchy that has so many levels."""
        if levels > len(self._found.levels):
            self._found = hierarchy(self._mesh, levels, self._xp, self._found.levels)
        return self._found


@kept(lambda mesh, xp: (mesh.digest(), mesh.title, xp.__name__), most=2)  # back ends take turns
def _growing(mesh, xp) -> _Growing:
    return _Growing(mesh, xp)


def tables(results):
    """Return the paper's table, one a mesh, with what does not agree."""
    made = []
    for mesh in ("circle", "blood"):
        rows = [_row(results, mesh, case) for case in results.cases if PLACES[case].mesh == mesh]
        notes = [f"Machine {results.machine}, scale {results.scale}.", *_contradictions(results, mesh)]
        made.append(trimmed(Table(f"Table 1: {label(mesh, results)}", pandas.DataFrame(rows, dtype=object), notes)))
    return with_ours([*made, *counted.tables(results, {})])


def _row(results, mesh, case):
    row = {"L": level_of(case)}
    for element in ELEMENTS:
        for metric, heading in (("dof", "N"), ("nonzeros", "non-zeros")):
            ours, theirs = results.value(case, element, metric), results.published.get(case, element, metric)
            row[f"{element.upper()} {heading}, ours"] = None if ours is None else f"{ours:,.0f}"
            row[f"{element.upper()} {heading}, paper"] = None if theirs is None else f"{theirs.value:,.0f}"
    return row


def _contradictions(results, mesh):
    """Say which printed counts differ from ours, and what they are instead: from the printed numbers alone."""

    def printed(level, element):
        number = results.published.get(case_of(mesh, level), element, "nonzeros")
        return None if number is None else number.value

    quarters, ninefold, other = [], [], []
    for case in results.cases:
        for element in ELEMENTS if PLACES[case].mesh == mesh else ():
            level, theirs = level_of(case), printed(level_of(case), element)
            if theirs is None or results.value(case, element, "nonzeros") in (None, theirs):
                continue
            above, q1 = printed(level + 1, element), printed(level, "q1")
            name = f"{element.upper()} level {level}"
            if element == "q2" and abs(theirs - 9 * q1) < 10:
                ninefold.append(name)
            elif above is not None and abs(above - 4 * theirs) < 4:
                quarters.append(name)
            else:
                other.append(name)
    what = {"a quarter of the next level's, which no such matrix has": quarters,
            "nine times the Q1 column, more than any mesh of quadrilaterals has": ninefold,
            "neither ours nor explained": other}  # fmt: skip
    return [f"Printed non-zeros of {', '.join(names)}: {text}." for text, names in what.items() if names]


def plot(results):
    """Draw non-zeros over unknowns, ours and printed, of the meshes that were counted; None without one."""
    found = {mesh: _drawn(results, mesh) for mesh in ("circle", "blood")}
    found = {mesh: drawn for mesh, drawn in found.items() if any(drawn[0].values())}
    if not found:
        return None
    made, axes = figure(PAGE, 2.6, panels=len(found))
    for axis, (mesh, (ours, theirs)) in zip(axes, found.items(), strict=True):
        lines(axis, ours, x="Degrees of freedom", y="Non-zeros a row", published=theirs, log_x=True)
        axis.set_title(label(mesh, results), loc="right", fontsize=7)
    alike(axes)
    caption(made, results, f"open: {paper_label(results.scale)}")
    return made


def _drawn(results, mesh):
    """Return unknowns and non-zeros a row by element, ours and the paper's."""
    cases, ours, theirs = [case for case in results.cases if PLACES[case].mesh == mesh], {}, {}
    for element in ELEMENTS:
        pairs = [(results.value(c, element, "dof"), results.value(c, element, "nonzeros")) for c in cases]
        ours[element.upper()] = [(n, z / n) for n, z in pairs if n is not None]
        found = [[results.published.get(c, element, m) for m in ("dof", "nonzeros")] for c in cases]
        theirs[element.upper()] = [(n.value, z.value / n.value) for n, z in found if n is not None]
    return ours, theirs
