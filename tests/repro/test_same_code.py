"""The number of stored results of HEAD's code, and whether the commits that measured them ran the same."""

import json

import pytest

from repro.cache import recompute
from repro.cli import main
from repro.judge import provenance, same_code, trees, verify
from repro.judge.provenance import Measured, Part
from repro.run.protocol import PROTOCOL
from repro.site.showcase.page import COMMITS, Showcase

KERNEL = {"text": "t", "preprocessed": "p", "flags": "gcc 12", "defines": {}, "block": [1, 1, 1]}


def part(of, name, entry, scale="smoke"):
    return Part(of, name, json.dumps(entry, sort_keys=True), scale)


def ran(commit, *parts, cell="a", is_last=True, file="box/demo/table1"):
    return Measured(file, cell, commit, False, parts, {}, is_last)


@pytest.fixture
def tree(monkeypatch):
    """Have trees answer without git: by commit what each has by name; a commit without an entry is not here."""
    held, asked = {}, []

    def parts(commit, names):
        asked.append(commit)
        if commit not in held:
            raise trees.NotAsked(f"this clone has no commit {commit}")
        return [held[commit].get(name) for _, name, *_ in names]

    monkeypatch.setattr(trees, "parts", parts)
    return held, asked


def said(*every):
    return same_code.of_head(every, provenance.ask(every))


def counted(cells, rounds, of_cells=1, of_rounds=1):
    return (f"box: HEAD has the code of the last rounds of {cells} of {of_cells} cells, and of {rounds} of all "
            f"{of_rounds} rounds")  # fmt: skip


def test_a_run_is_of_heads_code_until_a_commit_changes_it(committed, capsys):
    (line,) = verify.verify(committed.results).code
    assert line == "bench: HEAD has the code of the last rounds of 9 of 9 cells, and of 9 of all 9 rounds"
    assert main(["verify", "--results", str(committed.results)]) == 0
    assert f"{line}\n0 problems" in capsys.readouterr().err
    source = committed.paper / "adding.py"
    source.write_text(source.read_text() + "# a comment\n")
    committed.git("commit", "--quiet", "-am", "comment")
    assert verify.verify(committed.results).code == [line]
    source.write_text(source.read_text().replace("sum(numbers)", "sum(list(numbers))"))
    assert verify.verify(committed.results).code == [line]  # which no commit has
    committed.git("commit", "--quiet", "-am", "another sum")
    problems, code = verify.verify(committed.results)
    assert [each for each in problems if each.kind == verify.WRONG] == []
    assert code == [
        line.replace("9 of", "3 of"),
        "  HEAD has another fakelab/demo2020/adding.py than cells of demo2020/table1.smoke (6)",
    ]


def test_without_git_nothing_is_known_of_head(committed, monkeypatch):
    monkeypatch.setenv("PATH", str(committed.folder))
    (line,) = verify.verify(committed.results).code
    assert line.startswith("whether HEAD has the code of the results is not known: git does not run")


def test_head_is_asked_once_and_after_the_commits_that_measured(tree):
    held, asked = tree
    held |= {"1": {"a.py": "x"}, "2": {"a.py": "x", "b.py": "y"}, "HEAD": {"a.py": "x", "b.py": "z"}}
    one, two = part("code", "a.py", "x"), part("code", "b.py", "y")
    rounds = ran("2", two, cell="b", is_last=False), ran("2", two, cell="b")
    every = (ran("1", one), ran("1", one, is_last=False), *rounds, ran("2", one, two, cell="c"))
    assert said(*every) == [
        counted(1, 2, 3, 5), "  HEAD has another b.py than cells of demo/table1 (2)",
    ]  # fmt: skip
    assert sorted(asked[:2]) == ["1", "2"] and asked[2:] == ["HEAD"]
    assert said() == []


def test_a_kernel_is_heads_if_its_compiler_sees_the_same(tree):
    held, _ = tree
    mine = part("kernels", "k.c openmp 1x1x1", KERNEL)
    held |= {"1": {mine.name: KERNEL}, "HEAD": {mine.name: {**KERNEL, "text": "u", "flags": "gcc 14"}}}
    assert said(ran("1", mine)) == [counted(1, 1)]
    held["HEAD"] = {mine.name: {**KERNEL, "preprocessed": "q"}}
    assert said(ran("1", mine))[1].startswith("  HEAD has another k.c than")
    held["HEAD"] = {}
    assert said(ran("1", mine))[0] == counted(0, 0)


