"""TorchCor, a library's heart on PyTorch: the monodomain equations on linear tetrahedra, the reaction taken explicitly.

Its scheme is another than the paper's: potentials at the nodes carry the recovery, the reaction goes with the step
before, conduction by Crank and Nicolson's rule with conjugate gradients and Jacobi's preconditioner. So its potentials
come to ours as steps and elements become smaller, and no sooner.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from repro import Skip

LIBRARIES = ("torchcor", "torch")
MILLISECONDS, MILLIVOLTS, REST = 12.9, 100.0, -80.0  # of a unit of time and of potential, and the potential at rest
THRESHOLD = 0.5
TOLERANCE, MOST = 1e-6, 1000


def library():
    """Return PyTorch, TorchCor's solver and its model of Aliev and Panfilov; Skip with the reason without them."""
    try:
        import torch
        from torchcor.ionic.AlievPanfilov import AlievPanfilov
        from torchcor.simulator.monodomain import Monodomain
    except ImportError as error:
        raise Skip(f"no TorchCor: {error}", "pip install torchcor, whose PyTorch is for an NVIDIA GPU") from None
    return torch, Monodomain, AlievPanfilov


class Heart:
    """A heart that TorchCor beats.

    Parameters
    ----------
    points, cells, fibres
        As of `kernels.monodomain.Heart`.
    model : object
        With the attributes of `kernels.monodomain.Model`; its α and b, which TorchCor takes for one, must be the same.
    dt : float
        In the model's units.
    device : str, optional
        PyTorch's name of it.
    """

    def __init__(self, points, cells, fibres, model, dt: float, device: str = "cuda"):
        if model.alpha != model.b:
            raise ValueError(f"TorchCor's model has one constant for α = {model.alpha} and b = {model.b}")
        self.torch, monodomain, aliev_panfilov = library()
        torch, self.dt = self.torch, dt * MILLISECONDS
        where = torch.device(device)
        inner = aliev_panfilov(self.dt, where, torch.float64)
        inner.a, inner.K, inner.epsilon, inner.mu1, inner.mu2 = model.b, model.c, model.gamma, model.mu1, model.mu2
        # The library's model of Aliev and Panfilov lacks the region and the nodes that its solver asks for.
        self.ionic = SimpleNamespace(
            device=where, dtype=torch.float64, region_ids=None, node_indices=None, inner=inner,
            differentiate=inner.differentiate,
        )  # fmt: skip
        self.simulator = monodomain([self.ionic], self.dt, self.dt, where, torch.float64)
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), points, cells, fibres)
            self.simulator.load_mesh(folder, unit_conversion=1)
        scale = self.simulator.Chi * self.simulator.Cm / MILLISECONDS  # from a diffusivity to a conductivity
        self.simulator.add_conductivity(None, scale * (model.isotropic + model.along), scale * model.isotropic)
        self.simulator.assemble()
        self.load(np.zeros(len(points)))

    def load(self, phi) -> None:
        """Start from a potential at the nodes, without recovery."""
        torch, ionic = self.torch, self.ionic
        self._u = REST + MILLIVOLTS * torch.as_tensor(phi, dtype=torch.float64, device=ionic.device)
        ionic.inner.Vrec = torch.zeros_like(self._u)
        self._time, self.iterations = 0.0, 0
        self.activation = torch.where(self.excited, 0.0, -1.0)
        self.simulator.cg.initialize(x=self._u, linear_guess=True)

    @property
    def excited(self):
        return self._u >= REST + THRESHOLD * MILLIVOLTS

    @property
    def phi(self) -> np.ndarray:
        return ((self._u - REST) / MILLIVOLTS).cpu().numpy()

    def step(self) -> None:
        """Go on by a step."""
        self._u, iterations, *_ = self.simulator.step(self._u, self._time, 0.0, TOLERANCE, MOST)
        self._time += self.dt
        self.iterations += iterations
        new = self.excited & (self.activation < 0)
        self.activation = self.torch.where(new, self._time / MILLISECONDS, self.activation)

    def synchronize(self) -> None:
        """Wait for what was enqueued."""
        if self.ionic.device.type == "cuda":
            self.torch.cuda.synchronize()

    def run(self, steps: int) -> None:
        """Go on by so many steps."""
        for _ in range(steps):
            self.step()


def _write(folder, points, cells, fibres):
    """Write a mesh as the library reads it: text, a file each for nodes, elements and fibres."""
    np.savetxt(folder / "mesh.pts", points, fmt="%.12g", header=str(len(points)), comments="")
    lines = "\n".join(f"Tt {a} {b} {c} {d} 1" for a, b, c, d in cells.tolist())
    (folder / "mesh.elem").write_text(f"{len(cells)}\n{lines}\n")
    np.savetxt(folder / "mesh.lon", fibres, fmt="%.9g", header="1", comments="")
