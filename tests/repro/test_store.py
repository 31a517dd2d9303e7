"""Cells are written whole or not at all, and read with suspicion."""

import errno
import os
import subprocess
import sys
import time

import pytest

from repro.cache import store
from repro.cache.store import Store, Unreadable, clean_temporaries, locked, slug, write_atomically

RECORD = {
    "artefact": "demo2020-table1", "scale": "smoke", "status": "done", "reason": "", "rows": [], "samples": {},
    "identity": {"case": "a", "method": "loop", "backend": "host", "parameters": {}, "data": []},
    "key": {"code": {}, "kernels": {}, "data": {}, "machine": {}},
    "checks": [], "digests": {}, "clocks": {}, "notes": [],
    "seconds": 1.0, "date": "2020-01-01T00:00:00+00:00", "finished": 1577836800.0,
}  # fmt: skip


@pytest.fixture
def cells(tmp_path):
    return Store(tmp_path, "bench")


def test_what_is_written_is_read(cells):
    path = cells.path("demo2020-table1", {"scale": "smoke", "case": "a"})
    assert cells.read(path) is None
    cells.write(path, {**RECORD, "seconds": 1.5})
    assert cells.read(path)["seconds"] == 1.5
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b'{"schema": 1, "sta', b"[]", b"\xff\xfe", b'{"schema": 0}', b"null"])
def test_damaged_files_are_unreadable(cells, content):
    path = cells.path("demo2020-table1", {"case": "a"})
    write_atomically(path, content)
    with pytest.raises(Unreadable):
        cells.read(path)


@pytest.mark.parametrize(
    ("odd", "told"), [({"scale": "huge"}, "no scale that there is"), ({"schema": 99}, "schema 99")]
)
def test_another_scale_or_schema_is_unreadable(cells, odd, told):
    path = cells.path("demo2020-table1", {"case": "a"})
    cells.write(path, RECORD | odd)
    with pytest.raises(Unreadable, match=told):
        cells.read(path)


@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part, kinds in store.NEEDED.items() for name in kinds], ids=" ".join
)
def test_a_record_that_lacks_something_is_unreadable_and_says_what(cells, part, name):
    path = cells.path("demo2020-table1", {"case": "a"})
    for odd in ({}, {name: None}):
        of = {key: value for key, value in (RECORD[part] if part else RECORD).items() if key != name} | odd
        cells.write(path, {**RECORD, part: of} if part else of)
        with pytest.raises(Unreadable, match=f"no {part} {name}" if part else f"no {name}"):
            cells.read(path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_content_and_no_litter(tmp_path, monkeypatch, call):
    path = tmp_path / "cell.json"
    write_atomically(path, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.os, call, full)
    with pytest.raises(OSError, match="No space left") as told:
        write_atomically(path, "new")
    assert told.value.filename == str(path)
    monkeypatch.undo()
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named_and_not_its_temporary(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / ("a" * 300), tmp_path / "folder"):
        with pytest.raises(OSError, match=r"too long|directory") as told:
            write_atomically(path, "x")
        assert (told.value.filename, told.value.filename2) == (str(path), None)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_files_get_the_usual_permissions(tmp_path):
    write_atomically(tmp_path / "a.csv", "x")
    (tmp_path / "b.csv").write_text("x")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "b.csv").stat().st_mode


def test_old_temporaries_are_removed(tmp_path):
    old, new = tmp_path / ".tmp.old", tmp_path / ".tmp.new"
    for path in (old, new):
        path.write_text("")
    os.utime(old, (time.time() - 7200,) * 2)
    clean_temporaries(tmp_path)
    assert new.exists() and not old.exists()


def test_slugs_tell_identities_apart():
    identities = [
        {"scale": "smoke", "case": case, "method": "m", "parameters": {"p": value}}
        for case in ("a/b", "a-b", "a b", "x" * 300)
        for value in (1, "1", None)
    ]
    slugs = {slug(identity) for identity in identities}
    assert len(slugs) == len(identities)
    assert all(len(name) < 120 and "/" not in name for name in slugs)


def test_a_lock_excludes_other_processes_and_dies_with_its_holder(tmp_path):
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl, time; f = open({str(path)!r}, 'a'); fcntl.flock(f, fcntl.LOCK_EX); "
         "print('held', flush=True); time.sleep(60)"], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "held\n"
    said = []

    def waiting(text):
        said.append(text)
        holder.kill()

    with locked(path, waiting):
        pass
    holder.wait()
    holder.stdout.close()
    assert said == [store.WAITING]


def test_the_cache_folder_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    assert store.cache_folder() == tmp_path
    monkeypatch.delenv("REPRO_CACHE")
    assert store.cache_folder().name == "repro"
