"""The artefact appendix has every table and figure with its command, claims, minutes, hardware and data."""

import json
from pathlib import Path

import pytest

from repro import discovery, published
from repro.cli import main
from repro.judge import claims
from repro.units import MISSING

RESULTS = Path(__file__).resolve().parents[2] / "results"
jinja2 = pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def facts():
    from repro.site.appendix import collect

    return collect(RESULTS, ["fu2014"])


@pytest.fixture(scope="module")
def text(facts):
    from repro.site.appendix import build

    return build(facts)


def test_every_artefact_has_a_line(text):
    for entry in published.artefacts("fu2014"):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {entry['id']} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == entry["shows"] and cells[2] == f"`make {entry['id']}`" and len(cells) == 8


def test_a_line_says_what_decides_what_on_which_hardware_with_which_data(text):
    (line,) = [line for line in text.splitlines() if line.startswith("| fu2014-table2 |")]
    _, _, _, decided, hardware, minutes, data, stored = (cell.strip() for cell in line.strip("|").split("|"))
    assert "assembly-speedup" in decided and "NVIDIA GPU" in hardware and "CPU" in hardware
    assert data.split(", ") == [f"fu2014/{mesh}" for mesh in ("regular", "irregular", "heart", "brain", "blobs")]
    assert "[h200](../results/h200/fu2014/table2.md)" in stored
    module = next(module for module in discovery.find() if module.id == "fu2014-table2")
    assert minutes == f"{module.minutes['small']:g} min / {module.minutes['paper']:g} min"


def test_every_claim_stands_with_its_verdict(text, facts):
    (paper,) = facts.papers
    assert [verdict.id for verdict in paper.verdicts] == [claim.id for claim in claims.claims("fu2014")]
    for verdict in paper.verdicts:
        assert f"- **{verdict.id}** ({verdict.place}): {verdict.statement}" in text
    assert "As stated: holds, 274,625 for about 274,625." in text


def test_a_time_that_others_may_have_lengthened_is_marked_and_the_mark_is_explained(text, facts):
    """As docs/claims.md marks it."""
    (claim,) = (verdict for verdict in facts.papers[0].verdicts if verdict.id == "assembly-speedup")
    assert claim.stated.shared and claim.machine == "h200"
    (line,) = (line for line in text[text.index("**assembly-speedup**") :].splitlines()[1:2])
    assert ", shared, for at least 87 x (± 10 %)." in line and text.count("Shared: ") == 1


def test_what_one_host_of_a_machine_tells_is_told_and_nothing_of_this_one(tmp_path):
    """Manifests that were merged from several hosts say neither system nor memory."""
    from repro.site.appendix.facts import _machine

    hosts = [{"system": "Plan 9", "memory_bytes": 252 << 30}, {"cpu": "a processor"}]
    for names in (hosts, hosts[1:]):
        (tmp_path / "box" / "demo").mkdir(parents=True, exist_ok=True)
        for k in range(2):
            path = tmp_path / "box" / "demo" / f"table{k}.json"
            path.write_text(json.dumps({"devices": [], "machine": names[min(k, len(names) - 1)]}))
        told = _machine(tmp_path / "box")
        assert (told.system, told.memory) == (("Plan 9", "252 GiB") if names is hosts else (MISSING, MISSING))


def test_a_place_for_the_users_own_matrix_is_no_dataset(tmp_path):
    from repro.site.appendix import collect

    found = collect(tmp_path, ["wong2015"])
    public = [entry.name for entry in found.fetched]
    assert "wong2015/qcd" in public and "wong2015/heart_3k" in {entry.name for entry in found.stand_ins} - set(public)
    read = {name for element in found.papers[0].elements for name in element.data}
    assert "wong2015/own" not in read | {entry.name for entry in found.datasets} and "wong2015/qcd" in read


def test_machines_software_and_data_are_those_that_there_are(text, facts):
    assert {machine.name for machine in facts.machines} == set(claims.machines(RESULTS))
    assert any("H200" in device for machine in facts.machines for device in machine.devices)
    assert facts.software["numpy"] and f"numpy {facts.software['numpy']}" in text
    assert "NVIDIA GeForce GTX 580" in text and "| `fu2014/heart` |" in text
    assert all(entry.name.startswith("fu2014/") for entry in facts.datasets)
    assert facts.minutes["paper"] == sum(element.minutes.get("paper", 0) for element in facts.papers[0].elements)


