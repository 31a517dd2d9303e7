"""The keys of real cells: a rival's file is no part of a kernel's cell, and the order of cells is no part of any."""

import pytest

from experiments.fu2014 import table5_solve as artefact
from repro.cache import code
from repro.cache.keys import before, measured
from repro.run import tracing
from repro.run.context import Run


@pytest.fixture(scope="module")
def keys():
    """Of cells of both kinds, of which the first two are measured again last."""
    chosen = [each for each in artefact.cells("smoke") if each.method in ("cg", "numba-cg") and each.case == "blobs"
              and each.backend in ("openmp", "host")]  # fmt: skip
    assert {each.backend for each in chosen} == {"openmp", "host"}
    found = []
    for cell in [*chosen, *chosen]:
        run = Run(cell, "fu2014-table5", "smoke")
        with tracing.traced() as ran:
            artefact.measure(cell, run)
        found.append((cell, measured(before({}, {}, 0, {}), ran)))
    return found


def test_a_cell_has_the_same_key_first_and_last(keys):
    half = len(keys) // 2
    assert [key for _, key in keys[:half]] == [key for _, key in keys[half:]]


def test_a_cell_depends_on_its_own_kernels_and_on_no_rival(keys):
    for cell, key in keys:
        rivals = {name for name in key["code"] if name.startswith("baselines/solvers/")}
        assert "baselines/solvers/petsc.py" not in rivals and code.EDITED not in key["code"].values()
        assert bool(key["kernels"]) is (cell.backend == "openmp")
        assert ("baselines/solvers/numba_cg.py" in rivals) is (cell.backend == "host")
        assert ("kernels/krylov/conjugate_gradient.c" in str(key["kernels"])) is (cell.backend == "openmp")
        shown = {name for entry in key["code"].values() if isinstance(entry, dict) for name in entry["names"]}
        assert "measure" in shown and not shown & {"tables", "plot"}
