"""A problem of many cells is told once, with its count; and a run that measured nothing says so."""

import pytest

CUDA = "no cuda device (plug one in for cuda)"


def test_a_failure_of_many_cells_is_told_once_with_its_count(laboratory, monkeypatch, capsys):
    monkeypatch.setenv("FAKELAB_RAISE", "third")
    assert laboratory.run("table1", "--backend", "opencl", "--only", "case=third") == 1
    said = capsys.readouterr().err
    assert said.count("Traceback") == 1 and said.count("=1: failed: ZeroDivisionError: on purpose") == 1
    assert "\n2 cells failed for the same reason, ZeroDivisionError: on purpose: demo2020-table1 (2)\n" in said
    assert "nothing was measured: 2 of 2 cells on host, opencl failed: ZeroDivisionError: on purpose\n" in said
    assert set(laboratory.statuses().values()) == {"failed"}  # each has its record


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["figure2"], "nothing was measured: 1 of 1 cell on cuda were skipped"),
        (
            ["table1", "--backend", "cuda"],
            "no kernel was measured, but baselines alone: 3 of 3 cells on cuda were skipped",
        ),
    ],
)
def test_a_run_without_a_kernel_says_so_and_why(laboratory, capsys, arguments, told):
    for _ in range(2):  # and again, though the baselines stand
        assert laboratory.run(*arguments) == 0
        assert f"{told}: {CUDA}\n" in capsys.readouterr().err
