"""Adds numbers, and leaves a line of each measurement where FAKELAB_LOG says."""

import os
import time
from pathlib import Path


def total(numbers):
    """Return the sum of numbers."""
    return sum(numbers)


def leave_trace(text):
    log = os.environ.get("FAKELAB_LOG")
    if log:
        with Path(log).open("a") as stream:
            stream.write(f"{text}\n")
    time.sleep(float(os.environ.get("FAKELAB_SLEEP", "0")))
