"""The slab of the N-version benchmark (Niederer and others 2011), by the hearts' solver: a check that others wrote.

Cells are ten Tusscher and Panfilov's (2006), conduction is better along the fibres than across, a cube at a corner is
stimulated. When the potential rises through zero at the eight corners and the centre is compared with what other codes
print (`published/wong2015/slab.toml`).
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas

from baselines.monodomain import ten_tusscher
from baselines.monodomain.residual import with_source
from experiments.wong2015 import dataset
from experiments.wong2015.wave import solving
from kernels.monodomain import IonicHeart, Tissue
from kernels.monodomain.ionic import STATES
from repro import Cell, published
from repro.cache.store import read_toml
from repro.show.tables import Table

# Named by how the element integrates mass and currents, the paper's one point without; see `_integration`.
METHODS = ("benchmark", "benchmark-full-mass", "benchmark-nodes")
CASES = {"smoke": ("slab-500",), "small": ("slab-500",), "paper": ("slab-500", "slab-200", "slab-100"),
         "large": ("slab-100", "slab-50")}  # fmt: skip
# Milliseconds, pairs of the benchmark; the finest spacing is beyond it.
STEPS = {"slab-500": 0.05, "slab-200": 0.01, "slab-100": 0.01, "slab-50": 0.01}
MOST = {"smoke": 2.0}  # milliseconds that are followed, where not all points are waited for
LIMIT, BETWEEN = 150.0, 50  # milliseconds at most; steps between two looks
CUBE, LASTING = 1.5, 2.0  # millimetres and milliseconds of the stimulus
SURFACE, CAPACITANCE = 140.0, 0.01  # of membrane a volume, 1 / mm; microfarad / mm²
STIMULUS = 50.0 / (SURFACE * CAPACITANCE)  # 50,000 microampere / cm³, in millivolts a millisecond
INNER, OUTER = (0.17, 0.019), (0.62, 0.24)  # siemens / m, along and across
POINTS = {"P1": (0, 0, 0), "P2": (0, 7, 0), "P3": (20, 0, 0), "P4": (20, 7, 0), "P5": (0, 0, 3), "P6": (0, 7, 3),
          "P7": (20, 0, 3), "P8": (20, 7, 3), "P9": (10, 3.5, 1.5)}  # fmt: skip
TOLERANCE = 2e-3  # millivolts of the residual of the last step; Newton's method ends at 1e-3
BYTES = 1100  # an element at the peak, on the device and on the host that checks it


def cells(scale):
    """Return the slab on the GPU and, the coarsest, on the processor; the finest with the paper's integration alone."""
    return [Cell(case, method, backend, data=(dataset(case),))
            for case in CASES[scale] for method in METHODS[: 1 if case == "slab-50" else None]
            for backend in ("cuda", "openmp") if backend == "cuda" or case == "slab-500"]  # fmt: skip


def _integration(method):
    return method.removeprefix("benchmark").strip("-").replace("-", " ") or "one point"


def tissue() -> Tissue:
    """Return conduction across and what it has more along the fibres, mm² / ms."""
    along, across = (inner * outer / (inner + outer) / (SURFACE * CAPACITANCE)
                     for inner, outer in zip(INNER, OUTER, strict=True))  # fmt: skip
    return Tissue(across, along - across)


