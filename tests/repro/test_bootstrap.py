"""The set-up, with pip and the driver played by functions: none of these tests installs anything."""

import ast
import contextlib
import ctypes
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repro.install import bootstrap
from repro.install.installing import PipError, SetupError


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


@pytest.mark.parametrize(
    ("asked", "cuda", "compiler", "programs", "wanted"),
    [
        ("", "none", True, "ld", ""),
        ("", "none", False, "ld", "compiler"),
        ("dev", "13", True, "ld", "dev cuda13 opencl"),
        ("test nvrtc browser", "none", True, "ld", "test nvrtc"),
        ("test nvrtc browser", "13", True, "ld chromium", "test nvrtc browser cuda13 opencl"),
        ("test nvrtc", "12", True, "ld", "test cuda12 opencl"),  # not a newer compiler beside CuPy's own
        ("mkl", "none", True, "ld", "mkl"),
    ],
)
def test_a_machine_gets_what_it_has_a_use_for(monkeypatch, tmp_path, asked, cuda, compiler, programs, wanted):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in programs.split() else None)
    assert bootstrap.groups(asked.split(), cuda, compiler) == set(wanted.split())
    (tmp_path / "some.icd").touch()
    assert bootstrap.groups(asked.split(), cuda, compiler) == set(wanted.split()) | {"opencl"}


def test_a_compiler_is_one_that_makes_a_program(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "own-cc --fast")
    assert bootstrap.compilers() == []
    for name, text in (
        ("gcc", "#!/bin/sh\nexit 1"),
        ("own-cc", '#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; : > "$2"'),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    assert bootstrap.compilers() == ["own-cc --fast", "gcc"]
    assert bootstrap.compiles("own-cc --fast") and not bootstrap.compiles("gcc")
    (tmp_path / "gcc").write_text("no program of any kind")
    assert not bootstrap.compiles("gcc")


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A checkout whose set-up makes an empty environment and notes what pip would do."""
    (tmp_path / "constraints.txt").write_text("numpy==2.0\n")
    (tmp_path / "pyproject.toml").write_text("""
[build-system]
requires = ["backend==1"]
[project]
name = "x"
dependencies = ["numpy"]
[project.optional-dependencies]
dev = ["dev"]
mkl = ["mkl"]
report = ["report"]
opencl = ["opencl"]
compiler = ["compiler"]
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
    monkeypatch.setattr(bootstrap, "compilers", lambda: ["cc"])
    monkeypatch.setattr(bootstrap, "compiles", lambda compiler: True)
    monkeypatch.setattr(bootstrap, "has_opencl_driver", lambda: False)
    monkeypatch.setattr(bootstrap, "pip", lambda venv, folder, *arguments: asked.append(arguments))
    return tmp_path, asked


def set_up(root, cuda="auto", again=False, groups=()):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        changed = bootstrap.set_up(root / ".venv", groups, cuda, again)
    return changed, said.getvalue()


PROJECT = ("--no-index", "--no-deps", "--no-build-isolation", "--editable", ".")


def test_a_target_gets_its_own_group_and_no_more(house, monkeypatch):
    root, asked = house
    set_up(root)
    assert asked == [("backend==1", "numpy"), PROJECT]
    asked.clear()
    assert "installing what is for dev" in set_up(root, groups=["dev"])[1]
    assert not set_up(root, groups=["dev"])[0] and not set_up(root)[0]
    assert set_up(root, groups=["report", "mkl"])[0] and not set_up(root, groups=["dev", "mkl"])[0]
    assert asked == [("dev",), ("mkl", "report")]
    with pytest.raises(SetupError, match=r"there is no group mine; there are .*compiler.*mkl"):
        set_up(root, groups=["mine"])
    # When a pin changes all of them are brought up to date.
    asked.clear()
    (root / "constraints.txt").write_text("numpy==2.1\n")
    set_up(root)
    assert asked == [("backend==1", "numpy", "dev", "mkl", "report"), PROJECT]


def test_a_compiler_is_installed_where_there_is_none_that_works(house, monkeypatch):
    root, asked = house
    tried = []
    monkeypatch.setattr(bootstrap, "compiles", lambda compiler: bool(tried.append(compiler)))
    set_up(root)
    assert "compiler" in asked[0] and tried == ["cc"]
    tried.clear()
    assert not set_up(root)[0] and tried == []


def test_a_compiler_that_worked_is_not_tried_each_time(house, monkeypatch):
    root, asked = house
    set_up(root)
    monkeypatch.setattr(bootstrap, "compiles", lambda compiler: pytest.fail("tried again"))
    assert not set_up(root)[0]
    monkeypatch.setattr(bootstrap, "compilers", list)  # it is gone
    assert set_up(root)[0] and asked[-1] == ("compiler",)


def test_a_group_that_its_target_cannot_do_without_is_an_error_and_the_rest_stays(house, monkeypatch):
    root, _ = house
    set_up(root)
    before = (root / ".venv" / bootstrap.STAMP).read_text()

    def pip(venv, folder, *arguments):
        raise PipError(["ERROR: No matching distribution found for dev"], "log")

    monkeypatch.setattr(bootstrap, "pip", pip)
    with pytest.raises(SetupError, match="the package index has no dev for Python"):
        set_up(root, groups=["dev"])
    assert json.loads((root / ".venv" / bootstrap.STAMP).read_text()) == json.loads(before)
    assert not set_up(root)[0]


@pytest.mark.parametrize("failing", ["compiler", "report"])
def test_a_wheel_that_is_missing_for_the_platform_costs_its_group_alone(house, monkeypatch, failing):
    root, asked = house
    monkeypatch.setattr(bootstrap, "compilers", list)

    def pip(venv, folder, *arguments):
        if failing in arguments:
            raise PipError([f"ERROR: No matching distribution found for {failing}"], "log")
        asked.append(arguments)

    monkeypatch.setattr(bootstrap, "pip", pip)
    said = set_up(root, groups=["report"])[1]
    other = {"compiler": "report", "report": "compiler"}[failing]
    assert asked == [("backend==1", "numpy"), (other,), PROJECT]
    (line,) = (line for line in said.splitlines() if "without the" in line)
    assert line.startswith(f"setup: without the optional {failing}: the package index has no {failing} for Python")
    assert ("install gcc or clang" in line) == (failing == "compiler")


def test_a_new_driver_brings_cupy_and_its_absence_takes_none_away(house, monkeypatch):
    root, asked = house
    set_up(root)
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: (13, 0))
    asked.clear()
    assert set_up(root)[0]
    assert any("cupy13" in arguments for arguments in asked)
    monkeypatch.setattr(bootstrap, "cuda_of_driver", lambda: None)
    assert not set_up(root)[0]


