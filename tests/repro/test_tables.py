"""Tables in the paper's layout: right cells, nothing invented, and where each column was measured."""

import pandas
import pytest

from repro.model import ReproError, Row
from repro.show.tables import (
    INTERVALS,
    Column,
    Ratio,
    Results,
    Table,
    device_notes,
    paper_table,
    trimmed,
    with_ours,
)  # fmt: skip

COLUMNS = [Column("GPU", "patch", "assembly"), Column("CPU", "serial", "assembly"), Ratio("Speedup", "CPU", "GPU")]


def results(*rows, scale="paper", artefact="fu2014-table2"):
    return Results(pandas.DataFrame([row.as_dict() for row in rows]), scale, "somewhere", artefact)


def row(case, method, value, backend="opencl", metric="assembly", unit="s", **more):
    more = {"device": f"{backend} device"} | more
    return Row("fu2014-table2", "paper", case, method, backend, metric=metric, value=value, unit=unit, **more)


@pytest.fixture
def measured():
    return results(
        row("regular", "patch", 0.0321),
        row("regular", "patch", 3.2e-5, backend="cuda"),
        row("regular", "serial", 1600.0, backend="host", unit="ms"),
        row("irregular", "patch", 0.05),
        row("heart", "patch", 2.0e-3, backend="cuda"),
        row("brain", "patch", None, backend="cuda", metric="", status="failed", reason="error 1 exceeds 1e-12"),
        row("blobs", "patch", None, backend="cuda", metric="", status="failed", reason="error 1 exceeds 1e-12"),
    )


def test_ours_stand_beside_the_published_numbers_and_nothing_is_invented(measured):
    table = paper_table(measured, "Assembly", COLUMNS).frame.set_index("Mesh")
    assert table.index.tolist() == ["Regular", "Irregular", "Heart", "Brain", "Blobs"]
    assert table.columns.tolist() == [
        "GPU [s], cuda", "GPU [s], paper", "CPU [s], host", "CPU [s], paper", "Speedup, ours", "Speedup, paper",
    ]  # fmt: skip
    assert table.loc["Regular"].tolist() == ["3.20e-05", "0.0298", "1.60", "1.080", "50,000", "36"]
    assert table.loc["Heart"].tolist() == ["0.00200", "0.0465", "–", "3.114", "–", "67"]
    assert table["GPU [s], cuda"]["Irregular"] == "–"  # OpenCL's number is no CUDA number
    assert table["GPU [s], cuda"]["Brain"] == "–"


def test_notes_say_where_it_was_measured_and_what_failed(measured):
    notes = paper_table(measured, "Assembly", COLUMNS, notes=["First."]).notes
    assert notes[0] == "First."
    assert "GPU: `patch` on cuda, cuda device." in notes and "CPU: `serial` on host, host device." in notes
    assert "Failed: patch on cuda, Brain, Blobs: error 1 exceeds 1e-12" in notes
    assert any("somewhere" in note and "scale paper" in note for note in notes)
    assert not any("own sizes" in note for note in notes)


def test_a_back_end_that_another_stands_for_is_no_reason_for_a_dash():
    skipped = row("regular", "patch", None, "cuda", metric="", status="skipped", reason="no CUDA device")
    notes = paper_table(results(skipped, row("regular", "patch", 1.0)), "Assembly", COLUMNS).notes
    assert not any("no CUDA device" in note for note in notes)
    notes = paper_table(results(skipped), "Assembly", COLUMNS).notes
    assert "Skipped: patch on cuda, Regular: no CUDA device" in notes


def test_smaller_scales_say_that_the_papers_sizes_differ(measured):
    for scale in ("small", "large"):
        other = Results(measured.frame, scale, "somewhere", "fu2014-table2")
        assert any("own sizes" in note for note in paper_table(other, "Assembly", COLUMNS).notes)


def test_a_column_can_be_held_to_a_back_end(measured):
    columns = [Column("OpenCL", "patch", "assembly", unit="ms", backend="opencl")]
    table = paper_table(measured, "Assembly", columns, cases={"regular": "R", "irregular": "I"}).frame
    assert table["Mesh"].tolist() == ["R", "I"]
    assert table["OpenCL [ms], opencl"].tolist() == ["32.1", "50.0"]
    assert table["OpenCL [ms], paper"].tolist() == ["29.8", "22.9"]


