"""The artefact appendix that SC and ACM ask authors for, from the same data as everything else."""

from __future__ import annotations

from repro.appendix.facts import Facts, collect
from repro.appendix.page import build

__all__ = ["Facts", "build", "collect"]
