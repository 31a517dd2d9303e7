"""The steps of the Containerfile, as far as they run without a container: what is copied, and what commands say."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import listed

ROOT = Path(__file__).resolve().parents[1]
STEPS = re.findall(r"^([A-Z]+) (.+)$", (ROOT / "Containerfile").read_text(), re.M)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The files that `COPY . .` takes of a clone, without an environment in it."""
    folder = tmp_path_factory.mktemp("container")
    excluded = [pattern.strip("/") for pattern in (ROOT / ".dockerignore").read_text().split()]
    assert ".venv*" in excluded
    for path in listed():
        name = path.relative_to(ROOT)
        if name.parts[0] not in ("results", "tests", "docs") and not any(map(Path(name.parts[0]).match, excluded)):
            (folder / name.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / name)
    return folder


@pytest.mark.parametrize("cuda", ["none", "13"])
def test_its_steps_run(copied, tmp_path, cuda):
    """Packages of the system are asked for and not installed; make says what it would run."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("apt-get", "rm"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (programs / name).chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MAKEFLAGS": "n", "CUDA": cuda}
    assert ("ARG", "CUDA=none") in STEPS and ("COPY", ". .") in STEPS
    assert next(value for key, value in STEPS if key == "ENV").startswith("CUDA=${CUDA} ")
    # The interpreter of the environment that make does not make here, for what comes after it.
    (tmp_path / "venv").mkdir()
    lines = [value.replace("/etc/", f"{tmp_path}/etc/") for key, value in STEPS if key == "RUN"]
    lines = [line.replace(".venv/bin/python", "python3").replace(".venv/lib", str(tmp_path / "venv")) for line in lines]
    said = ""
    for line in lines:
        done = subprocess.run(["sh", "-ec", line], cwd=copied, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stderr)
        said += done.stdout
    assert "apt-get install -y --no-install-recommends git make\n" in said  # and no second Python
    assert f'repro/install/bootstrap.py --venv ".venv" --cuda {cuda} ' in said
    assert (tmp_path / "etc/OpenCL/vendors/nvidia.icd").exists() == (cuda == "13")


def test_its_command_is_a_target_of_make(copied):
    entry, command = (dict(STEPS)[name] for name in ("ENTRYPOINT", "CMD"))
    done = subprocess.run([*json.loads(entry), *json.loads(command)], cwd=copied, capture_output=True, text=True)
    assert done.returncode == 0 and "make table2" in done.stdout
