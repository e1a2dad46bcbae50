"""The documentation site: Sphinx, MyST and Furo; `just docs` builds it into build/docs."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "extensions")]

project = "polaroc"
author = "The polaroc developers"
copyright = f"2026, {author}"
version = release = metadata.version("polaroc")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "live_charts",
    "math_markup",
    "command_help",
    "measure_table",
    "related",
    "links",
    "short_types",
    "line_breaks",
    "sheets",
]
exclude_patterns = ["images", "templates"]
templates_path = ["templates"]
default_role = "py:obj"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
maximum_signature_line_length = 80
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
add_module_names = False
toc_object_entries = False

# What scikit-learn adds to an estimator, described in its own glossary.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_score_request, set_predict_request"
}

html_theme = "furo"
# The one that comes with Furo underlines names as if they were links.
pygments_dark_style = "github-dark"
html_title = f"polaroc {version}"
html_static_path = ["assets"]
html_css_files = ["polaroc.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "code-font-size": "0.8rem",
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
        "picture-filter": "none",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ec6ee",
        "color-brand-content": "#8ec6ee",
        "picture-filter": "invert(0.92) hue-rotate(180deg)",
    },
}
