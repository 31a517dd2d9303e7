"""Times and rates without samples of their own: whose interval they have, and that a claim on them counts it."""

import json
import math
import tomllib
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from repro import environment
from repro.judge.claims import CONTRADICTED, UNDECIDED
from repro.judge.claims.stored import Stored
from repro.judge.derived import FILE, sources
from repro.model import DONE, ReproError
from repro.rows import read
from repro.show.results import times_behind
from repro.units import is_rate, is_time
from tests.repro.claims_store import effect

ROOT = Path(__file__).parents[2]
SKEWED = {"ci_low": 0.95, "ci_high": 1.2}  # of a time of 1 s


@pytest.fixture
def derived(tmp_path, monkeypatch):
    """Return what writes the file of the demo's paper."""

    def write(text):
        folder = tmp_path / "experiments"
        (folder / "demo").mkdir(parents=True)
        (folder / "demo" / FILE).write_text(text)
        monkeypatch.setattr(environment, "experiments_folder", lambda: folder)
        return folder

    return write


def judged(store, metric, than=1.0):
    where = f'[claim.where]\nours = "table1 fast {metric}"'
    unit = "s" if metric == "step" else "GB/s"
    return store.one(where, effect("ours", "more than", than, f'unit = "{unit}"'))


def interval(store, metric, than=1.0):
    return judged(store, metric, than).effect


def test_a_rate_has_the_interval_of_its_time_turned_round(store):
    often, once = ({"parameters": {"repeats": count}} for count in (50, 1))
    store.row("a", "fast", "bandwidth", 100.0, unit="GB/s", spread=None, **often)
    store.row("a", "fast", "bandwidth", 33.0, unit="GB/s", spread=None, **once)
    store.row("a", "fast", "spmv", 1.0, n=9, **SKEWED, **often)
    store.row("a", "fast", "spmv", 3.0, spread=0.5, n=9, **once)
    store.row("a", "fast", "spmv_cold", 3.0, spread=0.5, n=9, **often)
    with pytest.raises(ReproError, match="several rows of bandwidth of a cell"):
        interval(store, "bandwidth", 90)
    found = interval(store, "bandwidth[repeats=50]", 90)
    assert (found.value, found.low, found.high) == pytest.approx((100, 100 / 1.2, 100 / 0.95))
    assert found.outcome == UNDECIDED


def test_two_rates_are_as_uncertain_as_both(store):
    where = '[claim.where]\nours = "table1 fast rate"\ntheirs = "table1 slow rate"'
    for method, seconds in (("fast", 1.0), ("slow", 1.05)):
        store.row("a", method, "rate", 100 / seconds, unit="GB/s", spread=None)
        store.row("a", method, "spmv", seconds, spread=0.1, n=9)
    found = store.one(where, effect("ours / theirs", "more than", 1)).effect
    assert found.outcome == UNDECIDED and found.value == pytest.approx(1.05)
    apart = math.exp(math.hypot(math.log(1.1), math.log(1 / 0.9)))
    assert (found.low, found.high) == (pytest.approx(1.05 / apart), pytest.approx(1.05 * apart))


def test_a_time_that_was_divided_has_the_interval_of_the_whole(store, derived):
    derived('step = "run"')
    store.row("a", "fast", "run", 1.0, n=9, share=0.25, **SKEWED)
    store.row("a", "fast", "step", 0.2, spread=None)
    found = interval(store, "step", 0.19)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.19, 0.24))
    stored = Stored(store.results, "box")
    assert [stored.bound(row) for row in stored.rows("demo-table1")] == pytest.approx([0.25, 0.25])
    assert interval(store, "step", 0.25).outcome == CONTRADICTED
    run, _ = store.rows["box", "table1"]
    run.ci_low = run.ci_high = None
    run.n = 3
    found = judged(store, "step", 0.19)
    assert found.effect.low is None and "too few runs for an interval: fast (3)" in "; ".join(found.notes)


def test_of_several_times_the_file_names_the_one(store, derived):
    derived('rate = "whole|local"\n"per_part*" = "whole*"')
    store.row("a", "fast", "local", 1.0, n=9, **SKEWED)
    store.row("a", "fast", "whole_2", 1.0, spread=0.5, n=9)
    store.row("a", "fast", "rate", 100.0, unit="GB/s", spread=None)
    found = interval(store, "rate")
    assert (found.low, found.high) == pytest.approx((100 / 1.2, 100 / 0.95))
    assert sources("demo-table1", "per_part_2") == ("whole_2",)
    store.row("a", "fast", "whole", 1.0, spread=0.5, n=9)  # which goes before
    assert interval(store, "rate").high == pytest.approx(200)


def test_what_is_no_table_of_names_is_an_error(derived):
    with pytest.raises(ReproError, match="step has to name a time"):
        sources("demo-table1", "step", derived("step = 5"))


def test_ceilings_are_no_samples(store):
    store.row("a", "fast", "rate", 2.0, unit="GFLOP/s", spread=0.1, n=9)
    where = '[claim.where]\nours = "table1 fast rate @gpu"\npeak = "ceilings float64 rate device @gpu"'
    store.one(where, effect("ours / peak"))
    ceiling = {"device": "GPU 1", "cold": {}, "rates": {"float64": 1e12}, "bandwidths": {"copy": [[1e9, 4e12]]}}
    (store.results / "box" / "ceilings.json").write_text(json.dumps({"GPU 1": {"gpu": True, "ceilings": ceiling}}))
    found = store.one(where, effect("ours / peak"))
    assert found.effect.high == pytest.approx(2.2e-3) and "interval" not in "; ".join(found.notes)


@pytest.mark.parametrize("file", sorted((ROOT / "experiments").glob(f"*/{FILE}")), ids=lambda path: path.parent.name)
def test_what_is_named_was_sampled_in_every_cell(file):
    cells, named, checked = defaultdict(list), tomllib.loads(file.read_text()), set()
    for row in read(ROOT / "results", artefact=file.parent.name).to_dict("records"):
        if row["status"] == DONE:
            cells[row["file"], row["case"], row["method"], row["backend"]].append(row)
    for cell in cells.values():
        for row in cell:
            unit = row["unit"] or ""  # of a count of the same name nothing is behind it
            if (is_time(unit) or is_rate(unit)) and sources(row["artefact"], row["metric"]):
                assert len(times_behind(row, cell)) == 1, (row["artefact"], row["case"], row["method"], row["metric"])
                checked.add(next(name for name in named if fnmatchcase(row["metric"], name)))
    modules = "".join(path.read_text() for path in file.parent.glob("*.py"))
    new = {name for name in named if name not in checked}  # no stored file has them yet
    assert all(name.rstrip("*") in modules for name in new)
