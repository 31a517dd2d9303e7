"""The site: Sphinx reads Markdown by MyST and docstrings by numpydoc. `make docs` builds it; warnings are errors."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sphinx.addnodes import pending_xref

import repro

project, author, release = "repro", "The repro authors", repro.__version__
copyright = "2026, The repro authors"
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
html_theme = "furo"
html_title = "repro"
exclude_patterns = ["_build"]
suppress_warnings = ["myst.xref_missing"]  # links to files of the checkout, which the site does not have

# With the tag `evidence` the pages of results that claims link to are pages of the site, read through a link made here.
DOCS = Path(__file__).parent
LINK = re.compile(r"results/([\w-]+/[\w-]+/[\w.]+)\.md")
if tags.has("evidence"):  # noqa: F821 (Sphinx's)
    linked = {name for page in (DOCS / "claims").glob("*.md") for name in LINK.findall(page.read_text("utf-8"))}
    (DOCS / "stored").exists() or (DOCS / "stored").symlink_to(Path("..", "results"))
    every = (path.relative_to(DOCS) for path in DOCS.glob("stored/*/*/*.md"))
    exclude_patterns += [path.as_posix() for path in every if path.with_suffix("").as_posix()[7:] not in linked]
    suppress_warnings += ["toc.not_included", "image.not_readable"]  # of some scales pictures are not kept
else:
    exclude_patterns.append("stored")


def lead_to_results(app, doctree):
    """Turn links to a page of results in the checkout to the same page of the site."""
    for node in doctree.findall(pending_xref):
        if (found := LINK.search(f"{node['reftarget']}.md")) and f"stored/{found[1]}" in app.env.found_docs:
            node["reftarget"] = f"stored/{found[1]}"


def setup(app):
    """Sphinx calls this."""
    app.connect("doctree-read", lead_to_results)