def test_an_optional_group_that_fails_is_named_and_tried_again_when_asked(house, monkeypatch):
    root, _ = house

    def pip(venv, folder, *arguments):
        if "report" in arguments:
            raise PipError(["ERROR: Failed to build report"], "log")

    monkeypatch.setattr(bootstrap, "pip", pip)
    changed, said = set_up(root, groups=["report"])
    assert changed
    assert "without the optional report: ERROR: Failed to build report" in said
    assert not set_up(root, groups=["report"])[0]
    assert set_up(root, groups=["dev"])[0]  # which does not forget what is missing
    monkeypatch.setattr(bootstrap, "pip", lambda *arguments: None)
    assert set_up(root, again=True)[0]
    assert not set_up(root, again=True)[0]


def test_a_required_package_that_fails_is_an_error_and_tried_next_time(house, monkeypatch):
    root, _ = house

    def pip(venv, folder, *arguments):
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

    def killed(*arguments):
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


def test_an_unreachable_index_is_not_tried_group_by_group(house, monkeypatch):
    root, asked = house

    def pip(venv, folder, *arguments):
        asked.append(arguments)
        raise PipError(["WARNING: connection broken by 'x'", "ERROR: No matching distribution"], "log")

    monkeypatch.setattr(bootstrap, "pip", pip)
    with pytest.raises(SetupError, match="cannot reach a package index"):
        set_up(root, groups=["mkl", "report"])
    assert len(asked) == 1


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


@pytest.mark.parametrize("is_there", [True, False])
def test_a_checkout_that_takes_anothers_environment_says_so(house, monkeypatch, is_there):
    first, _ = house
    set_up(first)
    second = first / "second"
    second.mkdir()
    (second / ".venv").symlink_to(first / ".venv")
    for name in ("pyproject.toml", "constraints.txt"):
        (second / name).write_text((first / name).read_text())
    if not is_there:
        (first / "pyproject.toml").unlink()
    monkeypatch.setattr(bootstrap, "ROOT", second)
    changed, said = set_up(second)
    told = f"setup: this environment belonged to {first}; its `repro` now runs this checkout\n"
    assert changed and (told in said) is is_there and set_up(second) == (False, "")
    assert (first / ".venv.lock").exists() and not list(second.glob("*lock"))  # both wait for the same


def test_an_old_python_is_told():
    """Run by this one, which is told that it is another; the whole file must be what older ones can read."""
    ast.parse(Path(bootstrap.__file__).read_text(), feature_version=(3, 6))
    code = f"import sys, runpy; sys.version_info = (3, 8, 1); runpy.run_path({bootstrap.__file__!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "repro needs Python 3.11 or newer" in done.stderr and "is 3.8" in done.stderr