def test_of_one_paper_it_names_that_papers_algorithms(text):
    assert "tables and figures of 1 paper on finite elements" in text
    (line,) = [line for line in text.splitlines() if line.startswith("- **Algorithms:**")]
    assert line == "- **Algorithms:** assembly by patches, algebraic multigrid with relaxation on patches"


def test_of_all_papers_it_names_each_algorithm_once(facts):
    from dataclasses import replace

    from repro.site.appendix import build
    from repro.site.appendix.facts import ALGORITHMS

    assert sorted(ALGORITHMS) == published.papers()
    papers = tuple(replace(facts.papers[0], key=key, elements=(), verdicts=()) for key in ALGORITHMS)
    text = build(replace(facts, papers=papers))
    assert "tables and figures of 5 papers on finite elements" in text
    listed = text.partition("- **Algorithms:** ")[2].partition("\n- **")[0]
    assert max(len(line) for line in listed.splitlines()) <= 120
    names = " ".join(listed.split()).split(", ")
    assert len(names) == len(set(names)) and set(names) == {name for each in ALGORITHMS.values() for name in each}


def test_an_artefact_without_a_module_says_so(monkeypatch):
    from repro.site.appendix import build, collect

    monkeypatch.setattr(discovery, "find", list)
    found = collect(RESULTS, ["zhang2013"])
    assert {element.problem for element in found.papers[0].elements} == {"there is no module of it"}
    assert "there is no module of it" in build(found)


def test_of_an_installed_project(tmp_path):
    from importlib import metadata

    from repro.site.appendix import facts

    about = facts._project(tmp_path)
    assert about["license"] == "BSD-3-Clause" and about["requires-python"].startswith(">=")
    software = facts._software(tmp_path, about["dependencies"])
    assert software["numpy"] == metadata.version("numpy") and "jinja2" not in software


def test_command(tmp_path, capsys):
    file = tmp_path / "docs" / "appendix.md"
    assert main(["appendix", "--paper", "geveler2011", "--output", str(file)]) == 0
    assert main(["appendix", "--paper", "geveler2011"]) == 0
    assert capsys.readouterr().out == file.read_text() and "## C1: geveler2011" in file.read_text()
    assert main(["appendix", "--paper", "geveler"]) == 2


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_a_damaged_manifest_is_said_in_a_line(tmp_path, capsys, content):
    (tmp_path / "box" / "fu2014").mkdir(parents=True)
    path = tmp_path / "box" / "fu2014" / "table2.json"
    path.write_text(content)
    stored = next(RESULTS.glob("*/fu2014/table2.csv"))
    path.with_suffix(".csv").write_bytes(stored.read_bytes())
    (path.parent / "notes.json").write_text("[1]")  # a user's own: none of ours
    for command in ("appendix", "claims"):
        assert main([command, "--paper", "fu2014", "--results", str(tmp_path)]) == 1
        said = capsys.readouterr().err
        assert f"{path} is damaged" in said and "Traceback" not in said and said.count("\n") == 1
    path.unlink()
    assert main(["appendix", "--paper", "fu2014", "--results", str(tmp_path)]) == 0


def test_damaged_rows_are_said_in_a_line_with_what_to_do(tmp_path, capsys):
    """By every command that reads them, and no other: those of the rest, as of another paper, are as good."""
    (tmp_path / "box" / "fu2014").mkdir(parents=True)
    path = tmp_path / "box" / "fu2014" / "table2.csv"
    whole = next(RESULTS.glob("*/fu2014/table2.csv")).read_bytes()
    claims, compare = ["claims", "--paper", "fu2014"], ["compare", "fu2014-table2", "--machine", "box"]
    reading = [claims, compare, ["appendix", "--paper", "fu2014"], ["figures", "fu2014-table2"], ["report"]]
    for content, commands in ((whole[:-20], [claims]), (b"\xff" + whole, [claims]), (b"", reading)):
        path.write_bytes(content)
        for command in commands:
            assert main([*command, "--results", str(tmp_path)]) == 1
            said = capsys.readouterr().err
            assert f"{path} is damaged" in said and "remove it" in said and "Traceback" not in said, (content, said)
            assert said.count("\n") == 1
    others = (
        ["status", "fu2014-table2", "--machine", "box"],
        ["appendix", "--paper", "zhang2013"],
        ["clean", "--dry-run"],
    )
    for command in others:
        assert main([*command, "--results", str(tmp_path)]) == 0
