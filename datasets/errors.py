"""The errors of a mesh or a matrix that cannot be used, and of a download."""

from __future__ import annotations

from repro.model import ReproError


class MeshError(ReproError):
    """A mesh is missing, unreadable or wrong; the message names the file and the first offending element or node."""


class MatrixError(ReproError):
    """A matrix is missing, unreadable or wrong; the message names the file."""


class DownloadError(ReproError):
    """A file could not be downloaded; the message names the address and the reason."""
