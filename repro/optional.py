"""What brings the packages that not every command needs: ``make setup`` in a checkout, pip elsewhere."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "repro-gpu-fem"
SETUP = "make setup"


def advice(text: str, extra: str) -> str:
    """Return an advice that names ``make setup`` as it holds here.

    Parameters
    ----------
    text : str
    extra : str
        Which of the distribution's optional dependencies have the package.
    """
    if (Path(__file__).resolve().parents[1] / "Makefile").is_file():
        return text
    return text.replace(SETUP, f"pip install '{DISTRIBUTION}[{extra}]'")
