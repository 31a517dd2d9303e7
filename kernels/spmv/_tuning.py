"""The search for the parameters of a format on a matrix and a device, and the memory of what it found (wong2015, 6).

The paper tries every threshold between the shortest and the longest row with every block size. Here thresholds are
those of a geometric sequence, which are tried with every block size as well; each is timed at the number of repeats
that is asked for, and at more than `SHORT` repeats only what is best at as many.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Iterator
from typing import Any

from kernels.device import cache
from kernels.spmv._csr import Csr, canonical
from kernels.spmv._warps import BLOCKS

ITEMS = (4, 6, 8, 10, 12, 16)  # entries a thread: the paper's search for ModernGPU
SHORT, FINALISTS, SAMPLES = 50, 8, 5
LONGEST = {True: 0.05, False: 0.01}  # seconds of a sample of many repeats, on a GPU and on processors
VERSION = 1  # of what is kept


def tuned(name: str, device, csr, dtype: str = "float64", repeats: int = 50, windows=(None,)) -> dict[str, Any]:
    """Return the options with which products in a format take least; found once for a matrix and a device.

    Parameters
    ----------
    name : {'ellwarp', 'ellwarp2', 'csr_merge'}
        K1 by block size, K2 by threshold and block size, merge-path CSR by entries a thread.
    device : kernels.device.Device
    csr : sparse matrix or Csr
    dtype : {'float64', 'float32'}
    repeats : int
        Products in a row, of which the mean time counts.
    windows : sequence of int or None
        Of `ellwarp` and `ellwarp2`, windows to try; the paper sorts all rows, which is None.

    Returns
    -------
    dict
        Options of `spmv.pack`.
    """
    csr = canonical(device, csr, dtype)
    key = cache.key(VERSION, name, device.name, device.backend, dtype, repeats, tuple(windows), _structure(csr))
    path = cache.folder("tuning") / f"{name}-{key}.json"
    found = cache.load(path)
    if found is None:
        options = _search(name, device, csr, repeats, windows)
        cache.store(path, json.dumps(options).encode())
        return options
    return json.loads(found)


def _structure(csr: Csr) -> str:
    """Return a digest of where the entries are."""
    digest = hashlib.sha256(str(csr.shape).encode())
    for array in (csr.row_offsets, csr.columns):
        digest.update(getattr(array, "get", lambda array=array: array)().tobytes())
    return digest.hexdigest()


def _search(name, device, csr, repeats, windows):
    trials = _trials(name, device, csr, windows)
    first = min(repeats, SHORT)
    timed = sorted(((_seconds(device, packed, first), number, options)
                    for number, (options, packed) in enumerate(trials)), key=lambda trial: trial[:2])  # fmt: skip
    if repeats > SHORT:
        finalists = [options for _, _, options in timed[:FINALISTS]]
        timed = sorted((_seconds(device, _packed(name, device, csr, options), repeats), number, options)
                       for number, options in enumerate(finalists))  # fmt: skip
    return timed[0][2]


def _trials(name, device, csr, windows) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield options with the matrix packed by them; one that differs in the block alone shares its arrays."""
    if name == "csr_merge":
        for items in ITEMS if device.is_gpu else ITEMS[::3]:
            yield {"items": items}, _packed(name, device, csr, {"items": items})
        return
    blocks = BLOCKS if device.is_gpu else BLOCKS[::3]
    for window in windows:
        for layout in [{}] if name == "ellwarp" else [{"threshold": each} for each in thresholds(csr, device.is_gpu)]:
            options = layout if window is None else {**layout, "window": window}
            packed = _packed(name, device, csr, options)
            for block in blocks:
                packed.with_block(block)
                yield {**options, "block": block}, packed


def _packed(name, device, csr, options):
    from kernels import spmv

    return spmv.pack(name, device, csr, csr.values.dtype.name, **options)


def thresholds(csr: Csr, fine: bool = True) -> list[int]:
    """Return the thresholds of K2 to try, up to the longest row: powers of two, and on a GPU three in four between."""
    found, power = [], 1
    while power < csr.longest:
        found += [power, 3 * power // 2] if fine and power > 1 else [power]
        power *= 2
    found = [each for each in found if each < csr.longest]
    return (found if fine else found[1::2]) + [max(1, csr.longest)]


def _seconds(device, packed, repeats) -> float:
    """Return the seconds of a product among `repeats` in a row: the median of samples."""
    x, y = device.zeros(packed.shape[1], packed.dtype), device.zeros(packed.shape[0], packed.dtype)
    device.fill(x, 1.0)
    packed.multiply(x, y)
    device.synchronize()
    start = device.record()
    packed.multiply(x, y)
    once = max(device.elapsed(start, device.record()), 1e-7)
    count = max(1, min(repeats, int(LONGEST[device.is_gpu] / once)))
    batch = min(count, SHORT)

    def products():
        for _ in range(batch):
            packed.multiply(x, y)

    replay = device.capture(products)
    replay()
    found = []
    for _ in range(SAMPLES if device.is_gpu else 3):
        device.synchronize()
        start = device.record()
        for _ in range(count // batch):
            replay()
        found.append(device.elapsed(start, device.record()) / (count // batch * batch))
    return statistics.median(found)
