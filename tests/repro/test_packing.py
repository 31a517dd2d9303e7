"""Manifests as files hold them: what comes out is what went in, and what cells have alike stands there once."""

import json

import pytest

from repro.cache import packing
from repro.cache.store import read_json
from repro.model import ReproError

FLAGS = "a compiler of some version, with flags that are long"


def key(cell):
    kernel = {"text": "t", "preprocessed": "p", "flags": FLAGS, "defines": {"N": cell, "TABLE": "1.0, " * 20}}
    return {
        "protocol": 2, "seed": 0, "code": {"a.py": "1", "b.py": {"names": ["f"], "hash": "2"}, "c.py": str(cell % 2)},
        "kernels": {f"k.c {cell}": kernel}, "data": {"mesh": "m"}, "machine": {"cpu": "X"},
    }  # fmt: skip


def cell(number):
    return {
        "case": f"case {number}", "method": "m", "backend": "host", "parameters": {"p": number} if number else {},
        "data": ["mesh"], "status": "done" if number else "skipped", "reason": "" if number else "there is none",
        "seconds": 0.1, "date": "2026-01-01", "revision": {"commit": "0" * 40, "dirty": False, "host": "h"},
        "command": "repro run", "checks": [{"what": "x", "error": 1e-9, "tolerance": None}] * number,
        "notes": [f"note {number % 2}"] * bool(number), "uses": [], "key": number,
    }  # fmt: skip


@pytest.fixture
def manifest():
    return {"schema": 2, "title": "a ≥ b", "cells": [cell(k) for k in range(9)], "keys": [key(k) for k in range(9)],
            "files": {".csv": "1"}}  # fmt: skip


def test_what_is_packed_is_read_as_it_was(manifest, tmp_path):
    path = tmp_path / "table.json"
    path.write_text(packing.as_text(packing.packed(manifest)), encoding="utf-8")
    assert read_json(path) == manifest
    assert packing.unpacked(manifest) == manifest  # of the first edition, as it is


def test_what_cells_have_alike_stands_there_once_and_an_entry_has_a_line(manifest):
    packed = packing.packed(manifest)
    text = packing.as_text(packed)
    assert all(text.count(each) == 1 for each in (FLAGS, "1.0, " * 20, "b.py", "0" * 40, '"repro run"', "note 1"))
    assert packed["keys"][0]["parts"] == "0-5" and packed["keys"][2]["parts"] == "0-2 4-5 8"
    lines = text.splitlines()
    assert sum('"case": ' in line for line in lines) == 9 and json.loads(text) == packed


def test_a_place_that_is_not_there_is_damage(manifest, tmp_path):
    packed = packing.packed(manifest)
    for name, value in (("parts", []), ("notes", []), ("origins", []), ("texts", []), ("cells", [{}])):
        path = tmp_path / "table.json"
        path.write_text(packing.as_text({**packed, name: value}), encoding="utf-8")
        with pytest.raises(ReproError, match="is damaged"):
            read_json(path)
