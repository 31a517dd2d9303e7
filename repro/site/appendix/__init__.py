"""The artefact appendix that SC and ACM ask authors for, from the same data as everything else."""

from __future__ import annotations

from repro.site.appendix.facts import Facts, collect
from repro.site.appendix.page import build

__all__ = ["Facts", "build", "collect"]
