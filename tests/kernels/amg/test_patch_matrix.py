"""patchSPM: what is packed is the matrix, entry for entry, in every format."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import patch_matrix
from kernels.amg.patch_matrix import INSIDES, TooLarge

SLICE = 32


def ragged(seed=0, sizes=(1, 97, 160, 33, 64, 31, 150), density=0.02, full=()):
    """Return a random symmetric matrix with a dominant diagonal, in patches of all sizes; those in `full` are dense."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    n = int(offsets[-1])
    half = scipy.sparse.random(n, n, density, random_state=seed).tolil()
    for patch in full:
        rows = slice(offsets[patch], offsets[patch + 1])
        half[rows, rows] = np.random.default_rng(seed).standard_normal((sizes[patch], sizes[patch]))
    matrix = (half + half.T).tocsr()
    matrix.setdiag(0)
    matrix.setdiag(np.asarray(abs(matrix).sum(axis=1)).ravel() + 0.5)
    matrix.sort_indices()
    return matrix, offsets


def placed(device, matrix, offsets):
    return device.sparse.csr_matrix(matrix), device.xp.asarray(offsets)


def sliced(slices, s, lane, lanes, values, columns):
    """Return the entries of one row of a slice."""
    first, width = slices[s, :2]
    at = first + lanes * np.arange(width) + lane
    return values[at], columns[at]


