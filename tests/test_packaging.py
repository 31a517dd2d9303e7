"""The wheel: what is in it, and that it works away from the checkout, beside packages of the names of its folders."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from repro import optional
from tests.checkout import listed

ROOT = Path(__file__).resolve().parents[1]
# Not in the wheel: what only a checkout has a use for.
OURS = ("results/", "tests/", "benchmarks/", ".ci/", "docs/")
PIP = f"{shlex.quote(sys.executable)} -m pip"
OTHERS = ("datasets", "kernels", "experiments", "baselines", "repro")
SUFFIXES = (".py", ".c", ".cu", ".h", ".csv", ".toml", ".j2", ".js", ".css")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    build = pytest.importorskip("hatchling.build", reason="hatchling, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    with contextlib.chdir(ROOT):
        return folder / build.build_wheel(str(folder))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory, repro_cache):
    """Runs a command with the wheel's packages instead of the checkout's, in another folder."""
    folder = tmp_path_factory.mktemp("installed")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in OTHERS:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
    # -S leaves the checkout's own path out, and with it the environment's packages, which come back by hand.
    program = (
        f"import sys; sys.path[1:1] = [{str(site)!r}]; sys.path.append({sysconfig.get_path('purelib')!r}); "
        "from repro_gpu_fem.__main__ import main; sys.exit(main())"
    )

    def call(*words):
        left_out = {name for name in os.environ if name.startswith(("REPRO_", "PYTHON"))} - {"PYTHONPYCACHEPREFIX"}
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"REPRO_CACHE": str(repro_cache), "PYTHONPATH": str(site)}
        work = folder / "work"
        work.mkdir(exist_ok=True)
        command = [sys.executable, "-S", "-c", program, *words]
        return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=150)

    call.folder, call.site, call.root = folder, site, site / "repro_gpu_fem"
    return call


def test_the_wheel_has_every_source_and_number(wheel):
    names = [path.relative_to(ROOT).as_posix() for path in listed()]
    wanted = {name for name in names if name.endswith(SUFFIXES) and "/" in name and not name.startswith(OURS)}
    with zipfile.ZipFile(wheel) as archive:
        found = {name.removeprefix("repro_gpu_fem/").removeprefix("src/repro_gpu_fem/") for name in archive.namelist()}
    wanted = {name.removeprefix("src/repro_gpu_fem/") for name in wanted}
    assert not (missing := wanted - found), sorted(missing)[:10]
    assert not [name for name in found if name.startswith(OURS)]


def test_what_is_installed_owns_one_name(wheel, installed):
    """Hugging Face has packages `datasets` and `kernels`, which whatever uses PyTorch may import."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name.split("/")[0] for name in archive.namelist()}
    assert names == {"repro_gpu_fem", f"{wheel.name.partition('-py3')[0]}.dist-info"}
    program = "import importlib, sys; print(*(importlib.import_module(name).WHOSE for name in sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": str(installed.site)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *OTHERS], cwd=installed.folder, env=environment, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["theirs"] * len(OTHERS), done.stderr


def test_an_editable_install_shows_one_name(tmp_path):
    build = pytest.importorskip("hatchling.build", reason="hatchling, which builds the wheel, is not installed")
    with contextlib.chdir(ROOT), zipfile.ZipFile(tmp_path / build.build_editable(str(tmp_path))) as archive:
        (name,) = (name for name in archive.namelist() if ".dist-info/" not in name)
        (folder,) = archive.read(name).decode().split("\n")
    assert [path.name for path in Path(folder).iterdir()] == ["repro_gpu_fem"]
    # Python runs the folder by its path, too.
    words = [sys.executable, str(Path(folder, "repro_gpu_fem")), "list", "--json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stdout), done.stderr


def test_an_environment_that_is_a_link_makes_no_checkout_dirty(tmp_path):
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    (tmp_path / ".venv").symlink_to(tmp_path.parent)
    for command in (["init", "--quiet"], ["status", "--porcelain", "--untracked-files=all"]):
        told = subprocess.run(["git", "-C", tmp_path, *command], capture_output=True, text=True, check=True).stdout
    assert told == "?? .gitignore\n"


def test_it_runs_away_from_the_checkout(installed):
    listed = installed("list", "--json")
    assert listed.returncode == 0 and len(json.loads(listed.stdout)) >= 31, listed.stderr[-2000:]
    only = ("--only", "backend=openmp", "--only", "case=regular", "--only", "method=patch-pcgamg")
    run = installed("run", "fu2014-table3", "--scale", "smoke", *only, "--in-process", "--json")
    assert run.returncode == 0, run.stderr[-2000:]
    answered = json.loads(run.stdout)
    assert answered["failed"] == 0 and answered["measured"] + answered["skipped"] > 0
    written = [Path(name) for name in answered["files"]]
    assert written and all(path.is_relative_to(installed.folder / "work" / "results") for path in written)
    assert not (installed.root / "results").exists()


def test_what_is_missing_is_brought_by_pip(installed):
    """In a checkout by `make setup`, which an installed wheel has not."""
    for package in ("jinja2", "vl_convert"):
        hidden = installed.site / f"{package}.py"
        hidden.write_text(f"raise ImportError('no {package} here')")
        try:
            (installed.folder / "work" / "results").mkdir(parents=True, exist_ok=True)
            done = installed("report")
            assert done.returncode == 1 and f"(no {package} here)" in done.stderr
            assert done.stderr.endswith(f": {PIP} install 'repro-gpu-fem[report]' installs it\n")
        finally:
            hidden.unlink()
    presences = {entry["name"]: entry for entry in json.loads(installed("doctor", "--json").stdout)["presences"]}
    assert not [name for name, entry in presences.items() if "make setup" in entry["remedy"]]
    nvmath = presences["cuSPARSE through nvmath"]
    assert nvmath["available"] or f"{PIP} install 'repro-gpu-fem[cuda13]'" in nvmath["remedy"]


def test_what_is_advised_to_install_is_named_so():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == optional.DISTRIBUTION
    assert {"report", "cuda13"} <= project["optional-dependencies"].keys()


def test_what_is_advised_is_for_the_python_that_runs(tmp_path, monkeypatch):
    """It may be the Python of the environment that make sets up, of another that make was given, or the user's own."""
    monkeypatch.setattr(optional, "ROOT", tmp_path)
    (tmp_path / "Makefile").touch()
    for name in (".venv", "my own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "repro-setup.json").touch()
    for prefix, command in (
        (".venv", "make setup EXTRAS=report"),
        ("my own", f"make setup EXTRAS=report VENV='{tmp_path}/my own'"),
        ("theirs", f"{PIP} install -e '{tmp_path}[report]'"),
    ):
        monkeypatch.setattr(sys, "prefix", str(tmp_path / prefix))
        assert optional.installer("report") == command
    remedy = "a GPU, pip install 'a[b]', and pip install --no-deps c (or python -m pip install d)"
    wanted = f"a GPU, {PIP} install 'a[b]', and {PIP} install --no-deps c (or python -m pip install d)"
    assert optional.as_typed(remedy) == wanted
    assert optional.as_typed("a GPU, and make setup") == f"a GPU, and {PIP} install -e '{tmp_path}[cuda13]'"
