"""Makes the page: one file that loads nothing, with styles, scripts, charts and the report itself inside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, Optional

from ..image_sizes import ImageSizes
from . import charts, graph, image, library, quantization, sections

Document = Mapping[str, Any]

# The browser itself refuses to load anything. Vega makes functions of its expressions, hence unsafe-eval.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'"


def render(
    report: Document,
    profile: Optional[Document] = None,
    against: Optional[Document] = None,
    *,
    accuracy: Optional[Document] = None,
    firmware: Optional[tuple[str, ImageSizes]] = None,
    limits: Mapping[str, int] = sections.NO_LIMITS,
) -> str:
    """Returns the page as HTML. `from_json`, `image_sizes`, `runner.profile` and `accuracy_report`
    read the documents and check their fields.

    profile: without it the page has no instructions.
    against: an earlier report, of which the page shows the differences.
    accuracy: without it the page has no noise.
    firmware: the name and the sizes of an image; without it the page shows the payload's flash alone.
    limits: in bytes, of "arena" and "flash".

    UserError if the package with the charts' scripts is missing.
    """
    drawn = charts_of(report, profile)
    if firmware is not None:
        drawn["flash-map"] = image.flash_map(firmware[1])
    body = [
        sections.heading(report, profile),
        sections.summary(report, profile, against, accuracy, limits),
        sections.changes(report, against) if against is not None else "",
        *sections_of(report, drawn, profile, accuracy, firmware),
        NOTE,
    ]
    return page(
        f"{report['name']} on {report['target']}",
        f'<meta name="payload-crc32" content="{report["payload_crc32"]}">',
        body,
        {"report": report, "profile": profile, "accuracy": accuracy, "charts": drawn},
    )


def charts_of(report: Document, profile: Optional[Document] = None, prefix: str = "") -> dict[str, charts.Spec]:
    """Returns the charts of a report by the id of their element, which begins with `prefix`."""
    drawn: dict[str, charts.Spec] = {"memory-arena": charts.memory(report, "arena")}
    for memory in report.get("memories", ()):  # documents of earlier compilers have none
        if memory["region"] != "arena" and memory["nbytes"]:
            drawn[f"memory-{memory['region']}"] = charts.memory(report, memory["region"])
    if charts.kept_bytes(report):
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
    if "tensors" in report:  # documents of earlier compilers have none
        drawn["graph"] = graph.graph(report)
    return {prefix + name: chart for name, chart in drawn.items()}


def sections_of(
    report: Document,
    drawn: Mapping[str, charts.Spec],
    profile: Optional[Document] = None,
    accuracy: Optional[Document] = None,
    firmware: Optional[tuple[str, ImageSizes]] = None,
    prefix: str = "",
) -> list[str]:
    """Returns what the page has of a report below its summary. `drawn` are `charts_of` the report with this prefix."""
    by_call = [n for n in drawn if n.removeprefix(prefix).startswith(("memory", "by-call"))]
    return [
        "<h2>Memory over time</h2>",
        "<p class=faint>Each rectangle is a buffer: the calls in which it lives across, its addresses up. Point at "
        "one to see its name, size and lifetime, or open the table of all buffers. The marked column is the call with "
        "the most live bytes.</p>",
        *(_CHART.format(name, escape(_described(name.removeprefix(prefix)))) for name in by_call),
        sections.buffers(report, f"{prefix}buffers"),
        sections.peak(report),
        sections.calls(report, profile, f"{prefix}calls"),
        sections.flash(report),
        *([image.section(firmware[1], firmware[0])] if firmware is not None else []),
        *(
            [_GRAPH + _CHART.format(f"{prefix}graph", _described("graph")), quantization.section(report, accuracy)]
            if "tensors" in report
            else []
        ),
        sections.interface(report),
        sections.left_out(report),
    ]


def page(title: str, meta: str, body: Sequence[str], documents: Mapping[str, object]) -> str:
    """Returns an HTML file of these parts of its body, with the documents, of which "charts" are drawn."""
    data = "".join(
        f'<script type="application/json" id="{name}">{_json(document)}</script>'
        for name, document in documents.items()
    )
    scripts = (library.scripts(), _DRAW, _file("table.js"))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{meta}"
        f"<title>{escape(title)}</title>"
        f"<style>{_file('page.css')}</style></head>\n<body>{''.join(body)}\n{data}\n"
        f"<!--\n{library.notice().replace('-->', '--')}\n-->\n"
        + "".join(f"<script>{_inline(script)}</script>\n" for script in scripts)
        + "</body></html>\n"
    )


NOTE = (
    "<p class=faint style='margin-top:40px'>Written by cmsisnn. The figures are in this file as JSON, in its elements "
    "of the type <code>application/json</code>. Charts: Vega, Vega-Lite and Vega-Embed (BSD-3-Clause).</p>"
)

_GRAPH = (
    "<h2>Graph</h2><p class=faint>The modules of the model and the kernels that compute them, in execution order; "
    "below each what it writes. Point at a line to see the tensor, or open the table of all tensors.</p>"
)

_CHART = '<div class=chart id="{}" role=img aria-label="{}"></div>'


def _described(chart: str) -> str:
    """Returns what a chart is and which table has the same figures, for those who do not see it."""
    if chart.startswith("memory-"):
        return (
            f"Chart of the memory {chart.removeprefix('memory-')} over the calls; the table of all buffers has the same"
        )
    if chart == "by-call":
        return "Chart of the work of each call; the table of calls has the same"
    return "Graph of the calls; the table of all tensors has the same"


_DRAW = """
const charts = JSON.parse(document.getElementById("charts").textContent);
for (const [id, chart] of Object.entries(charts)) {
  const mode = chart.marks ? "vega" : "vega-lite";
  vegaEmbed("#" + id, chart, { mode, renderer: "svg", actions: false });
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
