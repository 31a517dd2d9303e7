"""Run TetGen in a process of its own: python _tetgen_worker.py INPUT.npz OUTPUT.npz SWITCHES.

TetGen writes to the terminal and ends the process when it fails; here both stay apart from the caller. The input has
`points`, `faces` and, per region, a row of `seeds` (x, y, z, label); the output `points`, `cells` and `labels`.
"""

import sys

import numpy as np
import tetgen


def main(source: str, target: str, switches: str) -> None:
    """Mesh the closed surface in `source` and write the tetrahedra to `target`."""
    with np.load(source) as given:
        mesher = tetgen.TetGen(given["points"], given["faces"])
        for x, y, z, label in given["seeds"]:
            mesher.add_region(int(label), (x, y, z))
    mesher.tetrahedralize(switches=switches)
    np.savez(target, points=mesher.node, cells=mesher.elem, labels=np.asarray(mesher.attributes).ravel())


if __name__ == "__main__":
    main(*sys.argv[1:])
