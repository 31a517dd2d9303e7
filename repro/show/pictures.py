"""Pictures of few colours: git keeps each that is drawn."""

import io

import numpy as np

OWN = 32  # colours that are kept as they are: more than a picture has methods


def small(picture: bytes, colours: int, *, is_smooth: bool = False) -> bytes:
    """Return a PNG with fewer colours, in half of the bytes or less.

    Some of them are the picture's own: the most frequent colours of points that stand side by side, as methods' and
    grids' do. Blurred edges have no such points. The other colours are chosen by coverage. A smooth picture mixes them
    point by point, or its shading would have steps.
    """
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        full = image.convert("RGB")
    own = _flat(full)[: min(OWN, colours // 2)]
    others = full.quantize(colours - len(own), method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette()
    palette = np.concatenate([own, np.reshape(others, (-1, 3))])
    known, places = np.unique(_numbers(full), return_inverse=True)
    distances = ((_channels(known)[:, None] - palette) ** 2).sum(axis=2)
    # Pillow's own mapping takes near colours, not the nearest.
    nearest = distances.argmin(axis=1)[places].reshape(full.height, full.width).astype(np.uint8)
    made = Image.fromarray(nearest)
    made.putpalette(palette.astype(np.uint8).tobytes())
    if is_smooth:
        is_exact = (distances.min(axis=1) == 0)[places].reshape(nearest.shape)
        mixed = full.quantize(palette=made, dither=Image.Dither.FLOYDSTEINBERG)
        made.paste(mixed, mask=Image.fromarray(~is_exact))
    stream = io.BytesIO()
    made.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _numbers(picture) -> np.ndarray:
    """Return a number for the colour of each pixel."""
    red, green, blue = np.moveaxis(np.asarray(picture, dtype=np.int32), 2, 0)
    return red << 16 | green << 8 | blue


def _channels(numbers: np.ndarray) -> np.ndarray:
    return np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=-1)


def _flat(picture) -> np.ndarray:
    """Return the colours of which three pixels stand side by side somewhere, the most frequent first."""
    numbers = _numbers(picture)
    inner = [each[1:-1][(each[:-2] == each[1:-1]) & (each[1:-1] == each[2:])] for each in (numbers, numbers.T)]
    found, counts = np.unique(np.concatenate(inner), return_counts=True)
    return _channels(found[np.argsort(-counts, kind="stable")])
