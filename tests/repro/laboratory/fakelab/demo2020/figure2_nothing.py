"""A figure whose device is on no machine."""

from repro import Cell

MINUTES = {"smoke": 0.01}


def cells(scale):
    yield Cell("only", "kernel", "cuda")


def measure(cell, run):
    run.time("time", run.device.synchronize)


def tables(results):
    raise AssertionError("there is nothing to show")


def plot(results):
    raise AssertionError("there is nothing to show")
