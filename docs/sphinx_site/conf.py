"""Sphinx's configuration of the site; build_site.py runs it."""

from __future__ import annotations

import docstring_fields

import cmsis_nn_delegate

project = "cmsis_nn_delegate"
version = release = cmsis_nn_delegate.__version__
author = ""

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinxarg.ext"]
root_doc = "index"
highlight_language = "none"
nitpicky = False  # types of torch and numpy have no pages here

# Anchors as on GitHub, so that links work on both.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100

# Nothing from the network: the theme's own stylesheets and scripts, and the reader's fonts.
html_theme = "furo"
html_title = "CMSIS-NN delegate for ExecuTorch"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def _docstring(_app, _what, _name, _object, _options, lines):  # type: ignore[no-untyped-def]  # Sphinx's event
    lines[:] = docstring_fields.convert(lines)


def setup(app):  # type: ignore[no-untyped-def]  # as above
    app.connect("autodoc-process-docstring", _docstring)
