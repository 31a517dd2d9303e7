"""Of some words in braces, as of numberings, the fastest counts: of either side where both ran."""

import pytest

from repro.judge.claims.stored import Stored
from repro.site.showcase import kernels, losses, tables
from repro.site.showcase.ledger import Family, Ledger
from tests.repro.claims_store import WHERE, claim, effect

FAMILY = Family(
    "demo", "Solves", ("demo-table1",), "solve", "solve_cold", ("{e}-{order}-slow", "{e}-x-host"), {"e": ("q",)},
    {"order": ("x", "y", "z")}, {"{e}-{order}-fast": ("fast.py",), "{e}-{order}-other": ("other.py",)},
)  # fmt: skip


@pytest.fixture
def found(store):
    """Return what stores times by method, in seconds, and returns entries by method, the cases and what ran."""

    def find(times, cold=()):
        for method, seconds in times.items():
            store.row("a", method, "solve", seconds, backend="host" if "host" in method else "cuda")
        for method, seconds in dict(cold).items():
            store.row("a", method, "solve_cold", seconds, share=seconds / 10)
        store.judged(claim(effect(), '[claim.where]\ncpu = "table1 slow solve"\ngpu = "table1 fast solve"'))
        stored = Stored(store.results, "box")
        (entries,) = kernels.measured(FAMILY, stored)
        (cases, ran) = losses.compared([Ledger("demo", families=(FAMILY,))], stored)
        return {each.method: each for each in entries}, cases, ran

    return find


def test_the_fastest_of_either_side_is_compared(found):
    entries, (case,), ran = found({
        "q-x-fast": 2.0, "q-y-fast": 1.0, "q-x-other": 4.0, "q-x-slow": 3.0, "q-y-slow": 5.0, "q-x-host": 7.0,
    })  # fmt: skip
    assert {name: (each.rival, each.faster.value) for name, each in entries.items()} == {
        "q-y-fast": ("q-x-slow (cuda)", 3.0), "q-x-other": ("q-x-slow (cuda)", 0.75),
    }  # fmt: skip
    assert (case.ours, case.rival, case.difference.ratio) == ("q-y-fast", "q-x-slow", 3.0)
    assert ran == {"q-*-slow": 1, "q-x-host": 1}


def test_ours_counts_only_where_a_rival_ran_on_the_same_back_end(found):
    """The host's rivals are no reason to count what the card's have not run."""
    entries, (case,), _ = found({"q-x-fast": 2.0, "q-z-fast": 0.5, "q-x-slow": 3.0, "q-y-slow": 2.5, "q-x-host": 9.0})
    assert set(entries) == {"q-x-fast"} and (case.ours, case.rival) == ("q-x-fast", "q-y-slow")


def test_all_of_ours_count_where_no_rival_ran_on_their_back_end(found):
    entries, (case,), ran = found({"q-x-fast": 2.0, "q-z-fast": 0.5, "q-x-host": 9.0})
    assert set(entries) == {"q-z-fast"} and (case.ours, case.rival) == ("q-z-fast", "q-x-host")
    assert ran == {"q-x-host": 1}


def test_the_cold_time_is_of_the_method_that_is_fastest_warm(found):
    entries, *_ = found({"q-x-fast": 2.0, "q-y-fast": 1.0, "q-x-slow": 3.0, "q-y-slow": 3.0},
                        {"q-x-fast": 4.0, "q-y-fast": 6.0})  # fmt: skip
    assert entries["q-y-fast"].cold.value == pytest.approx(0.6)


def test_behind_the_interval_of_a_ratio_stands_the_range_of_all_cases(store):
    for case, theirs in (("a", 1.5), ("b", 3.0)):
        store.row(case, "fast", "solve", 1.0, spread=0.01, share=0.5)
        store.row(case, "slow", "solve", theirs, spread=0.01)
    store.judged(claim(effect(), WHERE))
    family = Family(
        "demo", "Solves", ("demo-table1",), "solve", "solve_cold", ("slow",), kernels={"fast": ("demo/fast.py",)}
    )
    text = tables.kernels([Ledger("demo", families=(family,))], Stored(store.results, "box"), "[{}]({})".format)
    assert " | 1.50 × (1.48 to 1.52); in all cases 1.50 to 3.00 |" in text.replace(tables.FIRM, " ")


def test_a_gpu_is_found_in_a_docstring_wherever_its_lines_break(tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "solver.py").write_text('"""It reads the matrix once. On an\nT1000 loads bind."""\n')
    monkeypatch.setattr("repro.environment.root", lambda: tmp_path)
    assert kernels._profiled("solver.py") == "T1000"
