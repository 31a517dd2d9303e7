"""Geometry that others publish: files that are fetched when asked for, held to their hashes, and kept in the cache.

Nothing of them is part of the project. A recipe that builds on them names them as its `SOURCE`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from datasets import cache
from datasets.errors import MeshError
from repro.model import Skip


@dataclass(frozen=True)
class Source:
    """Files under one address.

    Attributes
    ----------
    name : str
        Of their folder in the cache.
    published : str
        Their address without the last part.
    files : mapping of str to str
        SHA-256 of each file, by its name.
    about : str
        Whose they are and under which licence.
    mirror : str
        Environment variable with the address of a copy.
    dataset : str
        A dataset that is made of them, to tell how they are had.
    """

    name: str
    published: str
    files: Mapping[str, str]
    about: str
    mirror: str
    dataset: str

    @property
    def address(self) -> str:
        """Where the files are fetched from."""
        return os.environ.get(self.mirror, self.published).rstrip("/")

    @property
    def folder(self) -> Path:
        """Where they are kept: another folder for other files."""
        digest = hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()
        return cache.folder() / f"{self.name}-{digest[:16]}"

    def missing(self) -> str:
        """Return what keeps them from being used, empty when they are there."""
        absent = [name for name in self.files if not (self.folder / name).is_file()]
        return f"{self.about} is not downloaded" if absent else ""

    def path(self, name: str) -> Path:
        """Return a file that has been downloaded.

        Raises
        ------
        Skip
            Where it has not been.
        MeshError
            When it is not what was downloaded.
        """
        if self.missing():
            raise Skip(self.missing(), self._remedy)
        path = self.folder / name
        if problem := self._problem(path, name):
            raise MeshError(f"{path} is damaged: {problem}; fetch it again: {self._remedy}")
        return path

    def download(self) -> Path:
        """Download what is missing or damaged, check it, and return the folder; DownloadError when it does not come."""
        from datasets import download

        self.folder.mkdir(parents=True, exist_ok=True)
        for name in self.files:

            def check(path: Path, name: str = name) -> None:
                if problem := self._problem(path, name):
                    raise MeshError(f"{name}: {problem}")

            path = self.folder / name
            if not path.is_file() or self._problem(path, name):
                download.fetch(f"{self.address}/{name}", path, check)
        return self.folder

    @property
    def _remedy(self):
        return f"repro data build --download {self.dataset}"

    def _problem(self, path, name):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return "" if digest == self.files[name] else f"SHA-256 {digest[:16]}, wanted is {self.files[name][:16]}"