def decoded(device, packed):
    """Return A_I, A_B and A_D of a packed matrix as dense arrays, read as the module says that they are stored."""
    host = {name: np.array(device.to_host(value)) for name, value in vars(packed).items() if hasattr(value, "nbytes")}
    n = packed.rows
    inside, boundary, diagonal = np.zeros((n, n)), np.zeros((n, n)), host["diagonal"].astype(float)
    for first, rows, first_entry, entries, first_slice, slots, boundary_rows, _ in host["headers"]:
        here = slice(first_entry, first_entry + entries)
        if packed.inside == "symcoo":
            words = host["columns"][here]
            np.add.at(inside, (first + (words & 65535), first + (words >> 16)), host["values"][here])
            np.add.at(inside, (first + (words >> 16), first + (words & 65535)), host["values"][here])
        if packed.inside == "csr":
            ends = np.append(host["order"][first : first + rows], entries).astype(int)
            row = np.repeat(np.arange(rows), np.diff(ends))
            np.add.at(inside, (first + row, first + host["columns"][here]), host["values"][here])
        handed = np.zeros(max(1, slots), dtype=int)
        for k in range(rows):
            s, lane = first_slice + k // SLICE, k % SLICE
            lanes = min(SLICE, rows - SLICE * (k // SLICE))
            if packed.inside in ("ell", "half"):
                i = host["order"][first + k]
                values, columns = sliced(host["slices"], s, lane, lanes, host["values"], host["columns"])
                used = values != 0  # of padding, nothing but zeros
                if packed.inside == "half":
                    np.add.at(handed, columns[used] >> 16, 1)
                    assert np.all(columns[~used] >> 16 == slots)
                    columns = host["order"][first + (columns & 65535)].astype(int)
                    inside[first + columns[used], first + i] += values[used]
                else:
                    columns = host["order"][first + columns].astype(int)
                np.add.at(inside, (first + i, first + columns[used]), values[used])
            if k < boundary_rows:
                i = host["boundary_order"][first + k]
                values, columns = sliced(
                    host["boundary_slices"], s, lane, lanes, host["boundary_values"], host["boundary_columns"]
                )
                np.add.at(boundary, (first + i, columns), values)
        if packed.inside == "half":  # every slot that a row reads is handed to once, no other at all
            expected = np.zeros(max(1, slots), dtype=int)
            for k in range(rows):
                at = host["slices"][first_slice + k // SLICE, 2] + k % SLICE
                expected[at + SLICE * np.arange(host["incoming"][first + k])] = 1
            assert np.array_equal(handed, expected)
        if packed.inside in ("ell", "half"):
            diagonal[first + host["order"][first : first + rows].astype(int)] = host["diagonal"][first : first + rows]
    return inside, boundary, np.diag(diagonal)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inside", INSIDES)
def test_packs_the_matrix(device, inside, dtype):
    matrix, offsets = ragged(full=(4,))
    packed = patch_matrix.pack(device, *placed(device, matrix, offsets), inside, dtype)
    dense = matrix.toarray().astype(dtype).astype(float)
    patch = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    within = patch[:, None] == patch
    found = decoded(device, packed)
    diagonal = np.diag(np.diag(dense))
    assert np.array_equal(found[0], np.where(within, dense, 0) - diagonal)
    assert np.array_equal(found[1], np.where(within, 0, dense))
    assert np.array_equal(found[2], diagonal)
    assert packed.nonzeros_inside == np.count_nonzero(found[0])
    assert packed.nonzeros_boundary == np.count_nonzero(found[1])
    assert packed.fraction_inside == packed.nonzeros_inside / (matrix.nnz - packed.rows)
    size = np.dtype(dtype).itemsize
    assert packed.least_bytes_inside == packed.nonzeros_inside // 2 * (size + 4)
    assert packed.bytes_boundary >= packed.nonzeros_boundary * (size + 4)
    least = {"symcoo": (size + 4) / 2, "half": (size + 4) / 2, "ell": size + 2, "csr": size + 2}[inside]
    assert packed.bytes_inside >= packed.nonzeros_inside * least
    assert packed.block >= np.diff(offsets).max() and packed.block % 32 == 0


@pytest.mark.parametrize("inside", INSIDES)
def test_a_matrix_of_one_patch_has_no_boundary_and_one_of_single_rows_no_inside(device, inside):
    matrix, _ = ragged(sizes=(150,))
    for offsets in (np.array([0, 150]), np.arange(151)):
        packed = patch_matrix.pack(device, *placed(device, matrix, offsets), inside, "float64")
        assert np.array_equal(sum(decoded(device, packed)), matrix.toarray())
        assert packed.fraction_inside == (offsets.size == 2)


@pytest.mark.parametrize("inside", INSIDES)
def test_a_diagonal_matrix(device, inside):
    matrix = scipy.sparse.diags(np.arange(1.0, 201)).tocsr()
    packed = patch_matrix.pack(device, *placed(device, matrix, np.array([0, 40, 200])), inside, "float64")
    assert np.array_equal(sum(decoded(device, packed)), matrix.toarray())


def test_what_cannot_be_packed(device, monkeypatch):
    matrix, offsets = placed(device, scipy.sparse.identity(1100, format="csr"), np.array([0, 1030, 1100]))
    with pytest.raises(ValueError, match="a patch of 1030 rows; the most is 1024"):
        patch_matrix.pack(device, matrix, offsets)
    with pytest.raises(ValueError, match="'coo' is none of symcoo"):
        patch_matrix.pack(device, matrix, offsets, "coo")
    full, offsets = placed(device, *ragged(sizes=(160,), full=(0,)))
    monkeypatch.setattr(device, "shared_bytes", 48 << 10)
    for inside in ("half", "csr"):
        with pytest.raises(TooLarge, match="too large for"):
            patch_matrix.pack(device, full, offsets, inside)
    for inside in ("ell", "symcoo"):
        patch_matrix.pack(device, full, offsets, inside)


@pytest.mark.parametrize("distance", [65535, 65536, 131071])
@pytest.mark.parametrize("inside", INSIDES)
def test_entries_far_beyond_the_patch_are_not_taken_for_its_own(device, inside, distance):
    """In 16 bits, which places within a patch have, these columns would be such places, or the mark of none."""
    n, size = distance + 640, 64
    near, far = np.arange(n - 1), np.arange(n - distance)
    ends = np.concatenate([near, far]), np.concatenate([near + 1, far + distance])
    half = scipy.sparse.coo_matrix((-np.ones(len(ends[0])), ends), (n, n)).tocsr()
    matrix = (half + half.T + 5 * scipy.sparse.eye(n)).tocsr()
    matrix.sort_indices()
    offsets = np.append(np.arange(0, n, size), n).astype(np.int32)
    packed = patch_matrix.pack(device, *placed(device, matrix, offsets), inside)
    within = sum(2 * (end - first - 1) for first, end in itertools.pairwise(offsets))
    assert packed.nonzeros_inside == within
    columns, values = (device.to_host(a) for a in (packed.boundary_columns, packed.boundary_values))
    stored = columns[values != 0]
    expected = np.concatenate([far, far + distance, *([cut - 1, cut] for cut in offsets[1:-1])])
    assert np.array_equal(np.sort(stored), np.sort(expected))
