"""Assembly on a processor, on all its cores: element matrices, then rows that gather them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse

from kernels.multigrid import elements

SOURCE = Path(__file__).with_name("poisson.c")
LANES = 8  # elements side by side
PARTS, ROWS = 16, 256  # parts a thread, which evens out their work, and the least rows of a part


def _defines(degree: int, dimension: int, shared: int = 8) -> dict[str, int]:
    """Return what the kernels know: `shared` is the most elements that a node belongs to, of few values."""
    return {
        "DIMENSION": dimension, "LOCAL": (degree + 1) ** dimension, "POINTS": (degree + 1) ** dimension,
        "SHARED_BY": max(8, 1 << (shared - 1).bit_length()),
    }  # fmt: skip


BUILDS = [(SOURCE, 1, _defines(degree, dimension)) for dimension in (2, 3) for degree in (1, 2)]


def assembled(device, space, source: float):
    """Return the matrix and the load of `assembly.poisson`, boundary rows of the matrix unit rows.

    At the least it reads nodes and points, and writes and reads element matrices, and writes the matrix.

    Parameters
    ----------
    device : kernels.device.Device
        A processor.
    space : see `assembly.poisson`
    source : float

    Returns
    -------
    scipy.sparse.csr_matrix
        Sorted columns.
    (n,) float64 array
    """
    rows, (count, local) = len(space.points), space.nodes.shape
    dimension = space.points.shape[1]
    first, places = places_of(space.nodes, rows)
    shared = int(np.diff(first).max())
    kernels = device.build(SOURCE, block=1, defines=_defines(space.degree, dimension, shared))
    points, weights = elements.gauss(space.degree + 1, dimension)
    shapes, slopes = (table(space.degree, points) for table in (elements.values, elements.gradients))
    nodes = device.array(space.nodes, np.int32)
    matrices = device.empty((count, local, local), np.float64)
    loads = device.empty((count, local), np.float64)
    tables = [device.array(table, np.float64) for table in (space.points, shapes, slopes, weights)]
    kernels.integrate(-(-count // LANES), count, nodes, *tables, float(source), matrices, loads)
    parts = parts_of(device, rows)
    lengths, rhs = device.empty(rows, np.int32), device.empty(rows, np.float64)
    given = (rows, parts, nodes, device.array(space.boundary, np.uint8), first, places,
             matrices, loads, lengths)  # fmt: skip
    kernels.gather(parts, *given, None, None, None, rhs)
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(device.to_host(lengths), out=offsets[1:])
    columns, values = device.empty(int(offsets[-1]), np.int32), device.empty(int(offsets[-1]), np.float64)
    kernels.gather(parts, *given, device.array(offsets), columns, values, rhs)
    found = tuple(device.to_host(part) for part in (values, columns))
    return scipy.sparse.csr_matrix((*found, offsets), shape=(rows, rows)), device.to_host(rhs)


def places_of(nodes, count: int):
    """Return where each of so many nodes stands in the flattened `nodes`: offsets, and places in their order."""
    elements, local = nodes.shape
    offsets = np.arange(0, nodes.size + 1, local)
    by_node = scipy.sparse.csr_matrix(
        (np.arange(nodes.size, dtype=np.int32), nodes.ravel(), offsets), shape=(elements, count)
    ).tocsc()
    return by_node.indptr.astype(np.int32, copy=False), by_node.data


def parts_of(device, rows: int) -> int:
    """Return the parts that rows are shared out in."""
    return max(1, min(PARTS * device.compute_units, rows // ROWS))
