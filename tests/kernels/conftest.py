"""The devices that the kernels' tests go through."""

import functools
import os

import pytest

from kernels.device import BACKENDS, Unavailable, compiler, open_device, openmp


@pytest.fixture(scope="session", autouse=True)
def cache(repro_cache):
    return repro_cache


@pytest.fixture(
    scope="session", params=[pytest.param(b, marks=pytest.mark.cuda if b == "cuda" else ()) for b in BACKENDS]
)
def device(request, cache):
    try:
        return open_device(request.param)
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture
def begun_and_used(device, monkeypatch):
    """Return what the device is asked to prepare, with how much was built before, and to build, in that order."""
    begun, used, build = {}, [], device.build

    def identity(path, block=256, defines=None):
        return path.name, block, *sorted((defines or {}).items())

    def prepared(builds):
        for each in builds:
            begun.setdefault(identity(*each), len(used))

    def built(*args, **kwargs):
        used.append(identity(*args, **kwargs))
        return build(*args, **kwargs)

    monkeypatch.setattr(device, "prepare", prepared)
    monkeypatch.setattr(device, "build", built)
    return begun, used


@functools.cache
def macros(*flags):
    """The compiler's macros for the processor, by which sources choose their vectors."""
    return compiler.compiler().run(*compiler.FLAGS, *flags, "-dM", "-E", "-x", "c", os.devnull).stdout


@pytest.fixture(params=[pytest.param(("-mno-avx",), id="16 bytes"), pytest.param(("-mno-avx512f",), id="32 bytes")])
def narrow(request, cache, monkeypatch):
    """Return the processor as if its vectors had so many bytes, or fewer where it has fewer."""
    if not compiler.IS_X86:
        pytest.skip("other processors have vectors of one length")
    if macros(*request.param) != macros():  # where it is such a processor, its kernels are built already
        monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, *request.param))
    return openmp.open_device()  # a new one: the process's device has kernels that other flags built
