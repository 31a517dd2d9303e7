"""The set-up, with pip and the driver played by functions: none of these tests installs anything."""

import ctypes
import json
import shutil
import subprocess
import sys

import pytest

from repro import bootstrap
from repro.bootstrap import PipError, SetupError


class Driver:
    """libcuda, as ctypes sees it."""

    def __init__(self, version, status=0):
        self.version, self.status = version, status

    def cuInit(self, flags):
        return self.status

    def cuDriverGetVersion(self, reference):
        reference._obj.value = self.version
        return 0


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        (Driver(13000), "13"),
        (Driver(13020), "13"),
        (Driver(14000), "13"),
        (Driver(12080), "12"),
        (Driver(11080), "none"),
        (Driver(13000, status=100), "none"),  # a driver but no GPU
        (None, "none"),
    ],
)
def test_cupy_follows_the_driver(monkeypatch, driver, cuda):
    def load(name):
        if driver is None:
            raise OSError(name)
        return driver

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert bootstrap.choose_cuda("auto")[0] == cuda
    assert bootstrap.choose_cuda("12")[0] == "12"


def test_no_newer_run_time_compiler_beside_cuda_12(monkeypatch):
    names = ("pocl", "report", "browser", "linker", "nvrtc", "cuda12", "cuda13")
    project = {"optional-dependencies": {name: [name] for name in names}}
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert set(bootstrap.groups(project, "12")) == {"pocl", "report", "browser", "cuda12"}
    assert set(bootstrap.groups(project, "13")) == {"pocl", "report", "browser", "nvrtc", "cuda13"}
    assert set(bootstrap.groups(project, "none")) == {"pocl", "report", "browser", "nvrtc"}
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert set(bootstrap.groups(project, "none")) == {"pocl", "report", "linker", "nvrtc"}


def test_an_unreachable_index_is_told_from_a_failure():
    retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'"
    unreachable = PipError([retry, "ERROR: No matching distribution found for hatchling==1.33.0"], "log")
    assert "cannot reach a package index" in str(unreachable)
    failed = PipError(["Collecting x", "ERROR: No matching distribution found for x==1", "hint: see above"], "log")
    assert "No matching distribution found for x==1" in str(failed)
    assert "cannot reach" not in str(failed)


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A checkout whose set-up makes an empty environment and notes what pip would do."""
    (tmp_path / "constraints.txt").write_text("numpy==2.0\n")
    (tmp_path / "pyproject.toml").write_text("""
[build-system]
requires = ["backend==1"]
[project]
name = "x"
[project.optional-dependencies]
pocl = ["pocl"]
report = ["report"]
browser = ["browser"]
linker = ["linker"]
nvrtc = ["nvrtc"]
cuda12 = ["cupy12"]
cuda13 = ["cupy13"]
""")
    asked = []

    def create(venv):
        venv.mkdir(exist_ok=True)
        (venv / "bin").mkdir()
        (venv / "bin/python").touch()
        (venv / bootstrap.STARTED).touch()

    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "create", create)
    monkeypatch.setattr(bootstrap, "is_usable", lambda venv: (venv / "bin/python").exists())
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: None)
    monkeypatch.setattr(bootstrap, "pip", lambda venv, *arguments: asked.append(arguments))
    return tmp_path, asked


def set_up(root, cuda="auto", again=False):
    lines = []
    changed = bootstrap.set_up(root / ".venv", cuda, again, lines.append)
    return changed, " ".join(lines)


def test_nothing_changed_nothing_done(house):
    root, asked = house
    assert set_up(root)[0]
    assert any("backend==1" in arguments for arguments in asked)
    asked.clear()
    assert set_up(root) == (False, "")
    assert asked == []


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_a_changed_requirement_is_installed(house, name):
    root, asked = house
    set_up(root)
    path = root / name
    path.write_text(path.read_text().replace("numpy==2.0", "numpy==2.1").replace('"backend==1"', '"backend==2"'))
    asked.clear()
    assert set_up(root)[0]
    assert asked


def test_a_new_driver_brings_cupy_and_its_absence_takes_none_away(house, monkeypatch):
    root, asked = house
    set_up(root)
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: (13, 0))
    asked.clear()
    assert set_up(root)[0]
    assert any("cupy13" in arguments for arguments in asked)
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: None)
    assert not set_up(root)[0]


def test_an_environment_with_another_cupy_is_made_anew(house, monkeypatch):
    root, asked = house
    set_up(root, "12")
    made = []
    monkeypatch.setattr(bootstrap, "create", made.append)
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: (13, 0))
    assert set_up(root)[0]
    assert made == [root / ".venv"]
    assert any("cupy13" in arguments for arguments in asked)


def test_an_optional_group_that_fails_is_named_and_tried_again_when_asked(house, monkeypatch):
    root, _ = house

    def pip(venv, *arguments):
        if "nvrtc" in arguments:
            raise PipError(["ERROR: No matching distribution found for nvrtc"], "log")

    monkeypatch.setattr(bootstrap, "pip", pip)
    changed, said = set_up(root)
    assert changed
    assert "without the optional nvrtc: ERROR: No matching distribution found for nvrtc" in said
    assert not set_up(root)[0]
    monkeypatch.setattr(bootstrap, "pip", lambda venv, *arguments: None)
    assert set_up(root, again=True)[0]
    assert not set_up(root, again=True)[0]


def test_a_required_package_that_fails_is_an_error_and_tried_next_time(house, monkeypatch):
    root, _ = house

    def pip(venv, *arguments):
        raise PipError(["ERROR: No matching distribution found for numpy"], "log")

    working = bootstrap.pip
    monkeypatch.setattr(bootstrap, "pip", pip)
    with pytest.raises(SetupError, match="numpy"):
        set_up(root)
    monkeypatch.setattr(bootstrap, "pip", working)
    (root / ".venv/kept").touch()
    assert set_up(root)[0]
    assert (root / ".venv/kept").exists()


def test_a_killed_set_up_is_started_over(house, monkeypatch):
    root, _ = house
    made = []
    create = bootstrap.create

    def recreate(venv):
        made.append(venv)
        if not (venv / "bin").exists():
            create(venv)

    monkeypatch.setattr(bootstrap, "create", recreate)
    working = bootstrap.pip

    def killed(venv, *arguments):
        raise SystemExit

    monkeypatch.setattr(bootstrap, "pip", killed)
    with pytest.raises(SystemExit):
        set_up(root)
    monkeypatch.setattr(bootstrap, "pip", working)
    assert "killed half-way" in set_up(root)[1]
    assert len(made) == 2
    assert not set_up(root)[0]


def test_a_folder_that_is_no_environment_is_left_alone(house):
    root, _ = house
    (root / ".venv").mkdir()
    (root / ".venv/thesis.tex").touch()
    with pytest.raises(SetupError, match="remove it, or name another"):
        set_up(root)
    assert (root / ".venv/thesis.tex").exists()


def test_an_environment_of_the_user_is_installed_into_and_not_called_ours(house):
    root, _ = house
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").touch()
    set_up(root)
    assert json.loads((root / ".venv" / bootstrap.STAMP).read_text())["created"] is False
    assert not (root / ".venv" / bootstrap.STARTED).exists()


def test_runs_by_its_path_with_modules_of_the_same_name_beside_it():
    """repro/ has a statistics.py, which must not stand in for the standard library's."""
    done = subprocess.run([sys.executable, bootstrap.__file__, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "--venv" in done.stdout
