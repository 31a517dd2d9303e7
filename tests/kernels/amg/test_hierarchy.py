"""The hierarchy against SciPy's products, its convergence, and what it answers to matrices that it is not for."""

import itertools

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from kernels import amg
from kernels.amg.checks import UnsuitableMatrix


def on_host(device, matrix):
    return matrix.get() if hasattr(matrix, "get") else matrix


def placed(device, matrix):
    return device.sparse.csr_matrix(matrix)


def relative(ours, expected):
    return abs(ours - expected).max() / abs(expected).max()


@pytest.fixture(params=["patch", "mis"])
def coarsening(request):
    return request.param


def test_levels_are_what_scipy_makes_of_the_same_aggregates(device, helmholtz, coarsening):
    given = helmholtz(12)
    hierarchy = amg.set_up(device, placed(device, given), coarsening=coarsening, coarsest=10, patch_size=150)
    assert len(hierarchy.levels) == 3
    for level, coarser in itertools.pairwise(hierarchy.levels):
        order, rank = (np.array(device.to_host(a)) for a in (level.order, level.rank))
        assert np.array_equal(rank[order], np.arange(given.shape[0]))
        matrix = on_host(device, level.matrix)
        assert matrix.has_sorted_indices and relative(matrix, given.tocsr()[order][:, order]) <= 1e-14
        offsets = np.array(device.to_host(level.aggregate_offsets))
        count = offsets.size - 1
        label = np.repeat(np.arange(count), np.diff(offsets))
        tentative = scipy.sparse.csr_matrix((np.ones(label.size), (np.arange(label.size), label)), (label.size, count))
        omega = {"patch": 1.6, "mis": 4 / 3}[coarsening] / level.spectral_radius
        smoothed = tentative - omega * scipy.sparse.diags(1 / matrix.diagonal()) @ (matrix @ tentative)
        renumbered = smoothed.tocsc()[:, np.array(device.to_host(coarser.order))].tocsr()
        prolongator = on_host(device, level.prolongator)
        assert relative(prolongator, renumbered) <= 1e-14
        assert (on_host(device, level.restrictor) != prolongator.T).nnz == 0
        assert relative(on_host(device, coarser.matrix), prolongator.T @ matrix @ prolongator) <= 1e-14
        given = smoothed.T @ matrix @ smoothed
    dense = on_host(device, hierarchy.levels[-1].matrix).toarray()
    inverse = np.array(device.to_host(hierarchy.coarsest_inverse))
    assert abs(inverse @ dense - np.eye(len(dense))).max() < 1e-10 and np.array_equal(inverse, inverse.T)


def test_same_bits_in_every_run(device, helmholtz):
    one, other = (amg.set_up(device, placed(device, helmholtz(12)), coarsest=20) for _ in range(2))
    assert len(one.levels) == len(other.levels) == 3
    for mine, theirs in zip(one.levels, other.levels, strict=True):
        assert mine.spectral_radius == theirs.spectral_radius
        assert (on_host(device, mine.matrix) != on_host(device, theirs.matrix)).nnz == 0


def test_the_host_sees_scalars_alone(device, helmholtz, coarsening, monkeypatch):
    """The arrays of levels stay on the device; OpenCL's results have to be NumPy's, since it has no sparse ones."""
    if device.backend == "opencl":
        pytest.skip("hands over its levels to NumPy")
    seen, to_host = [], device.to_host
    given = placed(device, helmholtz(16))

    def watched(array):
        seen.append(array.size)
        return to_host(array)

    monkeypatch.setattr(device, "to_host", watched)
    hierarchy = amg.set_up(device, given, coarsening=coarsening, coarsest=20, patch_size=150)
    assert len(hierarchy.levels) == 3 and hierarchy.levels[0].rows == 17**3
    assert 10 < len(seen) < 200 and max(seen) <= 32  # counters and the ends of sums; two scalars a step of Lanczos


