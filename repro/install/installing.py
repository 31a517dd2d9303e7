"""Pip as the set-up runs it: its output goes into a log, how far it is to the user, and why it fails into one line."""

from __future__ import annotations

import os
import platform
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

LOG = "repro-setup.log"
PIP = Path(__file__).with_name("announcing_pip.py")
PULSE = 3.0  # seconds after which something is said, whether or not something has changed
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
    """Pip refused: what it said last, and whether that would be so for any other package, too.

    Parameters
    ----------
    output : list of str
    log : path
    """

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


class Speaker:
    """Tells the user what is done and, in between, how far it is.

    On a terminal that is one line which is written over; elsewhere a line every few seconds.

    Parameters
    ----------
    stream : text stream, optional
        By default standard output.
    """

    def __init__(self, stream=None):
        self._stream = stream or sys.stdout
        self._over = self._stream.isatty()
        self._state, self._since = "", time.monotonic()
        self._told = time.monotonic()

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._write(("\r\033[K" if self._over else "") + f"setup: {line}\n")

    def at(self, state: str) -> None:
        """Take note of what is being done now, and show it where something is due."""
        if state != self._state:
            self._state, self._since = state, time.monotonic()
        if self._over or time.monotonic() - self._told >= PULSE:
            self.pulse()

    def pulse(self) -> None:
        """Show what is being done, and for how long; to be called where nothing happens for a while."""
        seconds = time.monotonic() - self._since
        line = f"setup: {self._state}" + (f", {seconds:.0f} s" if seconds >= 1 else "")
        self._write(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}" if self._over else f"{line}\n")

    def done(self) -> None:
        """Take the line away that was to be written over."""
        if self._over:
            self._write("\r\033[K")

    def _write(self, text):
        self._stream.write(text)
        self._stream.flush()
        self._told = time.monotonic()


class Progress:
    """Reads what pip says, line by line, and tells how far it is.

    Parameters
    ----------
    speaker : Speaker
    installed : callable
        Returns the number of packages in the environment.
    """

    def __init__(self, speaker: Speaker, installed: Callable[[], int]):
        self._speaker, self._count = speaker, installed
        self._loaded = self._files = self._before = 0
        self._packages: list[str] = []

    def read(self, line: str) -> None:
        """Take a line of pip's."""
        if found := re.match(r"to download: (\d+) files, (\d+) bytes", line):
            self._files, megabytes = int(found[1]), int(found[2]) / 1e6
            self._speaker.say(f"downloading {megabytes:,.{0 if megabytes >= 10 else 1}f} MB in {self._files} files")
        elif line.startswith("unknown size: "):
            self._speaker.say(f"how much there is to download is not known: {line.partition(': ')[2].strip()}")
        elif found := re.match(r"\s*Downloading ([^-\s]+)-\S+ \((.*)\)", line):
            self._loaded += 1
            of = f" of {self._files}" if self._files else ""
            self._speaker.at(f"downloading {self._loaded}{of}: {found[1]}, {found[2]}")
        elif found := re.match(r"Installing collected packages: (.*)", line):
            self._packages, self._before = found[1].split(", "), self._count()
            self.pulse()
        elif found := re.match(r"Collecting ([\w.-]+)", line):
            self._speaker.at(f"looking for {found[1]}")

    def pulse(self) -> None:
        """Tell how far it is, though pip says nothing."""
        if self._packages:
            number = min(self._count() - self._before, len(self._packages) - 1)
            self._speaker.at(f"installing {number + 1} of {len(self._packages)}: {self._packages[number]}")
        else:
            self._speaker.pulse()


def pip(venv: Path, folder: Path, speaker: Speaker, *arguments: str) -> None:
    """Run pip install of `venv` in a folder, under its constraints.

    Raises
    ------
    PipError
        When pip fails.
    """
    command = [venv / "bin/python", "-I", PIP, "--disable-pip-version-check", "install", "--progress-bar=off"]
    # An index that does not give a wheel's metadata is asked for the end of the wheel, not for all of it. What is not
    # compiled now is when it is first imported, most of it never.
    command += ["--use-feature=fast-deps", "--no-compile", "-c", "constraints.txt", *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment["PIP_USER"] = "0"
    progress = Progress(speaker, lambda: len(list(venv.glob("lib/python*/site-packages/*.dist-info"))))
    speaker.at("asking pip")
    output: list[str] = []
    lines: queue.Queue[str | None] = queue.Queue()
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with (venv / LOG).open("a") as log, subprocess.Popen(command, cwd=folder, env=environment, **said) as process:
        threading.Thread(target=lambda: [*map(lines.put, process.stdout), lines.put(None)], daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=PULSE)
            except queue.Empty:
                progress.pulse()
                continue
            if line is None:
                break
            log.write(line)
            output.append(line)
            progress.read(line)
    speaker.done()
    if process.returncode != 0:
        raise PipError(output, venv / LOG)
