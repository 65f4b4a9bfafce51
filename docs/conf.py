"""Settings of the documentation; ``make docs`` builds it."""

import sys
from pathlib import Path
from typing import Any

from semisvm import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "semisvm"
author = "the semisvm developers"
project_copyright = "2026, the semisvm developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "choice_tables",
    "command_line",
    "estimator_tables",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "extensions", "templates", "choosing.md"]  # choose.md includes choosing.md
templates_path = ["templates"]
default_role = "literal"  # docstrings write `name` for code
suppress_warnings = ["config.cache", "ref.citation"]  # a function in a template; sources that no sentence refers to
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|scipy|matplotlib|joblib)\..*")]  # documented elsewhere

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # types are in the numpydoc sections
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("semisvm",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"semisvm": None},
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
toc_object_entries_show_parents = "hide"  # the names of methods have to fit beside the page
html_title = f"semisvm {release}"
html_static_path = ["static"]
html_css_files = ["semisvm.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "semisvm"},
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {
    "index": [],
    "getting_started": [],
    "choose": [],
    "command_line": [],
    "changes": [],
    "contributing": [],
}


def setup(app: Any) -> None:
    """Drop the blank line that ends the output of a doctest: only pytest needs it."""
    app.connect(
        "source-read", lambda app, docname, source: source.__setitem__(0, source[0].replace("\n\n```\n", "\n```\n"))
    )
