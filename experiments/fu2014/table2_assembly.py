"""Assembly of the Helmholtz matrix: patches on a GPU against a serial loop on a CPU.

Each method makes the matrix of linear elements with λ = 1, in double precision (section 6.1). Beside the paper's two
columns stand the paper's loop on all threads, what a user would run instead (COO to CSR in SciPy and CuPy; on a
processor a loop that knows every entry's place, on a thread and on all), the simplest kernel (global atomics through a
map of every entry's place) and the fastest found (a thread an edge, walking the ring of elements around it).

Equation 4: A = S + λM, with S_ij = (∇φ_i, σ∇φ_j) and M_ij = (φ_i, φ_j).
Timed: `run.time("assembly", launch)`, which makes all entries of A; `run.time("preparation", prepare)` apart.
"""

from __future__ import annotations

import pandas

from baselines.assembly import coordinates, mapped, serial
from baselines.multigrid.loops import threads_there
from experiments.fu2014 import EVERY, labels
from experiments.fu2014 import cases as meshes
from experiments.fu2014.problems import helmholtz, reference
from experiments.fu2014.processor import against_all
from experiments.methods import Methods
from kernels import assembly
from repro import Cell
from repro.rows import is_gpu
from repro.run.timing import HostClock
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.results import ON_CORES
from repro.show.tables import Column, Ratio, Table, paper_table, trimmed

MINUTES = {"smoke": 1, "small": 2, "paper": 12, "large": 60}

TITLES = {
    "patch": "patches, shared-memory atomics (the paper's section 4)",
    "ring": "a thread an edge, walking the ring of elements around it, no atomics",
    "atomic": "a thread an element, global atomics through a map of the entries",
    "coo": "COO to CSR, duplicates summed (SciPy, CuPy)",
    "serial": "serial loop over elements, compiled by Numba (the paper's algorithm 3.1)",
    "serial-threaded": "the serial loop, its searches as they are, over all threads, each with rows of its own",
    "mapped": "the serial loop with a map of the entries, in place of sixteen searches an element",
    "threaded": "`mapped`, the loop with a map of the entries, over all threads, each with rows of its own",
}
LOOPS = Methods()  # on the processor
FACTS = {"patches": "count", "plan_bytes": "B", "shared_bytes": "B"}  # of kernels, with their units
BRIEF, LATTICES = ("smoke", "small"), ("regular", "irregular")
SECONDS = {"smoke": 0.01, "small": 0.05, "paper": 1, "large": 1}  # of sampling each time
TOLERANCE = 1e-12  # of the largest entry; rounding gives 1e-15
# At the peak, an element: of the assembler that the result is compared with, and of the method with the greatest lists.
REFERENCE_BYTES, METHOD_BYTES = 850, 1250


def cells(scale):
    """Return every mesh by every method on every back end that it has; on a laptop COO, the slowest, on two alone."""
    found = []
    for mesh in EVERY:
        data = (f"fu2014/{mesh}",)
        found += [Cell(mesh, method, backend, data=data) for method in assembly.METHODS
                  for backend in ("cuda", "opencl", "openmp")]  # fmt: skip
        if scale not in BRIEF or mesh in LATTICES:
            found += [Cell(mesh, "coo", backend, data=data) for backend in ("cuda", "host")]
        found += [Cell(mesh, loop, "host", data=data) for loop in LOOPS]
    return found


def measure(cell, run):
    """Time preparation and assembly by one method, after comparing every entry with another assembler's."""
    if cell.backend != "host":
        run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    mesh = run.dataset(cell.data[0])
    problem = helmholtz(mesh)
    at_peak = {"host": REFERENCE_BYTES * problem.elements}
    if cell.backend != "host":
        at_peak["device"] = METHOD_BYTES * problem.elements
    run.need("the assembly", **at_peak)
    # CuPy runs the very lines that SciPy does, so neither can vouch for the other.
    expected = reference(mesh, "serial" if cell.method == "coo" else "coo")
    run.value("elements", problem.elements, "count")
    nonzeros = expected.matrix.nnz
    if cell.method in LOOPS:
        launch, result = LOOPS[cell.method](run, problem)
    elif cell.method == "coo":
        launch, result = _coordinates(cell, run, problem)
    else:
        launch, result, nonzeros = _prepared(cell, run, problem)
    run.time(
        "assembly", launch, check=lambda: expected.error(*result()), tolerance=TOLERANCE,
        work=problem.least_work(nonzeros), cold=run.scale != "smoke", max_seconds=SECONDS[run.scale],
    )  # fmt: skip


@LOOPS("serial")
def _serial(run, problem):
    return _loop(run, problem, serial.prepare, threads=1)


@LOOPS("serial-threaded")
def _serial_threaded(run, problem):
    return _loop(run, problem, serial.prepare, threads=threads_there())


@LOOPS("mapped")
def _mapped(run, problem):
    return _loop(run, problem, mapped.prepare, threads=1)


@LOOPS("threaded")
def _threaded(run, problem):
    return _loop(run, problem, mapped.prepare, threads=threads_there())