def test_prolongator_keeps_constants_where_rows_sum_to_zero(device, helmholtz):
    given = helmholtz(8)
    stiffness = (given - scipy.sparse.diags(np.asarray(given.sum(axis=1)).ravel())).tolil()
    stiffness[0, 0] += 1  # no longer singular
    stiffness = stiffness.tocsr()
    level = amg.set_up(device, placed(device, stiffness), coarsest=20).levels[0]
    kept = on_host(device, level.prolongator) @ np.ones(level.prolongator.shape[1])
    changed = np.array(device.to_host(level.rank))[0]
    assert abs(np.delete(kept, changed) - 1).max() < 1e-13
    assert abs(kept[changed] - 1) > 1e-3


def test_nodes_without_neighbours_are_put_together_unsmoothed(device, make_matrix):
    given = make_matrix("parts")
    alone = np.diff(given.indptr) == 1
    level = amg.set_up(device, placed(device, given), coarsest=20).levels[0]
    rows = on_host(device, level.prolongator)[np.array(device.to_host(level.rank))[alone]]
    assert alone.sum() >= 150 and (np.diff(rows.indptr) == 1).all() and (rows.data == 1).all()
    assert np.bincount(rows.indices).max() <= 27 and np.unique(rows.indices).size == -(-alone.sum() // 27)


def test_spectral_radius_is_a_close_upper_bound(device, helmholtz):
    given = helmholtz(12)
    *relaxed, coarsest = amg.set_up(device, placed(device, given), coarsest=10).levels
    assert coarsest.spectral_radius is None and len(relaxed) == 2
    for level in relaxed:
        matrix = on_host(device, level.matrix)
        scale = scipy.sparse.diags(1 / np.sqrt(matrix.diagonal()))
        exact = np.linalg.eigvalsh((scale @ matrix @ scale).toarray())[-1]
        assert exact * (1 - 1e-12) <= level.spectral_radius <= 1.15 * exact


class Reference:
    """A V-cycle in NumPy, relaxed by blocks of patches or by the diagonal, as oracle for what a hierarchy is worth."""

    def __init__(self, hierarchy, blocks, inner=3):
        self.levels, self.inverse, self.inner = hierarchy.levels, hierarchy.coarsest_inverse, inner
        self.weights = [4 / 3 / level.spectral_radius / level.matrix.diagonal() for level in self.levels[:-1]]
        self.insides = []
        for level in self.levels:
            patch = np.repeat(np.arange(level.patches), np.diff(level.patch_offsets))
            entries = level.matrix.tocoo()
            inside = patch[entries.row] == patch[entries.col] if blocks else entries.row == entries.col
            part = (entries.data[inside], (entries.row[inside], entries.col[inside]))
            self.insides.append(scipy.sparse.csr_matrix(part, entries.shape))
        self.blocks = blocks

    def relaxed(self, depth, r):
        g = self.weights[depth] * r
        for _ in range(self.inner - 1 if self.blocks else 0):
            g = g + self.weights[depth] * (r - self.insides[depth] @ g)
        return g

    def cycle(self, b, depth=0):
        if depth == len(self.levels) - 1:
            return self.inverse @ b
        level = self.levels[depth]
        u = self.relaxed(depth, b)
        u = u + level.prolongator @ self.cycle(level.restrictor @ (b - level.matrix @ u), depth + 1)
        return u + self.relaxed(depth, b - level.matrix @ u)

    def iterations(self):
        matrix, b, count = self.levels[0].matrix, np.ones(self.levels[0].rows), [0]
        operator = scipy.sparse.linalg.LinearOperator(matrix.shape, self.cycle)
        _, failed = scipy.sparse.linalg.cg(
            matrix, b, rtol=1e-8, M=operator, maxiter=100, callback=lambda _: count.__setitem__(0, count[0] + 1)
        )
        assert not failed
        return count[0]


def test_iterations_on_the_regular_mesh(devices):
    """17³ nodes of the paper's mesh: what better aggregates and what better relaxation bring, each on its own."""
    from baselines.assembly import coordinates
    from datasets.fu2014 import regular
    from kernels.assembly.problem import Problem

    device = next(device for device in devices if device.sparse is scipy.sparse)
    matrix, _ = coordinates.assemble(Problem(*regular.refined(8, 1), mass=1.0))
    counts = {}
    for coarsening in ("patch", "mis"):
        hierarchy = amg.set_up(device, matrix, coarsening=coarsening, coarsest=100)
        for blocks in (True, False):
            counts[coarsening, blocks] = Reference(hierarchy, blocks).iterations()
    assert counts["patch", True] <= 15
    assert counts["patch", True] <= 0.75 * counts["patch", False]
    assert counts["patch", False] < counts["mis", False] and counts["patch", True] <= counts["mis", True]


def test_any_graph_comes_to_an_end(device, matrix, coarsening):
    hierarchy = amg.set_up(device, placed(device, matrix), coarsening=coarsening, coarsest=20, patch_size=50)
    rows = [level.rows for level in hierarchy.levels]
    assert rows[-1] <= 20 and all(coarse < fine for fine, coarse in itertools.pairwise(rows))
    assert hierarchy.grid_complexity < 2
    for level in hierarchy.levels:
        assert np.diff(device.to_host(level.patch_offsets)).max() <= 50


def test_unsorted_columns_and_duplicates_are_summed(device, helmholtz):
    expected = helmholtz(8)
    entries = expected.tocoo()
    shuffle = np.random.default_rng(0).permutation(entries.nnz)
    rows = np.concatenate([entries.row[shuffle], entries.row[:50]])
    columns = np.concatenate([entries.col[shuffle], entries.col[:50]])
    values = np.concatenate([entries.data[shuffle], np.zeros(50)])
    by_row = np.argsort(rows, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows))])
    given = scipy.sparse.csr_matrix((values[by_row], columns[by_row], offsets), expected.shape)
    one, other = (amg.set_up(device, placed(device, m)).levels[0] for m in (given, expected))
    assert np.array_equal(device.to_host(one.order), device.to_host(other.order))
    assert (on_host(device, one.matrix) != on_host(device, other.matrix)).nnz == 0


