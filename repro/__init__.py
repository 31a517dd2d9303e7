"""Reproduction harness: artefacts, cells, timing, statistics, ceilings, store, tables, plots and the command line.

It knows no finite elements and no kernel; `experiments.environment` tells it what devices, baselines and datasets there
are.
"""

from repro.model import BACKENDS, SCALES, Cell, CheckFailed, Presence, ReproError, Row, Skip, Work

__version__ = "0.1.0"
__all__ = ["BACKENDS", "SCALES", "Cell", "CheckFailed", "Presence", "ReproError", "Row", "Skip", "Work"]