def measure(run):
    """Follow the wave until it has been everywhere; record when it was at the benchmark's points."""
    case, device, integration = run.cell.case, run.device, _integration(run.cell.method)
    mesh = run.dataset(dataset(case))
    run.need(f"the slab of {len(mesh.cells)} elements", device=BYTES * len(mesh.cells), host=BYTES * len(mesh.cells))
    near = {name: int(abs(mesh.points - point).sum(axis=1).argmin()) for name, point in POINTS.items()}
    inside = (mesh.points[mesh.cells].mean(axis=1) <= CUBE).all(axis=1)
    fibres, dt, stimulus = np.broadcast_to([1.0, 0.0, 0.0], (len(mesh.cells), 3)), STEPS[case], STIMULUS * inside
    heart = IonicHeart(device, mesh.points, mesh.cells, fibres, tissue(), dt, stimulus, LASTING,
                       integration=integration, format="ellwarp", **solving(len(mesh.points)))  # fmt: skip
    taken, most, begun = [], round(MOST.get(run.scale, LIMIT) / dt), time.perf_counter()
    at = np.array([-1.0])
    while len(taken) < most and (at < 0).any():
        taken += heart.run(min(BETWEEN, most - len(taken)))
        at = np.array(device.to_host(heart.activation))[list(near.values())]
    seconds = time.perf_counter() - begun
    before, states = np.array(device.to_host(heart.phi)), np.array(device.to_host(heart.states))
    lasts = heart.time < LASTING - dt / 2
    taken.append(heart.step())
    states = dict(zip(STATES, states.reshape(len(STATES), -1), strict=True))

    def ions(v, part):
        return -sum(ten_tusscher.currents(v, {name: state[part] for name, state in states.items()}).values())

    after, nodes = np.array(device.to_host(heart.phi)), integration == "nodes"
    error = with_source(mesh.points, mesh.cells, fibres, tissue(), dt, before, after,
                        lambda part, mean: lasts * stimulus[part] + (0 if nodes else ions(mean, part)),
                        integration, ions(after, slice(None)) if nodes else 0.0)  # fmt: skip
    run.check(error, TOLERANCE, "residual of the last step")
    for name, when in zip(near, at, strict=True):
        if when >= 0:
            run.value("activation", float(when), "ms", point=name)
    run.value("spacing", float(np.diff(np.unique(mesh.points[:, 0])).min()), "mm")
    run.value("nodes", len(mesh.points), "count")
    run.value("steps", len(taken), "count")
    run.value("newton_iterations", float(np.mean([step.newton_iterations for step in taken])), "count")
    run.value("linear_iterations", float(np.mean([step.linear_iterations for step in taken])), "count")
    run.value("crossing", seconds, "s", error=error)


def table(results) -> list[Table]:
    """Return our activation times beside other codes', where any of ours was measured."""
    others, rows = read_toml(published.ROOT / "wong2015" / "slab.toml"), []
    for case, method in itertools.product(CASES[results.scale], METHODS):
        for backend in results.backends(method, "crossing"):
            found = {point: results.value(case, method, "activation", backend, point=point) for point in POINTS}
            spacing, seconds = (results.value(case, method, metric, backend) for metric in ("spacing", "crossing"))
            if found["P1"] is not None:
                name = f"ours, {_integration(method)}, {backend}"
                reach, far = spread(others, spacing), found["P8"]
                rows.append(_row(name, spacing, STEPS[case], found) | {
                    "P8 of others": reach and f"{reach[0]:.1f} to {reach[1]:.1f}",
                    "Ours within": reach and far and ("yes" if reach[0] <= far <= reach[1] else "no"),
                    "Time to compute [s]": seconds})  # fmt: skip
    if not rows:
        return []
    rows += [_row(code["name"], code["spacing"], code["step"], code["times"]) for code in others["code"]]
    notes = [
        "Milliseconds until the potential rises through 0 mV. Of others: the spread of the benchmark's eleven codes at "
        "0.1 mm and 0.005 ms, and of those in this table on coarser cubes, where the benchmark's spread is not known.",
        "One point takes mass and currents at an element's middle, as the paper's hearts; full mass integrates the "
        "mass exactly; nodes has mass and cells of ions at the nodes. On coarse cubes the currents decide, the mass "
        "changes little: currents of an excited element's middle drive the nodes ahead of the front as well, and its "
        "waves come too early; cells at nodes wait for conduction, and theirs come too late.",
    ]  # fmt: skip
    return [Table("The N-version benchmark's slab", pandas.DataFrame(rows), notes)]


def spread(others, spacing) -> tuple[float, float] | None:
    """Return when the first and the last of other codes have P8 excited on cubes of this width, where any tells."""
    if spacing < 1.5 * others["benchmark"]["spacing"]:
        return tuple(others["benchmark"]["spread"])
    times = [code["times"]["P8"] for code in others["code"] if abs(code["spacing"] / spacing - 1) < 0.2]
    return (min(times), max(times)) if times else None


def _row(name, spacing, step, times):
    return {"Code": name, "Spacing [mm]": spacing, "Step [ms]": step, **{point: times.get(point) for point in POINTS}}
