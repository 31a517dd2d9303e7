"""Tables of wong2015 that show several back ends, of results that are partly there."""

import dataclasses

import pytest

from experiments.wong2015 import figure3_tasks, figure12_bandwidth, figure15_speedup, figure16_power, tasks
from experiments.wong2015.matrices import OWN
from repro import ReproError
from repro.judge.claims import verdicts
from repro.model import DONE, Row
from repro.rows import asked, frame
from repro.show.render import as_csv
from repro.show.tables import Results
from tests.experiments.test_wong2015_products import results_of

DEVICES = {"cuda": "a GPU", "opencl": "a CPU"}


def results(artefact, metrics, backends, method="k1", case="heart-3k", unit="s", **own):
    rows = [Row(artefact, "large", case, method, backend, DEVICES[backend], name, 1e-3, unit, parameters=own | more)
            for backend in backends for name, more in map(asked, metrics)]  # fmt: skip
    return Results(frame([row.as_dict() for row in rows]), "large", "m", artefact)


@pytest.mark.parametrize("given", ["none", "nan", "-5", "0", "inf"])
def test_a_power_that_is_none_is_refused_before_anything_is_measured(given, monkeypatch):
    monkeypatch.setenv("REPRO_CPU_TDP", given)
    with pytest.raises(ReproError, match=f"power in watts, as 130; '{given}' is none"):
        figure16_power.cells("smoke")
    monkeypatch.setenv("REPRO_CPU_TDP", "130.5")
    assert figure16_power.cells("smoke")


def test_figure_16_is_none_where_no_watts_are_known_and_its_table_says_why():
    """The energy of a step is a panel of its own, whatever is known of watts."""
    without, energy = (results("wong2015-figure16", ["nodes", "step", *more], DEVICES, method="ellwarp")
                       for more in ([], ["energy"]))  # fmt: skip
    assert figure16_power.plot(without) is None
    (table,) = figure16_power.tables(without)
    assert set(table.frame["TDP from"]) == {"nothing says it"}
    assert any(note.startswith("No speed-up per watt: ") for note in table.notes)
    assert [axes.get_ylabel() for axes in figure16_power.plot(energy).axes] == ["Energy of a step [J]"]


def test_the_waves_frames_say_what_they_are_of(monkeypatch):
    monkeypatch.setattr(figure3_tasks, "_frames", lambda *place: iter([(0.0, None)]))
    monkeypatch.setattr(figure3_tasks.wave, "moving", lambda pictures: b"")
    monkeypatch.setattr(figure3_tasks.wave, "sheet", lambda pictures, title: title)
    found = results("wong2015-figure3", ["nodes", "crossing"], ["opencl"], method=figure3_tasks.CROSSING)
    heart, *place = figure3_tasks.extras(found)[".wave.png"].split("\n")
    assert heart and place == ["wong2015-figure3, scale large", "machine m · a CPU"]


TASKS = {
    "nodes": 3000, "newton_iterations": 2, "linear_iterations": 30, "elements": 5e-6, "sums": 3e-6, "product": 4e-6,
    "begin": 1e-6, "part[name=assembly]": 2e-4, "part[name=solver]": 5e-4, "part[name=update]": 1e-4,
    "part[name=control]": 3e-4,
}  # fmt: skip


def rows_of_shares(method):
    """Figure 3's rows of one heart and one format."""
    found = [(*asked(text), value) for text, value in TASKS.items()]
    rows = [Row("wong2015-figure3", "paper", "heart-3k", method, "cuda", "a GPU", metric, value,
                "count" if value >= 1 else "s", parameters=own) for metric, own, value in found]  # fmt: skip
    return [row.as_dict() for row in rows]


def shares(method):
    """Figure 3's results of one heart and one format."""
    return Results(frame(rows_of_shares(method)), "paper", "m", "wong2015-figure3")


def test_shares_of_the_assembly_are_of_all_its_time():
    """Its tasks, timed one by one, take 24 of the 200 microseconds that it takes."""
    found = tasks.shares(shares("ellwarp"), "heart-3k", "ellwarp", "cuda")
    assert sum(found["assembly"].values()) == pytest.approx(2e-4)
    shown = tasks.percentages(found)
    assert shown["assembly: the rest [%]"] == pytest.approx(100 * (1 - 24 / 200))


