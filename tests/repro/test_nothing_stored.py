"""Commands that prove stored results or write their pages refuse a folder that has none; a full disk is one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from repro.cli import main


@pytest.mark.parametrize("command", ["readme", "verify"])
def test_nothing_stored_is_refused_and_no_page_is_emptied(command, tmp_path, monkeypatch, capsys):
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "README.md").write_text("whole")
    monkeypatch.setattr("repro.environment.root", lambda: root)
    (tmp_path / "results").mkdir()
    assert main([command, "--results", str(tmp_path / "results")]) == 1
    assert f"nothing is stored in {tmp_path / 'results'}: `repro run` measures" in capsys.readouterr().err
    assert (root / "README.md").read_text() == "whole" and not list((root / "docs").iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_standard_output_on_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "repro", "list"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)  # fmt: skip
    assert done.returncode == 1 and done.stderr == "repro: No space left on device\n"
