"""The tables beside other libraries: matrices, bytes, what is said of threads and caches, and of wrong results."""

import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
import scipy.sparse

from benchmarks import families, rivals
from kernels import spmv
from repro import Skip

COLUMNS = {
    "matrix", "precision", "unknowns", "entries", "name", "threads", "rounds", "product", "product_least",
    "product_most", "bytes", "any_bytes", "gb_per_s", "any_gb_per_s", "of_read", "error", "set_up", "set_up_least",
    "set_up_most", "solve", "solve_least", "solve_most", "both", "both_least", "both_most", "iterations",
    "step", "step_least", "step_most",
}  # fmt: skip


TABLES = 8  # five matrices, Poisson's equation in two sizes, and the case below


def a_case(opened, by):
    """Return a case of a family, of one who is right, and one who is not here."""

    def missing():
        raise Skip("it is not here")

    right = (lambda: None), (lambda: {"threads": by, "error": 1e-9})
    return families.Case("a march", "step", 3, {"right": lambda: right, "missing": missing}, 1e-8, ("on foot",))


@pytest.fixture
def run(tmp_path, monkeypatch, repro_cache):
    """Run the smallest of it, with some formats and solvers."""
    monkeypatch.setenv("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    monkeypatch.delenv("OMP_PLACES", raising=False)
    monkeypatch.setattr(rivals, "SECONDS", 1e-4)
    monkeypatch.setattr(families, "CASES", (a_case,))
    monkeypatch.setattr(rivals, "SIZES", {60: 2, 100: 3})
    monkeypatch.setattr(rivals, "LONG", 5000)
    monkeypatch.setattr(rivals, "SOLVERS", ("jacobi-pcgamg", "pyamg-rs", "amgcl"))
    monkeypatch.setattr(spmv, "FORMATS", ("csr_scalar", "sell", "sbell"))
    monkeypatch.setitem(sys.modules, "pyamgcl", None)  # as if it were not installed
    return lambda *more: rivals.main([str(tmp_path / "made"), "--small", "--rounds", "3", *more])


def test_the_tables_and_the_file(run, tmp_path, capsys):
    run()
    out = capsys.readouterr().out
    found = pandas.read_csv(tmp_path / "made/rivals.csv")
    assert set(found.columns) == COLUMNS and set(found.precision) == {"float64"}
    assert out.count("**\n") == TABLES and "scipy 1" in out and out.startswith(rivals.heading(rivals.device("openmp")))
    assert out.count("OMP_PLACES not set") == TABLES and "OMP_PLACES not set; Numba's threads: " in out
    assert out.count("into the caches of") == TABLES - 1

    n = 20
    entries = 7 * n**3 - 6 * n**2
    (row,) = found[(found.name == "csr_scalar") & (found.matrix == "7-point Laplacian, 3-D grid")].itertuples()
    assert (row.unknowns, row.entries, row.rounds) == (n**3, entries, 3)
    assert row.bytes == 12 * entries + 4 * (n**3 + 1) + 8 * 2 * n**3
    assert row.any_bytes == 8 * entries + 8 * 2 * n**3
    assert row.gb_per_s == pytest.approx(row.bytes / row.product / 1e9, rel=2e-3)
    (read,) = found[(found.name == "read") & (found.matrix == row.matrix)].itertuples()
    assert 0 <= row.bytes - read.bytes < 32 << 10
    assert row.of_read == pytest.approx(row.gb_per_s / read.gb_per_s, rel=2e-3)

    products = found[found["product"].notna()]
    taken = {case: set(each.name) - {"mkl_csr", "mkl_bsr"} for case, each in products.groupby("matrix")[["name"]]}
    everywhere = {"csr_scalar", "sell", "scipy_csr", "numba_csr", "read"}
    assert taken == {
        case: everywhere | ({"sbell"} if "elasticity" in case else set()) for case in rivals.MATRICES
    }  # fmt: skip
    both = found[found.solve.notna()]
    assert set(both.unknowns) == {12**3, n**3} and set(both[both.unknowns == n**3].name) == {"jacobi-pcgamg"}
    assert "skipped: pyamg-rs, because on its one thread 8,000 unknowns take long" in out
    assert set(both[both.unknowns == n**3].rounds) == {1}
    solved = both[both.unknowns == 12**3].set_index("name")
    assert set(solved.index) == {"jacobi-pcgamg", "pyamg-rs"} and set(solved.rounds) == {2}
    assert (solved.error <= 1.01e-8).all() and (solved.iterations > 2).all() and solved.loc["pyamg-rs", "threads"] == 1
    assert "skipped: amgcl, because AMGCL is not installed" in out
    (march,) = found[found.matrix == "a march"].itertuples()
    assert (march.name, march.unknowns, march.threads, march.rounds, march.error) == ("right", 3, 5, 2, 1e-9)
    assert march.step_least <= march.step <= march.step_most and "**a march: 3 unknowns, float64**" in out
    assert "- on foot\n" in out and "skipped: missing, because it is not here" in out
    assert "skipped: sbell, because 8000 × 8000 is not made of 3 × 3 blocks" in out


def test_single_precision_is_told(run, tmp_path, capsys):
    run("--single")
    found = pandas.read_csv(tmp_path / "made/rivals.csv")
    assert set(found[found["product"].notna()].precision) == {"float32"}
    assert set(found[found["product"].isna()].precision) == {"float64"}
    errors = found[(found["product"].notna()) & (found.name != "read")].error
    assert ((1e-9 < errors) & (errors < 1e-5)).all()


@pytest.mark.parametrize("wrong", ["nothing written", "one row"])
def test_a_wrong_product_is_named_and_ends_the_run(run, monkeypatch, wrong):
    from kernels.spmv import sell

    whole = sell.Packed.multiply

    def multiply(self, x, y):
        if wrong == "one row":
            whole(self, x, y)
            y[7] *= 1 + 1e-8

    monkeypatch.setattr(sell.Packed, "multiply", multiply)
    with pytest.raises(SystemExit, match=r"rivals: sell, 7-point Laplacian.*is off SciPy's by"):
        run()


def a_solver(residual):
    made = SimpleNamespace(clock=rivals.CLOCK, iterations=4, closed=0, calls=[])
    made.set_up, made.solve = (lambda: made.calls.append("set_up")), (lambda: made.calls.append("solve"))
    made.facts, made.residual = (lambda: {"threads": 1}), (lambda: residual)
    made.close = lambda: setattr(made, "closed", made.closed + 1)
    return made


def test_a_solver_is_closed_before_others_have_their_turn(monkeypatch):
    solver = a_solver(1e-9)
    monkeypatch.setattr(rivals.solvers, "prepare", lambda *_: None)
    monkeypatch.setattr(rivals.fu2014, "OnHost", lambda _: solver)
    turns = rivals.solves(None, "another", scipy.sparse.eye_array(3))
    for count in (1, 2):
        turn = next(turns)
        assert solver.closed == count and solver.calls == ["set_up", "solve"] * 2 * count
        assert turn["both"] == turn["set_up"] + turn["solve"] and turn["iterations"] == 4


def test_a_wrong_solution_is_named_and_ends_the_run(monkeypatch):
    monkeypatch.setattr(rivals.solvers, "prepare", lambda *_: None)
    monkeypatch.setattr(rivals.fu2014, "OnHost", lambda _: a_solver(2e-8))
    with pytest.raises(SystemExit, match=r"rivals: another: the true residual is 2e-08"):
        next(rivals.solves(None, "another", scipy.sparse.eye_array(3)))


def test_everyone_has_a_turn_in_each_round_but_who_refuses():
    order = []

    def taker(name, turns):
        for turn in range(turns):
            order.append(name)
            yield {"turn": turn}
        raise rivals.Skip("it is not here")

    names = "abcdefgh"
    taken, refused = rivals.in_turns({name: taker(name, 1 if name == "c" else 9) for name in names}, 3)
    assert refused == {"c": "it is not here"} and set(taken) == set(names) - {"c"}
    assert all([turn["turn"] for turn in turns] == [0, 1, 2] for turns in taken.values())
    rounds = [order[:8], order[8:15], order[15:]]
    assert [sorted(each) for each in rounds] == [sorted(names), *2 * [sorted(set(names) - {"c"})]]


def test_medians_and_the_best_of_each_column():
    taken = {
        "read": [{"product": seconds, "threads": 2, "bytes": 400, "any_bytes": 400} for seconds in (1.0, 2.0, 9.0)],
        "slow": [{"product": seconds, "threads": 1, "bytes": 300, "any_bytes": 200, "error": 0.0}
                 for seconds in (5.0, 3.0, 4.0)],
        "fast": [{"product": seconds, "threads": 2, "bytes": 320, "any_bytes": 200, "error": 0.0}
                 for seconds in (2.5, 1.5, 2.0)],
    }  # fmt: skip
    found = rivals.summary("some", rivals.size_of(scipy.sparse.csr_array(np.eye(3))), taken)
    slow = found.set_index("name").loc["slow"]
    assert (slow["product"], slow.product_least, slow.product_most, slow.rounds) == (4.0, 3.0, 5.0, 3)
    assert slow.gb_per_s == pytest.approx(75e-9) and slow.of_read == pytest.approx(75 / 200)
    lines = rivals.table(found, ["a note"]).to_markdown().splitlines()
    assert lines[0] == "**some: 3 unknowns, 3 entries, float64**" and lines[-2:] == [
        "- a read of 400 bytes: 2e-07 GB/s", "- a note",
    ]  # fmt: skip
    assert lines[4].startswith("| fast | **2,000** | 1,500 – 2,500 | 2 |") and lines[4].count("**") == 8
    assert lines[5].startswith("| slow | 4,000 | 3,000 – 5,000 | 1 |") and "| **300** |" in lines[5]


@pytest.mark.parametrize("points", [7, 27])
def test_a_stencil_couples_neighbours(points):
    n = 4
    places = np.stack(np.meshgrid(*3 * [np.arange(n)], indexing="ij"), -1).reshape(-1, 3)
    apart = np.abs(places[:, None] - places[None])
    are_near = apart.sum(2) <= 1 if points == 7 else apart.max(2) <= 1
    expected = np.where(np.eye(n**3, dtype=bool), points - 1, np.where(are_near, -1, 0))
    found = rivals.stencil(n, points)
    assert (found.toarray() == expected).all() and found.nnz == are_near.sum() and found.indices.dtype == np.int32


def test_elasticity_has_three_unknowns_a_node():
    opened = rivals.device("openmp")
    for case in ("elasticity, tetrahedra", "elasticity, hexahedra"):
        found = rivals.MATRICES[case](opened, 5)
        assert found.shape == (3 * 6**3,) * 2 and abs(found - found.T).max() < 1e-14


@pytest.mark.parametrize("make", families.CASES)
def test_a_case_of_each_family_has_rivals_and_right_results(make, repro_cache):
    try:
        opened = rivals.device("openmp")
    except NotImplementedError as missing:
        pytest.skip(str(missing))
    case, right = make(opened, 5), {}
    for name in case.takers:
        try:
            _, right[name] = families.ready(case, name)
        except Skip:
            assert name in ("libCEED", "mkl_csr", "AMGCL")
    assert case.what in rivals.TIMES and case.unknowns > 500 and len(right) >= 3
    assert {facts["threads"] for facts in right.values()} <= {1, opened.compute_units}
    assert all(0 < facts["error"] <= case.tolerance for facts in right.values())


@pytest.mark.parametrize("error", [2e-8, float("nan")])
def test_a_wrong_result_of_a_family_is_named_and_ends_the_run(error):
    called = []
    wrong = (lambda: called.append(1)), (lambda: {"threads": len(called), "error": error})
    case = families.Case("a march", "step", 3, {"wrong": lambda: wrong}, 1e-8)
    with pytest.raises(SystemExit, match=r"rivals: wrong, a march: the error is (2e-08|nan), over 1e-08"):
        families.ready(case, "wrong")
    assert called == [1]


def test_a_matrix_beside_the_caches():
    csr = scipy.sparse.csr_array(np.eye(1000))
    size = 12 * 1000 + 4 * 1001
    inside, outside = (rivals.beside_caches(csr, SimpleNamespace(cache_bytes=size - k)) for k in (0, 1))
    assert inside == "CSR of 0.016 MB fits into the caches of 0.016 MB, so that no rate is memory's"
    assert outside == "CSR of 0.016 MB does not fit into the caches of 0.016 MB"


@pytest.mark.parametrize(("cache", "free", "wanted"), [(1 << 30, 1e15, 3 << 30), (1, 1e15, 256 << 20),
                                                       (1 << 30, 24e9, 0.9e9)])  # fmt: skip
def test_a_matrix_is_as_large_as_leaves_the_caches_and_memory_allows(cache, free, wanted, monkeypatch):
    monkeypatch.setattr(rivals, "stencil", lambda n, points: (n, points))
    monkeypatch.setattr(rivals.memory, "host_available", lambda: free)
    n, points = rivals.streamed(SimpleNamespace(cache_bytes=cache), 1)
    assert points == 7 and (7 * 12 + 20) * n**3 == pytest.approx(wanted, rel=0.02)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2, reason="of two cores")
