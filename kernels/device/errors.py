"""Errors between a kernel's source and its launch."""

from __future__ import annotations


class Unavailable(Exception):
    """A back end, or something it needs, is not on this machine.

    Parameters
    ----------
    reason : str
        The thing that is missing.
    remedy : str, optional
        A way to get it, as a command where there is one.
    """

    def __init__(self, reason: str, remedy: str = ""):
        super().__init__(f"{reason} ({remedy})" if remedy else reason)
        self.reason, self.remedy = reason, remedy


class BuildError(Exception):
    """A compiler refused a kernel's source.

    Parameters
    ----------
    backend : str
    label : str
        The source's path as the compiler's messages name it.
    log : str
        The compiler's messages, with the source's own file names and lines.
    settings : mapping of str to object
        Block, defines and options of the build.
    """

    def __init__(self, backend: str, label: str, log: str, settings):
        given = ", ".join(f"{name}={value}" for name, value in settings.items())
        super().__init__(f"{backend} does not build {label} with {given or 'no defines'}\n{log.strip()}")
        self.backend, self.label, self.log, self.settings = backend, label, log, dict(settings)
