"""Environments, and the set-up's reading of what pip refuses."""

import sys
from types import SimpleNamespace

import pytest

from repro.install import bootstrap, installing
from repro.install.installing import PipError, SetupError
from tests.checkout import program


def test_an_unreachable_index_is_told_from_a_failure():
    retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'"
    unreachable = PipError([retry, "ERROR: No matching distribution found for hatchling==1.33.0"], "log")
    assert "cannot reach a package index" in str(unreachable) and unreachable.for_all
    failed = PipError(["Collecting x", "ERROR: No matching distribution found for x==1", "hint: see above"], "log")
    assert "the package index has no x==1 for Python" in str(failed) and not failed.for_all
    assert "cannot reach" not in str(failed)


PYTHON = """#!/bin/sh
# A Python as far as the set-up sees it: makes environments, and has a pip that says what it is told to.
case "$*" in
    *"-m venv"*)
        [ -z "$NO_VENV" ] || { echo "Error: no space left"; exit 1; }
        for folder; do :; done
        mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" ;;
    *"-m pip"*) echo "$*" >> "$ASKED"; echo "${PIP_SAYS:-done}" >&2; exit "${PIP_ENDS:-0}" ;;
    *"import pip"*) exit 0 ;;
    *) exit 9 ;;
esac
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text(PYTHON)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return tmp_path


def test_an_environment_is_made_and_installed_into(python, monkeypatch):
    program("mkdir")
    venv = python / "own" / ".venv"
    assert not bootstrap.is_usable(venv)
    bootstrap.create(venv)
    assert bootstrap.is_usable(venv) and (venv / bootstrap.STARTED).exists()
    monkeypatch.setenv("PYTHONPATH", "elsewhere")  # which pip must not see
    installing.pip(venv, python, "numpy", "scipy")
    assert (python / "asked").read_text().endswith("-c constraints.txt numpy scipy\n")
    monkeypatch.setenv("PIP_SAYS", "ERROR: No matching distribution found for scipy")
    monkeypatch.setenv("PIP_ENDS", "1")
    with pytest.raises(PipError, match=r"the package index has no scipy for Python .* \(everything it said: .*log\)"):
        installing.pip(venv, python, "scipy")


def test_an_environment_that_cannot_be_made_leaves_nothing(python, monkeypatch):
    monkeypatch.setenv("NO_VENV", "1")
    with pytest.raises(SetupError, match=r"-m venv .* failed: Error: no space left"):
        bootstrap.create(python / ".venv")
    assert not (python / ".venv").exists()
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000_000))
    with pytest.raises(SetupError, match="the disk is full"):
        bootstrap.create(python / ".venv")
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="has no ensurepip; install it"):
        bootstrap.create(python / ".venv")
