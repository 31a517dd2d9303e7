"""Parts of the machine and of the checkout that tests need, and skip where they are not there."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest

from repro.judge import trees

ROOT = Path(__file__).resolve().parents[1]


def program(name: str) -> str:
    """Return the path of a program of the machine."""
    return shutil.which(name) or pytest.skip(f"there is no {name} on this machine")


def listed(*options: str) -> list[Path]:
    """Return the files that git has, or lists by these options, and that are there."""
    git = program("git")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run([git, "ls-files", "-z", *options], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


@contextlib.contextmanager
def committed_results():
    """Give the folder of the results that git has; others that a user has measured beside them are the user's."""
    listed("results")
    with trees.committed(ROOT / "results") as folder:
        yield folder
