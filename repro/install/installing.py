"""Pip as the set-up runs it: it shows how far it is, its log is kept, and why it fails is told in one line."""

import os
import platform
import re
import subprocess
from pathlib import Path

LOG = "repro-setup.log"
UNREACHABLE = re.compile(
    r"connection broken by|Max retries exceeded|Could not fetch URL|Temporary failure in name resolution"
)


class SetupError(Exception):
    """A set-up that cannot go on, in one line that says what to do."""


class DiskFull(SetupError):
    """There is no room for what the set-up writes."""

    def __init__(self):
        super().__init__(
            "the disk is full: make room for the environment, temporary files (TMPDIR) and pip's downloads "
            "(PIP_CACHE_DIR), and type make again"
        )


class PipError(SetupError):
    """Pip refused: what it said last, and whether that would be so for any other package, too."""

    def __init__(self, output, log):
        errors = [line for line in output if line.startswith("ERROR") or re.match(r"\s*\w+Error: ", line)] or output
        self.summary = errors[-1].strip() if errors else "pip said nothing"
        full = any("No space left on device" in line for line in output)
        unreachable = any(UNREACHABLE.search(line) for line in output)
        self.for_all = full or unreachable
        if full:
            message = f"{DiskFull()}; what pip said: {log}"
        elif unreachable:
            message = (
                "pip cannot reach a package index. Connect to the network, or name a mirror (PIP_INDEX_URL) or a "
                f"folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=folder); what pip said: {log}"
            )
        else:
            if found := re.search(r"No matching distribution found for (\S+)", self.summary):
                here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
                self.summary = f"the package index has no {found[1]} for {here}"
            message = f"pip failed: {self.summary} (everything it said: {log})"
        super().__init__(message)


def say(line: str) -> None:
    """Tell the user what the set-up does, beside what pip shows."""
    print(f"setup: {line}", flush=True)


def pip(venv: Path, folder: Path, *arguments: str) -> None:
    """Run pip install of `venv` in a folder, under its constraints.

    Raises `PipError` when pip fails.
    """
    command = [venv / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "--log", venv / LOG, "install"]
    # An index that does not give a wheel's metadata is asked for the end of the wheel, not for all of it. A module
    # is compiled when it is first imported, most modules never.
    command += ["--use-feature=fast-deps", "--no-compile", "-c", "constraints.txt", *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment["PIP_USER"] = "0"
    done = subprocess.run(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise PipError(done.stderr.splitlines(), venv / LOG)
