"""The template of both ventricles of biv-me as a closed surface: the shape of patients' hearts, not an invented one.

Control points times a matrix of subdivision give the surface's points. The caps that close the valves are left out, so
that what remains bounds the muscle. Lengths are about centimetres.
"""

from __future__ import annotations

import numpy as np

from datasets.fetched import Source

COMMIT = "d01024f8d824a7600cab3daf24b63d202f127d87"
SOURCE = Source(
    "biv-me",
    f"https://raw.githubusercontent.com/UOA-Heart-Mechanics-Research/biv-me/{COMMIT}/src/model",
    {
        "model.txt": "0994805f4b26f5645d739cc180ddd6e6ef8da8b02523d993bfb448f9372976c4",
        "subdivision_matrix_sparse.mat": "80c3fb7844aeef5d7273f6282648ce0a39e3d048a13736b8a03be2d515241b86",
        "ETIndicesSorted.txt": "7b71247f7b67900fe96ff63b150500f75d34dff5ccbc3706d4ad2cded59907a3",
        "ETIndicesMaterials.txt": "832d3a33fdab9a180447a26fdaad67f09759297a013dfec4f2896801c2843bdc",
    },
    "biv-me's template of the ventricles (Apache-2.0)", "REPRO_BIV_ME", "fu2014/biventricular",
)  # fmt: skip
CAPS = ("MITRAL_VALVE", "AORTA_VALVE", "TRICUSPID_VALVE", "PULMONARY_VALVE")
INWARD = ("LV_ENDOCARDIAL", "RV_FREEWALL")  # whose triangles are clockwise in the files


def surface() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the muscle's surface.

    Returns
    -------
    points : ndarray of float64, shape (5806, 3)
    faces : ndarray of int32, shape (11616, 3)
        Anticlockwise seen from outside; every edge belongs to two, in opposite directions.
    parts : ndarray of str, shape (11616,)
        The part of the heart that each triangle belongs to, as in ``LV_ENDOCARDIAL``; ``_CUT`` ends the rims of valves.

    Raises
    ------
    Skip
        Where the template has not been downloaded.
    """
    import scipy.io

    control = np.loadtxt(SOURCE.path("model.txt"))
    points = scipy.io.loadmat(SOURCE.path("subdivision_matrix_sparse.mat"))["S"] @ control
    faces = np.loadtxt(SOURCE.path("ETIndicesSorted.txt"), dtype=np.int32) - 1
    parts = np.loadtxt(SOURCE.path("ETIndicesMaterials.txt"), dtype=str, usecols=1)
    kept = ~np.isin(parts, CAPS)
    faces, parts = faces[kept], parts[kept]
    used, numbers = np.unique(faces, return_inverse=True)
    faces, inward = numbers.reshape(faces.shape).astype(np.int32), np.isin(parts, INWARD)
    faces[inward] = faces[inward, ::-1]
    return points[used], faces, parts
