"""The rules of the project: which package may import which, sizes, docstrings, pins, and what files may name."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import repro
from repro.model import BACKENDS
from tests.checkout import listed

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("repro", "experiments", "kernels", "baselines", "datasets", "published")
# Packages that a package may import when it runs. Types for annotations may come from anywhere, under TYPE_CHECKING.
MAY_IMPORT = {
    "repro": {"repro"},
    "kernels": {"kernels", "repro.model"},
    "baselines": {"baselines", "repro.model", "kernels.spmv._least"},  # the last defines the work that both share
    "datasets": {"datasets", "repro.model", "repro.syntax"},
    "published": {"published"},
    "experiments": set(PACKAGES),
    "benchmarks": {"benchmarks", *PACKAGES},
    "src": {"repro.__main__"},
}
# Hosts that configuration and data may name: they identify a paper or a licence.
HOSTS = {"doi.org", "spdx.org"}
NAMES = {"cupyx": "cupy-cuda13x", "cupy": "cupy-cuda13x", "skfem": "scikit-fem", "cuda": "cuda-bindings",
         "nvmath": "nvmath-python", "vl_convert": "vl-convert-python", "PIL": "pillow",
         "markdown_it": "markdown-it-py"}  # fmt: skip


def tracked(*suffixes):
    """Return the files that git has or would take, with one of these suffixes."""
    paths = listed("--cached", "--others", "--exclude-standard")
    return sorted(path for path in paths if not suffixes or path.suffix in suffixes)


def package(path):
    return path.relative_to(ROOT).parts[0]


def imports(tree, folder=()):
    """Return the dotted names that a module imports when it runs, those under TYPE_CHECKING left out."""
    found, pending = set(), [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) + 1 - node.level] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
        pending.extend(ast.iter_child_nodes(node))
    return found


def is_allowed(name, allowed):
    # `from repro import Skip` is one of repro.model's names under its public address.
    if "repro.model" in allowed and name in {f"repro.{public}" for public in repro.__all__}:
        return True
    return any(name == prefix or name.startswith(prefix + ".") for prefix in allowed)


def test_imports_are_read_where_they_run():
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import kernels.device
else:
    import repro
def f():
    from . import csr
    from ..device import base
"""
    assert imports(ast.parse(source), ("kernels", "spmv")) == {
        "typing.TYPE_CHECKING", "repro", "kernels.spmv.csr", "kernels.device.base",
    }  # fmt: skip


def test_imports_point_one_way():
    wrong = []
    for path in tracked(".py"):
        if package(path) in MAY_IMPORT:
            names = imports(ast.parse(path.read_text()), path.relative_to(ROOT).parent.parts)
            ours = [name for name in names if name.split(".")[0] in MAY_IMPORT]
            wrong += [f"{path.relative_to(ROOT)}: {n}" for n in ours if not is_allowed(n, MAY_IMPORT[package(path)])]
    assert not wrong


def test_packages_that_are_imported_are_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    declared = {requirement_name(r) for r in [*project["dependencies"], *chain.from_iterable(optional.values())]}
    groups = (
        project["dependencies"],
        *(optional[name] for name in ("cuda13", "opencl", "report", "bench", "torchcor")),
    )
    runtime = (
        {"torch"} | {requirement_name(r) for r in chain.from_iterable(groups)} | {"pip"}
    )  # which every environment has
    ours = {path.name.removesuffix(".py") for path in ROOT.glob("tests/**/*")}
    wrong, known = set(), ours | sys.stdlib_module_names
    for path in tracked(".py"):
        for name in imports(ast.parse(path.read_text()), path.relative_to(ROOT).parent.parts):
            top = name.split(".")[0]
            if top in known or (ROOT / top).is_dir():
                continue
            if NAMES.get(top, top).lower() not in (runtime if package(path) in PACKAGES else declared):
                wrong.add(f"{path.relative_to(ROOT)}: {top}")
    assert not wrong


def test_modules_have_docstrings():
    missing = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if package(path) in {*PACKAGES, "benchmarks"} and not path.name.startswith("_")
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not missing


def test_modules_are_small():
    lengths = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in tracked(".py", ".c", ".cu", ".h")}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_version_is_one():
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert {citation, newest} == {repro.__version__}


def requirement_name(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-").replace(".", "-")


def test_every_requirement_is_pinned_once():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines)
    pins = [line.split("==")[0] for line in lines]
    assert len(pins) == len(set(pins))
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    optional = pyproject["project"]["optional-dependencies"]
    required = [
        *pyproject["build-system"]["requires"],
        *pyproject["project"]["dependencies"],
        *chain.from_iterable(optional.values()),
    ]
    # cuda-toolkit has a version for each CUDA, in pyproject.toml.
    assert {requirement_name(r) for r in required} - {"cuda-toolkit"} <= set(pins)


