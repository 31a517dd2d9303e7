"""Read a file in a process of its own: python _reading_worker.py mesh|matrix FILE OUTPUT.npz BYTES; see `guarded`."""

import resource
import sys

import numpy as np


def mesh(path: str) -> dict:
    """Return what meshio reads: `points`; block types; per block, `cells<i>`; data names; per both, `data<n>_<i>`."""
    import meshio

    read = meshio.read(path)
    found = {"points": np.asarray(read.points, dtype=np.float64)}
    found["types"] = np.array([block.type for block in read.cells], dtype=str)
    found["names"] = np.array(list(read.cell_data), dtype=str)
    for number, block in enumerate(read.cells):
        found[f"cells{number}"] = _numbers(block.data)
        for place, name in enumerate(read.cell_data):
            found[f"data{place}_{number}"] = _numbers(read.cell_data[name][number])
    return found


def _numbers(data) -> np.ndarray:
    """Return an array of numbers; of what is none, as polyhedra of many shapes, the count alone."""
    try:
        made = np.asarray(data)
    except ValueError:
        made = np.empty(0, object)
    return made if made.dtype.kind in "iufb" and made.ndim else np.zeros((len(data), 0))


def matrix(path: str) -> dict:
    """Return what SciPy reads of Matrix Market: `rows`, `columns` and `values` of the entries, and the `shape`."""
    import scipy.io

    read = scipy.io.mmread(path)
    return {"rows": read.row, "columns": read.col, "values": read.data, "shape": np.array(read.shape)}


READERS = {"mesh": mesh, "matrix": matrix}


def main(kind: str, path: str, target: str, limit: str) -> None:
    """Read a file and write its arrays; exit with one line on standard error if it cannot be read."""
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    try:
        found = READERS[kind](path)
    except MemoryError:
        sys.exit(f"it asks for more memory than a {kind} of its size needs")
    except Exception as problem:
        sys.exit(f"{problem}" if str(problem) else type(problem).__name__)
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
