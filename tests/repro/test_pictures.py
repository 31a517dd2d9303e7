"""A picture of few colours keeps its own, on average or to the letter."""

import io

import numpy as np
from PIL import Image, ImageFilter

from repro.show import pictures


def small(shading, is_smooth):
    """A picture of 32 colours, and what it is made of."""
    picture, stream = Image.fromarray(np.uint8(255 * shading + 0.5)), io.BytesIO()
    picture.save(stream, "PNG")
    with Image.open(io.BytesIO(pictures.small(stream.getvalue(), 32, is_smooth=is_smooth))) as made:
        assert len(made.getcolors()) <= 32
        return made.convert("RGB"), picture


def tinted(*tints):
    """A shading from white."""
    x, y = np.meshgrid(np.linspace(0, 1, 240), np.linspace(0, 1, 160))
    return 1 - np.stack([x, y, x * y], axis=2) * tints


def test_a_smooth_picture_keeps_its_colours_on_average():
    wrong = {}
    for is_smooth in (False, True):
        found, given = (each.filter(ImageFilter.BoxBlur(4)) for each in small(tinted(1, 0.7, 0.5), is_smooth))
        wrong[is_smooth] = np.abs(np.asarray(found, float) - given).mean()
    assert wrong[True] < wrong[False] / 2


def test_paper_stays_white_beside_colours_near_it():
    shading = tinted(0.02, 0.04, 0.06)
    shading[:, :40] = 1
    assert (np.asarray(small(shading, is_smooth=True)[0])[:, :40] == 255).all()
