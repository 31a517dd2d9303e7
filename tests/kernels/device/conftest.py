"""The devices of this machine, and a cache folder of the tests' own."""

import pytest

from kernels.device import BACKENDS, Unavailable, open_device


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=BACKENDS)
def device(request):
    try:
        return open_device(request.param)
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture
def build(device, tmp_path):
    """Return a function that builds a source given as text."""

    def build_text(text, **settings):
        path = tmp_path / "kernel.c"
        path.write_text(text)
        return device.build(path, **settings)

    return build_text
