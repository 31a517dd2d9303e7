"""Meshes of the template of both ventricles, an anatomy in the place of a patient's, at sizes of wong2015's hearts."""

from datasets import biventricular, mesher, ordering


def mesh(volume):
    """Return points and cells of elements up to so large a volume, along Morton's curve."""
    points, faces, _ = biventricular.surface()
    points, cells, _ = mesher.tetrahedralise(points, faces, volume, dihedral=0, keep_surface=False)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
