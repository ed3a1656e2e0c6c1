"""How the site is built: `make docs`. Nothing is fetched while it is built."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generated  # noqa: E402

from prssm.foundation.version import __version__  # noqa: E402

generated.write(HERE / "_generated")

project = "prssm"
author = "the prssm authors"
project_copyright = "2026 the prssm authors, MIT licence"
version = __version__
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_generated"]
suppress_warnings = [
    "myst.header",  # pages that are made by commands begin where they like
]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
# The words of a docstring are plain text in which a name stands between backquotes.
default_role = "literal"
smartquotes = False  # two hyphens of an option stay two
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
html_theme = "furo"
html_title = f"prssm {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["wide-tables.css"]
