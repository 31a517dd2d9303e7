"""The heat equation on the rod as section 6.2 sets it; what is not printed there is chosen here.

Printed: κ, Δt, ρ, c_p, Q as a number of watts, 70 steps, single precision, recomputed factors. Not printed: where the
source is, how large, how it moves, the tolerance of the solves, and what happens on the boundary. Here it is a ball of
Gaussian profile, Q watts to the cubic metre at its centre, that moves at constant speed along the axis of the rod from
one eye to the other in the 2.8 seconds; the rod is insulated; residuals are reduced by a million.
"""

from __future__ import annotations

KAPPA, STEP, STEPS = 1e-2, 0.04, 70
HEAT, DENSITY, CAPACITY = 1000.0, 7000.0, 0.8
RADIUS, START, END = 0.25, (0.78, 0.0, 0.0), (4.15, 0.0, 0.0)
TOLERANCE = 1e-6
MESH = "remacle2016/rod"


def centre(time):
    """Return where the source is."""
    share = time / (STEP * STEPS)
    return tuple(a + share * (b - a) for a, b in zip(START, END, strict=True))


def heat(device, mesh, order, **settings):
    """Return the problem on a mesh; `settings` are of the solver."""
    from kernels.sem.heat import Heat, Source

    source = Source(HEAT / (DENSITY * CAPACITY), RADIUS, centre)
    settings = {"dtype": "float32", "geometry": "trilinear"} | settings
    return Heat(device, mesh.points, mesh.cells, order, source, kappa=KAPPA, step=STEP, tolerance=TOLERANCE, **settings)


def supplied(problem, steps):
    """Return the heat that the source has given after some steps, in K m³."""
    return STEP * sum(problem.heat_supplied(STEP * step) for step in range(1, steps + 1))
