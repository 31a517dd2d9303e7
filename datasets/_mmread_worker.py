"""Read a Matrix Market file in a process of its own: python _mmread_worker.py MATRIX.mtx OUTPUT.npz BYTES.

The output has the `rows`, `columns` and `values` of the entries, and the `shape`. See `guarded`.
"""

import resource
import sys

import numpy as np
import scipy.io


def arrays(path: str) -> dict:
    """Return what the output holds, of the matrix in a file."""
    found = scipy.io.mmread(path)
    return {"rows": found.row, "columns": found.col, "values": found.data, "shape": np.array(found.shape)}


def main(path: str, target: str, limit: str) -> None:
    """Read a matrix and write its arrays; exit with one line on standard error if it cannot be read."""
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    try:
        found = arrays(path)
    except MemoryError:
        sys.exit("it asks for more memory than a matrix of its size needs")
    except Exception as problem:
        sys.exit(f"{problem}" if str(problem) else type(problem).__name__)
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
