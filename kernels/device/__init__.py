"""One kernel source on three back ends: build, launch, arrays and clock.

A back end is a module of this package, found by its name, with a `Device` class and an `open_device` function.
"""

from __future__ import annotations

import functools
import importlib
from typing import NamedTuple

from kernels.device.base import Device
from kernels.device.errors import BuildError, Unavailable

BACKENDS = ("cuda", "opencl", "openmp")
__all__ = ["BACKENDS", "BuildError", "Device", "Survey", "Unavailable", "open_device", "survey"]


class Survey(NamedTuple):
    """What `survey` found of one back end: its device when available, else why not and what to do."""

    backend: str
    available: bool
    detail: str
    remedy: str


@functools.cache
def open_device(backend: str) -> Device:
    """Return the device of a back end, the same object each time.

    Parameters
    ----------
    backend : {'cuda', 'opencl', 'openmp'}

    Raises
    ------
    Unavailable
        When the back end is not on this machine.
    ValueError
        For another name.
    """
    if backend not in BACKENDS:
        raise ValueError(f"back end {backend!r} is none of {', '.join(BACKENDS)}")
    return importlib.import_module(f"kernels.device.{backend}").open_device()


def survey() -> list[Survey]:
    """Return, for each back end, whether it is here, its device or the reason, and the remedy."""
    found = []
    for backend in BACKENDS:
        try:
            found.append(Survey(backend, True, open_device(backend).name, ""))
        except Unavailable as missing:
            found.append(Survey(backend, False, missing.reason, missing.remedy))
    return found
