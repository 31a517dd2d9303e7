"""A beating heart whose cells are ten Tusscher and Panfilov's: the solver of `Heart` with another reaction.

Potentials are millivolts, times milliseconds. A step of backward Euler solves for the potential, with gates and
concentrations that were brought to it by the step before: gates exactly for the potential there (Rush and Larsen),
concentrations by forward Euler. The derivative of a current is taken for its conductance, so that the tangent stays
positive definite; what it leaves out is small beside 1 / Δt, and Newton's method corrects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.monodomain.heart import BLOCK, PROCESSOR_BLOCK, Heart, State

SOURCE = Path(__file__).with_name("ionic.c")
BUILDS = [(SOURCE, block, {}) for block in (BLOCK, PROCESSOR_BLOCK)]
REST = -85.23  # millivolts
# Where a cell is at rest (ten Tusscher and Panfilov 2006, as the N-version benchmark starts it).
STATES = {
    "xr1": 0.00621, "xr2": 0.4712, "xs": 0.0095, "m": 0.00172, "h": 0.7444, "j": 0.7045, "d": 3.373e-5, "f": 0.7888,
    "f2": 0.9755, "fcass": 0.9953, "s": 0.999998, "r": 2.42e-8, "release": 0.9073, "ca": 0.000126, "ca_sr": 3.64,
    "ca_ss": 0.00036, "na": 8.604, "k": 136.89,
}  # fmt: skip


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
    **options
        As there.

    Attributes
    ----------
    states : device array, (18, elements)
        In the order of `STATES`, as the next step takes them.
    """

    threshold = 0.0  # millivolts

    def __init__(self, device, points, cells, fibres, model: Tissue, dt: float, stimulus, until: float, *,
                 tolerance: float = 1e-3, **options):  # fmt: skip
        self._given, self._until = np.asarray(stimulus, dtype=np.float64), float(until) - 0.5 * dt
        super().__init__(device, points, cells, fibres, model, dt, tolerance=tolerance, **options)
        self.load(np.full(self.nodes, REST))

    def set_up_reaction(self, block: int) -> None:
        built, device = self.device.build(SOURCE, block=block), self.device
        self._elements, self._advance, self._settle = built.elements, built.advance, built.settle
        self._rest, self._stimulus = device.array(np.array(list(STATES.values()))), device.array(self._given)
        self.states = device.zeros(len(STATES) * self.elements, np.float64)
        self._settle(self._blocks[1], self.elements, self._rest, self.states)

    def restore_reaction(self, state: State) -> None:
        self._settle(self._blocks[1], self.elements, self._rest, self.states)
        self.accept_reaction()

    def elements_part(self) -> None:
        self._elements(
            self._blocks[1], self.elements, self._cells, self._stiffness, self._volumes, self.phi, self._mean_before,
            self.states, self._stimulus, self._clock, self._until, 1 / self.dt, self._places, self._contributions,
        )  # fmt: skip

    def accept_reaction(self) -> None:
        self._advance(self._blocks[1], self.elements, self.dt, self._cells, self.phi, self.states, self._mean_before)
