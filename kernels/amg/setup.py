"""Set-up of the hierarchy: partition, permutation, smoothed prolongator and Galerkin product of every level."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from kernels.amg.hierarchy import Hierarchy, Level


def set_up(device, matrix, *, coarsening="patch", patch_size=400, least_aggregate=9, coarsest=200) -> Hierarchy:
    """Return the hierarchy of a symmetric positive definite matrix.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse CSR array of `device.sparse`, (n, n)
    coarsening : {'patch', 'mis'}
    patch_size : int
        The most rows of a patch.
    least_aggregate : int
        Smaller aggregates are given to their neighbours.
    coarsest : int
        A level of at most so many rows is solved directly.
    """
    host = scipy.sparse.csr_matrix(matrix.get() if hasattr(matrix, "get") else matrix)
    host.sum_duplicates()
    graph = _pattern(host)
    levels, shape = [], host
    pending = None
    while True:
        n = shape.shape[0]
        last = n <= coarsest
        if not last:
            aggregate = _aggregates(graph, least_aggregate)
            last = aggregate.max() + 1 > 0.8 * n
        if last:
            aggregate = np.arange(n)
        count = aggregate.max() + 1
        tentative = scipy.sparse.csr_matrix((np.ones(n), (np.arange(n), aggregate)), (n, count))
        induced = (tentative.T @ graph @ tentative).tocsr()
        patch = _patches(induced, np.bincount(aggregate), patch_size)
        by_patch = np.lexsort((np.arange(count), patch))
        number = np.argsort(by_patch)
        order = np.lexsort((np.arange(n), number[aggregate]))
        rank = np.argsort(order)
        sizes = np.bincount(number[aggregate], minlength=count)
        aggregate_offsets = np.concatenate([[0], np.cumsum(sizes)])
        patch_offsets = np.concatenate([[0], np.cumsum(np.bincount(patch, weights=np.bincount(aggregate)))])
        permuted = shape[order][:, order].tocsr()
        permuted.sort_indices()
        if pending is not None:
            finer = levels.pop()
            p = pending[:, order].tocsr()
            p.sort_indices()
            levels.append(finer | {"prolongator": p, "restrictor": p.T.tocsr()})
        diagonal = permuted.diagonal()
        radius = _radius(permuted, diagonal)
        levels.append({
            "matrix": permuted, "order": order.astype(np.int32), "rank": rank.astype(np.int32),
            "patch_offsets": patch_offsets.astype(np.int32),
            "aggregate_offsets": None if last else aggregate_offsets.astype(np.int32),
            "prolongator": None, "restrictor": None, "spectral_radius": radius,
        })  # fmt: skip
        if last:
            break
        tentative = scipy.sparse.csr_matrix((np.ones(n), (np.arange(n), number[aggregate[order]])), (n, count))
        scaled = scipy.sparse.diags(4 / 3 / radius / diagonal)
        pending = (tentative - scaled @ (permuted @ tentative)).tocsr()
        shape = (pending.T @ permuted @ pending).tocsr()
        shape.sort_indices()
        graph = induced[by_patch][:, by_patch].tocsr() if coarsening == "patch" else _pattern(shape)
    xp, sparse = device.xp, device.sparse
    inverse = np.linalg.inv(levels[-1]["matrix"].toarray())
    inverse = (inverse + inverse.T) / 2

    def placed(value):
        if isinstance(value, np.ndarray):
            return xp.asarray(value)
        return sparse.csr_matrix(value) if scipy.sparse.issparse(value) else value

    built = tuple(Level(**{name: placed(value) for name, value in level.items()}) for level in levels)
    return Hierarchy(built, xp.asarray(inverse))


def _pattern(matrix):
    pattern = matrix.copy()
    pattern.data = np.ones(pattern.nnz)
    return pattern


def _hash(n):
    x = np.arange(n, dtype=np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return (x ^ (x >> np.uint32(16))).astype(np.int64)


def _maximal(graph, k):
    n = graph.shape[0]
    key = (_hash(n) << 28) | np.arange(n)
    state = np.ones(n, dtype=np.int64)
    while (state == 1).any():
        top = (state << 61) | key
        mine = top.copy()
        for _ in range(k):
            top = np.maximum(top, np.maximum.reduceat(top[graph.indices], graph.indptr[:-1]))
        state = np.where(state != 1, state, np.where(top == mine, 2, np.where(top >> 61 == 2, 0, 1)))
    return state == 2


def _allocate(graph, aggregate):
    while (aggregate < 0).any():
        known, open_ = aggregate >= 0, np.nonzero(aggregate < 0)[0]
        count = aggregate.max() + 1
        members = scipy.sparse.csr_matrix((np.ones(known.sum()), (np.nonzero(known)[0], aggregate[known])),
                                          (aggregate.size, count))  # fmt: skip
        near = (graph[open_] @ members).tocsr()
        found = np.diff(near.indptr) > 0
        if not found.any():
            break
        aggregate[open_[found]] = np.asarray(near.argmax(axis=1)).ravel()[found]
    return aggregate


def _aggregates(graph, least, k=2):
    roots = _maximal(graph, k)
    aggregate = np.full(graph.shape[0], -1)
    aggregate[roots] = np.arange(roots.sum())
    aggregate = _allocate(graph, aggregate)
    kept = aggregate.copy()
    aggregate[np.bincount(aggregate)[aggregate] < least] = -1
    aggregate = _allocate(graph, aggregate)
    aggregate = np.where(aggregate < 0, kept, aggregate)
    return np.unique(aggregate, return_inverse=True)[1]


def _patches(graph, weight, limit):
    patch, patches = np.full(weight.size, -1), 0
    for seed in range(weight.size):
        if patch[seed] >= 0:
            continue
        total, front, here = 0, {seed: 0.0}, []
        while front:
            best = max(front, key=lambda a: (front[a], -a))
            del front[best]
            if here and total + weight[best] > limit:
                continue
            here.append(best)
            patch[best], total = patches, total + weight[best]
            for e in range(graph.indptr[best], graph.indptr[best + 1]):
                a = graph.indices[e]
                if patch[a] < 0:
                    front[a] = front.get(a, 0.0) + graph.data[e]
        patches += 1
    return patch


def _radius(matrix, diagonal, steps=20):
    x = np.random.default_rng(0).random(diagonal.size)
    for _ in range(steps):
        y = matrix @ x / diagonal
        radius = np.linalg.norm(y) / np.linalg.norm(x)
        x = y / np.linalg.norm(y)
    return 1.1 * float(radius)
