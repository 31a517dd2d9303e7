"""One kernel source on three back ends: build, launch, arrays and clock.

A back end is a module of this package, found by its name, with a `Device` class and an `open_device` function.

A kernel source is C99 in which a kernel is the code of one block of threads::

    KERNEL axpy(const int n, const real alpha, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
    {
        OUTER(block);               // long: the block's index; OUTER2(bx, by), OUTER3(bx, by, bz)
        INNER(t) {                  // every thread, 0 <= t < BLOCK; INNER2(i, j), INNER3(i, j, k) over the block's axes
            const long i = block * BLOCK + t;
            if (i >= n) continue;   // this thread is done with this INNER
            y[i] += alpha * x[i];
        }
    }

``device.build("axpy.c", block=256, defines={"real": "double"}).axpy(blocks, n, alpha, x, y)`` builds and launches it.

- ``SHARED real tile[SIZE];`` and one ``SHARED_POOL(real, pool, COUNT);``, which may exceed 48 KiB, at the kernel's
  top level; a pointer to them is ``SHARED_POINTER real *``, one to arrays ``GLOBAL real *``.
- ``PRIVATE(real, sum);`` and ``PRIVATE_ARRAY(real, row, N);`` are a thread's own and live across INNER loops:
  ``P(sum)``, ``P(row)[k]``, within INNER only. Other variables outside INNER are the block's, the same for all threads.
- ``BARRIER;`` between INNER loops, where one reads what another thread wrote; every thread comes to it.
- ``INNER_FOR(i, n)`` shares 0 <= i < n out among the threads, in no set order.
- ``ATOMIC_ADD_SHARED(&a[i], v);`` and ``ATOMIC_ADD_GLOBAL(&a[i], v);`` for int, float and double. For int also
  ``ATOMIC_MAX_GLOBAL(&a[i], v);`` and, with the value before, ``FETCH_ADD_SHARED(&a[i], v)``, ``FETCH_ADD_GLOBAL`` and
  ``COMPARE_SWAP_SHARED(&a[i], expected, v)``. ``STORE_GLOBAL(&a[i], v)`` and ``LOAD_GLOBAL(&a[i])`` are for what
  several blocks write in one launch, all the same.
- ``DEVICE_FUNCTION real f(...)`` is inlined; ``UNROLL`` stands before a loop, ``READ_ONLY_LOAD(&x[i])`` loads what no
  thread writes, ``READ_ONCE_LOAD(&x[i])`` what is read once, so that it leaves the caches to the rest; ``long`` has 64
  bits; ``uchar``, ``ushort``, ``uint`` and ``ulong`` are there; ``#include "file"`` is of a file beside the source.
  OpenCL reserves ``local``, ``global``, ``constant`` and ``kernel``; PoCL's ``fma`` is slow.
- A signature's types are C's or defines. ``name.cu`` beside ``name.c``, same kernels, is what CUDA builds instead,
  and ``name.cpu.c`` what the C back end builds: for a processor, in GNU C, which gcc and clang take.
  ``MIN_BLOCKS`` among the defines bounds CUDA's registers; ``COOPERATIVE`` launches a grid whose blocks wait for one
  another, or fails where they are not on the GPU all at once.
- A module that builds kernels lists ``BUILDS = [(file, block, defines), ...]``; tests build each for every back end.
- ``device.prepare([(file, block, defines), ...])`` begins builds in other threads, several at a time; a solver calls it
  first with all that it is going to build, and `build` then finds them or waits. The back ends keep what they built on
  disk.
"""

from __future__ import annotations

import functools
import importlib
from typing import NamedTuple

from kernels.device import cpu
from kernels.device.base import Device
from kernels.device.errors import BuildError, Unavailable
from kernels.device.recording import begin_record, record, recorded

BACKENDS = ("cuda", "opencl", "openmp")
__all__ = [
    "BACKENDS", "BuildError", "Device", "Survey", "Unavailable", "begin_record", "open_device", "record", "recorded",
    "survey",
]  # fmt: skip


class Survey(NamedTuple):
    """Findings of `survey` on one back end: its device when available, else why not and what to do."""

    backend: str
    available: bool
    detail: str
    remedy: str


@functools.cache
def open_device(backend: str) -> Device:
    """Return the device of a back end, the same object each time.

    Parameters
    ----------
    backend : {'cuda', 'opencl', 'openmp'}

    Raises
    ------
    Unavailable
        When the back end is not on this machine, or does not build and run a kernel on it.
    ValueError
        For another name.
    """
    if backend not in BACKENDS:
        raise ValueError(f"back end {backend!r} is none of {', '.join(BACKENDS)}")
    module = importlib.import_module(f"kernels.device.{backend}")
    device = module.open_device()
    _require_proof(device, module.BROKEN)
    return device


def _require_proof(device: Device, remedy: str) -> None:
    """Raise Unavailable where a listed device builds no kernel, as one younger than its driver, or a wrong one."""
    try:
        is_right, why = device.adds_up(), "its kernels compute wrong values"
    except BuildError as error:
        lines = [line.strip() for line in error.log.splitlines() if line.strip()]
        telling = next((line for line in lines if "error" in line.lower()), "".join(lines[:1]))
        is_right, why = False, f"it builds no kernel: {telling}"
    except Exception as error:  # a driver's own
        is_right, why = False, f"it runs no kernel: {type(error).__name__}: {error}".partition("\n")[0]
    if not is_right:
        raise Unavailable(f"{device.name} is listed, but {why}", remedy)


def survey() -> list[Survey]:
    """Return, for each back end, whether it is here, its device or the reason, and the remedy."""
    found = []
    for backend in BACKENDS:
        try:
            device = open_device(backend)
            made_by = (f"{device.details[what]}" for what in ("platform", "compiler") if what in device.details)
            nodes = [cpu.domains()] if backend == "openmp" else []
            found.append(Survey(backend, True, ", ".join([device.name, *made_by, *nodes]), ""))
        except Unavailable as missing:
            found.append(Survey(backend, False, missing.reason, missing.remedy))
    return found
