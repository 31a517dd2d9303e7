"""The constants of the monodomain equations."""

from __future__ import annotations

from dataclasses import dataclass

MILLISECONDS = 12.9  # of a unit of time (Göktepe and Kuhl 2009)


@dataclass(frozen=True)
class Model:
    """Aliev and Panfilov's model, and the conduction of the tissue; wong2015, equations 1 to 5.

    The paper gives no constants: the model's are Göktepe and Kuhl's (2009), conduction is such that a plane wave
    travels at 0.6 m/s along the fibres and at 0.3 m/s across. (Without recovery its speed is (1 - 2 α) √(c d / 2).)

    Attributes
    ----------
    alpha, b, c, gamma, mu1, mu2 : float
        α, b, c, γ, μ₁, μ₂.
    isotropic, along : float
        d_iso and d_ani of the tensor D = d_iso I + d_ani n ⊗ n, square centimetres a unit of time.
    """

    alpha: float = 0.01
    b: float = 0.15
    c: float = 8.0
    gamma: float = 0.002
    mu1: float = 0.2
    mu2: float = 0.3
    isotropic: float = 0.039
    along: float = 0.117

    @property
    def reaction(self) -> tuple[float, ...]:
        """The constants of the source terms, in the order in which kernels take them."""
        return self.alpha, self.b, self.c, self.gamma, self.mu1, self.mu2
