"""The README, the documentation and the report of the results that git has."""

import re

import pytest

from repro.cache.glance import glance
from repro.judge import claims
from repro.show.measurements import measurements
from repro.site.showcase.page import outdated
from tests.checkout import ROOT, committed_results

LIMIT = 2.5e6  # bytes of a report, a machine


@pytest.fixture(scope="module")
def committed():
    """Give the folder of the results; whoever asks for its verdicts gets them from the first time that it was asked."""
    judge, known = claims.verdicts, {}

    def verdicts(folder, stores):
        key = folder, *(stored.machine for stored in stores)
        if key not in known:
            known[key] = judge(folder, stores=stores)
        return known[key]

    with committed_results() as results, pytest.MonkeyPatch.context() as patch, glance():
        patch.setattr(claims, "verdicts", verdicts)
        yield results


def test_the_readme_and_docs_have_what_the_results_say(committed):
    assert outdated(ROOT, committed).keys() == set(), "make readme has not been run since the results changed"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.encode()) <= 8000


def test_pages_explain_only_methods_that_they_show(committed):
    """A method is shown in a table, or named as what a column is of."""
    idle = []
    for page in committed.glob("*/*/*.md"):
        lines = page.read_text(encoding="utf-8").splitlines()
        shown = "\n".join(line for line in lines if line.startswith("|") or re.search("` on [a-z]+,", line))
        for name in re.findall("^- `([^`]+)`: ", "\n".join(lines), re.MULTILINE):
            begin = "" if name.startswith("-") else r"(?<![\w-])"  # else it is what a name ends with
            if not re.search(rf"{begin}{re.escape(name)}(?![\w-])", shown):
                idle.append(f"{page.parent.parent.name}/{page.parent.name}/{page.name}: {name}")
    assert idle == []


def test_the_results_make_a_small_report(committed, monkeypatch):
    pytest.importorskip("vl_convert")
    pytest.importorskip("jinja2")
    from repro.site.report import build, page
    from tests.repro.report.test_report import Outline, carried

    found = []
    monkeypatch.setattr(page, "measurements", lambda *given: found.extend(measurements(*given)) or found)
    made = build(committed)
    assert len(made) < LIMIT * len({each.machine for each in found})
    panels = {found["data-panel"] for found in Outline(made).all("section", class_="panel")}
    inside = carried(made)
    assert found and panels == {each.key for each in found} == inside["panels"].keys()
    assert inside["roofline"]["points"]
