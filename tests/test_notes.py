"""Measured numbers stand in docs/notes with their places, and not in docstrings and comments."""

import ast
import io
import re
import tokenize
from pathlib import Path

from tests.checkout import ROOT, listed

PACKAGES = ("kernels", "baselines", "datasets", "experiments", "benchmarks", "repro")
QUANTITY = re.compile(
    r"\d\s*(?:%|per cent\b|(?:[µumn]?s|min|h|(?:micro|milli)?seconds?|minutes?|hours?)\b|[kMGT]?i?B/s"
    r"|[kMGT]?(?:FLOP|DOF)|[kMGT] ?\w+/s\b|times (?:as (?:fast|long)|faster|slower)\b)"
)
# Texts that measured nothing: each says why, and must stand in its file.
LEVEL = ("95 % confidence",)  # of an interval, which is chosen
ALLOWED = {
    "datasets/matrices.py": ("80 % of the places",),  # a threshold of the code
    "datasets/wong2015/cantilever.py": ("7 % fewer",),  # the paper's table beside the grid's count
    "experiments/fu2014/figure5_cross_section.py": ("20 % for the blobs",),  # the paper's
    "experiments/remacle2016/rod.py": ("2.8 seconds",),  # the paper's
    "experiments/wong2015/heart.py": ("1.3 ms",),  # the step, in the unit of the model
    "kernels/monodomain/__init__.py": ("12.9 ms",),  # the unit of the model, from its authors
    "kernels/monodomain/heart.py": ("5 ms",),  # follows from the model
    "repro/bench/compare.py": LEVEL,
    "repro/judge/difference.py": (*LEVEL, "at most 8 % (Bakirov"),  # a bound of a theorem
    "repro/cli/common.py": ("0.4 s", "12 s", "3 min", "2 h 05 min"),  # what a function returns
    "repro/judge/spread.py": ("with 90 %",),  # the level of its intervals
    "repro/run/statistics.py": (*LEVEL, "n < 6 for 95 %"),  # follows from the level
    "repro/run/timing.py": LEVEL,
    "repro/units.py": ("3.2e-05 s", "32.0 µs", "999.9 µs", "1.00 ms"),  # what functions take and return
}
C_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(/\*.*?\*/|//[^\n]*)', re.S)
PATH = re.compile(r"`([\w.-]+/[\w./-]*)`|`?(results/[\w./-]+)`?")


def words_of(path: Path, text: str) -> str:
    """Return the docstrings and comments of a source, blanks joined."""
    if path.suffix == ".py":
        nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [ast.get_docstring(n) or "" for n in ast.walk(ast.parse(text)) if isinstance(n, nodes)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found += [token.string.lstrip("#: ") for token in tokens if token.type == tokenize.COMMENT]
    else:
        found = [match[1] or "" for match in C_COMMENT.finditer(text)]
    return joined("\n".join(found))


def joined(text: str) -> str:
    """Return a text in one line, without what begins the lines of a comment."""
    return re.sub(r"\n[\s#:*]*", " ", text)


def quantities(words: str, allowed: tuple[str, ...]) -> list[str]:
    for each in allowed:
        words = words.replace(each, "")
    return [words[max(0, match.start() - 40) : match.end() + 10] for match in QUANTITY.finditer(words)]


def sources() -> dict[str, str]:
    """Return, by name, the docstrings and comments of those sources in which a quantity may stand."""
    found = {}
    for path in listed("--cached", "--others", "--exclude-standard", *PACKAGES):
        if path.suffix in (".py", ".c", ".cu", ".h") and QUANTITY.search(
            joined(text := path.read_text(encoding="utf-8"))
        ):
            found[path.relative_to(ROOT).as_posix()] = words_of(path, text)
    return found


def test_docstrings_and_comments_tell_no_measured_number():
    told = sources()
    assert {name: wrong for name, words in told.items() if (wrong := quantities(words, ALLOWED.get(name, ())))} == {}
    assert [(name, each) for name, texts in ALLOWED.items() for each in texts if each not in told.get(name, "")] == []


def test_notes_name_files_that_exist():
    pages = sorted((ROOT / "docs/notes").glob("*.md"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        named = {match[1] or match[2] for match in PATH.finditer(text)}
        named |= {f"docs/notes/{link}" for link in re.findall(r"\]\(([\w./-]+)\)", text)}
        assert {name for name in named if not (ROOT / name).exists()} == set(), page.name
        assert named


def test_pages_of_notes_are_named():
    """Each page by the index and by a source, and each pointer leads to a page."""
    text = " ".join(p.read_text(encoding="utf-8") for p in listed(*PACKAGES) if p.suffix in (".py", ".c", ".cu", ".h"))
    pointed = set(re.findall(r"docs/notes/([\w-]+)\.md", text))
    pages = {page.stem for page in (ROOT / "docs/notes").glob("*.md")} - {"README"}
    indexed = set(re.findall(r"\(([\w-]+)\.md\)", (ROOT / "docs/notes/README.md").read_text(encoding="utf-8")))
    assert pointed == pages == indexed
