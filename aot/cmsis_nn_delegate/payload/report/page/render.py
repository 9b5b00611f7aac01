"""Makes the page: one file that loads nothing, with styles, scripts, charts and the report itself inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any, Optional

from . import charts, library, sections

Document = Mapping[str, Any]

# The browser itself refuses to load anything. Vega makes functions of its expressions, hence unsafe-eval.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'"


def render(report: Document, profile: Optional[Document] = None, against: Optional[Document] = None) -> str:
    """Returns the page as HTML.

    report: as `document.read_report` returns it.
    profile: as `document.read_profile` returns it; without it the page has no instructions.
    against: an earlier report, of which the page shows the differences.

    UserError if the package with the charts' scripts is missing.
    """
    drawn: dict[str, charts.Spec] = {"memory-arena": charts.memory(report, "arena")}
    if report["persistent_bytes"]:
        drawn["memory-persistent"] = charts.memory(report, "persistent")
    if profile is not None:
        drawn["by-call"] = charts.by_call(
            [c["instructions"] for c in profile["calls"]], report["calls"], "instructions"
        )
    elif report.get("prediction", {}).get("instructions") is not None:
        counts = [c["predicted_instructions"] for c in report["calls"]]
        drawn["by-call"] = charts.by_call(counts, report["calls"], "predicted instructions")
    else:
        drawn["by-call"] = charts.by_call([c["macs"] for c in report["calls"]], report["calls"], "multiplications")
    parts = [
        sections.heading(report, profile),
        sections.summary(report, profile, against),
        sections.changes(report, against) if against is not None else "",
        "<h2>Memory over time</h2>",
        "<p class=faint>Each rectangle is a buffer: the calls in which it lives across, its addresses up. Point at "
        "one to see its name, size and lifetime. The marked column is the call with the most live bytes.</p>",
        *(f'<div class=chart id="{name}"></div>' for name in drawn),
        sections.peak(report),
        sections.calls(report, profile),
        sections.flash(report),
        sections.interface(report),
        sections.left_out(report),
        "<p class=faint style='margin-top:40px'>Written by cmsisnn. The figures are in this file as JSON, in its "
        "elements <code>report</code> and <code>profile</code>. Charts: Vega, Vega-Lite and Vega-Embed "
        "(BSD-3-Clause).</p>",
    ]
    documents = {"report": report, "profile": profile, "charts": drawn}
    data = "".join(
        f'<script type="application/json" id="{name}">{_json(document)}</script>'
        for name, document in documents.items()
    )
    scripts = (library.scripts(), _DRAW, _file("table.js"))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="payload-crc32" content="{report["payload_crc32"]}">'
        f"<title>{escape(report['name'])} on {escape(report['target'])}</title>"
        f"<style>{_file('page.css')}</style></head>\n<body>{''.join(parts)}\n{data}\n"
        f"<!--\n{library.notice().replace('-->', '--')}\n-->\n"
        + "".join(f"<script>{_inline(script)}</script>\n" for script in scripts)
        + "</body></html>\n"
    )


_DRAW = """
const charts = JSON.parse(document.getElementById("charts").textContent);
for (const [id, chart] of Object.entries(charts)) {
  vegaEmbed("#" + id, chart, { mode: "vega-lite", renderer: "svg", actions: false });
}
"""


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _json(document: object) -> str:
    """Returns JSON that no HTML parser takes for the end of its element."""
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _inline(script: str) -> str:
    """Checks that a script can stand inside of an element."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script would end its own element")
    return script