def test_a_thread_on_one_core_is_told(monkeypatch):
    monkeypatch.setenv("OMP_PROC_BIND", "close")
    monkeypatch.delenv("OMP_PLACES", raising=False)
    bound, done = threading.Event(), threading.Event()

    def on_one_core():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        bound.set()
        done.wait()

    thread = threading.Thread(target=on_one_core)
    thread.start()
    bound.wait()
    try:
        told = rivals.threading(["sell"])
    finally:
        done.set()
        thread.join()
    assert told.startswith("some threads were bound to cores")
    assert told.endswith(", OMP_PROC_BIND close, OMP_PLACES not set")


def test_whose_threads_and_processes_they_are(monkeypatch, tmp_path):
    maps = tmp_path / "maps"
    maps.write_text("7f r-xp /lib/libmkl_rt.so.3\n7f r-xp /lib/libmkl_gnu_thread.so.3\n")
    monkeypatch.setattr(rivals, "MAPS", maps)
    monkeypatch.setattr(rivals.numba, "threading_layer", lambda: "workqueue")
    monkeypatch.setattr(rivals, "binding", lambda: "bound")
    monkeypatch.setattr(rivals.petsc, "launcher", lambda count: ["mpiexec", "-n", "1", "--bind-to", "none"])
    assert rivals.threading(["sell"]) == "bound"
    told = "bound; Numba's threads: workqueue; MKL's: gnu_thread; mpiexec's processes: not bound"
    assert rivals.threading(["numba_csr", "mkl_csr", "hypre-pcgamg-all"]) == told
    monkeypatch.setattr(rivals.petsc, "launcher", lambda count: ["mpiexec", "-n", "1"])
    maps.write_text("")
    assert (
        rivals.threading(["mkl_bsr", "hypre-x"]) == "bound; MKL's: not told; mpiexec's processes: as it binds by itself"
    )
