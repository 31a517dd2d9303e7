"""Sparse matrix-vector products: every format on every back end that this machine has, and the rivals.

Matrices are the stiffness matrices of zhang2013's meshes; a format that cannot hold one shows n/a.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

import datasets
from baselines import spmv as rivals
from benchmarks.assembly import device, processor, samples
from kernels import spmv
from kernels.assembly import elasticity
from kernels.device import BACKENDS
from kernels.stream.probes import memory_probes
from repro import Skip
from repro.run import timing

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


def streaming(opened, what, size_bytes=BAND_BYTES):
    """Return what reads about so many bytes, alone or in a product with a band of 27 diagonals, and the bytes."""
    if what == "read":
        probe = memory_probes(opened, size_bytes)[0]
        return probe.function, probe.bytes
    rows = size_bytes // 324  # 27 values of 8 bytes and indices of 4
    band = scipy.sparse.diags_array(np.ones(27), offsets=range(-13, 14), shape=(rows, rows))
    packed = spmv.pack(what, opened, band.tocsr())
    x, y = (opened.zeros(rows, "float64") for _ in range(2))
    return lambda: packed.multiply(x, y), packed.least_work().bytes


class Scaling:
    """Strong scaling: a product with a band, and a read of as much, by the threads that take part.

    asv draws times by threads, ``python -m benchmarks.scaling`` bandwidths.
    """

    params = (("read", "csr_vector", "sell"), (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128))
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
