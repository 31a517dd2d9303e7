import numpy as np
import pytest

import datasets
from datasets import _reading_worker, guarded


def read_here(kind, path):
    """Stand in for `guarded.read`: the worker's own function, in this process."""
    try:
        return _reading_worker.READERS[kind](str(path))
    except (Exception, SystemExit) as problem:  # it has ended then, with one line
        raise guarded.Unreadable(" ".join(str(problem).split())[:200] or type(problem).__name__) from problem


@pytest.fixture
def no_process(monkeypatch):
    """Read files in this process, for tests of what is said of a file, however it was read."""
    monkeypatch.setattr(guarded, "read", read_here)


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
