"""The site: Sphinx reads Markdown by MyST and docstrings by numpydoc. `make docs` builds it; warnings are errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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
