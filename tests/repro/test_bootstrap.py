"""The set-up, with pip and the driver played by functions: none of these tests installs anything."""

import ast
import ctypes
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repro import bootstrap
from repro.bootstrap import PipError, SetupError
from tests.checkout import program


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


PYTHON = """#!/bin/sh
# A Python as far as the set-up sees it: makes environments, and has a pip that says what it is told to.
case "$*" in
    *"-m venv"*)
        [ -z "$NO_VENV" ] || { echo "Error: no space left"; exit 1; }
        for folder; do :; done
        mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" ;;
    *"-m pip"*) echo "$*" >> "$ASKED"; echo "Collecting it"; echo "${PIP_SAYS:-done}"; exit "${PIP_ENDS:-0}" ;;
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
    bootstrap.pip(venv, "numpy", "scipy")
    assert "install --progress-bar=off -c constraints.txt numpy scipy" in (python / "asked").read_text()
    assert (venv / bootstrap.LOG).read_text() == "Collecting it\ndone\n"
    monkeypatch.setenv("PIP_SAYS", "ERROR: No matching distribution found for scipy")
    monkeypatch.setenv("PIP_ENDS", "1")
    with pytest.raises(PipError, match=r"No matching distribution found for scipy \(everything it said: .*log\)"):
        bootstrap.pip(venv, "scipy")


def test_an_environment_that_cannot_be_made_leaves_nothing(python, monkeypatch):
    monkeypatch.setenv("NO_VENV", "1")
    with pytest.raises(SetupError, match=r"-m venv .* failed: Error: no space left"):
        bootstrap.create(python / ".venv")
    assert not (python / ".venv").exists()
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="has no ensurepip; install it"):
        bootstrap.create(python / ".venv")


def test_an_unreachable_index_is_not_tried_group_by_group(house, monkeypatch):
    root, asked = house

    def pip(venv, *arguments):
        asked.append(arguments)
        if "--editable" in arguments:
            raise PipError(["WARNING: connection broken by 'x'", "ERROR: No matching distribution"], "log")

    monkeypatch.setattr(bootstrap, "pip", pip)
    with pytest.raises(SetupError, match="cannot reach a package index"):
        set_up(root)
    assert len(asked) == 2  # the build system, and all else at once


def test_another_cupy_in_an_environment_of_the_user_is_an_error(house):
    root, _ = house
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").touch()
    set_up(root, "12")
    with pytest.raises(SetupError, match="has CuPy for CUDA 12, and as asked: pip uninstall it"):
        set_up(root, "13")


def test_the_command_says_how_it_ended(house, monkeypatch, capsys):
    assert bootstrap.main([]) == 0
    assert "setup: ready in" in capsys.readouterr().out
    assert bootstrap.main([]) == 0 and capsys.readouterr().out == ""
    assert bootstrap.main(["--again"]) == 0 and "all is up to date" in capsys.readouterr().out
    for error, status, said in ((SetupError("no pip"), 1, "setup: no pip"), (KeyboardInterrupt(), 130, "stopped")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(bootstrap, "set_up", fail)
        assert bootstrap.main([]) == status and said in capsys.readouterr().err


def test_an_old_python_is_told():
    """Run by this one, which is told that it is another; the whole file must be what older ones can read."""
    ast.parse(Path(bootstrap.__file__).read_text(), feature_version=(3, 6))
    code = f"import sys, runpy; sys.version_info = (3, 8, 1); runpy.run_path({bootstrap.__file__!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "repro needs Python 3.11 or newer" in done.stderr and "is 3.8" in done.stderr
