"""The papers' numbers as data: complete, placed, and as precise as printed."""

import pytest

from repro.model import ReproError
from repro.published import Number, load, parse


@pytest.mark.parametrize(
    ("printed", "exact", "interval"),
    [
        ("2.0", False, (1.95, 2.05)),
        ("36", False, (35.5, 36.5)),
        ("0.0298", False, (0.02975, 0.02985)),
        ("1e-8", False, (0.5e-8, 1.5e-8)),
        ("(1.2)", False, (1 / 1.25, 1 / 1.15)),
        ("1,572,864", True, (1572864, 1572864)),
    ],
)
def test_printed_digits_tell_the_precision(printed, exact, interval):
    number = Number("a-table1", "c", "m", "t", parse(printed), "s", "", printed, exact)
    assert number.interval() == pytest.approx(interval, rel=1e-12)
    assert number.interval()[0] <= number.value <= number.interval()[1]


@pytest.mark.parametrize("printed", ["", "fast", "(0)", "–"])
def test_what_is_no_number_is_refused(printed):
    with pytest.raises(ReproError):
        parse(printed)


def test_malformed_data_name_file_and_line(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    head = "case,method,metric,printed,unit,place\n"
    (folder / "table1.csv").write_text(head + "x,a,t,1.0,s,Table 1\nx,b,t,oops,s,Table 1\n")
    with pytest.raises(ReproError, match=r"table1\.csv:3.*oops"):
        load("p-table1", tmp_path)
    (folder / "table1.csv").write_text(head + "x,a,t,1.0,s,Table 1\nx,a,t,2.0,s,Table 1\n")
    with pytest.raises(ReproError, match="given twice"):
        load("p-table1", tmp_path)
    (folder / "text.toml").write_text("[[statement]\n")
    with pytest.raises(ReproError, match=r"text\.toml"):
        load("p-text", tmp_path)


def test_stand_ins_have_the_papers_names():
    from repro.published import stand_ins

    assert stand_ins("fu2014", ["cg", "jacobi-pcgamg", "patch-pcgamg"]) == {
        "cg": "cusp-cg",
        "jacobi-pcgamg": "cusp-pcgamg",
    }
    found = stand_ins("geveler2011", ["q1-xyz-cpu-all", "q2-sto-ellpack_r", "q1-xyz-sell"])
    assert found == {"q1-xyz-cpu-all": "q1-xyz-cpu-4", "q2-sto-ellpack_r": "q2-sto-gpu"}
    assert stand_ins("nobody", ["cg"]) == {}
