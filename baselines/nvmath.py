"""NVIDIA's libraries through nvmath-python."""

from __future__ import annotations

import importlib

from repro import Skip


def library(name: str, remedy: str):
    """Return CuPy and a module of `nvmath.bindings`; Skip with the reason where there is no device or no library."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # without a driver CuPy raises an error of its own
        raise Skip(f"no CuPy with a CUDA device: {_line(error)}", remedy) from None
    try:
        bindings = importlib.import_module(f"nvmath.bindings.{name}")
        bindings.get_property(0)  # loads the library
    except Exception as error:  # nvmath's own, where a library is missing
        raise Skip(f"no {name} through nvmath-python: {_line(error)}", remedy) from None
    return cupy, bindings


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
