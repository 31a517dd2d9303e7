"""A store of two machines, a GPU's and a processor's, made of numbers that tests can tell again."""

from __future__ import annotations

import io
import json

import pytest

from repro.judge import claims
from repro.model import Row
from repro.rows import as_csv


def picture(width):
    """A bar, in the few colours in which the report carries pictures."""
    from PIL import Image

    made, stream = Image.new("P", (70, 28)), io.BytesIO()
    made.putpalette([255, 255, 255, 0, 114, 178])
    made.paste(1, (0, 0, width, 20))
    made.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def rows(artefact, scale, backend, device, methods, failed=()):
    for i, case in enumerate(("regular", "heart")):
        for j, method in enumerate(methods):
            value = 1e-4 * (1 + i + 2 * j) * (1 if backend == "cuda" else 50)
            place = (artefact, scale, case, method, backend, device)
            work = {
                "work_bytes": 1e8 * (1 + i), "work_flops": 3e7 * (1 + i), "work_precision": "float64", "cold": False,
            }  # fmt: skip
            yield Row(*place, "assembly", value, "s", 0.98 * value, 1.03 * value, 9, 0, 1e-15, **work)
        for method in failed:
            yield Row(artefact, scale, case, method, backend, status="skipped", reason="no <b>licence</b> for it")


def manifest(artefact, scale, rows, machine, cores, gpu):
    cells = [
        {
            "case": row.case, "method": row.method, "backend": row.backend, "parameters": {}, "data": [],
            "status": row.status, "reason": row.reason, "seconds": 1.0, "date": "2026-11-20T20:08:02+00:00",
            "revision": {"commit": "0123456789abcdef", "dirty": True}, "checks": [], "notes": [],
            "command": f"repro run {artefact} --scale {scale}",
        }
        for row in rows
    ]  # fmt: skip
    facts = {"cpu": f"{machine} processor", "cores": cores, "memory_bytes": 2**36, "system": "Linux 6"}
    if gpu:
        facts |= {"gpu": [gpu], "driver": "580", "rivals": {"cuSPARSE": "12.6.3", "nvmath-python": "1.0.0"}}
    return {"artefact": artefact, "scale": scale, "overrides": {}, "machine": facts, "cells": cells}


MARKDOWN = """# {artefact}: title

**Table of {machine}: ours & published**

| Mesh | ours, {machine} | paper |
| --- | ---: | ---: |
| <script>alert(1)</script> | 1.00 | 29.8 |

- A note of {machine}.

**All | methods**

| Mesh | Time |
| --- | ---: |
| Regular | 5 |

![title](table2.png)

## Skipped, because

- no <b>licence</b> for it: regular

## How it was made

- command: `x`
"""


def store(folder, machine, artefact, scale, backend, device, methods, gpu="", name=None, failed=("amgx",)):
    paper, _, stem = artefact.partition("-")
    target = folder / machine / paper / (name or stem)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = list(rows(artefact, scale, backend, device, methods, failed))
    for suffix, content in {
        ".csv": as_csv([row.as_dict() for row in made]),
        ".json": json.dumps(manifest(artefact, scale, made, machine, 16 if gpu else 2, gpu)),
        ".md": MARKDOWN.format(artefact=artefact, machine=machine),
    }.items():
        target.with_name(target.name + suffix).write_text(content)
    target.with_name(f"{target.name}.png").write_bytes(picture(60 if gpu else 30))
    ceilings = {
        "device": device, "bandwidths": {"copy": [[1e6, 1e12], [1e8, 2e12], [2e8, 2e12], [1e9, 4e12]]}, "cold": {},
        "rates": {"float64": 3e13, "float32": 6e13},
    }  # fmt: skip
    (folder / machine / "ceilings.json").write_text(json.dumps({device: {"gpu": bool(gpu), "ceilings": ceilings}}))


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "results"
    methods = ["patch", "ring"]
    store(folder, "big-gpu", "fu2014-table2", "paper", "cuda", "Big GPU", methods, "Big GPU")
    store(folder, "big-gpu", "fu2014-table2", "large", "cuda", "Big GPU", methods, "Big GPU", "table2.large")
    store(folder, "laptop", "fu2014-table2", "small", "opencl", "A laptop", ["patch"])
    store(folder, "laptop", "zhang2013-figure8", "small", "opencl", "A laptop", ["sell"])
    store(folder, "laptop", "zhang2013-table5", "small", "opencl", "A laptop", [])
    return folder


@pytest.fixture(scope="session")
def judged(results):
    """The verdicts of the store."""
    return claims.verdicts(results)


@pytest.fixture(scope="session")
def built(judged):
    """Return a function from a folder to its page, with the store's verdicts: judging takes most of a page's time.

    That a page has the verdicts of its own folder is tested by the command that writes it.
    """
    from repro.site.report import build

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(claims, "verdicts", lambda folder, **_: judged)
            return build(folder)

    return make


@pytest.fixture(scope="session")
def whole(built, results):
    """The page of the store."""
    return built(results)
