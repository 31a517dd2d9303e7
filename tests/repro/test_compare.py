"""Ours beside published, and two sets of results beside each other."""

import json
import math
import shutil
from pathlib import Path

import pandas
import pytest

from repro import environment
from repro.cache.files import own_part
from repro.cache.store import read_json
from repro.cli import main
from repro.cli.compare import _text
from repro.judge.compare import ADDED, CHANGED, LOST, OTHER, compare, compare_results
from repro.judge.difference import FASTER, SAME, SLOWER, UNDECIDED
from repro.judge.roofs import Roofs
from repro.model import ReproError, Row
from repro.published import load
from repro.settings import make_settings


def frame(*rows):
    return pandas.DataFrame([row.as_dict() for row in rows])


def row(case="regular", method="patch", metric="assembly", value=0.01, unit="s", **more):
    more = {"backend": "opencl", "device": "d"} | more
    return Row("fu2014-table2", "small", case, method, metric=metric, value=value, unit=unit, **more)


def test_ours_stands_beside_the_papers_in_its_unit():
    rows = frame(
        row(value=14.9, unit="ms", ci_low=14.0, ci_high=15.0),
        row(case="heart", method="numba", backend="host", value=6.228),
        row(case="brain", value=None, status="failed", reason="wrong"),
        row(metric="reordering", value=1.0),
    )
    table = compare(rows, load("fu2014-table2"), {"numba": "serial"})
    assert table["case"].tolist() == ["regular", "heart"]
    assert table["ours"].tolist() == pytest.approx([0.0149, 6.228])
    assert table["published"].tolist() == [0.0298, 3.114]
    assert table["ratio"].tolist() == pytest.approx([0.5, 2.0])
    assert (table["ci_low"][0], table["ci_high"][0]) == pytest.approx((0.014, 0.015))
    assert table["place"][1] == "Table 2, row Heart, column CPU" and table["unit"].tolist() == ["s", "s"]


CARD = {"device": "card", "bandwidths": {"copy": [[1e6, 9e12], [1e9, 4e12]]}, "cold": {},
        "rates": {"float64": 30e12, "float32": 60e12}}  # fmt: skip
ROOFS = Roofs({"card": {"gpu": True, "ceilings": CARD}})
WORK = {"work_bytes": 2e9, "work_flops": 1e9, "work_precision": "float64"}


def test_each_number_is_a_fraction_of_its_own_hardware():
    where = {"backend": "cuda", "device": "card"}
    rows = frame(row(value=1e-3, **where, **WORK), row(case="heart", value=2e-3, **where, **WORK))
    rows["scale"] = "paper"
    table = compare(rows, load("fu2014-table2"), roofs=ROOFS)
    # 2 GB at 4 TB/s take half of the millisecond; at the GTX 580's 192.4 GB/s a third of the 0.0298 s of the paper.
    assert table["of_peak"].tolist() == pytest.approx([0.5, 0.25])
    assert table["published_of_peak"].tolist() == pytest.approx([2e9 / 192.4e9 / 0.0298, 2e9 / 192.4e9 / 0.0465])
    rows["scale"] = "small"
    assert compare(rows, load("fu2014-table2"), roofs=ROOFS)["published_of_peak"].isna().all()


def test_a_rate_is_a_fraction_of_the_bandwidth_or_of_what_its_work_allows():
    where = {"method": "stored", "case": "n4", "backend": "cuda", "device": "card", "artefact": "remacle2016-table3"}
    sampled = {True: {"n": 9, **WORK}, False: {}}
    rows = frame(*(
        Row(scale="paper", metric=metric, value=value, unit=unit, **where, **sampled[unit == "s"])
        for metric, value, unit in (("local", 1e-3, "s"), ("flop_rate", 1000, "GFLOP/s"), ("bandwidth", 2000, "GB/s"))
    ))  # fmt: skip
    table = compare(rows, load("remacle2016-table3"), roofs=ROOFS).set_index("metric")
    assert table["of_peak"].to_dict() == pytest.approx({"flop_rate": 0.5, "bandwidth": 0.5})  # its bytes are others
    # The K40: 194 GFLOP/s are 388 GB/s of that work, which is more than its memory has; 115 GB/s of 288.
    assert table["published_of_peak"].to_dict() == pytest.approx({"flop_rate": 388 / 288, "bandwidth": 115 / 288})


