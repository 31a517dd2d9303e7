"""Tables on a terminal."""

import io

import pytest
import rich.console
from hypothesis import given
from hypothesis import strategies as st

from repro.show.terminal import Sheet

NUMBERS = [f"{10**i:,}" for i in range(7)]
SHEET = Sheet(
    "Table 1", ["Mesh", "Method", *(f"Number {i}, ours" for i in range(7))],
    [["Heart (stand-in)", method, *NUMBERS] for method in ("patch", "serial")], ["Ours is [ours]."],
)  # fmt: skip


def printed(sheet, width):
    console = rich.console.Console(file=io.StringIO(), width=width)
    console.print(sheet)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_number_is_whole_beside_what_names_its_row(width):
    lines = printed(SHEET, width)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    for method in ("patch", "serial"):
        rows = [line.split() for line in lines if line.startswith(f"Heart (stand-in)  {method}")]
        assert [cell for row in rows for cell in row[3:]] == NUMBERS


def test_a_wide_window_has_it_in_one_with_headings_in_a_line():
    lines = printed(SHEET, 200)
    assert lines[0] == "Table 1" and lines[2].endswith("Number 6, ours") and "Ours is [ours]." in lines
    assert sum(line.startswith("Mesh") for line in lines) == 1


def test_text_too_long_for_the_window_is_folded():
    text = "a reason that goes on and on"
    lines = printed(Sheet("", ["case", "reason"], [["one", text]]), 25)
    assert " ".join(" ".join(line[5:].split()) for line in lines[3:]).split() == text.split()


def test_without_rows_there_are_headings():
    assert printed(Sheet("T", ["a", "b"], []), 80)[2].split() == ["a", "b"]


@given(st.integers(30, 120), st.lists(st.integers(1, 12), min_size=1, max_size=12))
def test_every_column_is_in_one_part(room, lengths):
    sheet = Sheet("", ["key", *map(str, range(len(lengths)))], [["k", *("9" * n for n in lengths)]])
    parts = sheet.parts(room)
    assert all(0 in part for part in parts)
    assert sorted(i for part in parts for i in part if i) == list(range(1, len(lengths) + 1))
