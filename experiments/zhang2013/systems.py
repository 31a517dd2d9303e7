"""The paper's systems, assembled on a cell's device, and what products and solutions are checked against: SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from kernels import device as devices
from kernels.assembly import elasticity
from repro.keeping import kept


@dataclass(frozen=True)
class System:
    """A stiffness matrix and a load, on a device and on the host.

    Attributes
    ----------
    matrix : CSR matrix of the device's namespace
    rhs : (n,) float64 array of the device
    device : kernels.device.Device
    """

    matrix: Any
    rhs: Any
    device: Any

    @cached_property
    def host(self) -> scipy.sparse.csr_array:
        """The matrix for SciPy."""
        matrix = self.matrix.get() if hasattr(self.matrix, "get") else self.matrix
        return scipy.sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)

    @cached_property
    def host_rhs(self) -> np.ndarray:
        """The load for SciPy."""
        return np.array(self.device.to_host(self.rhs))

    def product_error(self, x: np.ndarray, y: np.ndarray, order=None) -> float:
        """Return ‖y - A x‖/‖A x‖ by SciPy's product in double precision, of rows in an `order` where one is given."""
        expected = self.host @ x
        if order is not None:
            expected = expected[order.get() if hasattr(order, "get") else order]
        return float(np.linalg.norm(y - expected) / np.linalg.norm(expected))

    def residual(self, x: np.ndarray) -> float:
        """Return ‖D^-1/2 (b - A x)‖/‖D^-1/2 b‖, the quantity that iterations stop by, afresh and by SciPy."""
        factors = 1 / np.sqrt(self.host.diagonal())
        gap = factors * (self.host_rhs - self.host @ (x.get() if hasattr(x, "get") else x))
        return float(np.linalg.norm(gap) / np.linalg.norm(factors * self.host_rhs))


BYTES = 25  # an entry of an element's matrix, at the peak: assembly takes 13 to 19, a format and vectors the rest


def system(run) -> System:
    """Return the system of a cell's mesh; the last one is kept, since the cells of a mesh follow one another."""
    cell = run.cell
    device = run.device if cell.backend != "host" else _any_device(run)
    return _system(run, run.dataset(cell.data[0]), device)


@kept(lambda run, mesh, device: (mesh.digest(), device.backend))
def _system(run, mesh, device) -> System:
    local = len(mesh.cells) * (mesh.cells.shape[1] * mesh.points.shape[1]) ** 2
    run.need("the system with its formats", **{"device" if run.cell.backend != "host" else "host": BYTES * local})
    made = elasticity.system(device, elasticity.cantilever(mesh.points, mesh.cells))
    return System(made.matrix, made.rhs, device)


def _any_device(run):
    """Return a device that assembles for a baseline of the host."""
    for backend in ("openmp", "opencl", "cuda"):
        try:
            return devices.open_device(backend)
        except devices.Unavailable as missing:
            reason = missing
    run.skip(reason.reason, reason.remedy)