@pytest.mark.parametrize(("counted", "share"), [(1500, None), (900, 0.9 / 30)])
def test_a_rate_that_counts_operations_that_ours_leaves_out_is_no_share_of_our_peak(counted, share):
    where = {"method": "stored", "case": "n4", "backend": "cuda", "device": "card"}
    rows = frame(*(
        Row("remacle2016-table3", "paper", metric=metric, value=value, unit=unit, **where, **more)
        for metric, value, unit, more in (("local", 1e-3, "s", {"n": 9, **WORK}), ("flop_rate", counted, "GFLOP/s", {}))
    ))  # fmt: skip
    (found,) = compare(rows, load("remacle2016-table3"), roofs=ROOFS).to_dict("records")
    assert found["of_peak"] == pytest.approx(share)
    assert found["published_of_peak"] == pytest.approx(194 / 1430)  # the paper's kernel does what the paper counts


def test_the_work_of_one_time_is_not_that_of_another():
    where = {"case": "regular", "method": "patch-pcgamg", "backend": "cuda", "device": "card"}
    rows = frame(*(
        Row("fu2014-table6", "paper", metric=metric, value=1e-3, unit="s", n=9, **where, **work)
        for metric, work in (("solve", WORK), ("time_per_iteration", {}))
    ))  # fmt: skip
    table = compare(rows, load("fu2014-table6"), roofs=ROOFS).set_index("metric")
    assert "time_per_iteration" in table.index
    assert table.loc["time_per_iteration", ["of_peak", "published_of_peak"]].isna().all()


@pytest.mark.parametrize(("times", "share", "theirs"), [
    # 2 GB in the millisecond of `local`: the work of that time, here and by the paper's 288 GB/s.
    (("local", "fine"), 0.5, 388 / 288), (("one", "other"), None, None),  # of two times
])  # fmt: skip
def test_a_rate_is_that_of_its_own_time(times, share, theirs):
    where = {"method": "stored", "case": "n4", "backend": "cuda", "device": "card"}
    work = {"n": 9, **WORK, "work_precision": "float32"}
    values = [(times[0], 1e-3, "s", work), (times[1], 2e-3, "s", work), ("flop_rate", 1000, "GFLOP/s", {})]
    rows = frame(*(
        Row("remacle2016-table3", "paper", metric=metric, value=value, unit=unit, **where, **more)
        for metric, value, unit, more in values
    ))  # fmt: skip
    (found,) = compare(rows, load("remacle2016-table3"), roofs=ROOFS).to_dict("records")
    assert (found["of_peak"], found["published_of_peak"]) == (pytest.approx(share), pytest.approx(theirs))


def test_units_that_measure_different_things_are_an_error():
    with pytest.raises(ReproError, match="cannot be given"):
        compare(frame(row(unit="GB/s")), load("fu2014-table2"))


def test_nothing_in_common_is_an_empty_table():
    assert compare(frame(row(case="sphere")), load("fu2014-table2")).empty


