"""A beating heart whose cells are ten Tusscher and Panfilov's: the solver of `Heart` with another reaction.

Potentials are millivolts, times milliseconds. A step of backward Euler solves for the potential, with gates and
concentrations that were brought to it by the step before: gates exactly for the potential there (Rush and Larsen),
concentrations by forward Euler. The derivative of a current is taken for its conductance, so that the tangent stays
positive definite; what it leaves out is small beside 1 / Δt, and Newton's method corrects it.

On linear tetrahedra the mass integrated exactly is four fifths of the mass by one point and a fifth of the lumped mass,
which is diagonal. A mass's lumped share is added to the sums of the rest, as are cells at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.krylov.conjugate_gradient import REAL
from kernels.monodomain.heart import BLOCK, PROCESSOR_BLOCK, Heart, State, elements_defines

SOURCE = Path(__file__).with_name("ionic.c")
BUILDS = [(SOURCE, block, {"real": real, **made}) for block, made in ((BLOCK, {}), (PROCESSOR_BLOCK, {"FACTORS": 1}))
          for real in REAL.values()]  # fmt: skip
REST = -85.23  # millivolts
# Where a cell is at rest (ten Tusscher and Panfilov 2006, as the N-version benchmark starts it).
STATES = {
    "xr1": 0.00621, "xr2": 0.4712, "xs": 0.0095, "m": 0.00172, "h": 0.7444, "j": 0.7045, "d": 3.373e-5, "f": 0.7888,
    "f2": 0.9755, "fcass": 0.9953, "s": 0.999998, "r": 2.42e-8, "release": 0.9073, "ca": 0.000126, "ca_sr": 3.64,
    "ca_ss": 0.00036, "na": 8.604, "k": 136.89,
}  # fmt: skip
# The share of the mass that is lumped, and whether cells of ions are at the nodes.
INTEGRATIONS = {"one point": (0.0, False), "full mass": (0.2, False), "nodes": (1.0, True)}


@dataclass(frozen=True)
class Tissue:
    """Conduction by the tensor D = isotropic I + along n ⊗ n, in squares of the mesh's unit a millisecond."""

    isotropic: float
    along: float


class IonicHeart(Heart):
    """The monodomain equations with ten Tusscher and Panfilov's epicardial cell; see `Heart`.

    Parameters
    ----------
    device, points, cells, fibres
        As there.
    model : Tissue
    dt : float
        Milliseconds.
    stimulus : (elements,) float64 array
        Millivolts a millisecond that go into each element at first.
    until : float
        Milliseconds for which they do.
    tolerance : float, optional
        Newton iterations end when ‖R‖ is as much of what a change of the potential by a millivolt everywhere makes.
    integration : str, optional
        One of `INTEGRATIONS`: mass and currents at an element's one point, as the paper; the mass exactly; or both by
        the rule whose points are the nodes.
    **options
        As there.

    Attributes
    ----------
    states : device array, (18, elements) or (18, nodes)
        In the order of `STATES`, as the next step takes them.
    """

    threshold = 0.0  # millivolts

    def __init__(self, device, points, cells, fibres, model: Tissue, dt: float, stimulus, until: float, *,
                 tolerance: float = 1e-3, integration: str = "one point", **options):  # fmt: skip
        self._share, self._at_nodes = INTEGRATIONS[integration]
        self._given, self._until = np.asarray(stimulus, dtype=np.float64), float(until) - 0.5 * dt
        super().__init__(device, points, cells, fibres, model, dt, tolerance=tolerance, **options)
        self.load(np.full(self.nodes, REST))

    def set_up_reaction(self, block: int) -> None:
        device = self.device
        made = {"real": REAL[self.linear_dtype], **elements_defines(device)}
        built = device.build(SOURCE, block=block, defines=made)
        self._elements, self._add_nodes = built.elements, built.add_nodes
        self._advance, self._settle = built.advance, built.settle
        self._rest, self._stimulus = device.array(np.array(list(STATES.values()))), device.array(self._given)
        self._nodes_volumes, self._where = device.array(self._lumped), (self._blocks[1], self.elements)
        self._corners = self._cells
        if self._at_nodes:
            self._where = self._blocks[0], self.nodes
            self._corners = device.array(np.tile(np.arange(self.nodes, dtype=np.int32), (4, 1)))
        self.states = device.zeros(len(STATES) * self._where[1], np.float64)
        self._settle(*self._where, self._rest, self.states)

    def restore_reaction(self, state: State) -> None:
        self._settle(*self._where, self._rest, self.states)
        self.accept_reaction()

    def elements_part(self) -> None:
        self._elements(
            self._blocks[1], self.elements, self._cells, self._stiffness, self._volumes, self.phi, self._phi_before,
            int(self._at_nodes), self.states, self._stimulus, self._clock, self._until, (1 - self._share) / self.dt,
            self._places, self._contributions,
        )  # fmt: skip

    def sums_part(self) -> None:
        super().sums_part()
        if self._share:
            self._add_nodes(
                self._blocks[0], self.nodes, self._nodes_volumes, self.phi, self._phi_before, int(self._at_nodes),
                self.states, self._share / self.dt, self._entries[2], self.matrix.arrays["values"], self._inverse,
                self.residual,
            )  # fmt: skip

    def accept_reaction(self) -> None:
        self._advance(*self._where, self.dt, self._corners, self.phi, self.states)
