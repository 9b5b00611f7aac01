"""The page of `cmsisnn explore`: a chart in which a point can be picked, and a table of all points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .render import inline, read_file, templates


def render_exploration(document: Mapping[str, Any]) -> str:
    """Returns the page of a NAME.explore.json as HTML. It loads nothing."""
    template = templates().get_template("explore.html")
    return template.render(explored=document, script=inline(read_file("explore.js")))
