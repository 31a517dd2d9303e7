"""The tree of a commit in a folder of its own, and what parts of keys come to in it.

A tree is asked by its own code, `repro.cache.recompute`, so that a later change of how parts are hashed makes no stored
result wrong.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from repro import environment

SECONDS = 600.0  # that a tree may take to answer
# A preprocessor's tokens all stay: to collect garbage among them would only go through each, time and again.
ASK = "import gc, runpy; gc.disable(); runpy.run_module('repro.cache.recompute', run_name='__main__', alter_sys=True)"
HERE = Path(__file__).resolve().parents[2]  # what of `repro` a tree is asked by that has none of its own
LEFT_OUT = ("results", "tests", "docs", "published")


class NotAsked(Exception):
    """A tree that cannot be asked, and why."""


class NotThere(NotAsked):
    """A commit that git has not, though it has all, or one without experiments: it proves nothing."""


def parts(commit: str, asked: Sequence[tuple[str, str, Any, str]]) -> list[Any]:
    """Return what parts of keys are in the tree of a commit; None for what it has not.

    Raises `NotAsked` where git or the commit is not here, or the tree does not run.
    """
    with tempfile.TemporaryDirectory(prefix="repro-tree-") as folder:
        tree = Path(folder).resolve()
        _unpack(commit, tree)
        try:
            done = subprocess.run(
                [sys.executable, "-c", ASK], input=json.dumps(asked), text=True,
                capture_output=True, timeout=SECONDS, check=False, cwd=tree,
                env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tree), str(HERE))), "PYTHONSAFEPATH": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NotAsked(f"the tree of {commit[:12]} did not answer in {SECONDS:g} s") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise NotAsked(f"the tree of {commit[:12]} does not run here: {last}")
        root, answers = json.loads(done.stdout)
        if Path(root) != tree:
            raise NotThere(f"the tree of {commit[:12]} has no {environment.experiments_folder().name}")
    return answers


@contextlib.contextmanager
def committed(results: Path) -> Iterator[Path]:
    """Give a folder that has what git has of a folder of results: what a user has measured beside it is the user's.

    Raises `NotAsked` where git is not here, or has nothing of it.
    """
    names = git(results, "ls-files", "-z").decode().split("\0")
    with tempfile.TemporaryDirectory(prefix="repro-committed-") as folder:
        for path in (results / name for name in names if name):
            copy = Path(folder, results.name, path.relative_to(results))
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                copy.symlink_to(path.resolve())
        yield Path(folder, results.name)


def _unpack(commit: str, folder: Path) -> None:
    root = environment.root()
    if git(root, "rev-parse", "--show-toplevel").decode().strip() != str(root):
        raise NotAsked(f"{root} is no checkout of git")
    try:
        git(root, "cat-file", "-e", f"{commit}^{{commit}}")
    except NotAsked:
        is_part = git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        raise (NotAsked if is_part else NotThere)(f"this clone has no commit {commit[:12]}") from None
    left_out = [f":(exclude){name}" for name in LEFT_OUT]
    packed = git(root, "archive", "--format=tar", commit, "--", ".", *left_out)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def git(root: Path, *arguments: str) -> bytes:
    """Return what git says in a folder.

    Raises `NotAsked` where git is not here, or refuses.
    """
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAsked(f"git does not run: {error}") from None
    if done.returncode:
        raise NotAsked(f"git says: {(done.stderr.decode(errors='replace').strip().splitlines() or [''])[-1]}")
    return done.stdout
