"""Every family of kernels beside the libraries one would pick on a processor: ``python -m benchmarks.rivals``.

Five matrices on grids, one of them as large as leaves the caches, none of them a paper's; Poisson's equation in two
sizes; and a case of each other family, see `benchmarks.families`. All that is compared takes turns in one process, in
rounds of a random order; each result is checked before it is timed. Prints tables, and writes ``rivals.csv``.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from contextlib import closing
from pathlib import Path

import numba
import numpy as np
import pandas
import scipy.sparse

from baselines import solvers
from baselines import spmv as rivals
from baselines.solvers import petsc
from benchmarks import families
from benchmarks.assembly import device
from benchmarks.spmv import binding, heading, on_host, out_of_caches, streaming
from datasets import grids, structured
from experiments import libraries
from experiments.fu2014 import solvers as fu2014
from kernels import spmv
from kernels.assembly import elasticity
from kernels.device import cpu
from repro import Skip
from repro.run import memory, state, timing
from repro.show.tables import Table
from repro.units import significant

LIBRARIES = ("numpy", "scipy", "numba", "mkl", "pyamg", "pyamgcl", "PETSc", "hypre", "libCEED")
SOLVERS = ("patch-pcgamg", "jacobi-pcgamg", "pyamg-rs", "pyamg-sa", "amgcl", "hypre-pcgamg-all")
ON_ONE_THREAD = ("pyamg-rs", "pyamg-sa")
LONG = 500_000  # unknowns, from which on solvers on one thread would take most of a run's time
SIZES = {60: 2, 100: 3}  # of Poisson's equation along an axis, and by what the rounds are divided
TIMES = ("assembly", "step", "product", "set_up", "solve", "both")  # by the last that there is, a table is in order
COLUMNS = {  # of a table: the heading, and which number is the best
    "threads": ("threads", None), "gb_per_s": ("GB/s of its format's least bytes", max),
    "of_read": ("of the read's GB/s", max), "any_gb_per_s": ("GB/s of any format's least bytes", max),
    "bytes": ("its format's least bytes", min),
    "iterations": ("iterations", min), "error": ("error or true residual", None),
}  # fmt: skip
SECONDS = 0.03  # of products in a turn
ROUNDED = 100  # units of rounding that a product may be off by
PAGE = 32 << 10  # bytes, of which `memory_probes` reads a multiple
COPIES = 24  # of a matrix that are there at once: each format's own, and what SciPy takes to make it
MAPS = Path("/proc/self/maps")
CLOCK = timing.HostClock()


def stencil(n, points):
    """Return the Laplacian of 7 or 27 points on a grid of n³ unknowns, values at the boundary left out."""
    beside, one = scipy.sparse.diags_array([1.0, 1.0], offsets=(-1, 1), shape=(n, n)), scipy.sparse.eye_array(n)
    diagonal, terms = 6, [(beside, one, one), (one, beside, one), (one, one, beside)]
    if points == 27:
        diagonal, terms = 27, [(beside + one,) * 3]  # of which a unit is subtracted with its neighbours
    sums = sum(scipy.sparse.kron(scipy.sparse.kron(a, b, "csr"), c, "csr") for a, b, c in terms)
    return scipy.sparse.csr_matrix(diagonal * scipy.sparse.eye_array(n**3, format="csr") - sums)


def elastic(opened, points, cells):
    """Return the stiffness matrix of a cantilever, 3 unknowns a node."""
    return on_host(elasticity.system(opened, elasticity.cantilever(points, cells)).matrix)


def streamed(opened, by):
    """Return the Laplacian of 7 points that has three times the caches' bytes, or as many as memory allows."""
    size = min(out_of_caches(opened), memory.SHARE * memory.host_available() / COPIES)
    return stencil(round((size / (7 * 12 + 20)) ** (1 / 3)) // by, 7)


MATRICES = {  # by the device and the fraction of their size
    "7-point Laplacian, 3-D grid": lambda opened, by: stencil(100 // by, 7),
    "7-point Laplacian, 3-D grid by the caches' size": streamed,
    "27-point Laplacian, 3-D grid": lambda opened, by: stencil(80 // by, 27),
    "elasticity, tetrahedra": lambda opened, by: elastic(opened, *structured.kuhn(30 // by - 1)),
    "elasticity, hexahedra": lambda opened, by: elastic(opened, *grids.hexes(30 // by - 1)),
}


def in_turns(takers, rounds):
    """Return what each of some generators yields, a dictionary a turn, in a list; and why others take no part."""
    taken, refused = {name: [] for name in takers}, {}
    for _ in range(rounds):
        for name in random.sample(list(taken), len(taken)):
            state.watch(CLOCK, paced=False).settle()  # threads of the one before may spin
            try:
                taken[name].append(next(takers[name]))
            except (Skip, spmv.Unsuitable, solvers.SolverFailed) as why:
                refused[name] = str(why)
                del taken[name]
    return taken, refused


def batches(make, what="product"):
    """Yield the seconds of a call, each time of as many as take `SECONDS`, and facts; `make` returns call and facts."""
    call, facts = make()
    quickest = timing.timed(CLOCK, call)
    if quickest < SECONDS:
        quickest = min(quickest, *(timing.timed(CLOCK, call) for _ in range(2)))
    calls = max(1, round(SECONDS / quickest))
    while True:
        call()  # its threads are awake
        yield {what: timing.timed(CLOCK, lambda: [call() for _ in range(calls)]) / calls, **facts}


def checked(opened, name, case, csr, x, expected):
    """Return the product of a format or rival and its facts; one that is not SciPy's ends the run."""
    kind = spmv.pack(name, opened, csr, csr.dtype) if name in spmv.FORMATS else rivals.pack(name, csr, csr.dtype)
    y = opened.array(np.full(csr.shape[0], np.nan, csr.dtype))
    kind.multiply(x, y)
    error = np.linalg.norm(y - expected) / np.linalg.norm(expected)
    if not error <= ROUNDED * np.finfo(csr.dtype).eps:
        raise SystemExit(f"rivals: {name}, {case}: the product is off SciPy's by {error:.2g} of it")
    work, threads = kind.least_work(), 1 if name == "scipy_csr" else getattr(kind, "threads", opened.compute_units)
    return lambda: kind.multiply(x, y), {
        "threads": threads, "bytes": round(work.bytes), "any_bytes": round(work.problem_bytes), "error": error,
    }  # fmt: skip


def products(opened, case, csr, rounds):
    """Return what `in_turns` does, of every format and the host's rivals, and of a read of as many bytes as CSR has."""
    x = opened.array(np.random.default_rng(0).uniform(-1, 1, csr.shape[1]).astype(csr.dtype))
    expected = csr.astype("float64") @ x.astype("float64")
    names = [*spmv.FORMATS, *(name for name in rivals.RIVALS if rivals.backend(name) == "host")]
    takers = {name: batches(lambda name=name: checked(opened, name, case, csr, x, expected)) for name in names}

    def read():
        size = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes + 2 * x.nbytes
        call, moved = streaming(opened, "read", max(PAGE, size // PAGE * PAGE))
        return call, {"threads": opened.compute_units, "bytes": moved, "any_bytes": moved}

    return in_turns(takers | {"read": batches(read)}, rounds)


def others(case, rounds):
    """Return what `in_turns` does, of a case of `families`."""
    makes = {name: lambda name=name: families.ready(case, name) for name in case.takers}
    return in_turns({name: batches(make, case.what) for name, make in makes.items()}, rounds)


def solves(opened, method, matrix):
    """Yield the seconds of set-up and solve, and facts, of a new solver each turn.

    It is closed in between: MPI's processes compute while they wait.
    """
    if method in ON_ONE_THREAD and matrix.shape[0] >= LONG:
        raise Skip(f"on its one thread {matrix.shape[0]:,} unknowns take long")
    while True:
        if method in fu2014.SETTINGS:
            made = fu2014.OnDevice(opened, matrix, fu2014.SETTINGS[method])
        else:
            rhs = np.ones(matrix.shape[0])
            made = fu2014.OnHost(solvers.prepare(method, matrix, rhs, fu2014.TOLERANCE, fu2014.MAX_ITERATIONS))
        with closing(made) as solver:
            solver.set_up()
            solver.solve()  # the first of a process maps its memory
            turn = {step: timing.timed(solver.clock, getattr(solver, step)) for step in ("set_up", "solve")}
            turn |= {"both": sum(turn.values()), "threads": solver.facts()["threads"],
                     "iterations": solver.iterations, "error": solver.residual()}  # fmt: skip
        if not turn["error"] <= fu2014.ACCEPTED:
            raise SystemExit(f"rivals: {method}: the true residual is {turn['error']:.2g} of the right-hand side")
        yield turn


def size_of(csr):
    """Return what is told of a matrix."""
    return {"precision": csr.dtype.name, "unknowns": csr.shape[0], "entries": csr.nnz}


def threading(taken):
    """Return in words whether threads were bound, and whose they are of the libraries that took part."""
    told = [binding()]
    if any(re.search("[Nn]umba|threaded", name) for name in taken):
        told.append(f"Numba's threads: {numba.threading_layer()}")
    if any(name.startswith("mkl") for name in taken):
        found = re.search(r"libmkl_(\w+_thread|sequential)\b", MAPS.read_text() if MAPS.exists() else "")
        told.append(f"MKL's: {found[1] if found else 'not told'}")
    if any(name.startswith("hypre") for name in taken):
        told.append(f"mpiexec's processes: {'not bound' if 'none' in petsc.launcher(1) else 'as it binds by itself'}")
    return "; ".join(told)


def beside_caches(csr, opened):
    """Return in words whether a matrix lies in the last-level caches, where its products say nothing of memory."""
    size, there = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes, opened.cache_bytes
    place = "fits" if size <= there else "does not fit"
    told = ", so that no rate is memory's" if size <= there else ""
    return f"CSR of {size / 1e6:,.3g} MB {place} into the caches of {there / 1e6:,.3g} MB{told}"


def summary(case, size, taken):
    """Return a frame with a row for each that took part: the median of its turns, the least and the most of times."""
    turns = pandas.DataFrame([{"name": name, **turn} for name, each in taken.items() for turn in each])
    groups = turns.groupby("name")
    found = groups.median().assign(rounds=groups.size())
    times = [what for what in TIMES if what in found]
    for what in times:
        found[f"{what}_least"], found[f"{what}_most"] = groups[what].min(), groups[what].max()
    if "bytes" in found:
        found["gb_per_s"] = found["bytes"] / found["product"] / 1e9
        found["any_gb_per_s"] = found["any_bytes"] / found["product"] / 1e9
        found["of_read"] = found["gb_per_s"] / found.loc["read", "gb_per_s"]
    found = found.sort_values(times[-1]).reset_index()
    return pandas.DataFrame({"matrix": case, **size}, found.index).join(found).convert_dtypes()


def table(found, notes):
    """Return a summary as a table, the best of a column bold."""
    first, read, kept = found.iloc[0], found[found["name"] == "read"], found[found["name"] != "read"]
    shown = {"": kept["name"]}
    for what in (what for what in TIMES if what in found):
        head = what.replace("_", "-")
        shown[f"{head}, ms"] = marked(1e3 * kept[what], min)
        ends = zip(1e3 * kept[f"{what}_least"], 1e3 * kept[f"{what}_most"], strict=True)
        shown[f"{head}, least – most"] = [" – ".join(map(significant, each)) for each in ends]
    shown |= {head: marked(kept[column], best) for column, (head, best) in COLUMNS.items() if column in found}
    told = [f"a read of {each.bytes:,} bytes: {each.gb_per_s:.3g} GB/s" for each in read.itertuples()]
    size = [f"{first[what]:,} {what}" for what in ("unknowns", "entries") if what in found]
    return Table(f"{first.matrix}: {', '.join([*size, first.precision])}", pandas.DataFrame(shown), [*told, *notes])


def marked(values, best):
    """Return numbers as text, the best of them bold where one is."""
    most = best(values) if best else None
    return [f"**{significant(each)}**" if each == most else significant(each) for each in values.tolist()]


def main(arguments=None) -> None:
    """Measure, print a table for each matrix, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=".", help="of rivals.csv")
    parser.add_argument("--single", action="store_true", help="products in single precision")
    parser.add_argument("--small", action="store_true", help="a fifth of the size along each axis, for a trial")
    parser.add_argument("--rounds", type=int, default=6, help="of products; others have half as many or fewer")
    asked = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", str(cpu.cores()))  # a limit of a control group binds ours alone
    opened, by, found = device("openmp"), 5 if asked.small else 1, []
    numba.set_num_threads(min(numba.config.NUMBA_NUM_THREADS, opened.compute_units))
    print(f"{heading(opened)}, caches of {opened.cache_bytes >> 20} MiB, {opened.built_with()}")
    print(", ".join(f"{name} {libraries.version(name) or 'missing'}" for name in LIBRARIES))

    def tell(case, size, taken, refused, notes=()):
        found.append(summary(case, size, taken))
        skipped = [f"skipped: {name}, because {why}" for name, why in sorted(refused.items())]
        print(f"\n{table(found[-1], [*notes, threading(taken), *skipped]).to_markdown()}", flush=True)

    for case, make in MATRICES.items():
        csr = make(opened, by).astype("float32" if asked.single else "float64")
        tell(case, size_of(csr), *products(opened, case, csr, asked.rounds), [beside_caches(csr, opened)])
    for n, fewer in SIZES.items():
        poisson = stencil(n // by, 7)
        solved = in_turns({method: solves(opened, method, poisson) for method in SOLVERS}, -(-asked.rounds // fewer))
        settings = [f"{name}, as for fu2014: {fu2014.title(name)}" for name in solved[0]]
        tell("Poisson to 1e-8, 7 points", size_of(poisson), *solved, [beside_caches(poisson, opened), *settings])
    for make in families.CASES:
        case = make(opened, by)
        size = {"precision": "float64", "unknowns": case.unknowns}
        tell(case.title, size, *others(case, -(-asked.rounds // 2)), case.notes)
    asked.folder.mkdir(parents=True, exist_ok=True)
    pandas.concat(found).to_csv(asked.folder / "rivals.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
