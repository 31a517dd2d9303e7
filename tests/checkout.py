"""What tests take of the machine and of the checkout, and skip where it is not there."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def program(name: str) -> str:
    """Return the path of a program of the machine."""
    return shutil.which(name) or pytest.skip(f"there is no {name} on this machine")


def listed(*options: str) -> list[Path]:
    """Return the files that are there of those that git has, or lists by these options."""
    git = program("git")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run([git, "ls-files", "-z", *options], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]
