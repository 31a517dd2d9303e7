"""Keys are recomputed from git: a run in a checkout is proved by its commit, and whoever edits its files is found."""

import json
import subprocess
from functools import partial

import pytest

from kernels.device import recording
from kernels.device import source as sources
from repro.cache import recompute
from repro.cache.beliefs import Change
from repro.cache.store import ARCHIVE, as_stored, content, read_json, write_packed
from repro.cli import main
from repro.judge import provenance, trees, verify
from repro.judge.provenance import NOT_CHECKED, UNPROVEN, WRONG, Measured, Part
from repro.model import DONE

STEM = "bench/demo2020/table1.smoke"


def problems(lab, kind=WRONG):
    return [str(each) for each in verify.verify(lab.results).problems if each.kind == kind]


def edited(lab, change, suffix=".json"):
    """Change the text of one of the files for a verification, and put it back."""
    path = lab.results / f"{STEM}{suffix}"
    before = content(path)
    write = path.write_bytes if as_stored(path) == path else partial(write_packed, path)
    write(change(before.decode()).encode())
    found = problems(lab)
    write(before)
    return found


def test_a_run_is_proved_by_its_commit_and_an_edit_is_found_by_name(committed, capsys):
    assert read_json(committed.results / f"{STEM}.json")["schema"] == 2
    assert main(["verify", "--results", str(committed.results)]) == 0
    assert "0 problems; 0 files" in capsys.readouterr().err

    adding = "fakelab/demo2020/adding.py"
    hashed = read_json(committed.results / f"{STEM}.json")["keys"][0]["code"][adding]["hash"]
    found = edited(committed, lambda text: text.replace(hashed, "0" * 16), ARCHIVE)
    assert len(found) == 2 and "is not the one that the manifest was written with" in found[0]
    assert f"another code entry of {adding} than commit" in found[1]
    assert found[1].startswith(f"{STEM}: the key of first loop host")

    name = read_json(committed.results / f"{STEM}.json")["keys"][0]["code"][adding]["names"][0]
    found = edited(committed, lambda text: text.replace(f'"{name}"', '"another"'), ARCHIVE)
    assert f"another code entry of {adding} than commit" in found[1]  # its hash is as it was

    found = edited(committed, lambda text: text.replace("range-smoke", "range-other"), ARCHIVE)
    assert any("another data entry of demo2020/numbers" in each for each in found)
    found = edited(committed, lambda text: text.replace("45.0", "46.0", 1), ".csv")
    assert found == [
        f"{STEM}: table1.smoke.csv is not the one that the manifest was written with",
        f"{STEM}: first loop host sum is 46.0, and 45.0 by its rounds",
    ]


def test_an_edited_key_of_a_skipped_cell_is_found(committed):
    def change(text):
        stored = json.loads(text)
        cell = next(each for each in stored["cells"] if each["status"] == "skipped")
        stored["keys"].append({**stored["keys"][cell["key"]], "data": {"demo2020/numbers": "range-other"}})
        return json.dumps({**stored, "cells": [cell | {"key": len(stored["keys"]) - 1}]})

    assert any("another data entry of demo2020/numbers" in each for each in edited(committed, change, ARCHIVE))


def test_what_a_clone_cannot_tell_is_said_and_is_no_problem(committed, capsys):
    path = committed.results / f"{STEM}.json"
    commit = read_json(path)["cells"][0]["revision"]["commit"]
    path.write_bytes(path.read_bytes().replace(commit.encode(), b"f" * 40))
    samples = path.with_suffix(ARCHIVE)
    write_packed(samples, content(samples).replace(commit.encode(), b"f" * 40))
    missing = "this clone has no commit ffffffffffff"
    assert {each.what for each in verify.verify(committed.results).problems if each.kind == UNPROVEN} == {missing}
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=committed.folder, capture_output=True, check=True).stdout
    (committed.folder / ".git" / "shallow").write_bytes(head)  # then it may have been left out
    (why,) = {each.what for each in verify.verify(committed.results).problems if each.kind == NOT_CHECKED}
    assert why == missing
    main(["verify", "--results", str(committed.results)])
    assert f"not checked, of 1 file, because {why}" in capsys.readouterr().err


def test_without_git_no_key_is_checked_and_that_is_said(committed, monkeypatch):
    monkeypatch.setenv("PATH", str(committed.folder))
    (why,) = problems(committed, NOT_CHECKED)
    assert "git does not run: " in why and problems(committed) == problems(committed, UNPROVEN) == []


