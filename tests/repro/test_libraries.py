"""A cell of a rival depends on the version of its library, where that is known; cells of others do not."""

import json
import shutil

from repro.cache import hashing
from repro.cache.store import read_json

ADDER = "FAKELAB_ADDER"  # the version of the library behind the method `loop`


def measured(laboratory, version, *more):
    done = laboratory.call(
        "run", "table1", "--scale", "smoke", "--results", str(laboratory.results), *more, **{ADDER: version}
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def manifest(laboratory):
    return read_json(laboratory.file("table1.smoke.json"))


def why(laboratory, version):
    """The reasons to measure cells of the rival, and those on the device that is there."""
    found = laboratory.reasons(**{ADDER: version})
    return tuple({reason for name, reason in found.items() if name.endswith(end)} for end in ("loop/host", "opencl"))


def as_in_a_clone(laboratory):
    shutil.rmtree(laboratory.results / "bench" / ".cells", ignore_errors=True)


def test_the_manifest_and_the_table_tell_the_version_that_a_rival_had(laboratory):
    measured(laboratory, "1.0")
    assert manifest(laboratory)["machine"]["rivals"] == {"adder": "1.0"}
    assert "- libraries of rivals: adder 1.0\n" in laboratory.file("table1.smoke.md").read_text()
    as_in_a_clone(laboratory)
    measured(laboratory, "")  # the library is gone, its cells are not
    assert manifest(laboratory)["machine"]["rivals"] == {"adder": "1.0"}
    keys = {path: json.loads(path.read_text())["key"] for path in laboratory.cell_files()}
    assert all(("rivals.adder" in key["machine"]) == ("loop" in path.name) for path, key in keys.items())


def test_another_version_voids_the_cells_of_its_rival_alone(laboratory):
    measured(laboratory, "1.0")
    for _ in range(2):
        assert why(laboratory, "1.0") == why(laboratory, "") == ({""}, {""})
        assert why(laboratory, "2.0") == ({"adder 1.0 -> 2.0"}, {""})
        as_in_a_clone(laboratory)
    assert "3 cells measured, 3 as before" in measured(laboratory, "2.0")
    assert manifest(laboratory)["machine"]["rivals"] == {"adder": "2.0"}
    assert why(laboratory, "2.0") == ({""}, {""})


def test_what_was_measured_before_versions_were_kept_stands(laboratory):
    measured(laboratory, "")
    assert "rivals" not in manifest(laboratory)["machine"]
    assert "- libraries of" not in laboratory.file("table1.smoke.md").read_text()
    for _ in range(2):
        assert why(laboratory, "2.0") == ({""}, {""})
        as_in_a_clone(laboratory)
    measured(laboratory, "2.0")
    assert "rivals" not in manifest(laboratory)["machine"], "of which version they are is not known"


def test_versions_are_compared_where_both_are_known():
    old, new = ({"machine": {"cpu": "X", **hashing.rival_facts(versions)}}
                for versions in ({"PETSc": "3.18.5", "hypre": ""}, {"PETSc": "3.20.1", "hypre": "2.31.0"}))  # fmt: skip
    assert hashing.differences(old, new) == ["PETSc 3.18.5 -> 3.20.1"]
    assert hashing.differences(old, {"machine": {"cpu": "X"}}) == []
    record = {"key": new}
    assert hashing.rivals_of(record) == {"PETSc": "3.20.1", "hypre": "2.31.0"}
    assert hashing.fingerprint_of(new["machine"])[0] == {"cpu": "X", "rivals": {"PETSc": "3.20.1", "hypre": "2.31.0"}}
    assert hashing.machine_facts({"cpu": "X", "rivals": {"hypre": "2.31.0"}}) == {"cpu": "X", "rivals.hypre": "2.31.0"}
