import numpy as np
import pytest

import datasets


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory):
    """A cache of its own, so that what is tested is what the recipes build today."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(session_cache, monkeypatch):
    monkeypatch.setenv("REPRO_CACHE", str(session_cache))
    datasets._loaded.cache_clear()


@pytest.fixture
def two_tetrahedra():
    """Two tetrahedra on either side of a face: the smallest mesh in which orientation can be mixed."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
    cells = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    return points, cells