def test_without_petsc_the_hearts_have_no_speed_up_and_no_line_joins_their_sizes():
    found = results("wong2015-figure15", ["nodes", "step", "run", "newton_iterations", "linear_iterations"], ["cuda"],
                    method="ellwarp")  # fmt: skip
    (table,) = figure15_speedup.tables(found)
    assert table.title == "A step of time" and "which was not measured" in table.notes[1]
    (axes,) = figure15_speedup.plot(found).axes
    assert axes.get_ylabel() == "A step [ms]" and {line.get_linestyle() for line in axes.lines} <= {"None"}


def test_the_share_of_products_that_is_judged_is_the_one_of_figure_3(tmp_path):
    found = shares("cusparse_csr")
    path = tmp_path / "m" / "wong2015" / "figure3.csv"
    path.parent.mkdir(parents=True)
    path.write_text(as_csv(rows_of_shares("cusparse_csr")))
    path.with_suffix(".json").write_text('{"artefact": "wong2015-figure3", "scale": "paper", "cells": []}')
    judged = {verdict.id: verdict.stated for verdict in verdicts(tmp_path, "wong2015")}
    shown = tasks.percentages(tasks.shares(found, "heart-3k", "cusparse_csr", "cuda"))
    assert judged["products-of-all"].value == pytest.approx(shown["all: products and sums [%]"])
    assert judged["products-of-the-solver"].value == pytest.approx(shown["solver: products [%]"])


@pytest.mark.parametrize("is_marked", [False, True])
def test_a_victory_over_a_rival_that_was_disturbed_does_not_count(is_marked):
    module, found = results_of("figure12_bandwidth", DONE)
    cells = {("qcd", row["method"], row["backend"]) for row in found.frame.to_dict("records")}
    busy = frozenset(cell for cell in cells if is_marked and cell[1] in module.RIVALS)
    tables = {each.title: each for each in module.tables(dataclasses.replace(found, disturbed=busy))}
    table = tables["K1 or K2 and the best rival, one repeat, warm"]
    told, marked = "\n".join(table.notes), [", disturbed" in each for each in table.frame["Best rival"]]
    assert marked == [is_marked and each.startswith("QCD") for each in table.frame["Matrix"]]
    assert told.startswith(f"Of {16 - is_marked} matrices") and f"time on {15 - is_marked} of {15 - is_marked} " in told
    for kind in ("library", "rival"):
        assert (f"Not counted, since the best {kind} was slower but disturbed: 1." in told) == is_marked
    assert ("its time over ours may be too high." in told) == is_marked
    of_rivals = (found.frame["case"] == "qcd") & found.frame["method"].isin(module.RIVALS)
    quick = found.frame.assign(value=found.frame["value"].where(~of_rivals, 1e-3 * found.frame["value"]))
    lost = dataclasses.replace(found, frame=quick, disturbed=busy)
    assert "\n".join({each.title: each for each in module.tables(lost)}[table.title].notes).startswith("Of 16 matrices")


def test_an_own_matrix_stands_beside_the_best_rival_in_every_other_format(monkeypatch):
    monkeypatch.setattr(figure12_bandwidth, "FORMATS", ("mine", "coo"))
    rows = [Row("wong2015-figure12", "smoke", OWN, method, "openmp", metric=metric, value=value, unit="s", n=9,
                ci_low=0.9 * value, ci_high=1.1 * value, parameters={"repeats": 1})
            for metric in ("spmv", "bandwidth", "least_bytes")
            for method, value in (("mine", 1.0), ("csr_merge", 3.0))]  # fmt: skip
    found = Results(frame([row.as_dict() for row in rows]), "smoke", "m", "wong2015-figure12")
    table = {each.title: each for each in figure12_bandwidth.tables(found)}[
        "Other formats and the best rival, one repeat, warm"
    ]
    (line,) = table.frame.to_dict("records")
    assert (line["Ours"], line["Best rival"]) == ("mine", "merge-path CSR")
    assert line["Its time over ours"].startswith("3.0 (2.")
