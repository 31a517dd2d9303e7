"""Expected time of a cell: as another machine says that has measured it, one with the same GPU before others."""

import json

from repro import discovery
from repro.cache import estimates, plan
from repro.cache.plan import Selection
from repro.run.jobs import make_jobs
from repro.settings import make_settings


def test_what_other_machines_took_is_expected_here(laboratory, monkeypatch):
    facts = {**plan.machine_facts(), "gpu": "['One']"}
    monkeypatch.setattr(estimates, "machine_facts", lambda: facts)
    for machine, gpu, seconds in (("zeta", ["Other"], 7.0), ("alpha", ["One"], 3.0)):
        folder = laboratory.results / machine / "demo2020"
        folder.mkdir(parents=True)
        cells = [{"case": "first", "method": "loop", "backend": "host", "seconds": seconds, "status": "done"}]
        manifest = {"scale": "smoke", "machine": {"gpu": gpu}, "cells": cells}
        (folder / "table1.smoke.json").write_text(json.dumps(manifest))
    settings = make_settings("smoke", laboratory.results, "bench")
    (job,) = make_jobs(discovery.select(["table1"]), settings, Selection({"backend": ["host"]}))
    expected = job.expected_seconds(settings)
    assert {expected[task.path] for task in job.wanted} == {3.0}  # the others as it: they are alike
