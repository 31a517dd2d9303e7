"""The matrices of the series without meshes, against a sum over the elements of the mesh."""

import numpy as np
import pytest

from baselines.assembly import coordinates
from datasets.fu2014 import series
from experiments.fu2014 import lattice
from kernels.assembly.problem import Problem


@pytest.mark.parametrize("nodes", [9, 17, 33])
def test_it_is_the_matrix_of_the_mesh(nodes, monkeypatch):
    monkeypatch.setattr(lattice, "ELEMENTS", 50_000)  # in several parts
    points, cells = series.build("small", str(nodes))
    expected, _ = coordinates.assemble(Problem(points, cells, mass=1.0))
    expected.sort_indices()
    found = lattice.series_matrix(nodes)
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert np.abs(found.data - expected.data).max() < 1e-15 * np.abs(expected.data).max() * 10


@pytest.mark.parametrize("nodes", [8, 10, 25, 1025])
def test_other_sizes_are_refused(nodes):
    with pytest.raises(ValueError, match="nodes along an edge"):
        lattice.series_matrix(nodes)
