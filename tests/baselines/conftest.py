import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(repro_cache):
    return repro_cache