def test_a_column_has_one_unit_that_of_its_heading():
    measured = results(
        row("regular", "patch", 11_100.0, metric="rate", unit="GFLOP/s"),
        row("irregular", "patch", 9.0, metric="rate", unit="TFLOP/s"),
        row("heart", "patch", 0.001, metric="rate", unit="GFLOP/s"),
        row("regular", "matrix", 19_178_720.0, "host", metric="bytes", unit="B"),
    )
    frame = paper_table(measured, "R", [Column("R", "patch", "rate", "GFLOP/s"), Column("B", "matrix", "bytes", "B")])
    cells = frame.frame.set_index("Mesh")
    assert cells["R [GFLOP/s], opencl"].tolist()[:3] == ["11,100", "9,000", "0.00100"]
    assert cells["B [B], host"]["Regular"] == "19,178,720"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.48, 0.53, "0.500 ± 5.0 %"),
        (0.25, 0.74, "0.500 ± 49 %"),
        (0.251, 1.2, "0.500 (0.25 to 1.2)"),
        (0.49, 0.54, "0.500 (0.49 to 0.54)"),
    ],
)
def test_an_interval_stands_beside_its_value_where_it_is_not_small_and_its_ends_where_it_is_wide(low, high, shown):
    small, told = row("heart", "patch", 0.5, ci_low=0.499, ci_high=0.501), row("regular", "patch", 0.5, ci_low=low,
                                                                              ci_high=high)  # fmt: skip
    table = paper_table(results(told, small), "Assembly", COLUMNS[:1])
    cells = table.frame.set_index("Mesh")["GPU [s], opencl"]
    assert (cells["Regular"], cells["Heart"]) == (shown, "0.500")
    assert INTERVALS in table.notes and INTERVALS not in paper_table(results(small), "A", COLUMNS).notes


def test_a_column_without_a_value_is_left_out_with_the_papers_and_named():
    measured = results(row("regular", "patch", 0.03, "cuda"), row("blobs", "patch", 0.03, "cuda"))
    table = paper_table(measured, "Assembly", COLUMNS)
    assert table.frame.columns.tolist() == ["Mesh", "GPU [s], cuda", "GPU [s], paper"] and table.measured
    assert "Left out, since nothing of it was measured: CPU; Speedup." in table.notes
    assert table.frame["Mesh"].tolist() == ["Regular", "Irregular", "Heart", "Brain", "Blobs"]  # the paper has these
    held = [Column("GPU", "patch", "assembly"), Column("CPU", "serial", "assembly", backend="host")]
    assert not any("`serial`" in note for note in paper_table(measured, "Assembly", held).notes)


def test_a_line_of_dashes_is_left_out_unless_it_was_tried():
    def meshes(*more):
        measured = results(row("regular", "patch", 1.0), *more)
        cases = ["regular", "mine", "yours"]
        return paper_table(measured, "Assembly", COLUMNS, cases=cases).frame["Mesh"].tolist()

    failed = row("mine", "patch", None, metric="", status="failed", reason="on purpose")
    assert meshes() == ["Regular"] and meshes(failed) == ["Regular", "Mine"]
    assert meshes(row("yours", "serial", None, "host", metric="", status="failed", reason="too")) == [
        "Regular",
        "Yours",
    ]
    assert meshes(row("yours", "patch", 1.0, "cuda", metric="traffic")) == ["Regular"]  # no column is of CUDA


def test_tables_of_other_layouts_lose_columns_without_a_value():
    frame = pandas.DataFrame({"Mesh": ["a", "b"], "L": [1, 2], "t [s]": [None, 0.5], "t, paper": ["1.0", "2.0"],
                              "u [s]": [None, None], "u, paper": ["1.0", "2.0"], "v [s]": [1.0, 2.0],
                              "v, paper": [None, None], "Limit": [None, float("nan")]}, dtype=object)  # fmt: skip
    table = trimmed(Table("T", frame, ["A note."]), 2)
    assert table.frame.columns.tolist() == ["Mesh", "L", "t [s]", "t, paper", "v [s]"]
    assert table.notes == ["A note.", "Left out, since nothing of it was measured: u [s]; Limit."] and table.measured
    nothing = trimmed(Table("T", frame[["Mesh", "L", "u [s]", "u, paper"]]), 2)
    assert nothing.frame.columns.tolist() == ["Mesh", "L", "u [s]", "u, paper"] and not nothing.measured


def test_tables_without_anything_of_ours_are_left_out_but_for_the_first_of_none():
    ours = Table("ours", pandas.DataFrame({"a": [1]}))
    empty, papers = Table("empty", pandas.DataFrame()), Table("paper's", pandas.DataFrame({"a": [1]}), measured=False)
    (only,) = with_ours([papers, empty, ours])
    assert only.frame is ours.frame and only.notes == ["No table, since nothing of it was measured: paper's."]
    assert with_ours([empty, ours]) == [ours]
    assert with_ours([papers, empty]) == [papers]
    assert with_ours([empty, papers]) == [papers] and with_ours([empty]) == []


