"""The human cortex as closed surfaces: fsaverage5's pial surfaces, as nilearn's wheel has them.

They are an average of forty brains by FreeSurfer. They are read from the package that the user has installed; their own
licence is not given, so that nothing of them is part of the project.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from datasets.errors import MeshError
from repro.model import Skip

# SHA-256 of the unpacked files.
FILES = {
    "pial_left.gii.gz": "b425b4914362af4aaf43bb5d022afd39a0c5f6ec4601e353631cdd737884c951",
    "pial_right.gii.gz": "6142dfcec7533aaeb962b1de829e21948bb35c85645a08f2c4b7ea503d655ee9",
}
STEPS, FORTH, BACK = 2, 0.5, -0.53  # of Taubin's smoothing, which keeps the volume


class Installed:
    """nilearn, as the source of a recipe (`datasets.recipes`)."""

    def missing(self) -> str:
        """Return what keeps it from being used, empty when it is there."""
        return "" if _folder() else "fsaverage5's surfaces are not there: nilearn is not installed"


SOURCE = Installed()


def surface(hemisphere: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the pial surface of a hemisphere, ``left`` or ``right``.

    The right one crosses itself in places; two steps of Taubin's smoothing mend it. The left one stays as it is.

    Returns
    -------
    points : ndarray of float64, shape (10242, 3)
        Centimetres.
    faces : ndarray of int32, shape (20480, 3)

    Raises
    ------
    Skip
        Where nilearn is not installed.
    MeshError
        When its file is another.
    """
    folder = _folder()
    if not folder:
        raise Skip(SOURCE.missing(), f"{sys.executable} -m pip install nilearn")
    path = folder / f"pial_{hemisphere}.gii.gz"
    packed = path.read_bytes()
    digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()
    if digest != FILES[path.name]:
        raise MeshError(f"{path} is another surface than that of nilearn 0.14: SHA-256 {digest[:16]}")
    points, faces = _arrays(gzip.decompress(packed))
    points = _smoothed(points.astype(np.float64), faces) if hemisphere == "right" else points.astype(np.float64)
    return 0.1 * points, faces.astype(np.int32)


def _folder() -> Path | None:
    """Return the folder of the surfaces in nilearn, which is not imported."""
    spec = importlib.util.find_spec("nilearn")
    places = spec.submodule_search_locations if spec else None
    folders = [Path(place, "datasets", "data", "fsaverage5") for place in places or ()]
    return next((folder for folder in folders if all((folder / name).is_file() for name in FILES)), None)


def _arrays(text):
    """Return points and triangles of a GIFTI file."""
    found = {}
    for array in ElementTree.fromstring(text).iter("DataArray"):
        about = array.attrib
        if (about["Encoding"], about["Endian"]) != ("GZipBase64Binary", "LittleEndian"):
            raise MeshError(f"cannot read an array of {about['Encoding']} and {about['Endian']}")
        data = zlib.decompress(base64.b64decode(array.find("Data").text))
        dtype = {"NIFTI_TYPE_FLOAT32": "<f4", "NIFTI_TYPE_INT32": "<i4"}[about["DataType"]]
        found[about["Intent"]] = np.frombuffer(data, dtype=dtype).reshape(-1, 3)
    return found["NIFTI_INTENT_POINTSET"], found["NIFTI_INTENT_TRIANGLE"]


def _smoothed(points, faces):
    """Move every point towards the mean of its neighbours and back, a little further (Taubin, 1995)."""
    import scipy.sparse

    ends = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    near = scipy.sparse.csr_matrix((np.ones(len(ends)), ends.T), shape=(len(points),) * 2)
    mean = scipy.sparse.diags_array(1 / np.bincount(ends[:, 0], minlength=len(points))) @ near
    for _ in range(STEPS):
        for weight in (FORTH, BACK):
            points = points + weight * (mean @ points - points)
    return points
