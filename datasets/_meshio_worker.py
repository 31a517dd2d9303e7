"""Read a mesh file in a process of its own: python _meshio_worker.py MESH OUTPUT.npz BYTES.

The output has `points`; `types` and, per block, `cells<i>`; `names` and, per name and block, `data<name>_<block>`.
See `guarded`.
"""

import resource
import sys

import meshio
import numpy as np


def arrays(path: str) -> dict:
    """Return what the output holds, of the mesh in a file."""
    mesh = meshio.read(path)
    found = {"points": np.asarray(mesh.points, dtype=np.float64)}
    found["types"] = np.array([block.type for block in mesh.cells], dtype=str)
    found["names"] = np.array(list(mesh.cell_data), dtype=str)
    for number, block in enumerate(mesh.cells):
        found[f"cells{number}"] = _numbers(block.data)
        for place, name in enumerate(mesh.cell_data):
            found[f"data{place}_{number}"] = _numbers(mesh.cell_data[name][number])
    return found


def _numbers(data) -> np.ndarray:
    """Return an array of numbers; of what is none, as polyhedra of many shapes, the count alone."""
    try:
        made = np.asarray(data)
    except ValueError:
        made = np.empty(0, object)
    return made if made.dtype.kind in "iufb" and made.ndim else np.zeros((len(data), 0))


def main(path: str, target: str, limit: str) -> None:
    """Read a mesh and write its arrays; exit with one line on standard error if it cannot be read."""
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    try:
        found = arrays(path)
    except MemoryError:
        sys.exit("it asks for more memory than a mesh of its size needs")
    except Exception as problem:
        sys.exit(f"{problem}" if str(problem) else type(problem).__name__)
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
