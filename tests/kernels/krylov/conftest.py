"""The devices that the solvers' tests go through."""

import pytest

from kernels.device import BACKENDS, Unavailable, open_device


@pytest.fixture(scope="session", autouse=True)
def cache(repro_cache):
    return repro_cache


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.cuda if name == "cuda" else ()) for name in BACKENDS])
def device(request):
    try:
        return open_device(request.param)
    except Unavailable as missing:
        pytest.skip(str(missing))
