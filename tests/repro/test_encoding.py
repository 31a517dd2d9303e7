"""Characters that a terminal has not cost no run, and a locale that is not UTF-8 no reading of the sources."""

import sys

import pytest

from repro import encoding

POSIX = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("locale", [{"PYTHONIOENCODING": "ascii"}, POSIX], ids=["ascii", "posix"])
def test_a_run_of_several_artefacts_says_all_on_any_terminal(laboratory, locale):
    for source in laboratory.paper.glob("*_*.py"):
        text = source.read_text(encoding="utf-8")
        source.write_text(text.replace('"""', '"""λ and ✓: ', 1), encoding="utf-8")
    words = ("run", "--all", "--in-process", "--scale", "smoke", "--results", str(laboratory.results))
    done = laboratory.repro(*words, **locale)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert laboratory.file("table1.smoke.md").exists() and laboratory.file("figure2.smoke.md").exists()
    assert "λ and ✓" in laboratory.file("figure2.smoke.md").read_text(encoding="utf-8")
    shown = laboratory.repro("list", **locale)
    assert shown.returncode == 0 and "and" in shown.stdout


def test_no_program_is_started_anew_for_ever(monkeypatch):
    """As where Python was told to ignore the variable that sets its mode."""
    started = []
    monkeypatch.setattr(encoding.os, "execve", lambda *words: started.append(words))
    monkeypatch.setattr(encoding.locale, "getencoding", lambda: "ANSI_X3.4-1968")
    monkeypatch.setattr(encoding.sys, "flags", type("Flags", (), {"utf8_mode": 0}))
    variables = {}
    for _ in range(2):
        encoding.require_utf8(variables)
    assert len(started) == 1 and variables == {"PYTHONUTF8": "1"}
    assert started[0][1][1:] == sys.orig_argv[1:] and started[0][2]["PYTHONUTF8"] == "1"
