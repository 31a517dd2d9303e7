"""Kernels given as text."""

import pytest


@pytest.fixture
def build(device, tmp_path):
    """Return a function that builds a source given as text."""

    def build_text(text, **settings):
        path = tmp_path / "kernel.c"
        path.write_text(text)
        return device.build(path, **settings)

    return build_text