def changed(matrix, row, column, value):
    matrix = matrix.tolil()
    matrix[row, column] = value
    return matrix.tocsr()


def outside(matrix):
    made = matrix.copy()
    made.indices[[5, 7]] = 10**8, -(10**8)
    return made


UNSUITABLE = {
    "2 column indices are outside": outside,
    "not square": lambda a: a[:, :-1],
    "empty": lambda a: scipy.sparse.csr_matrix((0, 0)),
    "not finite": lambda a: changed(a, 3, 3, np.nan),
    "diagonal is not positive": lambda a: changed(a, 5, 5, -1.0),
    "structure is not symmetric": lambda a: changed(a, 0, a.shape[0] - 1, 1.0),
    "differ from their counterparts": lambda a: changed(a, 0, 1, 7.0),
    "singular to rounding": lambda a: a - scipy.sparse.diags(np.asarray(a.sum(axis=1)).ravel()),
    "indefinite": lambda a: changed(a, 7, 7, 1e-3),
}


@pytest.mark.parametrize("message", list(UNSUITABLE))
def test_unsuitable_matrices_have_an_answer_each(device, make_matrix, message):
    given = UNSUITABLE[message](make_matrix("grid"))
    with pytest.raises(UnsuitableMatrix, match=message):
        amg.set_up(device, placed(device, given), coarsest=2000)


def test_an_indefinite_matrix_may_show_on_a_coarse_level(device, make_matrix, coarsening):
    given = make_matrix("path") - 0.5 * scipy.sparse.eye(2000)
    with pytest.raises(UnsuitableMatrix, match="the diagonal of a level is not positive"):
        amg.set_up(device, placed(device, given), coarsening=coarsening, coarsest=20)


def test_wrong_arguments_are_refused(device, make_matrix):
    given = placed(device, make_matrix("grid"))
    with pytest.raises(ValueError, match="patch_size"):
        amg.set_up(device, given, patch_size=0)
    with pytest.raises(ValueError, match="coarsening"):
        amg.set_up(device, given, coarsening="greedy")
    with pytest.raises(TypeError, match="sparse"):
        amg.set_up(device, np.eye(3))
