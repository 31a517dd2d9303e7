"""Two machines with a GPU side by side."""

import json
from types import SimpleNamespace

import pytest

from repro.judge.roofs import Roofs
from repro.rows import read_file
from repro.site.showcase import cards
from tests.repro.claims_store import WHERE, claim, roof, stated

MACHINES = ("box", "card")


@pytest.fixture
def page(store):
    """Return what makes the page of two machines whose times of a case are given, `slow` on the host, then `fast`."""

    def make(spread=0.01, **times):
        for machine in MACHINES:
            for name, seconds in zip(("slow", "fast"), times[machine], strict=True):
                if seconds:
                    where = "host" if name == "slow" else "cuda"
                    store.row("a", name, "solve", seconds, backend=where, machine=machine, spread=spread)
        about = claim(WHERE, stated(relation="about", more="tolerance = 0.1"))
        judged = {machine: store.judged(about, machine=machine) for machine in MACHINES}
        found = []
        for number, machine in enumerate(MACHINES, 1):
            path = store.results / machine / "demo/table1.csv"
            roofs = Roofs({"GPU 1": roof("GPU 1", number * 1e12)})
            found.append(SimpleNamespace(
                machine=machine, artefact="demo-table1", scale="paper", overrides={}, backends=["cuda", "host"],
                frame=read_file(path), manifest=json.loads(path.with_suffix(".json").read_text()), roofs=roofs,
            ))  # fmt: skip
        return cards.page(found, judged, "Written.")

    return make


def test_ceilings_times_and_a_verdict_that_changes_stand_side_by_side(page):
    text = page(box=(8.0, 1.0), card=(8.0, 0.5))
    assert "| memory, GB/s | 1,000 | 2,000 | 2.00 |" in text
    assert "| `demo` | `paper` | cuda | 1 | 0.500 | 1 | 0 | 0 | 0 |" in text
    assert "| `demo` | `paper` | host | 1 | 1.00 | 0 | 1 | 0 | 0 |" in text
    assert "decided on both machines: 1. Those with another verdict: 1." in text
    values = "8.00 x (7.89 to 8.11 x): reproduced | 16.0 x (15.8 to 16.2 x): exceeded"
    why = "the second value is 2.00 x the first. card: unexplained"
    assert f"| [demo: it](claims/demo.md) | {values} | {why} |" in text


def test_a_slower_card_has_longer_times(page):
    assert "| `demo` | `paper` | cuda | 1 | 2.00 | 0 | 0 | 1 | 0 |" in page(box=(8.0, 1.0), card=(8.0, 2.0))


def test_a_verdict_that_does_not_change_is_not_listed(page):
    text = page(box=(8.0, 1.0), card=(4.0, 0.5))
    assert "decided on both machines: 1. Those with another verdict: 0." in text and "demo: it" not in text


@pytest.mark.parametrize(
    ("low", "points", "told"),
    [(10.5, 2, "the intervals overlap"), (11.5, 2, "the second value is 1.20 x the first"), (10.5, 1, "2 and 1 points"),
     (None, 2, "one has no interval")],
)  # fmt: skip
def test_the_reason_says_whether_intervals_overlap(low, points, told):
    def verdict(value, low, high, points):
        return SimpleNamespace(shown=SimpleNamespace(value=value, low=low, high=high, points=[None] * points))

    assert told in cards._apart(verdict(10.0, 9.0, 11.0, 2), verdict(12.0, low, 13.0, points))


def test_a_claim_that_one_machine_alone_decides_is_listed(page):
    text = page(box=(8.0, 1.0), card=(None, 1.0))
    assert "decided on both machines: 0." in text
    assert "Decided on box alone: 1." in text and "\n- demo: it\n" in text


def test_one_machine_is_compared_with_none(store):
    assert "not there" in cards.page([], {"box": []}, "Written.")
