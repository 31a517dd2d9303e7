"""Compute parts of keys as the tree has them that this module is run in: ``python -m repro.cache.recompute``.

`repro.judge.trees` runs it in the tree of a commit, so that each commit's parts are hashed by its own code. In comes a
JSON list of ``[part, name, entry, scale]``; out goes the tree's folder, and a list of the entries as they are there.
"""

import json
import sys
from typing import Any

from repro import environment
from repro.cache import code
from repro.run.protocol import PROTOCOL


def now(part: str, name: str, entry: Any, scale: str) -> Any:
    """Return what a part of a key is in this tree; None where it is not there."""
    if part == "code":
        return code.now({name: entry}, environment.root()).get(name)
    if part == "kernels":
        return environment.kernel_now(name, {**entry, "text": ""})  # or it would take what it is told of an equal text
    if part == "data":
        return environment.dataset_key(name, scale)
    if part == "protocol":
        return PROTOCOL
    raise ValueError(f"no tree tells {part}")


def _or_none(asked: list) -> Any:
    try:
        return now(*asked)
    except Exception:  # as of a dataset that this tree does not have
        return None


if __name__ == "__main__":
    answers = [_or_none(each) for each in json.load(sys.stdin)]
    json.dump([str(environment.root()), answers], sys.stdout)