@pytest.mark.parametrize(
    ("old", "new", "unit", "verdict"),
    [
        ((1.0, 0.99, 1.01), (1.02, 1.01, 1.03), "s", SAME),
        ((1.0, 0.99, 1.01), (1.2, 1.19, 1.21), "s", SLOWER),
        ((1.0, 0.99, 1.01), (0.8, 0.79, 0.81), "s", FASTER),
        ((1.0, 0.99, 1.01), (1.2, 1.19, 1.21), "GB/s", FASTER),
        ((1.0, 0.99, 1.01), (0.8, 0.79, 0.81), "GFLOP/s", SLOWER),
        ((1.0, 0.8, 1.3), (1.2, 1.0, 1.4), "s", UNDECIDED),
        ((1.0, 0.99, 1.01), (1.07, 1.055, 1.08), "s", SLOWER),
        ((1.0, 0.99, 1.01), (1.045, 1.04, 1.05), "s", UNDECIDED),  # apart, by about the threshold
        ((1.0, 0.8, 1.3), (1.0, 0.8, 1.3), "s", SAME),  # one measurement
        ((1.0, None, None), (2.0, 1.9, 2.1), "s", SLOWER),  # by the value, further apart than those with intervals
        ((1.0, None, None), (2.0, 1.0, 2.6), "s", UNDECIDED),
        ((1.0, None, None), (1.4, None, None), "s", UNDECIDED),
        ((1.0, None, None), (1.6, None, None), "s", SLOWER),
        ((1.0, None, None), (1.6, None, None), "GB/s", FASTER),
        ((1.6, None, None), (1.0, None, None), "GB/s", SLOWER),
        ((1.6, None, None), (1.0, 0.99, 1.01), "s", FASTER),
        ((1.0, None, None), (1.01, None, None), "s", UNDECIDED),
        ((1.0, None, None), (1.0, None, None), "s", SAME),
        ((1.0, None, None), (1.4, None, None), "J", UNDECIDED),
        ((1.0, None, None), (1.6, None, None), "W", SLOWER),
        ((19, None, None), (19, None, None), "", SAME),
        ((100, None, None), (101, None, None), "", CHANGED),
        ((0.5, None, None), (0.51, None, None), "", SAME),
        ((0.5, None, None), (0.6, None, None), "", CHANGED),
        ((0, None, None), (0, None, None), "", SAME),
        ((0, None, None), (3, None, None), "", CHANGED),
        ((float("inf"), None, None), (float("inf"), None, None), "count", SAME),
        ((3, None, None), (float("inf"), None, None), "count", CHANGED),
    ],
)
def test_verdicts_follow_the_intervals(old, new, unit, verdict):
    def one(numbers):
        value, low, high = numbers
        return frame(row(value=value, ci_low=low, ci_high=high, unit=unit))

    table = compare_results(one(old), one(new), threshold=0.05)
    assert table["verdict"].tolist() == [verdict]


def test_values_without_an_interval_are_marked():
    def verdicts(unit, threshold=0.05, **ends):
        table = compare_results(frame(row(value=1.0, unit=unit, **ends)), frame(row(value=2.0, unit=unit)), threshold)
        return table[["verdict", "reason"]].to_numpy().tolist()

    assert verdicts("s") == [[SLOWER, "no interval"]]
    assert verdicts("s", ci_low=0.99, ci_high=1.01) == [[SLOWER, "no interval"]]
    assert verdicts("s", threshold=2.5) == [[SAME, "no interval"]]
    assert verdicts("count") == [[CHANGED, ""]]


def test_a_long_solve_is_judged_by_the_interval_of_its_part_whose_length_is_no_change():
    def solve(part, times):
        cell = ("zhang2013-table3", "paper", "quad", "order-2", "host")
        ends = {"ci_low": 0.5 * part, "ci_high": 2 * part, "n": 9}
        return frame(Row(*cell, metric="some_iterations", value=part, unit="s", **ends),
                     Row(*cell, metric="times_some_iterations", value=times, unit="count"),
                     Row(*cell, metric="solve", value=part * times, unit="s"))  # fmt: skip

    (told,) = compare_results(solve(0.7, 20), solve(0.6, 40)).to_dict("records")
    assert (told["metric"], told["verdict"], told["reason"]) == ("solve", UNDECIDED, "")
    assert (told["old_low"], told["new_high"]) == (pytest.approx(7), pytest.approx(48))


