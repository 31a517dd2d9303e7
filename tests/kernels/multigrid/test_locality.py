"""Bytes of x by counting sets, and what the paper's random numbering costs."""

import numpy as np
import pytest
import scipy.sparse

from kernels.multigrid import locality

from .conftest import grids


def counted(matrix, rows, line):
    total = 0
    for begin in range(0, matrix.shape[0], rows):
        columns = matrix.indices[matrix.indptr[begin] : matrix.indptr[min(begin + rows, matrix.shape[0])]]
        total += len({int(column) * 8 // line for column in columns})
    return total * line


@pytest.mark.parametrize(("rows", "line"), [(32, 32), (7, 64), (1000, 128)])
def test_lines_are_counted(rows, line):
    random = np.random.default_rng(0)
    for shape in ((100, 300), (333, 40), (5, 5)):
        matrix = scipy.sparse.random_array(shape, density=0.05, rng=random).tocsr()
        matrix.sort_indices()
        assert locality.bytes_of_x(matrix, rows, line) == counted(matrix, rows, line)
    empty = scipy.sparse.csr_array((10, 10))
    assert locality.bytes_of_x(empty, rows, line) == 0 and locality.bandwidth(empty) == 0


def test_bandwidth_is_the_farthest_entry():
    matrix = scipy.sparse.csr_array((np.ones(3), ([0, 4, 5], [0, 9, 1])), shape=(10, 10))
    assert locality.bandwidth(matrix) == 5


@pytest.mark.parametrize("degree", [1, 2])
def test_random_numbers_move_x_again_and_again(degree):
    """STO is worst by far: a warp asks for seven times the sectors and more that it does in HIE, and the like of CM."""
    level = 7 - degree
    by_warp, by_cache = (
        {name: locality.bytes_of_x(grids("circle", degree, level, name)[-1].matrix, rows, line)
         for name in ("2lv", "cm", "xyz", "sto", "hie")} for rows, line in ((32, 32), (512, 64))
    )  # fmt: skip
    for found, factor in ((by_warp, 2.5), (by_cache, 1.5)):
        others = [value for name, value in found.items() if name != "sto"]
        assert found["sto"] > factor * max(others) and found["sto"] > 7 * min(others)
