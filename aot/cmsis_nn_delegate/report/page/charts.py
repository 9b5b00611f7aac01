"""The page's charts as Vega-Lite specifications. Colours are the variables of page.css, so that charts follow the
reader's light or dark theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

Spec = dict[str, Any]

KINDS = ("input", "output", "tensor", "scratch", "state")

# Both charts leave the same room for the vertical axis, so that their calls are below each other.
_AXIS_PX = 64
_HEADROOM = 1.15  # above the region, for the names of lines
_SHORT = 8  # characters, which are about 7 px wide
_LEAST_LABEL = 0.05  # of the height: smaller buffers have no room for their name


def memory(report: Mapping[str, Any], region: str) -> Spec:
    """Returns calls across and addresses up: a rectangle for each buffer of `region`, the region's size, and for the
    arena its bound and the call with the most live bytes."""
    arena, count = report["arena"], max(len(report["calls"]), 1)
    sizes = {m["region"]: m["nbytes"] for m in report.get("memories", ())}
    size = {**sizes, "arena": arena["nbytes"], "persistent": kept_bytes(report)}[region]
    buffers = [b for b in arena["buffers"] if b["region"] == region]
    buffers.sort(key=lambda b: -b["nbytes"])  # the small ones are drawn last, and can be pointed at
    rows = [_buffer_row(b, size) for b in buffers]
    layers: list[Spec] = [_buffers(rows), _names(rows, count)]
    lines = [{"at": size, "text": f"{'size' if region == 'persistent' else region}: {size:,} bytes"}]
    # At the end of the chart where the peak is not.
    left = region == "arena" and 2 * arena["peak_call"] >= count
    if region == "arena":
        layers += _peak(arena["peak_call"], count, size)
        if arena["gap"] == 0:
            lines = [{"at": size, "text": f"arena = lower bound: {size:,} bytes"}]
        else:
            lines.append({"at": arena["bound"], "text": f"lower bound: {arena['bound']:,} bytes"})
    layers += _lines(lines, left)
    return {**chart(340), "layer": layers, "encoding": {"x": _calls_axis(count), "y": _bytes_axis(size)}}


def kept_bytes(report: Mapping[str, Any]) -> int:
    """Returns the bytes of states and of copied constants."""
    copies = report.get("copies")  # documents of earlier compilers have none
    return int(report["persistent_bytes"]) + (int(copies["nbytes"]) if copies else 0)


def by_call(values: Sequence[int], calls: Sequence[Mapping[str, Any]], unit: str) -> Spec:
    """Returns bars with a value for each call."""
    total = sum(values) or 1
    rows = [
        {
            "call": call["index"],
            "value": value,
            "shown": f"{value:,} ({value / total:.1%})",
            "kernel": f"{call['kernel']} ({call['provider']})",
            "modules": ", ".join(call["modules"]),
        }
        for call, value in zip(calls, values, strict=True)
    ]
    bars: Spec = {
        "data": {"values": rows},
        "mark": {
            "type": "bar",
            "width": {"expr": f"max(width / {max(len(rows), 1)} * 0.7, 1)"},
            "color": "var(--accent)",
        },
        "encoding": {
            "x": _calls_axis(len(rows), "call"),
            "y": {"field": "value", "type": "quantitative", "axis": _axis(unit, "~s")},
            "tooltip": [shown("call"), shown("kernel"), shown("modules"), shown("shown", unit)],
        },
    }
    return {**chart(140), **bars}


def chart(height: int) -> Spec:
    """Returns what all charts have in common. `height` is in pixels."""
    text = {"labelColor": "var(--faint)", "titleColor": "var(--faint)", "labelFontSize": 11, "titleFontSize": 11}
    return {
        "width": "container",
        "height": height,
        "background": "transparent",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": {
            "font": "inherit",
            "axis": {
                **text,
                "titleFontWeight": "normal",
                "gridColor": "var(--line)",
                "domainColor": "var(--line)",
                "tickColor": "var(--line)",
            },
            "legend": {**text, "orient": "top", "title": None, "symbolType": "square", "labelFontSize": 12},
            "view": {"stroke": None},
        },
    }


def _axis(title: str, form: str) -> Spec:
    return {"title": title, "format": form, "minExtent": _AXIS_PX, "maxExtent": _AXIS_PX, "tickCount": 5}


def _calls_axis(count: int, field: Optional[str] = None) -> Spec:
    return {
        **({"field": field} if field else {}),
        "type": "quantitative",
        "scale": {"domain": [-0.5, count - 0.5], "nice": False, "zero": False},
        "axis": {"title": "call", "format": "d", "tickMinStep": 1, "grid": False, "tickCount": {"expr": "width / 40"}},
    }


def _bytes_axis(size: int) -> Spec:
    return {
        "type": "quantitative",
        "scale": {"domain": [0, max(size, 1) * _HEADROOM], "nice": False},
        "axis": _axis("address, bytes", ",d"),
    }


def _buffer_row(buffer: Mapping[str, Any], size: int) -> Spec:
    first, last, offset, nbytes = (buffer[key] for key in ("first", "last", "offset", "nbytes"))
    shape = " × ".join(map(str, buffer["shape"])) or "scalar"
    return {
        "from": first - 0.5,
        "to": last + 0.5,
        "begin": offset,
        "end": offset + nbytes,
        "kind": buffer["kind"],
        "label": _label(buffer) if nbytes >= size * _LEAST_LABEL else "",
        "short": _shortened(_label(buffer)),
        "name": buffer["name"],
        "bytes": f"{nbytes:,} bytes",
        "address": f"{offset:,} to {offset + nbytes - 1:,}" if nbytes else f"{offset:,}",
        "lives": f"in call {first}" if first == last else f"from call {first} to call {last}",
        "type": f"{shape} {buffer['dtype']}" if buffer["kind"] != "scratch" else "scratch memory",
    }


def _label(buffer: Mapping[str, Any]) -> str:
    """Returns a short name: a module without its type."""
    return "scratch" if buffer["kind"] == "scratch" else str(buffer["name"]).partition(" (")[0]


def _shortened(label: str) -> str:
    """Returns the end of a module's path, which tells more than its beginning: "…body.1.0"."""
    parts = label.split(".")
    while len(".".join(parts)) > _SHORT and len(parts) > 1:
        del parts[0]
    end = ".".join(parts)
    return end if end == label else f"…{end}"