def test_sources_that_no_commit_has_are_unproven_if_they_were_measured(committed):
    (committed.folder / "fakelab" / "more.py").write_text("changed = True\n")
    committed.run("table1", "--force")
    assert problems(committed) == problems(committed, UNPROVEN) == []  # dirty, and none of it ran
    source = committed.paper / "adding.py"
    source.write_text(source.read_text().replace("sum(numbers)", "sum(list(numbers))"))
    committed.run("table1", "--force")
    assert problems(committed, UNPROVEN) == [f"{STEM}: {provenance.DIRTY}"]


@pytest.fixture
def asked(monkeypatch):
    """Have every commit's tree answer alike, without git."""
    answers = {}
    monkeypatch.setattr(trees, "parts", lambda commit, parts: [answers.get(each[1]) for each in parts])
    return answers


def found(part, believed=None, dirty=False, is_last=False):
    every = [Measured("f", "a b c", "0" * 40, dirty, (part,), believed or {}, is_last)]
    return provenance.check(every, provenance.ask(every))


def test_a_kernel_is_its_text_whatever_compiles_it(asked):
    entry = {"text": "t", "preprocessed": "p", "flags": "gcc 12", "defines": {}, "block": [1, 1, 1]}
    part = Part("kernels", "k.c", json.dumps(entry, sort_keys=True), "smoke")
    asked["k.c"] = {**entry, "flags": "gcc 14"}
    assert found(part) == []
    asked["k.c"] = {**entry, "preprocessed": "q"}
    ((kind, _, what),) = found(part)
    assert kind == WRONG and "another kernels entry of k.c" in what
    believed = {("kernels", "k.c", json.dumps(["q", "gcc 12"])): (json.dumps(["p", "gcc 12"]),)}
    assert found(part, believed) == []  # an earlier round, of a text that was believed not to matter
    assert [kind for kind, *_ in found(part, believed, is_last=True)] == [WRONG]
    asked["k.c"] = {**entry, "text": "u"}  # another comment, which the compiler does not see
    assert found(part) == [] and [kind for kind, *_ in found(part, is_last=True)] == [WRONG]
    asked.clear()
    assert [kind for kind, *_ in found(part)] == [WRONG]  # the commit has no such kernel


def test_a_kernel_is_preprocessed_anew_whatever_is_stored_of_it():
    class Device:
        backend, prelude, extension, built_with = "openmp", "prelude_openmp.h", ".cpu.c", staticmethod(lambda: "")

    source = sources.load(sources.ROOT / "kernels/device/atomics.c", 32)
    ((name, entry),) = recording.described({recording._name("openmp", source): (Device(), source)}).items()
    for edit in ("text", "preprocessed"):
        now = recompute.now("kernels", name, {**entry, edit: "0" * 16}, "smoke")
        assert [now[each] for each in ("text", "preprocessed")] == [entry[each] for each in ("text", "preprocessed")]


def test_an_earlier_round_may_have_code_that_is_believed_not_to_matter(asked):
    asked["a.py"] = "old"
    change = Change("code", "a.py", "old", "new")
    part = Part("code", "a.py", json.dumps("new"), "smoke")
    assert [kind for kind, *_ in found(part)] == [WRONG]
    assert found(part, {change[:3]: ("new",)}) == []
    assert [kind for kind, *_ in found(part, {change[:3]: ("new",)}, is_last=True)] == [WRONG]
    assert found(part, dirty=True) == [(UNPROVEN, "f", provenance.DIRTY)]


def test_a_cell_has_its_key_from_its_last_round():
    place = {"case": "a", "method": "b", "backend": "c", "parameters": {}, "data": []}
    cell = {**place, "status": DONE, "key": 0, "revision": {"commit": "2"}}
    manifest = {
        "cells": [cell],
        "keys": [{"code": {}, "kernels": {}, "data": {}, "machine": {}}],
        "scale": "smoke",
        "overrides": {},
    }
    samples = [{**place, "rounds": [{"commit": "1", "dirty": False}, {"commit": "2", "dirty": False}]}]
    measured = verify._measured(manifest, samples, "f", {})
    assert [(each.commit, each.is_last) for each in measured] == [("1", False), ("2", True)]
