"""The report: one page, from disk, of everything that is stored."""

from repro.site.report.page import build

__all__ = ["build"]
