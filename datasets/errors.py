"""The error of a mesh that cannot be used."""

from __future__ import annotations

from repro.model import ReproError


class MeshError(ReproError):
    """A mesh is missing, unreadable or wrong; the message names the file and the first offending element or node."""
