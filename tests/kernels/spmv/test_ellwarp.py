"""K1 and K2: their layout counted by hand, reordered unknowns, new values in the old structure, refusals."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse

from datasets.wong2015 import epidemiology, webbase
from kernels import spmv
from kernels.multigrid import locality
from tests.kernels.spmv.conftest import MATRICES, elasticity, with_lengths
from tests.kernels.spmv.test_formats import check

FORMATS = ("ellwarp", "ellwarp2")


def square(seed=0, rows=333):
    """Rows of very different lengths, some empty, one dense."""
    lengths = np.minimum(np.random.default_rng(seed).geometric(0.08, rows) - 1, rows)
    lengths[rows // 2] = rows
    return with_lengths(lengths, rows, seed)


def test_lengths_are_padded_a_warp_at_a_time(device):
    lengths = np.tile([1, 9], 48)  # 96 rows: sorted, 48 of nine and 48 of one, so that the second of 3 warps has both
    matrix = with_lengths(lengths, 40)
    assert spmv.pack("ellwarp", device, matrix).stored == 32 * (9 + 9 + 1)
    assert spmv.pack("ellwarp", device, matrix, window=32).stored == 32 * (9 + 9 + 9)
    assert spmv.pack("ellwarp", device, matrix, window=1).stored == 32 * (9 + 9 + 9)
    assert spmv.pack("ellwarp2", device, matrix, threshold=9).stored == 32 * (9 + 9 + 1)
    # With at most 5, two warps for each of the first groups: of 16 rows, two lanes each, 5 columns; the last half of
    # the second group has rows of one entry alone.
    assert spmv.pack("ellwarp2", device, matrix, threshold=5).stored == 32 * (5 + 5 + 5 + 1 + 1)
    # Unsorted, every half of a group has a row of nine.
    assert spmv.pack("ellwarp2", device, matrix, threshold=5, window=1).stored == 32 * 6 * 5


def test_a_long_row_has_a_warp_and_no_more(device):
    matrix = with_lengths([700, *[1] * 31], 700)
    packed = spmv.pack("ellwarp2", device, matrix, threshold=4)
    assert packed.warps == 32
    assert packed.stored == 32 * (22 + 31)  # 700 over 32 lanes; warps for each of the other rows
    check(packed, matrix)


def test_threads_a_row_by_default(device):
    """By default a lane has no more entries than a mean row, so that regular matrices are stored as K1 stores them."""
    matrix = elasticity(8, 3)[:960]
    assert spmv.pack("ellwarp2", device, with_lengths([6] * 320, 40)).warps == 10
    assert spmv.pack("ellwarp2", device, matrix).stored >= matrix.nnz


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("options", [{}, {"sort_columns": True}, {"window": 64}, {"coalesced": False}], ids=str)
def test_reordered_unknowns(name, device, options):
    matrix = square()
    packed = spmv.pack(name, device, matrix, reorder=True, **options)
    order = np.array(device.to_host(device.array(packed.order)))
    assert sorted(order) == list(range(matrix.shape[0]))
    check(packed, scipy.sparse.csr_array(matrix[order][:, order]), alpha=0.5, beta=-2.0)
    remapped = spmv.pack(name, device, matrix, reorder=True, remap=True, **options)
    check(remapped, scipy.sparse.csr_array(matrix[:, order]))
    if options.get("sort_columns"):
        columns = np.array(device.to_host(packed.arrays["columns"]))
        of_first_warp = columns[: 32 * int(packed.warp_offsets[1])].reshape(-1, 32)
        rises = np.diff(np.where(of_first_warp < 0, 10**9, of_first_warp), axis=0) >= 0
        assert rises.all() or name == "ellwarp2"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_new_values_in_the_old_structure(name, device, dtype):
    for options in ({}, {"reorder": True, "sort_columns": True}, {"window": 1}):
        matrix = square(1).astype(dtype)
        matrix.sum_duplicates()
        packed = spmv.pack(name, device, matrix, dtype, **options)
        matrix.data = np.random.default_rng(2).normal(size=matrix.nnz).astype(dtype)
        packed.refill(device.array(matrix.data))
        order = np.array(device.to_host(device.array(packed.order))) if options.get("reorder") else slice(None)
        check(packed, scipy.sparse.csr_array(matrix[order][:, order]).astype(float))
        places = np.array(device.to_host(packed.places))
        assert len(set(places.tolist())) == matrix.nnz and places.max() < packed.stored
    with pytest.raises(ValueError, match="entries, not 3"):
        packed.refill(device.zeros(3, dtype))


def test_sorting_saves_what_table_6_is_about(device):
    matrix = MATRICES["ragged"]()
    sorted_rows, unsorted = (spmv.pack("ellwarp", device, matrix, window=window).stored for window in (None, 1))
    blocks = np.diff(matrix.indptr)
    padded = np.concatenate([blocks, np.zeros(-len(blocks) % 32, int)])
    assert unsorted == 32 * padded.reshape(-1, 32).max(axis=1).sum()
    assert sorted_rows == 32 * np.sort(padded)[::-1].reshape(-1, 32).max(axis=1).sum()


def test_refusals(device):
    matrix = MATRICES["wide"]()
    with pytest.raises(spmv.Unsuitable, match="have no order of rows"):
        spmv.pack("ellwarp", device, matrix, reorder=True)
    with pytest.raises(ValueError, match="not reordered"):
        spmv.pack("ellwarp", device, square(), sort_columns=True)
    for wrong in ({"block": 48}, {"block": 0}, {"block": 2048}, {"window": 33}, {"window": 0}):
        with pytest.raises(ValueError, match="multiple of 32"):
            spmv.pack("ellwarp2", device, matrix, **wrong)
    with pytest.raises(ValueError, match="at most 0"):
        spmv.pack("ellwarp2", device, matrix, threshold=0)
    if device.backend != "cuda":
        with pytest.raises(spmv.Unsuitable, match="CUDA's"):
            spmv.pack("ellwarp", device, matrix, cached=False)


def test_rows_of_the_web_leave_their_neighbours_when_they_are_sorted():
    """Sorted over all they ask for more x; in windows, rows like the longest are among the last."""
    matrix = webbase.build("small")
    lengths, rows = np.diff(matrix.indptr), np.arange(matrix.shape[0])
    everywhere, in_windows = (spmv.by_length(lengths, window, np) for window in (len(rows), 8192))
    moved, before = (locality.bytes_of_x(each, 1024, 32) for each in (matrix[everywhere], matrix))
    assert moved > 1.2 * before
    begins = rows[lengths[in_windows] > lengths.max() / 4]
    assert begins[-1] > 0.8 * len(rows)
    assert np.argmax(lengths[everywhere] <= lengths.max() / 4) < 0.01 * len(rows), "over all, they come first"


def test_rows_of_epidemiology_are_those_before_them_one_column_further(device):
    """A library may keep once what K1 stores for each row. K1 stores as much of a matrix whose rows differ."""

    def repeating(matrix):
        distances = matrix.indices - np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        rows = np.split(distances, matrix.indptr[1:-1])
        return np.mean([np.array_equal(one, other) for one, other in pairwise(rows)])

    matrix = scipy.sparse.csr_matrix(epidemiology.build("small"))
    numbers = np.arange(matrix.shape[0])
    random = np.random.default_rng(0)
    nearby = np.concatenate([random.permutation(each) for each in np.split(numbers, numbers[64::64])])
    renumbered = matrix[nearby][:, nearby].sorted_indices()
    assert repeating(matrix) > 0.95 and repeating(renumbered) < 0.2
    stored = [spmv.pack("ellwarp", device, each).bytes for each in (matrix, renumbered)]
    assert stored[0] == stored[1]
