"""The numbers of zhang2013: complete, as printed, and consistent as far as they follow from one another."""

import pytest

from repro import published
from repro.judge import consistency
from repro.published import hardware, load, statements

MESHES = ["tri", "quad", "tet", "hex"]
POLYNOMIALS = ["neumann", "least-squares", "chebyshev"]


def test_every_table_is_there_in_full():
    counts = {number: len(load(f"zhang2013-table{number}")) for number in range(1, 6)}
    assert counts == {1: 12, 2: 16, 3: 15, 4: 15, 5: 8}
    assert all(load(f"zhang2013-table{number}").cases == MESHES for number in (1, 2, 5))
    assert all(load(f"zhang2013-table{number}").cases == POLYNOMIALS for number in (3, 4))
    assert all(len(load(f"zhang2013-figure{number}")) == 0 for number in range(6, 11))


def test_the_numbers_of_the_text():
    text = {number.case: number for number in load("zhang2013-text")}
    assert [text[f"sbell-{mesh}"].value for mesh in MESHES] == [3.33, 3.52, 2.44, 3.64]
    assert [text[f"sbell-over-sell-{mesh}"].printed for mesh in MESHES] == ["24.72", "23.78", "72.22", "24.86"]
    assert [text[f"sbell-over-cusparse-{mesh}"].value for mesh in MESHES] == [2.98, 5.52, 1.94, 2.22]
    assert [text[f"double-over-single-{mesh}"].value for mesh in MESHES] == [54.4, 57.3, 74.8, 51.1]
    ranges = [[text[f"{form}-{precision}-{end}"].value for end in ("least", "most")]
              for form in ("csr", "sbell") for precision in ("double", "mixed")]  # fmt: skip
    assert ranges == [[1.2, 3.8], [1.8, 4.5], [5.5, 6.9], [7.2, 9.1]]
    assert text["jacobi-iterations"].interval() == (1938, 1938) and text["slice-size"].value == 32
    assert all(number.place for number in text.values())
    known = {f"zhang2013-table{n}" for n in range(1, 6)} | {f"zhang2013-figure{n}" for n in range(6, 11)} | {""}
    assert {entry.get("about", "") for entry in statements(published.ROOT / "zhang2013" / "text.toml")} <= known


def test_what_is_derived_agrees_with_what_it_is_derived_from():
    verdicts = consistency.verdicts("zhang2013")
    assert len(verdicts) == 25
    wrong = [(verdict.number.case, verdict.number.metric) for verdict in consistency.check("zhang2013")]
    # Blocks of 3 × 3 save less than a third of the bytes, and the rows of Table 3 are not of one bound.
    assert wrong == [("sbell-over-sell-tet", "improvement"), ("chebyshev", "iterations")]
    checked = {(verdict.number.artefact, verdict.number.case) for verdict in verdicts}
    assert {("zhang2013-table1", mesh) for mesh in MESHES} | {("zhang2013-table2", mesh) for mesh in MESHES} <= checked


def test_the_machine():
    machine = hardware("zhang2013")
    printed, vendor = machine["gpu"]["printed"], machine["gpu"]["vendor"]
    assert printed["name"] == "NVIDIA GeForce GT430" and printed["cores"] == 96
    assert vendor["fp32_gflop_per_s"] == pytest.approx(2 * printed["cores"] * 1.4)
    assert not {"bandwidth_gb_per_s", "fp64_gflop_per_s"} & set(printed)
    assert machine["cpu"]["printed"]["clock_ghz"] == 2.8
