"""The pages are plain: rules that a sentence a stranger reads twice would break.

Two of the rules hold for docstrings and comments, too. Generated pages and the papers' own words are left out.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from repro.judge.claims import claims

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"results.md"}  # it is generated
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(
    path for path in (ROOT / "docs").rglob("*.md")
    if path.name not in LEFT_OUT and path.parent.name not in ("claims", "kernels")
)]  # fmt: skip
DANGLES = re.compile(r"(?:It|Its|They|Their|This|That|These|So|Up) ")  # begins a sentence that needs another
LONGEST = 32  # words of a sentence
RULES = {
    "begins with a clause": re.compile(r"^(?:What|Whatever|Whichever|Which|That which|Those|How) (?!is\b.*\?$)"),
    "hangs on a pronoun": re.compile(r"\b(?:that|those|these) of\b|\bthose that\b|\bthat which\b"),
    "has a noun for a verb": re.compile(r"\bin order to\b|\bmakes? use of\b|\bthe fact that\b"),
    "is stiff": re.compile(r"\b(?:hereby|thereof|whereof|wherein|therein|aforementioned|utili[sz]e[sd]?)\b", re.I),
}
FOLDERS = ("repro", "kernels", "datasets", "baselines", "experiments", "published", "benchmarks", "tests")
OF_SOURCES = ("begins with a clause", "hangs on a pronoun")
IN_C = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
COMMENTS = {**dict.fromkeys((".c", ".cu", ".cl", ".h", ".cuh"), IN_C), ".toml": re.compile(r"(?<!\S)#.*")}


def sentences(text):
    """Return the sentences of a page's running text: no code, tables, headings, comments or generated parts."""
    text = re.sub(r"```.*?```|<!-- (\w+): written.*?<!-- end of \1 -->|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^ *\|.*$|^#.*$|^\(.*\)=$", "", text, flags=re.M)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "X", text)
    blocks = re.split(r"\n\s*\n|\n(?= *- )", text)
    joined = [re.sub(r"^ *- ", "", " ".join(block.split())) for block in blocks]
    return [each for block in joined for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z*“])|(?<=\.)\s+(?=\d)", block) if each]


def remarks(path):
    """Return the docstrings of a source, and its blocks of comments on lines that follow one another."""
    text = path.read_text(encoding="utf-8")
    lines, found = [""] * (text.count("\n") + 2), []
    if path.suffix == ".py":
        bare = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
        found = [each.value for each in bare if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    else:
        comments = [(text.count("\n", 0, each.start()), each[0]) for each in COMMENTS[path.suffix].finditer(text)]
    for first, comment in comments:
        for number, line in enumerate(comment.strip().splitlines(), first):
            lines[number] = re.sub(r"^[\s#:/*]+|\*/$", "", line)
    return [each.replace("``", "`") for each in (*found, *re.split(r"\n\n+", "\n".join(lines)))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short_and_begin_with_their_subject(page):
    found = sentences(page.read_text(encoding="utf-8"))
    wrong = [f"{name}: {each}" for each in found for name, rule in RULES.items() if rule.search(each)]
    wrong += [f"{len(each.split())} words: {each}" for each in found if len(each.split()) > LONGEST]
    assert wrong == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_begin_with_their_subject(folder):
    paths = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", *COMMENTS)]
    found = [(path.relative_to(ROOT), each) for path in paths for text in remarks(path) for each in sentences(text)]
    assert found
    assert [f"{path}: {name}: {each}" for path, each in found for name in OF_SOURCES if RULES[name].search(each)] == []


def test_a_claim_stands_alone_in_plain_words():
    wrong = []
    for claim in claims():
        parts = [each.says for each in (claim.effect, claim.today, *claim.causes) if each]
        says = [claim.says, *parts, claim.condition, claim.unmeasured]
        found = [each for text in says for each in sentences(text)]
        wrong += [f"{claim.id}: {each}" for each in found if any(rule.search(each) for rule in RULES.values())]
        wrong += [f"{claim.id}: {each}" for each in (claim.says, *parts) if DANGLES.match(each)]
    assert wrong == []


def test_the_rules_catch_the_sentences_that_they_are_for():
    hard = (
        "What was measured on a GPU stands whatever the cores beside it; what was on the processor, or partly, with as "
        "many as it had.\n\nThe padding is that of the widest row. It takes those that it needs."
    )
    hard = f"# A page\n\n{hard}\n\n| a | table |\n\n```sh\nmake\n```\n"
    caught = {name for each in sentences(hard) for name, rule in RULES.items() if rule.search(each)}
    assert caught == {"begins with a clause", "hangs on a pronoun"}
    assert not any(rule.search("GPU results stay valid when the number of cores changes.") for rule in RULES.values())


def test_docstrings_and_comments_of_each_language_are_found(tmp_path):
    for name, text in {
        "a.py": 'x = "#3"  # What a\n         # comment is.\n"""What ``x`` is."""\ny = "Those of x."\n',
        "a.c": "// What a\n// comment is.\nint x; /* What `x`\n * is. */\n",
        "a.toml": '# What a\n# comment is.\nx = "What x is."\n\ny = 3  # What `x` is.\n',
    }.items():
        (tmp_path / name).write_text(text)
        found = [each for text in remarks(tmp_path / name) for each in sentences(text)]
        assert sorted(found) == ["What X is.", "What a comment is."], name
