"""The walk in docs/architecture.md: files that exist, definitions that are in them, steps that call one another."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\d\. `([\w.]+)` in \[[^]]*\]\(\.\./([^)]*)\)", PAGE, re.M)
WALK = [step for step in STEPS if not step[1].startswith("kernels/")]


@pytest.mark.parametrize(("name", "file"), STEPS, ids=lambda value: value)
def test_a_step_is_defined_where_the_page_says(name, file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert all(re.search(rf"^\s*(def|class) {part}\b", text, re.M) for part in name.split("."))


def test_the_walk_has_at_most_eight_steps_and_each_calls_the_next():
    assert 5 <= len(WALK) <= 8
    calls = ["runner.go_through(", "worker.dispatch(", "execute(", "module.measure(", "run.time(", "timing.sample("]
    for (_, file), call in zip(WALK, calls):
        assert call in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not call {call}"
    names = [name.rpartition(".")[2] for name, _ in WALK]
    assert len(set(names)) == len(names)
    runner = dict((file, name) for name, file in WALK)
    assert "render(job.artefact" in (ROOT / next(file for file in runner if "runner" in file)).read_text()
