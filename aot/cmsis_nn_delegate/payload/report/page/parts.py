"""The page of a model that is not one payload: what is delegated, what is not and why, and then each part."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import zip_longest
from typing import Any, Optional

from ..image_sizes import ImageSizes
from . import html, image, quantization, sections
from .render import NOTE, charts_of, page, sections_of

Document = Mapping[str, Any]

_SEVERITIES = {
    "warning": "runs outside, in float",
    "error": "no kernel exists: the program cannot be loaded",
}


def render_parts(
    parts: Document,
    against: Optional[Document] = None,
    *,
    accuracy: Optional[Document] = None,
    firmware: Optional[tuple[str, ImageSizes]] = None,
    limits: Mapping[str, int] = sections.NO_LIMITS,
) -> str:
    """Returns the page of a NAME.parts.json as HTML.

    against: an earlier NAME.parts.json, of which the page shows the differences.
    accuracy: of the whole model; without it the page has no noise.
    firmware: the name and the sizes of an image.
    limits: in bytes, of "arena", which is that of the largest part, and "flash", of all payloads.

    UserError if the package with the charts' scripts is missing.
    """
    drawn = {}
    body = [_heading(parts), _summary(parts, against, accuracy, limits), _refusals(parts), _functions(parts)]
    layers = "" if accuracy is None else quantization.measured(accuracy)
    body.append(f"<h2>Accuracy</h2>{layers}" if layers else "")
    if firmware is not None:
        drawn["flash-map"] = image.flash_map(firmware[1])
        body.append(image.section(firmware[1], firmware[0]))
    before = [] if against is None else against["parts"]
    for index, (report, earlier) in enumerate(zip_longest(parts["parts"], before[: len(parts["parts"])]), 1):
        prefix = f"part{index}-"
        charts = charts_of(report, prefix=prefix)
        drawn.update(charts)
        body += [
            f"<h1>Part {index} of {len(parts['parts'])}</h1>",
            sections.about(report),
            sections.summary(report, None, earlier),
            sections.changes(report, earlier) if earlier is not None else "",
            *sections_of(report, charts, prefix=prefix),
        ]
    body.append(NOTE)
    return page(
        f"{parts['name']} on {parts['target']}",
        f'<meta name="program-crc32" content="{parts["program_crc32"]}">',
        body,
        {"parts": parts, "charts": drawn},
    )


def _heading(parts: Document) -> str:
    about = [
        f"for {parts['target']}",
        f"{len(parts['parts'])} calls of the delegate" if len(parts["parts"]) > 1 else "one call of the delegate",
        *([f"quantizer {parts['quantizer']}"] if parts["quantizer"] else []),
        f"program CRC-32 {parts['program_crc32']}",
    ]
    why = f"Not one delegate call with the inputs and outputs of the model: {parts['obstacle']}."
    return f"<h1>{escape(parts['name'])}</h1><p class=faint>{escape(' · '.join(about))}</p><p>{escape(why)}</p>"


def _summary(
    parts: Document, against: Optional[Document], accuracy: Optional[Document], limits: Mapping[str, int]
) -> str:
    reports, work = parts["parts"], parts["work"]
    old: Mapping[str, int] = {} if against is None else _sizes(against)
    multiplications, operators = work["multiplications"], work["operators"]
    predicted = [report["prediction"]["instructions"] for report in reports]
    known = "" if None in predicted else f"; about {sum(predicted):,} instructions predicted for these"
    tiles = [
        sections.tile(
            "Delegated",
            operators["delegated"],
            f"of {operators['total']:,} operators",
            f"and {multiplications['delegated']:,} of {multiplications['total']:,} multiplications{known}",
            old.get("operators"),
        ),
        sections.tile(
            "RAM: arena",
            _sizes(parts)["arena"],
            "bytes",
            "of the largest part; each has its own only while it runs",
            old.get("arena"),
            limits.get("arena"),
        ),
        sections.tile(
            "Flash: payloads",
            _sizes(parts)["flash"],
            "bytes",
            "of all parts" if not old else f"of {len(reports)} parts; before, of {old['parts']}",
            old.get("flash"),
            limits.get("flash"),
        ),
        sections.tile(
            "Border",
            work["border_bytes"],
            "bytes",
            "of inputs and outputs of the parts, in each inference",
            old.get("border"),
        ),
    ]
    if accuracy is not None:
        tiles.append(sections.text_tile("Accuracy", *quantization.figures(accuracy)))
    return f"<div class=tiles>{''.join(tiles)}</div>"


def _sizes(parts: Document) -> dict[str, int]:
    """Returns the figures that are compared with those of another compilation."""
    reports, work = parts["parts"], parts["work"]
    return {
        "arena": max((report["arena"]["nbytes"] for report in reports), default=0),
        "flash": sum(report["flash_bytes"] for report in reports),
        "border": work["border_bytes"],
        "operators": work["operators"]["delegated"],
        "parts": len(reports),
    }


def _refusals(parts: Document) -> str:
    refused = [function for function in parts["functions"] if function["severity"] != "ok"]
    rows = [
        [
            _where(function),
            f"<code>{escape(function['function'])}</code>",
            escape(_SEVERITIES[function["severity"]]),
            f"<b>{escape(function['reason'])}</b><br>{escape(function['message'])}",
        ]
        for function in refused
    ]
    note = "<p class=faint>By module and line of the model, in execution order.</p>"
    table = html.sortable("refused", ("module", "function", "consequence", "reason"), rows, "cumsum, layers.3, …")
    return "<h2>Outside of the delegate</h2>" + (note + table if rows else "<p>Nothing.</p>")


def _functions(parts: Document) -> str:
    rows = []
    for function in parts["functions"]:
        if function["severity"] == "ok":
            calls = [f"call {call['call']}, {call['kernel']} ({call['provider']})" for call in function["calls"]]
            part = ", ".join(dict.fromkeys(f"{call['partition'] + 1}" for call in function["calls"]))
            rows.append(
                [
                    _where(function),
                    f"<code>{escape(function['function'])}</code>",
                    part,
                    escape("; ".join(calls) or "needs no call"),
                ]
            )
    table = html.sortable("functions", ("module", "function", "part", "calls"), rows, "conv2d, layers.0, …")
    return "<h2>Delegated</h2>" + table


def _where(function: Document) -> str:
    code = f"<br><code class=faint>{escape(function['code'])}</code>" if function["code"] else ""
    source = f"<br><span class=faint>{escape(function['source'])}</span>" if function["source"] else ""
    return f"{escape(function['module'] or '(the model)')}{source}{code}"
