"""Gauss-Lobatto-Legendre rules: the points and weights of the paper's section 2.1, and its derivation matrix D."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np


class Rule(NamedTuple):
    """The rule of order n on [-1, 1].

    Attributes
    ----------
    points : (n + 1,) float64
        The paper's t_i, ascending: the ends and the zeros of P_n'.
    weights : (n + 1,) float64
        The paper's ρ_i; exact for polynomials of degree 2n - 1.
    derivative : (n + 1, n + 1) float64
        D[i, j], the derivative at point i of the Lagrange polynomial of point j. The paper's equation 5 has it so.
    """

    points: np.ndarray
    weights: np.ndarray
    derivative: np.ndarray


def _legendre(n: int, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P_n and P_{n-1} at `t` by the three-term recurrence."""
    before, here = np.ones_like(t), t.copy()
    for k in range(1, n):
        before, here = here, ((2 * k + 1) * t * here - k * before) / (k + 1)
    return here, before


@lru_cache(maxsize=32)
def rule(n: int) -> Rule:
    """Return the rule of order n.

    Raises
    ------
    ValueError
        For an order below 1.
    """
    if n < 1:
        raise ValueError(f"the order must be at least 1, not {n}")
    t = -np.cos(np.pi * np.arange(n + 1) / n)  # Chebyshev's points: Newton converges from them
    inner = t[1:-1]
    for _ in range(100):
        high, low = _legendre(n, inner)
        # (1 - t²) P_n' = n (P_{n-1} - t P_n), and its derivative is -n (n + 1) P_n.
        step = (low - inner * high) / ((n + 1) * high)
        inner += step
        if n == 1 or np.abs(step).max(initial=0.0) < 1e-16:
            break
    t = (t - t[::-1]) / 2  # symmetric to the last bit
    t[0], t[-1] = -1.0, 1.0
    value = _legendre(n, t)[0]
    weights = 2 / (n * (n + 1) * value**2)
    gaps = t[:, None] - t + np.eye(n + 1)
    derivative = value[:, None] / value / gaps
    # Rows sum to zero, the derivative of a constant; so summed, the diagonal takes up the rounding of its row.
    np.fill_diagonal(derivative, 0.0)
    np.fill_diagonal(derivative, -derivative.sum(axis=1))
    if n % 2 == 0:
        derivative[n // 2, n // 2] = 0.0
    for array in (t, weights, derivative):
        array.setflags(write=False)
    return Rule(t, weights, derivative)
