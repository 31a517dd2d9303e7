"""A small store of rows and a small paper with claims about them."""

import json

from repro.judge.claims import verdicts
from repro.model import Row
from repro.rows import as_csv
from repro.units import split

TEXT = """
[[statement]]
id = "gain"
metric = "speedup"
printed = "8"
unit = "x"
place = "Abstract"
[[statement]]
id = "gain-most"
metric = "speedup"
printed = "10"
unit = "x"
place = "Abstract"
[[statement]]
id = "rate-a"
metric = "rate"
printed = "3.0"
unit = "GFLOP/s"
place = "Section 5"
[[statement]]
id = "rate-b"
metric = "rate"
printed = "5.0"
unit = "GFLOP/s"
place = "Section 5"
"""
HARDWARE = """
[gpu.printed]
name = "Old GPU"
[gpu.vendor]
bandwidth_gb_per_s = 100.0
[cpu.printed]
name = "Old CPU"
[cpu.vendor]
bandwidth_gb_per_s = 20.0
"""
TABLE = """case,method,metric,printed,unit,place
a,fast,iterations,10,count,Table 2
b,fast,iterations,20,count,Table 2
a,fast,speedup,4.0,x,Table 2
"""
WHERE = """
[claim.where]
cpu = "table1 slow solve @host"
gpu = "table1 fast solve @gpu"
"""


class Store:
    """A results folder and a paper's folder, to be filled row by row."""

    def __init__(self, folder):
        self.results, self.root = folder / "results", folder / "published"
        self.rows, self.cells = {}, []
        self.cached = 0.0  # of a megabyte and less, where it is another
        self.bandwidths = {"GPU 1": 1e12, "CPU 1": 1e12}  # bytes a second, written where a row has a share of them
        self.write("text.toml", TEXT)
        self.write("hardware.toml", HARDWARE)
        self.write("table2.csv", TABLE)

    def write(self, name, text):
        path = self.root / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def row(self, case, method, metric, value, unit="s", backend="cuda", machine="box", spread=0.0, **more):
        low, high = (None, None) if spread is None else (value * (1 - spread), value * (1 + spread))
        more = {"scale": "paper", "device": "GPU 1" if backend == "cuda" else "CPU 1", "stem": "table1"} | more
        stem, scale, share = more.pop("stem"), more.pop("scale"), more.pop("share", None)
        if share is not None:
            moved = share * value * split(unit)[0] * self.bandwidths[more["device"]]
            more |= {"work_bytes": moved, "work_precision": "float64", "cold": metric.endswith("_cold")}
        made = Row(f"demo-{stem}", scale, case, method, backend, metric=metric, value=value, unit=unit,
                   **({"ci_low": low, "ci_high": high} | more))  # fmt: skip
        self.rows.setdefault((machine, stem), []).append(made)

    def times(self, **seconds):
        """Of the method `fast` on the GPU and of `slow` on the host, by case: pairs of (slow, fast)."""
        for case, (slow, fast) in seconds.items():
            self.row(case, "slow", "solve", slow, backend="host")
            self.row(case, "fast", "solve", fast)

    def cell(self, case, method, end, seconds, backend="host", data=()):
        """Give the manifest a cell that was done at a second of a minute."""
        self.cells.append({"case": case, "method": method, "backend": backend, "data": list(data), "status": "done",
                           "seconds": seconds, "date": f"2026-11-21T18:00:{end:02d}+00:00"})  # fmt: skip

    def judged(self, ledger, machine=None):
        self.write("claims.toml", ledger)
        made = {device: roof(device, bandwidth, cached=self.cached) for device, bandwidth in self.bandwidths.items()}
        for name in {name for (name, _), rows in self.rows.items() if any(row.work_bytes for row in rows)}:
            (self.results / name).mkdir(parents=True, exist_ok=True)
            (self.results / name / "ceilings.json").write_text(json.dumps(made))
        for (name, stem), rows in self.rows.items():
            path = self.results / name / "demo" / f"{stem}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_csv([row.as_dict() for row in rows]))
            path.with_suffix(".json").write_text(
                json.dumps(
                    {
                        "machine": {"cpu": "CPU 1"},
                        "artefact": f"demo-{stem}",
                        "scale": rows[0].scale,
                        "cells": self.cells,
                    }
                )
            )
        return verdicts(self.results, machine=machine, root=self.root)

    def one(self, *parts, **options):
        (verdict,) = self.judged(claim(*parts), **options)
        return verdict


def roof(device, bandwidth, gpu=None, cached=0.0, **rates):
    """The entry in ``ceilings.json`` for a device with the same bandwidth at every size, warm and cold.

    `cached`: the bandwidth of a megabyte and less, where it is another.
    """
    curves = {"copy": [[1e6, cached or bandwidth], [1e9, bandwidth]]}
    ceilings = {"device": device, "bandwidths": curves, "cold": curves, "rates": {"float64": 1e12, **rates}}
    return {"gpu": device.startswith("GPU") if gpu is None else gpu, "machine": {}, "ceilings": ceilings}


def claim(*parts, head="", says="It is faster."):
    return "\n".join([f'[[claim]]\nid = "it"\nplace = "Abstract"\nsays = "{says}"', head, *parts])


def stated(formula="cpu / gpu", relation="at least", published='"text gain"', more=""):
    return f'[claim.stated]\nformula = "{formula}"\nis = "{relation}"\npublished = {published}\n{more}'


def effect(formula="cpu / gpu", relation="more than", than=1, more=""):
    return f'[claim.effect]\nsays = "An effect."\nformula = "{formula}"\nis = "{relation}"\nthan = {than}\n{more}'