def shown(field: str, title: Optional[str] = None) -> Spec:
    """Returns a line of a tooltip."""
    return {"field": field, "type": "nominal", "title": title or field}


def _buffers(rows: Sequence[Spec]) -> Spec:
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    scale = {"domain": kinds, "range": [f"var(--{kind})" for kind in kinds]}
    return {
        "data": {"values": list(rows)},
        "mark": {"type": "rect", "fillOpacity": 0.72, "stroke": "var(--page)", "strokeWidth": 1},
        "encoding": {
            "x": {"field": "from", "type": "quantitative"},
            "x2": {"field": "to"},
            "y": {"field": "begin", "type": "quantitative"},
            "y2": {"field": "end"},
            "color": {"field": "kind", "type": "nominal", "scale": scale, "legend": {}},
            "tooltip": [shown(f) for f in ("name", "kind")]
            + [shown("bytes", "size"), shown("address"), shown("lives"), shown("type")],
        },
    }


def _names(rows: Sequence[Spec], count: int) -> Spec:
    """Returns the names at the upper left corners. The last call of a buffer is left free, because the buffer that its
    kernel writes over it begins there."""
    wide = f"width / {count} * max(datum.to - datum.from - 1, 1)"
    return {
        "data": {"values": [row for row in rows if row["label"]]},
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "top",
            "dx": 5,
            "dy": 4,
            "fontSize": 11,
            "color": "var(--on-buffer)",
            "limit": {"expr": f"{wide} - 14"},
            "tooltip": None,
        },
        "encoding": {
            "x": {"field": "from", "type": "quantitative"},
            "y": {"field": "end", "type": "quantitative"},
            "text": {
                "condition": [
                    {"test": f"{wide} > 7 * length(datum.label) + 14", "field": "label"},
                    {"test": f"{wide} > 40", "field": "short"},
                ],
                "value": "",
            },
        },
    }


def _peak(call: int, count: int, size: int) -> list[Spec]:
    column = {"from": call - 0.5, "to": call + 0.5, "begin": 0, "end": size * _HEADROOM}
    # Beside the column where there is room for it, inside of the only one.
    right = call + 1 > count * 0.8 and count > 1
    name = {"x": column["from" if right or count == 1 else "to"], "y": column["end"], "text": f"peak: call {call}"}
    return [
        {
            "data": {"values": [column]},
            "mark": {"type": "rect", "fill": None, "stroke": "var(--peak)", "strokeWidth": 2, "tooltip": None},
            "encoding": {
                "x": {"field": "from", "type": "quantitative"},
                "x2": {"field": "to"},
                "y": {"field": "begin", "type": "quantitative"},
                "y2": {"field": "end"},
            },
        },
        {
            "data": {"values": [name]},
            "mark": {
                "type": "text",
                "align": "right" if right else "left",
                "baseline": "top",
                "dx": -6 if right else 6,
                "fontSize": 12,
                "fontWeight": "bold",
                "color": "var(--peak)",
                "tooltip": None,
            },
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
                "text": {"field": "text"},
            },
        },
    ]


def _lines(lines: Sequence[Spec], left: bool) -> list[Spec]:
    """Returns lines across the chart with their text at one end: the first one above, the second one below."""
    at = {"y": {"field": "at", "type": "quantitative"}}
    layers: list[Spec] = []
    for line, dy in zip(lines, (-7, 10)):
        data = {"data": {"values": [line]}}
        rule = {"type": "rule", "color": "var(--ink)", "strokeDash": [5, 3], "tooltip": None}
        text = {
            "type": "text",
            "align": "left" if left else "right",
            "dx": 4 if left else -4,
            "dy": dy,
            "fontSize": 12,
            "color": "var(--ink)",
            "tooltip": None,
        }
        end = {"x": {"value": 0 if left else "width"}}
        layers.append({**data, "mark": rule, "encoding": {**at, "x": {"value": 0}, "x2": {"value": "width"}}})
        # Under the text its outline in the colour of the page, so that it can be read on buffers.
        outline = {**text, "stroke": "var(--page)", "strokeWidth": 4, "strokeJoin": "round"}
        layers += [
            {**data, "mark": mark, "encoding": {**at, **end, "text": {"field": "text"}}} for mark in (outline, text)
        ]
    return layers
