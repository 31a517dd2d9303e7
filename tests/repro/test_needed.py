"""Cells that a machine with a GPU measures by default: by a pretended paper's claims, and by the five papers'."""

import pytest

from repro import discovery, published
from repro.cache import plan
from repro.cache.plan import cells_of
from repro.cli import main
from repro.discovery import Artefact
from repro.judge.claims import needed
from repro.judge.claims.model import Claim, Predicate
from repro.judge.claims.points import Point
from repro.judge.claims.stored import Selector
from repro.model import Cell, ReproError

BACKENDS = ("cuda", "opencl", "openmp", "host")


def claim(formula="a / b", cases=(), **where):
    return Claim("one", "lab2020", "", "", where=where, cases=cases, stated=Predicate(formula, "more than", than=1.0))


@pytest.fixture
def left(tmp_path, monkeypatch):
    """Cells left out of a table with kernels `k` and a baseline `b` in cases x and y, by some claims."""
    cells = [Cell(case, "k", backend) for case in "xy" for backend in BACKENDS[:3]]
    cells += [Cell(case, "b", "host") for case in "xy"]
    artefact = Artefact("lab2020-table1", "lab2020", "table", 1, "", tmp_path / "table1_a.py", "")

    def found(*claims, scale="paper", declared=""):
        (tmp_path / needed.DECLARED).write_text(declared)
        monkeypatch.setattr(needed, "_claims", lambda paper: claims)
        monkeypatch.setattr(needed.discovery, "find", lambda: [artefact])
        monkeypatch.setattr(needed, "_cells", lambda artefact, scale: cells)
        needed._needed.cache_clear()
        return {f"{c.case} {c.method} {c.backend}": why for c, why in needed.left_out(artefact, cells, scale).items()}

    yield found
    needed._needed.cache_clear()


def test_cuda_answers_for_all_and_the_processor_where_a_claim_asks(left):
    out = left(claim(a="table1 k time @gpu", b="table1 b time @host"))
    assert set(out) == {f"{case} k {backend}" for case in "xy" for backend in ("opencl", "openmp")}
    assert set(out.values()) == {needed.UNREAD}
    assert set(left(claim(a="table1 k time @kernels", b="table1 k time @openmp"))) == {
        f"{case} {rest}" for case in "xy" for rest in ("k opencl", "b host")
    }
    assert "x k opencl" not in left(claim(a="table1 k time @gpu", b="table1 k time @opencl+gpu"))
    assert set(left(claim(a="table1 * time @gpu", b="table1 * time @cpu"))) == {"x k opencl", "y k opencl"}


def test_a_claim_reads_the_cases_that_all_of_its_names_have(left):
    reads = {"a": "table1 k time x @gpu", "b": "table1 b time x @host"}
    assert {"y b host"} == {name for name in left(claim(**reads)) if "host" in name}
    only = claim(a="table1 k time @gpu", b="table1 b time @host", cases=("y",))
    assert {"x b host"} == {name for name in left(only) if "host" in name}
    assert {name for name in left(claim("a", **reads)) if "host" in name} == {"x b host", "y b host"}  # b is not used


def test_what_no_claim_reads_has_the_host(left):
    out = left(claim(a="table2 k time @gpu", b="table2 k time @gpu"))
    assert set(out) == {f"{case} k {backend}" for case in "xy" for backend in ("opencl", "openmp")}


def test_what_is_counted_on_the_host_is_not_left_out_for_the_kernel_that_counts_again():
    for artefact in discovery.find():
        if not hasattr(discovery.load(artefact), "counted"):
            continue
        cells = cells_of(artefact, discovery.load(artefact), "paper")
        out = needed.left_out(artefact, cells, "paper")
        kept = {cell.case for cell in cells if cell.backend == "host" and cell not in out}
        printed = {number.case for number in published.load(artefact.id)}
        assert kept and kept >= printed.intersection(cell.case for cell in cells), artefact.id


def test_at_other_scales_and_of_a_paper_without_claims_all_is_measured(left):
    assert left(claim(a="table1 k time @gpu", b="table1 k time @gpu"), scale="small") == {} == left()


