"""Probes of what the hardware allows: copy, triad and read of arrays from cache-sized to large, and multiply-add rates.

Kernels that claim a fraction of the bound are compared with these, run through the same back end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("stream.c")
PRECISIONS = {"float64": ("double", 8), "float32": ("float", 4)}
SMALLEST = 32 << 10  # bytes of one array
LARGEST = 8 << 30
BEYOND = 4  # so many times the last caches a processor's arrays are at least: what is read again is then not there


@dataclass(frozen=True)
class Probe:
    """One measurement of a ceiling.

    Attributes
    ----------
    name : str
    kind : {'copy', 'triad', 'read', 'flops'}
    size_bytes : int
        Size of one array; 0 for arithmetic.
    function : callable
        Enqueues the work once.
    bytes, flops : float
        Bytes that the work moves, and operations that it takes.
    precision : {'float64', 'float32'}
    error : callable
        Returns the relative error of what `function` computed last.
    """

    name: str
    kind: str
    size_bytes: int
    function: Callable[[], None]
    bytes: float
    flops: float
    precision: str
    error: Callable[[], float]


def setting(is_gpu: bool, precision: str, loads: int, rounds: int, arithmetic: bool = False):
    """Return the block and the defines of a build of the source.

    A GPU's pack is 16 bytes, and one number for arithmetic; a processor's is a vector register of 64 bytes, its block
    one thread.
    """
    real, size = PRECISIONS[precision]
    width = 64 // size if not is_gpu else 1 if arithmetic else 16 // size
    return (256 if is_gpu else 1), {"real": real, "WIDTH": width, "LOADS": loads, "ROUNDS": rounds}


def memory_setting(is_gpu: bool, size: int):
    """Return the block and the defines for arrays of `size` bytes: as many in flight as leaves every core a block."""
    if is_gpu:
        return setting(True, "float64", 1 if size < 8 << 20 else 4, 1 if size < 32 << 20 else 4)
    return setting(False, "float64", 8, 8 if size < 1 << 20 else 64)


def arithmetic_setting(is_gpu: bool, precision: str):
    """Return the block and the defines of the arithmetic probe: chains enough to hide a multiply-add's latency."""
    return setting(is_gpu, precision, 8 if is_gpu else 12, 16 if is_gpu else 8, arithmetic=True)


BUILDS = [
    (SOURCE, *found)
    for is_gpu in (True, False)
    for found in (
        *(memory_setting(is_gpu, size) for size in (32 << 10, 8 << 20, 32 << 20)),
        *(arithmetic_setting(is_gpu, precision) for precision in PRECISIONS),
    )
]


def sizes(memory_bytes: int, cache_bytes: int, is_gpu: bool) -> list[int]:
    """Return the array sizes in bytes, powers of two: between two of them a cache's edge hardly shows.

    They go from 32 KiB to an eighth of the memory, but to 8 GiB at most; on a processor no further than its last
    caches need, and 256 MiB.
    """
    largest = min(LARGEST if is_gpu else max(2 * BEYOND * cache_bytes, 256 << 20), LARGEST, memory_bytes // 8)
    return [SMALLEST << step for step in range(64) if SMALLEST << step <= largest]


def ceiling_probes(device) -> Iterator[Probe]:
    """Yield the probes of `device`, bandwidths in float64 at each size and arithmetic in both precisions.

    The arrays of a size are released when the next is asked for and no probe of it is kept.
    """
    for size in sizes(device.memory_bytes, device.cache_bytes, device.is_gpu):
        yield from memory_probes(device, size)
    for precision in PRECISIONS:
        yield arithmetic_probe(device, precision)


def memory_probes(device, size: int) -> list[Probe]:
    """Return read, copy and triad of arrays of `size` bytes, 32 KiB times a power of two."""
    block, defines = memory_setting(device.is_gpu, size)
    kernels = device.build(SOURCE, block=block, defines=defines)
    count, width = size // 8, defines["WIDTH"]
    grid = count // (width * defines["LOADS"] * defines["ROUNDS"] * block)
    x, y, z = (device.empty(count, np.float64) for _ in range(3))
    total = device.empty(grid * width, np.float64)
    for array, value in ((x, 1.0), (y, 2.0), (z, 3.0)):
        device.fill(array, value)

    def read():
        kernels.read(grid, x, total)

    def copy():
        kernels.copy(grid, x, z)

    def triad():
        kernels.triad(grid, 4.0, x, y, z)

    def sum_error(expected: float) -> float:
        return abs(float(device.to_host(total).sum()) / (expected * count) - 1)

    def written_error(expected: float) -> float:
        kernels.read(grid, z, total)
        return sum_error(expected)

    label = f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
    return [
        Probe(f"read {label}", "read", size, read, size, count, "float64", lambda: sum_error(1.0)),
        Probe(f"copy {label}", "copy", size, copy, 2 * size, 0, "float64", lambda: written_error(1.0)),
        Probe(f"triad {label}", "triad", size, triad, 3 * size, 2 * count, "float64", lambda: written_error(9.0)),
    ]


def arithmetic_probe(device, precision: str) -> Probe:
    """Return the multiply-add rate of one precision, some milliseconds of work."""
    block, defines = arithmetic_setting(device.is_gpu, precision)
    kernel = device.build(SOURCE, block=block, defines=defines).multiply_add
    grid, steps = (16 * device.compute_units, 512) if device.is_gpu else (64 * device.compute_units, 2048)
    count = grid * block * defines["WIDTH"]
    result = device.empty(count, precision)
    chained = defines["LOADS"] * defines["ROUNDS"] * steps

    def multiply_add():
        kernel(grid, steps, 0.5, 1.0, result)

    def error() -> float:  # each chain tends to 1 / (1 - 0.5) = 2, and stays there
        return float(np.abs(device.to_host(result) / (2.0 * defines["LOADS"]) - 1).max())

    return Probe(
        f"multiply-add {precision}", "flops", 0, multiply_add, result.nbytes, 2.0 * chained * count, precision, error
    )