def _loop(run, problem, prepare, threads):
    """Prepare a loop for so many threads, and time the preparation."""
    launch, result = prepare(problem, threads)
    run.value("threads", threads, "count")
    run.time("preparation", lambda: prepare(problem, threads), max_seconds=SECONDS[run.scale])
    return launch, result


def _prepared(cell, run, problem):
    """Prepare one of the kernels, and time the preparation: partition, pattern, lists and their transfer."""
    kept = []

    def prepare():
        kept[:] = [assembly.prepare(cell.method, run.device, problem)]
        run.device.synchronize()

    run.time("preparation", prepare, device=HostClock(), max_seconds=SECONDS[run.scale])
    assembler = kept[0]
    for fact, value in assembler.facts.items():
        run.value(fact, value, FACTS[fact])
    return assembler.launch, assembler.result, assembler.nonzeros


def _coordinates(cell, run, problem):
    """Sum over triples on the host or, through CuPy, on the device; pattern and values come out of one call."""
    xp, sparse = (run.device.xp, run.device.sparse) if cell.backend == "cuda" else coordinates.HOST
    problem, kept = coordinates.placed(problem, xp), []

    def launch():
        kept[:] = coordinates.assemble(problem, xp, sparse)

    def result():
        return tuple(part.get() if hasattr(part, "get") else part for part in kept)

    return launch, result


def tables(results):
    """Return the paper's table, and all methods with rates and fractions of the bound."""
    paper = paper_table(
        results,
        "Table 2: assembly, double precision",
        [
            Column("GPU", "patch", "assembly", "ms", backend=_device_of_patches(results)),
            Column("CPU", "serial", "assembly", "ms"),
            Ratio("Speedup", "CPU", "GPU", published=("patch", "speedup")),
        ],
        cases=meshes.every(results),
        notes=["GPU is the paper's algorithm on the device named; without a GPU that is the processor."],
    )  # fmt: skip
    rows = []
    done = results.done[results.done["metric"] == "assembly"]
    for row in done.to_dict("records"):
        case, method, backend = row["case"], row["method"], row["backend"]
        elements, cold, preparation = (
            results.value(case, method, metric, backend) for metric in ("elements", "assembly_cold", "preparation")
        )
        rows.append({
            "Mesh": labels(results)[case], "Method": method, "Back end": backend,
            "Time [ms]": 1e3 * row["value"], "Cold [ms]": 1e3 * cold if cold else None,
            "M elements/s": elements / row["value"] / 1e6,
            "Of bound [%]": results.of_bound(row),
            "Preparation [ms]": 1e3 * preparation if preparation else "in the time",
        })  # fmt: skip
    shown = {row["Method"] for row in rows}
    notes = [f"`{method}`: {title}." for method, title in TITLES.items() if method in shown]
    notes.append("`patch` stores the upper half of the matrix, as the paper does; the others store all of it.")
    if any(row["Cold [ms]"] for row in rows):
        notes.append("Cold: the last-level cache evicted before each sample.")
    notes.append(
        "Preparation: partition, pattern and lists, from the topology alone; `coo` finds the pattern anew each time."
    )
    every = trimmed(Table("All methods", pandas.DataFrame(rows), notes), 3)
    return meshes.told(results, [paper, *_against_the_processor(results), every])


def _device_of_patches(results):
    """The back end in the GPU's column; without a GPU it is OpenMP, where OpenCL has the processor, too."""
    backends = results.backends("patch", "assembly")
    if backends[:1] != ["opencl"] or "openmp" not in backends:
        return next(iter(backends), None)
    done = results.done[results.done["method"] == "patch"]
    processors = results.done[results.done["backend"].isin(ON_CORES)]["device"].unique()
    found = done[done["backend"] == "opencl"]["device"].unique()
    return "opencl" if any(is_gpu("opencl", device, *processors) for device in found) else "openmp"


def _against_the_processor(results):
    """The speed-up over all that the processor has: loops and COO, and the kernels on its cores."""
    rivals = {method: (method, "host") for method in (*LOOPS, "coo")}
    rivals |= {f"{method}, openmp": (method, "openmp") for method in assembly.METHODS}
    notes = [
        "The paper's speed-up is over `serial`. The smallest ratio of a row is over the fastest of the processor.",
        "From `serial` to `serial-threaded`, as from `mapped` to `threaded`, only the number of threads changes.",
        "With several, an element whose nodes are of two threads is computed by both.",
    ]
    ours = "patch", _device_of_patches(results)
    return against_all(results, "Patches against all of the processor", "assembly", ours, rivals, notes)


def plot(results):
    """Draw the time of every method on every mesh."""
    made, (axes,) = figure(PAGE, 2.8)
    published = {method: method if results.scale == "paper" else "" for method in TITLES}
    options = {"unit": "ms", "quantity": "Time to assemble", "cases": meshes.ticks(results), "published": published}
    bars(axes, results, "assembly", list(TITLES), **options)
    caption(made, results)
    return made
