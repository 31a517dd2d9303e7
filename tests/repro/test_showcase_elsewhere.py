"""Baselines that shared their processor, beside what another machine's processor takes for the same cells."""

import json

import pytest

from repro.site.showcase.elsewhere import HEAD, elsewhere, told
from repro.site.showcase.page import Showcase
from tests.repro.claims_store import WHERE, Store, claim, effect, stated

LEDGER = claim(WHERE, stated(), effect())


@pytest.fixture
def store(tmp_path):
    """Cases a and b, whose host was shared on box, and which other ran two and four times as fast."""
    made = Store(tmp_path)
    for machine, slow in (("box", (20.0, 40.0)), ("other", (10.0, 10.0))):
        for case, seconds in zip("ab", slow, strict=True):
            made.row(case, "slow", "solve", seconds, backend="host", machine=machine, spread=0.1)
            made.row(case, "fast", "solve", 1.0, machine=machine)
    made.cell("a", "slow", 20, 10.0)
    made.cell("b", "slow", 21, 10.0)
    return made


def found(store, ledger=LEDGER):
    verdicts = store.judged(ledger, machine="box")
    return elsewhere(store.results, verdicts, ["box", "other"], store.root)


def test_a_claim_has_its_value_by_the_times_of_the_other_machine(store):
    (only,) = found(store)
    assert (only.machine, only.methods, only.longer) == ("other", ("slow",), (2.0, 4.0))
    assert (only.judgement.value, only.judgement.low, only.judgement.high) == (10.0, 10.0, 10.0)
    told_of = (
        "On box its baselines (`slow`) took 2.0 to 4.0 times as long as on other; by the times there it is 10.0 x."
    )
    assert told([only]) == f"{HEAD}\n\n- `demo`: It is faster. {told_of}"


def test_of_a_largest_value_there_is_one(store):
    (only,) = found(store, claim(WHERE, effect("max(cpu / gpu)")))
    assert only.judgement.value == 10.0 and only.judgement.low == only.judgement.high


@pytest.mark.parametrize("seconds", [40.0, 50.0])
def test_a_machine_that_is_no_faster_everywhere_tells_nothing(store, seconds):
    (row,) = [row for row in store.rows["other", "table1"] if (row.case, row.method) == ("b", "slow")]
    store.rows["other", "table1"].remove(row)
    store.row("b", "slow", "solve", seconds, backend="host", machine="other")
    assert found(store) == [] and told([]) == ""


def test_cells_that_had_the_processor_to_themselves_are_not_compared(store):
    store.cells[1]["date"] = "2026-11-21T18:00:50+00:00"
    assert found(store) == []


def test_a_cell_of_another_artefact_counts_where_it_measures_the_same(store):
    store.judged(LEDGER)
    moved = store.results / "other" / "demo" / "table2"
    for suffix in (".csv", ".json"):
        path = moved.with_name(f"table1{suffix}")
        moved.with_suffix(suffix).write_text(path.read_text().replace("demo-table1", "demo-table2"))
        path.unlink()
    del store.rows["other", "table1"]
    (only,) = found(store)
    assert only.longer == (2.0, 4.0)
    manifest = json.loads(moved.with_suffix(".json").read_text())
    manifest["cells"][1]["parameters"] = {"threads": 2}
    moved.with_suffix(".json").write_text(json.dumps(manifest))
    assert found(store) == []


def test_the_readme_has_those_of_the_abstracts_and_the_page_of_claims_all(store):
    shown = Showcase(store.results)
    shown.machines = ["box", "other"]
    first, second = store.judged(
        LEDGER + "\n" + LEDGER.replace('"it"', '"more"').replace("Abstract", "Section 5"), "box"
    )
    shown.verdicts, shown.elsewhere = [], elsewhere(store.results, [first, second], ["box", "other"], store.root)
    assert len(shown.elsewhere) == 2
    assert shown.blocks()["results"].count("times as long as on other") == 1
    assert shown.pages()["claims.md"].count("times as long as on other") == 2
    shown.elsewhere = []
    assert HEAD not in shown.blocks()["results"] and "## Processors" not in shown.pages()["claims.md"]