def test_a_dataset_is_heads_if_the_commits_tree_has_it_alike_whatever_packages_are_here(tree):
    held, _ = tree
    mine = part("data", "mesh", "by packages of another version")
    held |= {"1": {"mesh": "recipe"}, "HEAD": {"mesh": "recipe"}}
    assert said(ran("1", mine)) == [counted(1, 1)]
    held["HEAD"] = {"mesh": mine.entry}
    assert said(ran("1", mine)) == [
        counted(0, 0), "  HEAD has another dataset mesh than cells of demo/table1 (1)",
    ]  # fmt: skip


def test_what_no_commit_has_is_heads_by_the_stored_key_and_an_earlier_round_by_its_tree(tree):
    held, _ = tree
    mine = part("code", "a.py", "uncommitted")
    held |= {"1": {"a.py": "x"}, "HEAD": {"a.py": "x"}}
    assert said(ran("1", mine))[0] == counted(0, 0)
    believed = part("code", "a.py", "x")
    held["1"] = {"a.py": "old"}
    assert said(ran("1", believed, is_last=False), ran("HEAD", believed))[0] == counted(1, 1, 1, 2)


def test_another_protocol_of_timing_is_other_code(tree):
    held, _ = tree
    (mine,) = provenance.parts_of({"protocol": 6}, "smoke", ())
    held |= {"1": {}, "HEAD": {mine.name: 6}}
    assert said(ran("1", mine)) == [counted(1, 1)]
    held["HEAD"] = {mine.name: 7}
    assert said(ran("1", mine))[1].startswith("  HEAD has another protocol of timing than")
    assert provenance.check([ran("1", mine)], provenance.ask([ran("1", mine)])) == []  # older trees do not tell it
    assert recompute.now(*mine[:2], 6, "smoke") == PROTOCOL


def test_rounds_of_commits_that_are_not_here_are_counted_apart(tree):
    held, _ = tree
    mine = part("code", "a.py", "x")
    held |= {"1": {"a.py": "x"}, "HEAD": {"a.py": "x"}}
    lost = ran("2", mine), ran(None, mine)
    assert said(ran("1", mine), *lost) == [f"{counted(1, 1)}; 2 more are of commits that cannot be asked"]


def test_commits_are_compared_by_what_the_keys_of_several_have():
    names = {"names": ["f", "g"], "hash": "1"}
    one = part("code", "a.py", "x"), part("code", "e.py", names), part("kernels", "k.c openmp", KERNEL)
    two = (
        part("code", "a.py", "x"),
        part("code", "e.py", {"names": ["f"], "hash": "2"}),
        part("kernels", "k.c openmp", {**KERNEL, "text": "u"}),
        part("data", "mesh", "m"),
    )
    every = [ran("1", *one), ran("2", *two), ran("3", part("code", "a.py", "y"), is_last=False)]
    counts = "Rounds are of 3 commits, the last ones of 2 of these. The keys name 5 files, kernels and datasets."
    assert same_code.of_commits(every) == {
        "box": f"{counts} 2 of these stand in keys of several commits, and all are alike there."
    }
    every += [ran("4", part("code", "a.py", "z"))]
    assert same_code.of_commits(every)["box"].endswith(
        "2 of these stand in keys of several commits, and all but 1 (a.py) are alike there."
    )
    apart = [ran("1", one[0]), ran("2", two[3])]
    assert same_code.of_commits(apart)["box"].endswith("The keys name 2 files, kernels and datasets.")
    assert same_code.of_commits([ran("1", *one)]) == {"box": "One commit measured it."}
    assert same_code.of_commits([ran(None, *one)]) == {}


def test_the_page_of_results_says_how_many_commits_measured(committed):
    page = Showcase(committed.results).pages()["results.md"]
    assert f"\n{COMMITS}\n\n- bench: One commit measured it.\n" in page
    (committed.results / "bench/demo2020/table1.smoke.samples.json.xz").write_bytes(b"damaged")
    assert verify.measured(committed.results) == []
