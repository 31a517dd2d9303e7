"""The paper's five numberings of unknowns (section 2.2), as orders of the unknowns of any level."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

NUMBERINGS = ("2lv", "cm", "xyz", "sto", "hie")


def number(name: str, space, level: int = 1, xp=np):
    """Return the order of a numbering: the old number, which is the hierarchy's, of each new one.

    Parameters
    ----------
    name : {'2lv', 'cm', 'xyz', 'sto', 'hie'}
        Two-level: what the coarser level has comes first and keeps its numbers, as the hierarchy numbers anyway.
        Cuthill-McKee. Sorted by coordinates, x first. Stochastic: a random permutation. Hierarchical: as met when the
        elements of the fine mesh are walked recursively in the order of the coarse ones.
    space : Space
    level : int, optional
        Seeds the random permutation.
    xp : module, optional
        Of the space's arrays; Cuthill-McKee is computed on the host.

    Returns
    -------
    (n,) int32 array
        A permutation.
    """
    count = len(space.points)
    if name == "2lv":
        order = xp.arange(count)
    elif name == "cm":
        order = xp.asarray(_cuthill_mckee(_host(space.nodes), count))
    elif name == "xyz":
        # Equal coordinates may differ in the last bits.
        places = xp.round(space.points * 1e10)
        order = xp.lexsort(xp.stack([places[:, axis] for axis in reversed(range(places.shape[1]))]))
    elif name == "sto":
        order = xp.asarray(np.random.default_rng(level).permutation(count))
    elif name == "hie":
        order = _met(space.nodes.ravel(), count, xp)
    else:
        raise ValueError(f"numbering {name!r} is none of {', '.join(NUMBERINGS)}")
    return order.astype(np.int32)


def _host(array):
    return array.get() if hasattr(array, "get") else array


def _met(flat, count, xp):
    """Return the nodes in the order in which they are met."""
    first = xp.empty(count, dtype=np.int64)
    if xp is np:
        first[flat[::-1]] = np.arange(flat.size - 1, -1, -1)  # of several writes the last one stays
    else:
        first[:] = xp.unique(flat, return_index=True)[1]
    is_first = xp.zeros(flat.size, dtype=bool)
    is_first[first] = True
    return flat[is_first]


def _cuthill_mckee(nodes, count):
    """Return Cuthill and McKee's order of the graph of unknowns that share an element."""
    element = np.repeat(np.arange(len(nodes), dtype=np.int32), nodes.shape[1])
    incidence = scipy.sparse.csr_array(
        (np.ones(nodes.size, np.int8), (nodes.ravel(), element)), shape=(count, len(nodes))
    )
    return reverse_cuthill_mckee(scipy.sparse.csr_matrix(incidence @ incidence.T), symmetric_mode=True)[::-1]
