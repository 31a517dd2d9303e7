"""Rows as everyone reads them."""

from pathlib import Path

import pytest

from repro.model import ReproError, Row
from repro.rows import agree, answers, as_csv, asked, has, read, text_of


def test_a_text_asks_for_a_metric_and_parameters():
    assert asked("spmv") == ("spmv", {})
    assert asked("iterations[tolerance=1e-08,kind=absolute,exact=true]") == (
        "iterations", {"tolerance": 1e-8, "kind": "absolute", "exact": True},
    )  # fmt: skip
    for text in ("", "spmv[", "spmv[repeats]", "spmv[repeats=]", "[repeats=5]", "spmv[a=1]b"):
        with pytest.raises(ReproError, match="is no metric, as in"):
            asked(text)
    for text in ("spmv", "iterations[tolerance=1e-08,kind=absolute,exact=true]"):
        assert text_of(*asked(text)) == text


def test_rows_have_parameters_and_agree():
    row = {"metric": "spmv", "p_repeats": 50.0, "p_form": "ell", "p_block": float("nan")}
    assert has(row, {}) and has(row, {"repeats": 50, "form": "ell"}) and has(row, {"block": None, "other": None})
    assert not has(row, {"repeats": None}) and not has(row, {"block": 4}) and not has(row, {"form": "sell"})
    assert answers(row, "spmv[repeats=50]") and not answers(row, "spmv[repeats=1]") and not answers(row, "spmv_cold")
    assert agree(row, {"p_repeats": 50, "p_block": 4}) and agree(row, {}) and not agree(row, {"p_form": "sell"})


@pytest.fixture
def results(tmp_path):
    """Two machines, of one of which a file is listed as unverified."""
    for machine, stem, scale in (
        ("box", "table1", "paper"),
        ("box", "table1.small", "small"),
        ("pi", "table2", "paper"),
    ):
        path = tmp_path / machine / "demo" / f"{stem}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        row = Row(f"demo-{stem[:6]}", scale, "a", "m", "openmp", "CPU", "solve", 1.0, "s", parameters={"n": [1, 2]})
        path.write_text(as_csv([row.as_dict()]))
        path.with_suffix(".json").write_text('{"schema": 2, "machine": {"cores": 4, "cpu": "CPU"}}')
    return tmp_path


def test_read_gives_what_is_asked_for(results):
    every = read(results)
    assert list(zip(every["machine"], every["artefact"], every["scale"])) == [
        ("box", "demo-table1", "paper"), ("box", "demo-table1", "small"), ("pi", "demo-table2", "paper"),
    ]  # fmt: skip
    assert not every["gpu"].any() and set(every["cores"]) == {4}
    assert every["p_n"][0] == [1, 2]
    assert len(read(results, machine="box")) == 2 and len(read(results, artefact="demo-table2")) == 1
    assert list(read(results, scale="small")["file"]) == [str(results / "box" / "demo" / "table1.small.csv")]
    assert read(results, artefact="demo-table3").empty
    own = results / "box" / "demo" / "table1.mine-vtu-1f0c9a4e.csv"  # of the user's own mesh
    own.write_bytes(every["file"].map(Path).iloc[0].read_bytes())
    assert len(read(results)) == 3


def test_opencl_on_a_processor_of_any_host_is_no_gpu(results):
    path = results / "pi" / "demo" / "table2.csv"
    path.write_text(path.read_text().replace("openmp,CPU", "opencl,Old CPU"))
    assert read(results, machine="pi")["gpu"].tolist() == [False]
    path.write_text(path.read_text().replace("Old CPU", "Another"))
    assert read(results, machine="pi")["gpu"].tolist() == [True]
    manifest = '{"schema": 2, "machine": {"cpu": "CPU"}, "keys": [{"machine": {"cpu": "Another"}}]}'
    path.with_suffix(".json").write_text(manifest)
    assert read(results, machine="pi")["gpu"].tolist() == [False]


def test_damaged_rows_say_where(results):
    path = results / "pi" / "demo" / "table2.csv"
    path.write_text(path.read_text().replace("openmp", "openmpi"))
    with pytest.raises(ReproError, match=r"table2\.csv is damaged: no back end is called 'openmpi'"):
        read(results)