def test_devices_are_named_where_back_ends_had_different_ones():
    measured = results(
        row("regular", "patch", 1.0, "opencl", device="a CPU"), row("heart", "patch", 1.0, "cuda", device="a GPU"),
        row("heart", "patch", 1.0, "cuda", metric="packing", device="a CPU"),
    )  # fmt: skip
    assert device_notes(measured, "assembly") == ["Devices: `cuda` on a GPU; `opencl` on a CPU."]
    assert device_notes(measured, "packing") == []


def test_stand_ins_keep_their_name_and_the_papers_ratios_are_as_printed():
    measured = results(
        row("regular", "patch-pcgamg", 0.2, metric="setup"),
        row("regular", "pyamg", 0.1, "host", metric="setup"),
        artefact="fu2014-table3",
    )
    columns = [
        Column("patchPCGAMG", "patch-pcgamg", "setup"),
        Column("PyAMG for CUSP", "pyamg", "setup", published="cusp-pcgamg"),
        Ratio("S2", "PyAMG for CUSP", "patchPCGAMG", published=("patch-pcgamg", "speedup_over_cusp"), parentheses=True),
    ]
    first = paper_table(measured, "Set-up", columns).frame.iloc[0].tolist()
    assert first == ["Regular", "0.200", "0.519", "0.100", "0.420", "(2.0)", "(1.2)"]


def test_a_published_number_keeps_its_digits_in_another_unit():
    measured = results(row("heart", "serial", 1.3, "host"), row("blobs", "serial", 1.0, "host"))
    found = paper_table(measured, "Assembly", [Column("CPU", "serial", "assembly", "ms")], cases=["heart", "blobs"])
    assert found.frame["CPU [ms], paper"].tolist() == ["3,114", "2,525"]


def test_a_table_of_which_nothing_was_measured_has_the_papers_columns_alone(measured):
    skipped = results(row("regular", "patch", None, "cuda", status="skipped", reason="no card"))
    table = paper_table(skipped, "Assembly", COLUMNS, cases=["regular", "mine"])
    assert table.frame.columns.tolist() == ["Mesh", "GPU [s], paper", "CPU [s], paper", "Speedup, paper"]
    assert table.frame["Mesh"].tolist() == ["Regular"] and not table.measured
    assert "Nothing of this table was measured: the numbers are the paper's." in table.notes
    assert "Skipped: patch on cuda, Regular: no card" in table.notes
    table = paper_table(measured, "Assembly", [Column("Other", "patch", "memory", unit="B")])
    assert table.frame.columns.tolist() == ["Mesh"] and not len(table.frame)  # nor did the paper


def test_the_best_back_end_is_that_of_done_rows(measured):
    assert measured.best_device_backend() == "cuda"
    assert measured.best_device_backend("serial") is None
    assert measured.backends("patch") == ["cuda", "opencl"]
    skipped = results(row("regular", "patch", None, "cuda", status="skipped"), row("regular", "patch", 1.0, "openmp"))
    assert skipped.best_device_backend() == "openmp"


def test_values_are_found_or_none(measured):
    assert measured.value("regular", "patch", "assembly") == 3.2e-5
    assert measured.value("regular", "patch", "assembly", "opencl") == 0.0321
    assert measured.value("blobs", "patch", "assembly") is None
    assert measured.published.value("regular", "patch", "assembly") == 0.0298
    assert measured.cases == ["regular", "irregular", "heart", "brain", "blobs"]


def test_two_answers_are_an_error():
    twice = results(row("regular", "patch", 1.0), row("regular", "patch", 2.0))
    with pytest.raises(ReproError, match="2 rows"):
        twice.value("regular", "patch", "assembly")


def test_markdown_is_a_table_with_numbers_to_three_digits():
    frame = pandas.DataFrame({"Name": ["a|b", "c"], "Value": [0.123456, None], "Count": [1234567, 3]}, dtype=object)
    assert Table("T", frame, ["A note."]).to_markdown() == (
        "**T**\n\n"
        "| Name | Value | Count |\n"
        "| --- | ---: | ---: |\n"
        "| a\\|b | 0.123 | 1,234,567 |\n"
        "| c | – | 3 |\n"
        "\n- A note.\n"
    )


@pytest.mark.parametrize(("shares", "told"), [([99.0, 100.4, None], False), ([99.0, 101.0, None], True)])
def test_a_share_of_a_bound_above_all_of_it_is_explained_below_the_table(shares, told):
    frame = pandas.DataFrame({"Method": list("abc"), "Of bound [%]": shares, "Time [ms]": [500.0] * 3})
    assert ("- Above 100 % of a bound: " in Table("Shares", frame, ["a note"]).to_markdown()) == told
    cold = frame.rename(columns={"Of bound [%]": "Cold, of bound [%]"})  # where no cache kept anything
    assert "- Above 100 %" not in Table("Shares", cold, ["a note"]).to_markdown()