def test_set_up_names_no_host():
    """Whoever installs this uses the package index, mirror or proxy of their own. Sources may cite an address."""
    address = re.compile(r"(?:https?|ssh|git|ftp)://(?:[\w.-]+@)?([\w.-]+)")
    option = re.compile(r"--(?:extra-)?index-url|--find-links|--trusted-host")
    wrong = []
    for path in tracked():
        if path.suffix in (".png", ".gz", ".xz", ".npz", ".svg", ".c", ".cu", ".h", ".md") or path == Path(__file__):
            continue
        if path.suffix == ".py" and path.name != "bootstrap.py":
            continue
        text = path.read_text(errors="replace")
        named = [*sorted(set(address.findall(text)) - HOSTS), *option.findall(text)]
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in named]
    assert not wrong


def make(*arguments, **more):
    """Run make as a user does, though the tests may run under make themselves; `more` is for its environment."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "VENV", "PYTHON", "CUDA"}
    theirs = {"PAPER", "SCALE", "BACKEND", "RESULTS", "ARGS", "EXTRAS"}
    environment = {name: value for name, value in os.environ.items() if name not in ours | theirs}
    environment |= more
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)


def test_help_has_every_target():
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
    shown = make().stdout
    assert [name for name in phony if name != "help" and f"make {name} " not in shown] == []


@pytest.mark.parametrize(
    ("target", "command"),
    [
        (["figure7", "PAPER=fu2014", "SCALE=smoke"], "run figure7 --paper fu2014 --scale smoke"),
        (["table2", "RESULTS=a b", "BACKEND=opencl"], 'run table2 --backend opencl --results "a b"'),
        (["all", "PAPER=fu2014"], "run --paper fu2014"),
        (["report", "RESULTS=a b", "ARGS=--output x.html"], 'report --results "a b" --output x.html'),
        (["figures", "PAPER=fu2014"], "figures --paper fu2014"),
    ],
)
def test_make_runs_artefacts(target, command):
    printed = " ".join(make("-n", "VENV=", *target).stdout.split())
    assert f"-m repro {command}" in printed


@pytest.mark.parametrize(
    ("target", "groups"),
    [
        (["table2"], ""),
        (["lint"], "dev"),
        (["test"], "test bench report compiler nvrtc browser docs"),
        (["docs"], "docs"),
        (["report", "EXTRAS=mkl"], "report mkl"),
        (["setup", "EXTRAS=mkl opencl"], "mkl opencl"),
    ],
)
def test_a_target_sets_up_what_it_needs(target, groups):
    (line,) = (line for line in make("-n", *target).stdout.splitlines() if "bootstrap.py" in line)
    assert f'--with "{groups}"' in line
    assert (
        set(groups.split())
        <= tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    )


@pytest.mark.parametrize(
    ("target", "artefacts"),
    [
        (["all"], {"demo2020-table1", "demo2020-figure2"}),
        (["all", "SCALE=smoke", "BACKEND=host"], {"demo2020-table1"}),
        (["demo2020"], {"demo2020-table1", "demo2020-figure2"}),
        (["table1"], {"demo2020-table1"}),
        (["demo2020-figure2"], {"demo2020-figure2"}),
    ],
)
def test_make_runs_what_it_offers(target, artefacts, tmp_path):
    """As it is run, on a small package of experiments."""
    done = make(
        "VENV=", f"PYTHON={sys.executable}", *target, "ARGS=--dry-run", REPRO_ENVIRONMENT="fakelab.environment",
        PYTHONPATH=str(ROOT / "tests/repro/laboratory"), PYTHONDONTWRITEBYTECODE="1", REPRO_CACHE=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"demo2020-\w+", done.stdout)) == artefacts and "to measure" in done.stderr


def test_make_passes_on_a_wrong_name():
    done = make("VENV=", f"PYTHON={sys.executable}", "table99")
    assert done.returncode == 2
    assert "table99" in done.stderr.replace("Makefile", "").split("make:")[0]
    assert "Traceback" not in done.stderr


def test_the_harness_names_no_paper_and_no_method():
    """Neither in its code's strings nor in its names; docstrings and the help may give examples."""
    table = tomllib.loads((ROOT / "experiments" / "looks.toml").read_text())["families"]
    general = {*BACKENDS, "none", "matrix", "mesh", "single", "double", "colour", "serial", "fine", "stored", "regular"}
    libraries = {"numba", "scipy", "pyamg"}  # of which the harness records the versions
    words = {word for family in table.values() for word in family} - general - libraries
    words |= {folder.name for folder in (ROOT / "published").iterdir() if folder.is_dir()}
    found = []
    for path in tracked(".py"):
        if package(path) == "repro":
            texts = " ".join(said(ast.parse(path.read_text())))
            found += [f"{path.relative_to(ROOT)}: {word}" for word in words & set(re.split(r"[^\w-]+", texts))]
    assert not found, found


def said(tree):
    """Return the names and strings of code, without docstrings and the help of options."""
    left_out = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    left_out += [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "help"]
    silent = {
        id(node) for each in left_out if isinstance(each, ast.Constant | ast.JoinedStr) for node in ast.walk(each)
    }
    nodes = [node for node in ast.walk(tree) if id(node) not in silent]
    fields = (value for node in nodes for _, value in ast.iter_fields(node))
    return [value for value in fields if isinstance(value, str)]
