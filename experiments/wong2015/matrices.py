"""The paper's matrices, as SciPy has them: the public ones or their stand-ins, the hearts', and a user's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

import datasets
from baselines.assembly import coordinates
from experiments.wong2015 import dataset, labels
from kernels import spmv
from kernels.assembly.problem import Problem
from repro.keeping import kept

MATRICES = (
    "circuit", "economics", "epidemiology", "accelerator", "cantilever", "harbor", "ship", "spheres", "heart-3k",
    "heart-5k", "heart-30k", "protein", "qcd", "webbase", "wind-tunnel",
)  # fmt: skip
SUBSET = ("circuit", "epidemiology", "harbor", "heart-3k", "heart-5k", "heart-30k", "qcd")
"""The matrices of section 7, which single optimisations are shown by."""
OWN = "own"
ANATOMY = ("anatomy-30k", "anatomy-50k")  # beside the hearts, where the template has been downloaded
BYTES = 100  # an entry, at the peak: triples while a heart is assembled, and two formats while one is packed
FEW = ("circuit", "harbor", "heart-3k", "qcd")
LARGE = ("heart-3k", "heart-5k", "heart-30k")
MARKS = (
    "*: a stand-in for the public matrix, which `repro data build --download` fetches to take its place, or for the "
    "patient's heart."
)
NOTE = (
    "The hearts' matrices are (∇u, ∇v) + (u, v) on linear tetrahedra; a public matrix's stand-in is smaller than it at "
    "scales other than paper."
)


@dataclass(frozen=True)
class System:
    """A matrix for SciPy, and products with it."""

    matrix: scipy.sparse.csr_matrix

    @cached_property
    def nonzeros(self) -> int:
        """Entries."""
        return int(self.matrix.nnz)

    @kept(id)  # of a device, which stays
    def on(self, device) -> spmv.Csr:
        """Return the matrix as all formats take it, on a device, with its digest: searches ask for it several times."""
        return spmv.canonical(device, self.matrix)

    def error(self, x: np.ndarray, y: np.ndarray, order=slice(None)) -> float:
        """Return ‖y - (A x)[order]‖/‖A x‖ by SciPy's product in double precision."""
        expected = (self.matrix @ x)[order]
        return float(np.linalg.norm(y - expected) / np.linalg.norm(expected))


def cases(scale: str, subset=MATRICES, anatomy: bool = False) -> tuple[str, ...]:
    """Return the matrices of a scale, and the user's own; larger than the paper's there are only hearts."""
    chosen = {"smoke": FEW, "large": LARGE}.get(scale, subset)
    beside = ANATOMY if anatomy and scale == "paper" else ()
    return (*(case for case in subset if case in chosen), *beside, OWN)


def named(results) -> dict[str, str]:
    """Return the name of every matrix with results; an asterisk marks stand-ins, as `marks` explains."""
    done = set(results.done["case"])
    return {case: _marked(case, name) for case, name in labels(results).items() if case in done}


def _marked(case, name):
    entry = datasets.entry(dataset(case))
    return f"{entry.short_title}*" if entry.stand_in_for and name == entry.title else name


def marks(results) -> list[str]:
    """Return the note that explains asterisks, where there are any."""
    if not any("*" in name for name in named(results).values()):
        return []
    return [MARKS]


def system(run) -> System:
    """Return the matrix of a cell; the last one is kept, since the cells of a matrix follow one another."""
    return _system(run, run.dataset(run.cell.data[0]))


@kept(lambda run, data: data.digest())
def _system(run, data) -> System:
    entries = data.nonzeros if hasattr(data, "csr") else 16 * len(data.cells)
    run.need("the matrix with its formats", host=BYTES * entries)
    if hasattr(data, "csr"):
        matrix = data.csr
    else:
        matrix, _ = coordinates.assemble(Problem(data.points, data.cells, mass=1.0))
    matrix = scipy.sparse.csr_matrix(matrix)
    matrix.sort_indices()
    return System(matrix)


def stand_in(run) -> System | None:
    """Return what stands in for a cell's matrix where that was not downloaded; None where the cell's own is that."""
    (name,) = run.cell.data
    entry = datasets.entry(name)
    if name in run.overrides or not hasattr(entry, "stand_in") or not entry.is_public(run.scale):
        return None
    return _stand_in(entry, run.scale)


@kept()
def _stand_in(entry, scale):
    return System(entry.stand_in(scale).csr)


def data(case: str) -> tuple[str]:
    """Return the datasets of a case."""
    return (dataset(case),)
