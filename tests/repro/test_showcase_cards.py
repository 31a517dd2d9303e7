"""Two machines with a GPU side by side."""

import json
from types import SimpleNamespace

import pytest

from repro.judge.claims.model import PointOutcome
from repro.judge.roofs import Roofs
from repro.rows import read_file
from repro.site.showcase import cards
from tests.repro.claims_store import WHERE, claim, roof, stated

MACHINES = ("box", "card")
CLAIM = claim(WHERE, stated(relation="about", more="tolerance = 0.1"))


def times(store, **seconds):
    """Of each machine, by case, the times of `slow` on the host and of `fast` on its card."""
    for machine, cases in seconds.items():
        for case, (slow, fast) in cases.items():
            for name, value, where in (("slow", slow, "host"), ("fast", fast, "cuda")):
                if value:
                    store.row(case, name, "solve", value, backend=where, machine=machine, spread=0.01)


def made(store, ceilings=True):
    """Return the page of both machines; the second has twice the bandwidth."""
    judged = {machine: store.judged(CLAIM, machine=machine) for machine in MACHINES}
    found = []
    for number, machine in enumerate(MACHINES, 1):
        roofs = {"CPU 1": roof("CPU 1", 1e9), "GPU 1": roof("GPU 1", number * 1e12)} if ceilings else {}
        for path in sorted((store.results / machine).glob("*/*.csv")):
            manifest = json.loads(path.with_suffix(".json").read_text())
            manifest["machine"]["gpu"] = ["GPU 1"]
            found.append(SimpleNamespace(
                machine=machine, artefact=f"demo-{path.stem}", scale="paper", overrides={}, frame=read_file(path),
                manifest=manifest, roofs=Roofs(roofs),
            ))  # fmt: skip
    return cards.page(found, judged, "Written.")


def test_ceilings_times_and_a_verdict_that_changes_stand_side_by_side(store):
    times(store, box={"a": (8.0, 1.0)}, card={"a": (8.0, 0.5)})
    text = made(store)
    assert "| memory, GB/s | 1,000 | 2,000 | 2.00 |" in text
    assert "| `demo` | `paper` | cuda | 1 | 0.500 | 1 | 0 | 0 | 0 |" in text
    assert "Claims that both machines decide: 1. Claims with two different verdicts: 1." in text
    one, two = "8.00 x (7.89 to 8.11 x) on box", "16.0 x (15.8 to 16.2 x) on card"
    assert f"- [demo: it](claims/demo.md): {one} at `paper`, reproduced, and {two} at `paper`, exceeded. " in text
    assert (
        ", the paper's 8, here 8.00 x and 16.0 x, the intervals lie apart. On card: unexplained; no cause was tested.\n"
        in text
    )


def test_times_of_a_card_count_once_and_rates_processors_and_bare_values_do_not(store, monkeypatch):
    monkeypatch.setattr("repro.show.results.sources", lambda _, metric: ("solve",) if metric == "step" else ())
    times(store, box={"a": (8.0, 1.0)}, card={"a": (8.0, 2.0)})
    for machine in MACHINES:
        store.row("a", "fast", "rate", 5.0, unit="GFLOP/s", machine=machine)
        store.row("a", "fast", "preparation", 1.0, device="CPU 1", machine=machine, spread=0.01)
        store.row("a", "fast", "part", 1.0, machine=machine, spread=None)
        store.row("b", "fast", "solve", 1.0, machine=machine, spread=0.01, n=9)
        store.row("b", "fast", "step", 0.1, machine=machine, spread=None)  # worked out from the solve
        store.row("a", "fast", "solve", {"box": 1.0, "card": 2.0}[machine], stem="table2", machine=machine, spread=0.01)
    lines = [line for line in made(store).splitlines() if line.startswith("| `demo`")]
    assert lines == ["| `demo` | `paper` | cuda | 2 | 1.50 | 0 | 1 | 1 | 0 |"]


def test_the_point_whose_verdict_changes_is_named(store):
    times(store, box={"a": (8.0, 1.0), "b": (8.0, 1.0)}, card={"a": (8.0, 1.0), "b": (4.0, 1.0)})
    text = made(store)
    assert "Where they differ: b, the paper's 8, here 8.00 x and 4.00 x, the intervals lie apart." in text


@pytest.mark.parametrize(("low", "told"), [(10.5, "overlap"), (11.5, "lie apart"), (13.0, "not both with an interval")])
def test_the_reason_says_whether_intervals_overlap(low, told):
    one, two = (PointOutcome("a", value, low, value + 1, "", "") for value, low in ((10.0, 9.0), (12.0, low)))
    assert told in cards._overlap(one, two, "x")


def test_a_verdict_that_does_not_change_is_not_listed(store):
    times(store, box={"a": (8.0, 1.0)}, card={"a": (4.0, 0.5)})
    text = made(store)
    assert "decide: 1. Claims with two different verdicts: 0." in text and "demo: it" not in text


def test_a_claim_that_one_machine_alone_decides_is_listed(store):
    times(store, box={"a": (8.0, 1.0)}, card={"a": (None, 1.0)})
    text = made(store)
    assert "Claims that both machines decide: 0." in text
    assert "Decided on box alone: 1." in text and "\n- demo: it\n" in text


def test_a_claim_that_one_machine_alone_decides_has_the_number_of_its_points(store):
    times(store, box={"a": (8.0, 1.0), "b": (8.0, 1.0)}, card={"a": (None, 1.0), "b": (None, 1.0)})
    assert "\n- demo: it (2)\n" in made(store)


def test_ceilings_that_were_not_measured_are_no_zeros(store):
    times(store, box={"a": (8.0, 1.0)}, card={"a": (8.0, 1.0)})
    assert "| memory, GB/s | – | – | – |" in made(store, ceilings=False)


def test_one_machine_is_compared_with_none():
    assert "No two machines" in cards.page([], {"box": []}, "Written.")
