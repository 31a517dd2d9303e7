"""The site builds, its links lead somewhere, and its examples run as they stand on the pages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import listed
from tests.experiments.test_opening import wrong

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(
    r"`([\w./]+\.\w+)`[^\n]*(?:\n[^\n]+)*:\n\n```\w*\n(.*?)\n```", re.S
)  # a path, and the block that it heads
COMMANDS = re.compile(r"```sh\n(.*?)\n```", re.S)


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "exceeded" in (tmp_path / "site/claims/index.html").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    lost = [link for link in links if link and "://" not in link and not (page.parent / link).exists()]
    assert lost == []


def test_pages_of_results_on_gpus_have_their_pictures_in_git():
    kept = {path for path in listed("results") if "-core" not in path.relative_to(ROOT).parts[1]}
    shown = {page.parent / name for page in kept if page.suffix == ".md"
             for name in re.findall(r"^!\[.*\]\((.+)\)$", page.read_text(encoding="utf-8"), flags=re.M)}  # fmt: skip
    assert shown and sorted(shown - kept) == []


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, repro_cache):
    """A copy of the checkout without results, for the pages' files."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in listed(
        "repro", "kernels", "baselines", "datasets", "experiments", "published", "tests", "pyproject.toml"
    ):
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return folder


def written(page, folder):
    """Write the files of a page, and return its commands."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = FILE.findall(text)
    assert files
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return [line.partition("  #")[0] for block in COMMANDS.findall(text) for line in block.splitlines()]


def run(command, folder):
    """Run a command of a page; return what it prints."""
    words = command.split()
    module = {"repro": "repro", "pytest": "pytest"}[words[0]]
    more = ["--results", str(folder / "results")] if words[1] in ("run", "claims") else []
    if module == "pytest":
        more = ["-p", "no:cacheprovider"]
    caches = {"PYTHONPATH": str(folder), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", module, *words[1:], *more], cwd=folder, env=os.environ | caches, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
    return done.stdout


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("add/paper.md", ["openmp", "kernel-speedup"]),
        ("add/format.md", ["passed"]),
        ("add/mesh.md", ["fu2014/slab"]),
        ("add/matrix.md", ["wong2015/laplacian"]),
    ],
)
def test_the_examples_of_a_page_run(checkout, page, shown):
    told = [run(command, checkout) for command in written(page, checkout)]
    assert len(told) == len(shown) and all(word in text for word, text in zip(shown, told, strict=True)), told


def test_the_artefact_of_the_page_has_the_docstring_that_every_artefact_needs(tmp_path):
    written("add/paper.md", tmp_path)
    assert [wrong(path) for path in tmp_path.glob("experiments/*/table*.py")] == [[]]


@pytest.mark.parametrize("example", [0, 1], ids=["a product", "conjugate gradients"])
def test_an_example_of_the_reference_runs(example):
    """On the processor, which every machine has."""
    codes = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "reference.md").read_text(), re.S)
    assert len(codes) == 2
    code = codes[example]
    command = [sys.executable, "-c", code.replace('"cuda"', '"openmp"')]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert 0 <= float(told) < 1e-12
