"""TorchCor's adapter: what it lacks is said, and meshes are written as the library reads them."""

import importlib.util

import numpy as np
import pytest

from baselines.monodomain import torchcor
from kernels.monodomain import Model
from repro import Skip

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e-7]])
CELLS, FIBRES = np.array([[0, 1, 2, 3]], np.int32), np.array([[1.0, 0, 0]])


@pytest.mark.skipif(importlib.util.find_spec("torchcor") is not None, reason="TorchCor is here")
def test_without_the_library_it_is_skipped_with_the_remedy():
    with pytest.raises(Skip, match=r"no TorchCor: .*pip install torchcor"):
        torchcor.Heart(POINTS, CELLS, FIBRES, Model(alpha=0.15), 0.1)


def test_two_constants_where_it_has_one_are_refused():
    with pytest.raises(ValueError, match="one constant for α"):
        torchcor.Heart(POINTS, CELLS, FIBRES, Model(), 0.1)


def test_a_mesh_is_written_with_its_counts_and_digits(tmp_path):
    torchcor._write(tmp_path, POINTS, CELLS, FIBRES)
    count, *points = (tmp_path / "mesh.pts").read_text().splitlines()
    assert int(count) == 4 and np.array_equal(np.loadtxt(points), POINTS)
    assert (tmp_path / "mesh.elem").read_text() == "1\nTt 0 1 2 3 1\n"
    assert np.array_equal(np.loadtxt(tmp_path / "mesh.lon", skiprows=1), FIBRES[0])
