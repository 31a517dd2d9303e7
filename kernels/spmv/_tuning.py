"""The search for the parameters of a format on a matrix and a device, and the memory of what it found (wong2015, 6).

The paper tries every threshold between the shortest and the longest row with every block size. Here thresholds are
a geometric sequence. The best few, by the mean time of 50 products in a row, are then tried with every block size,
and the best few of these decide at other numbers of repeats.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path
from typing import Any

from kernels.device import cache, recording
from kernels.spmv._csr import Csr, canonical
from kernels.spmv._warps import BLOCKS
from kernels.spmv.csr_vector import WIDTHS
from kernels.spmv.sell import WALKERS

ITEMS = (4, 6, 8, 10, 12, 16)  # entries a thread: the paper's search for ModernGPU
WITH_BLOCKS = ("ellwarp", "ellwarp2")  # formats whose block size is searched for as well
SHORT, SAMPLES = 50, 5
FINALISTS = {True: 8, False: 3}  # on a GPU, and on processors
LONGEST = {True: 0.005, False: 0.01}  # seconds of a sample, on a GPU and on processors: longer ones find the same mean


def tuned(name: str, device, csr, dtype: str = "float64", repeats: int = 50, windows=(None,)) -> dict[str, Any]:
    """Return the options with which products in a format take least; found once for a matrix, a device and sources.

    Parameters
    ----------
    name : {'ellwarp', 'ellwarp2', 'csr_merge', 'csr_vector', 'sell'}
        K1 by block size, K2 by threshold and block size, merge-path CSR by entries a thread, CSR by threads a row, SELL
        by whether blocks go through consecutive rows.
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
    machine = (device.name, device.backend, device.compute_units, sorted(device.details.items()))
    identity = (_sources(), name, *machine, dtype, tuple(windows), csr.structure)

    def search():
        return _finalists(name, device, csr, windows)

    finalists = _kept(name, (*identity, SHORT), search)
    if repeats == SHORT:
        return finalists[0]

    def decide():
        return _best(device, ((each, _packed(name, device, csr, each)) for each in finalists), repeats)

    return _kept(name, (*identity, repeats), decide)[0]


def _kept(name, identity, found):
    """Return what was found before under this identity, or find and keep it."""
    path = cache.folder("tuning") / f"{name}-{cache.key(*identity)}.json"
    content = cache.load(path)
    if content is None:
        with recording.paused():  # a later cell finds it done
            content = json.dumps(found()).encode()
        cache.store(path, content)
    return json.loads(content)


@once
def _sources() -> str:
    """Return a digest of the formats and of this search: what was best of other kernels need not be of these."""
    digest = hashlib.sha256()
    for path in sorted(path for path in Path(__file__).parent.iterdir() if path.is_file()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _finalists(name, device, csr, windows):
    """Return the options of the best trials at `SHORT` repeats, best first."""
    layouts = list(_layouts(name, csr, device.is_gpu, windows))
    best = _best(device, ((each, _packed(name, device, csr, each)) for each in layouts), SHORT)
    return _best(device, _blocks(name, device, csr, best), SHORT) if name in WITH_BLOCKS else best


def _best(device, trials, repeats):
    """Return the options of the fastest trials, best first; `trials` yields options with the matrix packed by them."""
    timed = [(_seconds(device, packed, repeats), number, options) for number, (options, packed) in enumerate(trials)]
    return [options for _, _, options in sorted(timed, key=lambda trial: trial[:2])[: FINALISTS[device.is_gpu]]]


def _layouts(name, csr, is_gpu, windows) -> Iterator[dict[str, Any]]:
    """Yield options but for the block size."""
    if name == "csr_merge":
        yield from ({"items": items} for items in (ITEMS if is_gpu else ITEMS[::3]))
        return
    if name == "sell":
        yield from ({"walkers": walkers} for walkers in (WALKERS if is_gpu else WALKERS[:1]))
        return
    if name == "csr_vector":
        yield from ({"width": width} for width in (WIDTHS if is_gpu else WIDTHS[::3]))
        return
    for window in windows:
        kept = {} if window is None else {"window": window}
        if name == "ellwarp":
            yield kept
        else:
            ratio = 4 if not is_gpu else 1.5 if len(windows) == 1 else 2
            yield from ({"threshold": each, **kept} for each in thresholds(csr, ratio))


def _blocks(name, device, csr, layouts) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each layout with each block size; one packed matrix serves for all of them."""
    for layout in layouts:
        packed = _packed(name, device, csr, layout)
        for block in BLOCKS if device.is_gpu else BLOCKS[::3]:
            packed.with_block(block)
            yield {**layout, "block": block}, packed


def _packed(name, device, csr, options):
    from kernels import spmv  # which offers this module's search

    return spmv.pack(name, device, csr, csr.values.dtype.name, **options)


def thresholds(csr: Csr, ratio: float) -> list[int]:
    """Return the thresholds of K2 to try, from 1 up to the longest row, each `ratio` times the last, rounded up."""
    found = [1]
    while math.ceil(ratio * found[-1]) < csr.longest:
        found.append(math.ceil(ratio * found[-1]))
    return [*found, csr.longest] if csr.longest > 1 else found


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
    replay = _captured(device, packed, x, y, batch)
    # Behind so much work the host enqueues a single product before it is its turn; else its launch would be timed.
    lead = _captured(device, packed, x, y, SHORT) if device.is_gpu and count < SHORT else None
    found = []
    for _ in range(SAMPLES if device.is_gpu else 3):
        device.synchronize()
        if lead:
            lead()
        start = device.record()
        for _ in range(count // batch):
            replay()
        found.append(device.elapsed(start, device.record()) / (count // batch * batch))
    return statistics.median(found)


def _captured(device, packed, x, y, count):
    def products():
        for _ in range(count):
            packed.multiply(x, y)

    replay = device.capture(products)
    replay()
    return replay
