"""Sparse matrix-vector products: every format on every back end that this machine has, and the rivals.

Matrices are the stiffness matrices of zhang2013's meshes; a format that cannot hold one shows n/a.
"""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse

import datasets
from baselines import spmv as rivals
from benchmarks.assembly import device, processor, samples
from kernels import spmv
from kernels.assembly import elasticity
from kernels.device import BACKENDS, cpu
from kernels.stream.probes import memory_probes
from repro import Skip, machine
from repro.run import state, timing
from repro.show import busy_cores

MESHES = ("zhang2013/tri", "zhang2013/quad", "zhang2013/tet", "zhang2013/hex")
SCALE = "small"
DTYPES = ("float64", "float32")
BAND_BYTES = 256 << 20  # of a matrix


def matrix(opened, name):
    """Return the stiffness matrix of a mesh, in CSR of the device's namespace."""
    mesh = datasets.load(name, SCALE)
    return elasticity.system(opened, elasticity.cantilever(mesh.points, mesh.cells)).matrix


def on_host(csr):
    """Return a CSR matrix of SciPy."""
    return csr.get() if hasattr(csr, "get") else csr


class Formats:
    """A product in a format: its time, its distance from SciPy's, and what the format stores."""

    params = (spmv.FORMATS, BACKENDS, MESHES, DTYPES)
    param_names = ("format", "backend", "mesh", "dtype")
    timeout = 300

    def setup(self, form, backend, name, dtype):
        self.device = device(backend)
        csr = matrix(self.device, name)
        try:
            self.packed = spmv.pack(form, self.device, csr, dtype)
        except spmv.Unsuitable as refused:
            raise NotImplementedError(str(refused)) from None
        x = np.random.default_rng(0).uniform(-1, 1, csr.shape[1])
        self.expected = on_host(csr) @ x
        self.x, self.y = self.device.array(x.astype(dtype)), self.device.zeros(csr.shape[0], dtype)
        self.packed.multiply(self.x, self.y)
        self.device.synchronize()

    def track_time(self, form, backend, name, dtype):
        return samples(lambda: self.packed.multiply(self.x, self.y), self.device)

    track_time.unit = "seconds"

    def track_error(self, form, backend, name, dtype):
        found = self.device.to_host(self.y)
        return float(np.linalg.norm(found - self.expected) / np.linalg.norm(self.expected))

    track_error.unit = "of the product"

    def track_bytes(self, form, backend, name, dtype):
        return self.packed.bytes

    track_bytes.unit = "bytes"

    def track_padding(self, form, backend, name, dtype):
        return self.packed.padding

    track_padding.unit = "values stored over entries"


def heading(opened):
    """Return in words what computes, on how many of the host's cores: those left idle leave it cache and bandwidth."""
    own, there = machine.cores(), os.cpu_count()
    part = f" on {own} of {there} cores" if own < there else ""
    return f"{opened.name}, {opened.compute_units} threads{part}, {cpu.domains()}"


def binding():
    """Return in words whether this process's threads were bound, as of stored rows, and what asked OpenMP for it."""
    found = state.watch(timing.HostClock(), paced=False).slowly()
    ways = [words for way, words in busy_cores.HOW.items() if found.get(way)]
    how = (" and ".join(ways) or busy_cores.UNBOUND) if found else "whether threads were bound is not told"
    return ", ".join([how, *(f"{name} {os.environ.get(name, 'not set')}" for name in ("OMP_PROC_BIND", "OMP_PLACES"))])


def out_of_caches(opened):
    """Return bytes of which the last-level caches hold a third, no fewer than a band has."""
    return max(BAND_BYTES, 3 * opened.cache_bytes)


def streaming(opened, what, size_bytes=BAND_BYTES):
    """Return what reads about so many bytes, alone or in a product with a matrix of few diagonals, and the bytes.

    The diagonals are a band of 27, or with ``-7`` a grid's 7 points. Rows are so short that each one's cost shows.
    """
    if what == "read":
        probe = memory_probes(opened, size_bytes)[0]
        return probe.function, probe.bytes
    form, _, points = what.partition("-")
    count = int(points or 27)
    rows = size_bytes // (12 * count)  # values of 8 bytes and indices of 4
    n = round(rows ** (1 / 3))
    offsets = (-n * n, -n, -1, 0, 1, n, n * n) if points else range(-13, 14)
    band = scipy.sparse.diags_array(np.ones(count), offsets=offsets, shape=(rows, rows))
    packed = spmv.pack(form, opened, band.tocsr())
    x, y = (opened.zeros(rows, "float64") for _ in range(2))
    return lambda: packed.multiply(x, y), packed.least_work().bytes


class Scaling:
    """Strong scaling: a product with few diagonals, and a read of as much, by the threads that take part.

    asv draws times by threads, ``python -m benchmarks.scaling`` bandwidths.
    """

    params = (("read", "csr_vector", "sell", "csr_vector-7", "sell-7"), (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128))
    param_names = ("what", "threads")
    timeout = 300

    def setup(self, what, threads):
        self.device = device("openmp")
        if threads > self.device.compute_units:
            raise NotImplementedError(f"{self.device.name} has {self.device.compute_units} threads")
        self.launch, _ = streaming(self.device, what)
        self.limit = self.device.limited(threads)
        self.limit.__enter__()
        self.launch()

    def teardown(self, *parameters):
        if hasattr(self, "limit"):
            self.limit.__exit__(None, None, None)

    def track_time(self, *parameters):
        return samples(self.launch, self.device)

    track_time.unit = "seconds"


class Packing:
    """From CSR to a format, by the host's clock."""

    params, param_names, timeout = Formats.params[:3], Formats.param_names[:3], Formats.timeout

    def setup(self, form, backend, name):
        opened = device(backend)
        csr = spmv.canonical(opened, matrix(opened, name))

        def pack():
            spmv.pack(form, opened, csr)
            opened.synchronize()

        self.pack = pack
        try:
            pack()  # builds the kernels
        except spmv.Unsuitable as refused:
            raise NotImplementedError(str(refused)) from None

    def track_time(self, form, backend, name):
        return samples(self.pack, timing.HostClock())

    track_time.unit = "seconds"


class Rivals:
    """The products of SciPy, Numba and cuSPARSE."""

    params = (rivals.RIVALS, MESHES, DTYPES)
    param_names = ("rival", "mesh", "dtype")
    timeout = 300

    def setup(self, rival, name, dtype):
        on_gpu = rivals.backend(rival) == "cuda"
        opened = device("cuda") if on_gpu else processor()
        csr = matrix(opened, name)
        self.clock = opened if on_gpu else timing.HostClock()
        try:
            packed = rivals.pack(rival, csr.astype(dtype), dtype)
        except Skip as missing:
            raise NotImplementedError(str(missing)) from None
        x, y = opened.xp.ones(csr.shape[1], dtype), opened.xp.zeros(csr.shape[0], dtype)
        self.launch = lambda: packed.multiply(x, y)
        self.launch()

    def track_time(self, rival, name, dtype):
        return samples(self.launch, self.clock)

    track_time.unit = "seconds"