def test_units_of_the_two_sets_may_differ():
    table = compare_results(frame(row(value=0.002)), frame(row(value=2.0, unit="ms")))
    assert table["verdict"].tolist() == [SAME] and table["new"].tolist() == pytest.approx([0.002])


def test_values_that_come_and_go_are_said_with_the_reason():
    old = frame(row(), row(case="heart"), row(case="brain"))
    new = frame(
        row(), row(case="blobs"), row(case="heart", metric="", value=None, status="failed", reason="error 1 exceeds")
    )
    table = compare_results(old, new).set_index("case")
    assert table["verdict"].to_dict() == {"regular": SAME, "heart": LOST, "brain": LOST, "blobs": ADDED}
    assert table["reason"]["heart"] == "error 1 exceeds" and table["reason"]["brain"] == "not in the new results"


def test_another_machines_results_are_found_at_its_own_scale(capsys):
    assert main(["compare", "zhang2013-table3", "--machine", "h100-80gb-hbm3", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "cuda" in {row["backend"] for row in json.loads(out)} and "own sizes" not in err
    assert main(["compare", "fu2014-table1", "--machine", "intel-xeon-family-6-model-207-2-cores", "--json"]) == 0
    assert "which only scale paper has" in capsys.readouterr().err
    assert main(["compare", "zhang2013-table3", "--machine", "h100-80gb-hbm3", "--scale", "smoke"]) == 1
    assert "not run at scale smoke on h100-80gb-hbm3" in capsys.readouterr().err


def test_a_mesh_of_ones_own_says_nothing_of_how_the_papers_hardware_was_used(tmp_path, capsys):
    machine = "h100-80gb-hbm3"
    mine, folder = tmp_path / "mine.vtu", tmp_path / machine / "fu2014"
    mine.write_text("")
    stored = Path(__file__).parents[2] / "results" / machine
    chosen = make_settings("paper", tmp_path, machine, meshes=[f"fu2014/regular={mine}"])
    name = f"table2{own_part(chosen, ['fu2014/regular'])}"
    folder.mkdir(parents=True)
    shutil.copy(stored / "ceilings.json", folder.parent)
    for suffix in (".csv.xz", ".samples.json.xz"):
        shutil.copy(stored / "fu2014" / f"table2{suffix}", folder / f"{name}{suffix}")
    manifest = json.loads((stored / "fu2014" / "table2.json").read_text())
    (folder / f"{name}.json").write_text(json.dumps({**manifest, "overrides": dict(chosen.overrides)}))
    words = ("compare", "fu2014-table2", "--machine", machine, "--scale", "paper", "--json")
    shown = {}
    for more in ((), ("--results", str(tmp_path), "--mesh", f"fu2014/regular={mine}")):
        assert main([*words, *more]) == 0
        out, err = capsys.readouterr()
        shown["not for yours" in err] = [(row["of_peak"], row["published_of_peak"]) for row in json.loads(out)]
    assert any(theirs for _, theirs in shown[False]) and any(ours for ours, _ in shown[True])
    assert shown[True] == [(ours, None) for ours, _ in shown[False]]


@pytest.fixture
def older(laboratory, capsys):
    """Two sets of the same results of table1, at scale smoke; the path of the older."""
    laboratory.has_run("table1")
    shutil.copytree(laboratory.file(""), laboratory.results / "before" / "demo2020")
    capsys.readouterr()
    return laboratory.results / "before"


def against(laboratory, older, *more):
    words = ("--with", str(older), "--results", str(laboratory.results), "--fail-on-regression")
    return main(["compare", *words, *more])


@pytest.mark.parametrize("scale", [["--scale", "smoke"], []], ids=" ".join)
@pytest.mark.parametrize("names", [["table1"], []], ids=" ".join)
def test_an_artefact_that_is_gone_is_told_and_fails(laboratory, older, capsys, names, scale):
    if not scale:  # where the older ones are of the scale that has no suffix
        for path in older.glob("demo2020/table1.smoke.*"):
            path.rename(path.with_name(path.name.replace(".smoke", "")))
    assert against(laboratory, older, *names, *scale) == 0
    assert "lost" not in capsys.readouterr().err
    laboratory.file("table1.smoke.csv").unlink()
    assert against(laboratory, older, *names, *scale) == 1
    out, err = capsys.readouterr()
    assert "demo2020-table1: lost, 12 numbers at scale smoke" in err and "12 numbers slower or lost" in err
    assert sum("table1" in line for line in err.splitlines()) == 1
    assert not any("not run" in line and "table1" in line for line in err.splitlines()) and out == ""
    assert against(laboratory, older, *names, *scale, "--json") == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in rows] == [LOST] * 12 and rows[0]["reason"] == "not in the new results"


def test_an_artefact_that_only_the_new_set_has_is_no_loss_and_alone_no_comparison(laboratory, older, capsys):
    assert laboratory.run("table1", "--scale", "small") == 0
    capsys.readouterr()
    assert against(laboratory, older, "--scale", "small") == 1
    err = capsys.readouterr().err
    assert f"demo2020-table1: {older} has none at scale small" in err and "lost" not in err
    assert "there is nothing to compare" in err


def test_nothing_measured_before_is_nothing_lost(laboratory, older, capsys):
    """Of an artefact whose cells were all skipped."""
    assert laboratory.run("figure2") == 0
    laboratory.file("figure2.smoke.csv").rename(older / "demo2020" / "figure2.smoke.csv")
    capsys.readouterr()
    assert against(laboratory, older, "--scale", "smoke") == 0
    assert "lost" not in capsys.readouterr().err


def test_what_is_compared_and_unverified_is_said(laboratory, older, capsys):
    (laboratory.results / "unverified.csv").write_text("file,reason\nbefore/demo2020/table1.smoke,no key\n")
    assert against(laboratory, older) == 0
    assert "Unverified results, all of before: no key." in capsys.readouterr().err
    main(["compare", "table1", "--results", str(laboratory.results)])
    assert "Unverified" not in capsys.readouterr().err


def test_what_is_of_older_results_wants_them(laboratory, older, capsys):
    assert main(["compare", "table1", "--results", str(laboratory.results), "--fail-on-regression"]) == 2
    assert "--fail-on-regression wants --with" in capsys.readouterr().err


def test_without_a_scale_every_scale_that_either_side_has_is_compared(laboratory, older, capsys):
    """Or what is gone at one would pass, since another is there."""
    assert laboratory.run("table1", "--scale", "small") == 0
    shutil.copytree(laboratory.file(""), older / "demo2020", dirs_exist_ok=True)
    assert against(laboratory, older) == 0
    laboratory.file("table1.smoke.csv").unlink()
    capsys.readouterr()
    assert against(laboratory, older, "--json") == 1
    out, err = capsys.readouterr()
    verdicts = {(row["scale"], row["verdict"]) for row in json.loads(out)}
    assert ("smoke", LOST) in verdicts and ("small", SAME) in verdicts and ("small", LOST) not in verdicts
    assert "lost, 12 numbers at scale smoke" in err


@pytest.mark.parametrize("names", [["table1"], []], ids=" ".join)
def test_where_no_scale_is_in_both_nothing_is_lost(laboratory, older, capsys, names):
    assert laboratory.run("table1", "--scale", "small") == 0
    laboratory.file("table1.smoke.csv").unlink()
    capsys.readouterr()
    words = (*names, "--with", str(older), "--results", str(laboratory.results))
    for more, code in (((), int(bool(names))), (("--fail-on-regression",), 1)):
        assert main(["compare", *words, *more]) == code
        out, err = capsys.readouterr()
        assert out == "" and "no scale is in both: small here, smoke there\n" in err and "lost" not in err


def test_where_the_older_results_are_is_hinted_at(laboratory, older, capsys, monkeypatch):
    monkeypatch.setattr(environment, "results_folder", lambda: laboratory.results)
    words = ("compare", "--results", str(laboratory.folder / "other"), "--with")
    (laboratory.folder / "other").mkdir()
    shutil.copytree(older, laboratory.folder / "other/own")
    for name, told in (("before", f"; there is {older}\n"), ("nothing", "/other\n")):
        assert main([*words, name]) == 2
        assert capsys.readouterr().err.endswith(told)


@pytest.mark.parametrize(
    ("change", "shown"),
    [(76.51, "+7,651 %"), (-0.09139, "-9.1 %"), (0.0996, "+10 %"), (0.9999, "+100 %"), (math.inf, "+inf %")],
)
def test_a_change_is_shown_in_percent(change, shown):
    assert _text(change, "change") == shown


def test_results_of_one_machine_are_found_in_their_folder(laboratory, older, tmp_path, capsys):
    shutil.copytree(older, tmp_path / "theirs" / "their-machine")
    (tmp_path / "theirs" / "their-machine" / "minutes.csv").touch()
    assert against(laboratory, tmp_path / "theirs") == 0
    assert "table1.smoke: their-machine at" in capsys.readouterr().err
    shutil.copytree(older, tmp_path / "theirs" / "another")
    assert against(laboratory, tmp_path / "theirs") == 2
    err = capsys.readouterr().err
    assert "has the machines another, their-machine, none of them bench" in err
    assert f"as in --with {tmp_path / 'theirs' / 'another'}," in err and err.endswith("by --machine NAME\n")


@pytest.mark.parametrize(("seed", "reason"), [(0, "demo2020/ball is not the same"), (7, "seed 7 and seed 0")])
def test_results_of_other_data_are_neither_slower_nor_faster(laboratory, older, capsys, seed, reason):
    for file, digest, drawn in (
        (laboratory.file("table1.smoke.json"), "this", 0),
        (older / "demo2020/table1.smoke.json", "that", seed),
    ):
        manifest = read_json(file)
        for cell in manifest["cells"]:
            cell["data"] = ["demo2020/ball"] if cell["case"] == "first" else ["demo2020/rod"]
        data = {"demo2020/ball": digest, "demo2020/rod": "the same"}
        file.write_text(json.dumps(manifest | {"seed": drawn, "data": data}))
    table = file.with_suffix(".csv")
    times = pandas.read_csv(table)
    times.loc[times["case"] == "first", ["value", "ci_low", "ci_high"]] /= 1000
    times.to_csv(table, index=False)
    assert against(laboratory, older, "--json") == 0
    out, err = capsys.readouterr()
    verdicts = {row["case"]: (row["verdict"], row["reason"]) for row in json.loads(out)}
    assert verdicts["first"] == (OTHER, reason) and (verdicts["second"][0] == OTHER) == bool(seed)
    assert "neither slower nor faster" in err


def test_one_metric_at_several_parameters_is_several_numbers():
    def at(**values):
        rows = pandas.concat([frame(row(metric="n", unit="count", value=value)) for value in values.values()])
        return rows.assign(p_tolerance=[name.replace("_", "-") for name in values])

    table = compare_results(at(e_4=4, e_8=8), at(e_4=4, e_8=9))
    assert table[["p_tolerance", "verdict"]].to_numpy().tolist() == [["e-4", SAME], ["e-8", CHANGED]]
    assert compare_results(at(e_4=4, e_8=8), at(e_4=4))["verdict"].tolist() == [SAME, LOST]
    assert compare_results(at(e_4=4), at(e_8=4))["verdict"].tolist() == [LOST, ADDED]
    silent = frame(row(metric="n", unit="count", value=4))  # as an older edition, of its cells
    assert compare_results(silent, at(e_4=4))["verdict"].tolist() == [SAME]
    assert compare_results(silent, at(e_4=4, e_8=8))["verdict"].tolist() == [LOST, ADDED, ADDED]
