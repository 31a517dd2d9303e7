"""What brings the packages that not every command needs: ``make setup`` in a checkout, pip elsewhere."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "repro-gpu-fem"
SETUP = "make setup"


def installer(extra: str) -> str:
    """Return the command that installs one of the distribution's extras here."""
    is_checkout = (Path(__file__).resolve().parents[1] / "Makefile").is_file()
    return SETUP if is_checkout else f"pip install '{DISTRIBUTION}[{extra}]'"
