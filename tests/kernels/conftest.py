"""The devices that the kernels' tests go through."""

import pytest

from kernels.device import BACKENDS, Unavailable, open_device


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
