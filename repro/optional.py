"""Commands that install missing things for this Python: ``make setup`` where make set it up, else its own pip."""

import re
import shlex
import sys
from pathlib import Path

DISTRIBUTION = "repro-gpu-fem"
ROOT = Path(__file__).resolve().parents[1]
SETUP = "make setup"


def installer(extra: str) -> str:
    """Return the command that installs one of the distribution's extras here."""
    if not (ROOT / "Makefile").is_file():
        return f"{_pip()} install {shlex.quote(f'{DISTRIBUTION}[{extra}]')}"
    from repro.install.bootstrap import STAMP

    environment = Path(sys.prefix)
    if not (environment / STAMP).is_file():  # a user's own, which make leaves alone
        return f"{_pip()} install -e {shlex.quote(f'{ROOT}[{extra}]')}"
    words = [SETUP]
    if not extra.startswith("cuda"):  # which make chooses itself, by the driver
        words.append(f"EXTRAS={extra}")
    if environment != ROOT / ".venv":
        words.append(f"VENV={shlex.quote(str(environment))}")
    return " ".join(words)


def as_typed(remedy: str) -> str:
    """Return what would bring something missing, with its commands as they have to be typed for this Python."""
    remedy = re.sub(r"(?<!-m )\bpip install", lambda _: f"{_pip()} install", remedy)
    return remedy.replace(SETUP, installer("cuda13"))


def _pip() -> str:
    """Return the pip of this Python; the shell's may be another's."""
    return f"{shlex.quote(sys.executable)} -m pip"