def test_what_is_declared_is_left_out_whatever_reads_it(left):
    reads = claim(a="table1 k time @gpu", b="table1 b time @host")
    entry = '[[by_request]]\nartefacts = ["table1"]\nmethods = ["b*"]\ncases = ["y"]\nwhy = "long"\n'
    assert {name: why for name, why in left(reads, declared=entry).items() if "host" in name} == {"y b host": "long"}
    with pytest.raises(ReproError, match=needed.DECLARED):
        left(reads, declared='[[by_request]]\nartefacts = ["table1"]\nmethod = "b"\nwhy = "long"\n')


def test_a_claim_says_why_what_it_reads_is_measured_by_request_alone(left):
    entry = '[[by_request]]\nartefacts = ["table1"]\nmethods = ["b*"]\n{}why = "long"\n'
    reads = claim(a="table1 k time @gpu", b="table1 b time y @host")
    left(reads, declared=entry.format(""))
    assert needed.by_request(reads, reads.where.values()) == "long"
    assert needed.by_request(reads, [reads.where["a"], "table1 b time @host"], "paper", Point("x", {}, {})) == "long"
    assert needed.by_request(reads, [reads.where["a"], "table2 b time @host", "ceilings memory bandwidth @gpu"]) == ""
    left(reads, declared=entry.format('cases = ["x"]\n'))
    assert needed.by_request(reads, reads.where.values()) == ""
    every = Selector.parse("table1 * time @cpu")
    assert [needed.alone("lab2020", every, "paper", case, "b") for case in "xyz"] == [True, False, False]
    assert not needed.alone("lab2020", every, "small", "x", "b")
    assert not needed.alone("nobody", every, "paper", "x", "b")


def test_what_is_left_out_is_said_and_can_be_asked_for(laboratory, monkeypatch, capsys):
    monkeypatch.setattr(needed, "left_out", lambda artefact, cells, scale: {
        cell: "no claim" for cell in cells if cell.backend == "host" and cell.case == "third"
    })  # fmt: skip
    facts = {**plan.machine_facts(), "gpu": "['One']"}
    monkeypatch.setattr(plan, "machine_facts", lambda: facts)
    assert laboratory.run("table1") == 0
    assert "left out, as no claim needs them or they take long: 1 on host" in capsys.readouterr().err
    page = laboratory.file("table1.smoke.md").read_text()
    assert "## Not measured unless asked for, by `--all-cells`\n\n- no claim: 1 on host (loop)" in page
    assert main(["status", "table1", "--scale", "smoke", "--results", str(laboratory.results)]) == 0
    assert "by request" in capsys.readouterr().out
    assert not any("third-loop" in path.name for path in laboratory.cell_files())
    assert laboratory.run("table1", "--all-cells") == 0
    assert any("third-loop" in path.name for path in laboratory.cell_files())


def test_cells_that_a_claim_reads_can_be_measured_alone(laboratory, monkeypatch, capsys):
    read = Cell("second", "loop", "host", {"stride": 1}, ("demo2020/numbers",))
    monkeypatch.setattr(needed, "claimed", lambda artefact, scale: {read} if artefact.stem == "table1" else ())
    assert laboratory.run("--all", "--claimed") == 0
    assert "1 cell measured, 0 as before, 0 skipped" in capsys.readouterr().err


def test_of_what_claims_read_a_back_end_is_chosen_without_what_is_left_out():
    cells = [Cell(case, "loop", backend, {}, ()) for case in ("short", "long") for backend in ("host", "cuda")]
    chosen = {"only": {"backend": ["host"]}}
    assert all(plan.Selection(**chosen).asks_for(cell) for cell in cells)
    assert not any(plan.Selection(**chosen, claimed=True).asks_for(cell) for cell in cells)
    assert not any(plan.Selection(backends=("host",), claimed=True).asks_for(cell) for cell in cells)
    assert all(plan.Selection(**chosen, claimed=True, every=True).asks_for(cell) for cell in cells)


def test_what_the_papers_declare_names_cells_that_there_are():
    for artefact in discovery.find():
        if declared := needed._declared(artefact):
            cells = cells_of(artefact, discovery.load(artefact), "paper")
            for entry in declared:
                assert any(needed._is_of(cell, entry) for cell in cells), (artefact.id, entry)
