"""A GPU's own clock, read by a kernel of one thread: for queues that are not profiled.

OpenCL takes times of a profiled queue. On an H200 that makes each launch longer by as much as a small kernel takes. A
marker in a profiled queue beside the plain one, which waits for it, comes too late. NVIDIA's driver compiles PTX, which
has a register with the time.

A stamp takes time itself: what is timed once between two of them is longer by one. Where many launches stand between
two stamps it is shared by them. Notes: docs/notes/device.md.
"""

from __future__ import annotations

import numpy as np

PTX_TIMER = 'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");'  # nanoseconds
SOURCE = """
__kernel void stamp(__global long *stamps, const int slot)
{{
    long now;
    {timer}
    stamps[slot] = now;
}}

/* Ticks that follow one another, in as many reads as take a thousandth of a second. */
__kernel void tick(__global long *stamps, const int count, const int reads)
{{
    long last = 0;
    int found = 0;
    for (int read = 0; read < reads && found < count; ++read) {{
        long now;
        {timer}
        if (now != last) stamps[found++] = now;
        last = now;
    }}
}}
"""
SLOTS = 1 << 16
TICKS, READS = 64, 100_000
FINEST = 1e-7  # seconds: a coarser clock says little of a kernel of a few µs


class Stamps:
    """Stamps of an in-order queue.

    Parameters
    ----------
    context : pyopencl.Context
    queue : pyopencl.CommandQueue
    timer : str, optional
        A statement that sets `now`, a long, to nanoseconds.

    Attributes
    ----------
    resolution : float
        Seconds between ticks; infinite where too few came.

    Raises
    ------
    pyopencl.Error
        When the driver does not compile the timer.
    """

    def __init__(self, context, queue, timer: str = PTX_TIMER):
        import pyopencl as cl

        self._cl, self._queue, self._count = cl, queue, 0
        self._buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 8 * SLOTS)
        program = cl.Program(context, SOURCE.format(timer=timer)).build()
        self._stamp, tick = cl.Kernel(program, "stamp"), cl.Kernel(program, "tick")
        self._stamp.set_scalar_arg_dtypes([None, np.int32])
        tick.set_args(self._buffer, np.int32(TICKS), np.int32(READS))
        cl.enqueue_fill_buffer(queue, self._buffer, np.int64(0), 0, 8 * SLOTS)
        cl.enqueue_nd_range_kernel(queue, tick, (1,), (1,))
        ticks = np.diff(self._read(0, TICKS))
        self.resolution = float(np.median(ticks)) * 1e-9 if (ticks > 0).all() else float("inf")

    def record(self) -> int:
        """Enqueue a stamp; return its number."""
        self._count += 1
        self._stamp.set_args(self._buffer, self._count % SLOTS)
        self._cl.enqueue_nd_range_kernel(self._queue, self._stamp, (1,), (1,))
        return self._count

    def elapsed(self, start: int, stop: int) -> float:
        """Return the seconds between two stamps, waiting for them.

        Raises
        ------
        ValueError
            When a later stamp has taken the place of one of them.
        """
        if min(start, stop) <= self._count - SLOTS:
            raise ValueError(f"only the last {SLOTS} stamps are kept")
        begun, ended = (int(self._read(number % SLOTS, 1)[0]) for number in (start, stop))
        return (ended - begun) * 1e-9

    def _read(self, first: int, count: int) -> np.ndarray:
        found = np.empty(count, np.int64)
        self._cl.enqueue_copy(self._queue, found, self._buffer, src_offset=8 * first)
        return found
