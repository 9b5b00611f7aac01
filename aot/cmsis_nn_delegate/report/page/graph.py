"""The page's graph as a Vega-Lite specification: inputs, calls and outputs below each other in execution order, and a
line for each tensor from what writes it to what reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .charts import Spec, chart, shown

Document = Mapping[str, Any]

_ROW_PX = 36
_LANE_PX = 9
_EDGE_PX = 10  # left of the lanes
_TEXT_PX = 14  # right of the nodes


def graph(report: Document) -> Spec:
    """Returns the graph of a report that has `tensors`."""
    rows = _rows(report)
    edges = [*_edges(report, rows)]
    lanes = _lanes(edges)
    at = _EDGE_PX + _LANE_PX * (1 + max(lanes, default=-1))
    points = [
        {"edge": number, "order": order, "x": x, "y": y, **edge["shown"]}
        for number, (edge, lane) in enumerate(zip(edges, lanes, strict=True))
        for order, (x, y) in enumerate(_path(edge, lane, at))
    ]
    x = {"type": "quantitative", "scale": {"domain": [0, 1], "range": [0, 1]}, "axis": None}
    y = {"type": "quantitative", "scale": {"domain": [-0.6, len(rows) - 0.4], "reverse": True}, "axis": None}
    tooltip = [shown("name"), shown("tensor"), shown("range")]
    lines: Spec = {
        "data": {"values": points},
        "mark": {"type": "line", "strokeWidth": 1.5, "color": "var(--tensor)", "strokeJoin": "round"},
        "encoding": {
            "x": {"field": "x", **x},
            "y": {"field": "y", **y},
            "detail": {"field": "edge", "type": "nominal"},
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": tooltip,
        },
    }
    kinds = [kind for kind in ("input", "call", "output") if any(row["kind"] == kind for row in rows)]
    colors = {"input": "var(--input)", "call": "var(--accent)", "output": "var(--output)"}
    scale = {"domain": kinds, "range": [colors[kind] for kind in kinds]}
    nodes: Spec = {
        "data": {"values": rows},
        "mark": {"type": "circle", "size": 70, "opacity": 1},
        "encoding": {
            "x": {"value": at},
            "y": {"field": "row", **y},
            "color": {"field": "kind", "type": "nominal", "scale": scale, "legend": None},
            "tooltip": [shown("title", "what"), shown("modules"), shown("tensor", "writes")],
        },
    }
    texts = [_text(rows, y, at, "title", -7, "var(--ink)"), _text(rows, y, at, "tensor", 7, "var(--faint)")]
    return {**chart(_ROW_PX * len(rows)), "layer": [lines, nodes, *texts]}


def described(tensor: Document) -> str:
    """Returns the type, the shape and the meaning of a tensor's integers."""
    shape = "×".join(map(str, tensor["shape"])) or "scalar"
    meaning = ""
    if tensor["scale"] is not None:
        zero_point = tensor["zero_point"]
        shifted = f"(q {'−' if zero_point > 0 else '+'} {abs(zero_point)})" if zero_point else "q"
        meaning = f" · {tensor['scale']:.4g} × {shifted}"
    return f"{tensor['dtype']} {shape} {tensor['layout']}{meaning}"


def _rows(report: Document) -> list[Spec]:
    """Returns the nodes; the first ones are the inputs, and the last ones the outputs."""
    tensors = report["tensors"]
    written: dict[int, list[str]] = {}
    for tensor in tensors:
        for call in tensor["writers"]:
            written.setdefault(call, []).append(described(tensor))
    found: list[Spec] = [
        {"kind": "input", "title": t["name"], "tensor": described(t), "modules": ""}
        for t in tensors
        if t["kind"] == "input"
    ]
    for call in report["calls"]:
        modules = ", ".join(call["modules"])
        title = f"{call['index']}  {modules or call['op']}  →  {call['kernel']} ({call['provider']})"
        tensor = "; ".join(written.get(call["index"], []))
        found.append({"kind": "call", "title": title, "tensor": tensor, "modules": modules})
    found += [
        {"kind": "output", "title": t["name"], "tensor": described(t), "modules": ""}
        for t in tensors
        if t["kind"] == "output"
    ]
    return [{**node, "row": row} for row, node in enumerate(found)]


def _edges(report: Document, rows: Sequence[Document]) -> Iterator[Spec]:
    """Yields the lines, each with its first and last row and with what a reader sees of it."""
    tensors = report["tensors"]
    inputs = sum(row["kind"] == "input" for row in rows)
    outputs = inputs + len(report["calls"])
    input_row = {t["value"]: row for row, t in enumerate(t for t in tensors if t["kind"] == "input")}
    output_row = {t["value"]: outputs + i for i, t in enumerate(t for t in tensors if t["kind"] == "output")}
    for tensor in tensors:
        begins = [inputs + call for call in tensor["writers"]]
        if tensor["value"] in input_row:
            begins = [input_row[tensor["value"]]]
        ends = [inputs + call for call in tensor["readers"]]
        if tensor["value"] in output_row:
            ends.append(output_row[tensor["value"]])
        limits = "" if tensor["low"] is None else f"{tensor['low']:.4g} to {tensor['high']:.4g}"
        about = {"name": tensor["name"], "tensor": described(tensor), "range": limits}
        for begin in begins:
            yield from ({"begin": begin, "end": end, "shown": about} for end in ends)


def _lanes(edges: Sequence[Document]) -> list[int]:
    """Returns for each line how far left it runs past nodes: -1 if it passes none. Lines in one lane do not meet."""
    taken: list[int] = []  # the row to which each lane is in use
    found = [-1] * len(edges)
    for number in sorted(range(len(edges)), key=lambda i: (edges[i]["begin"], edges[i]["end"])):
        edge = edges[number]
        if edge["end"] - edge["begin"] < 2:
            continue
        lane = next((i for i, end in enumerate(taken) if end <= edge["begin"]), len(taken))
        taken[lane : lane + 1] = [edge["end"]]
        found[number] = lane
    return found


def _path(edge: Document, lane: int, at: int) -> list[tuple[float, float]]:
    begin, end = edge["begin"], edge["end"]
    if lane < 0:
        return [(at, begin), (at, end)]
    left = at - _LANE_PX * (lane + 1)
    return [(at, begin), (left, begin + 0.4), (left, end - 0.4), (at, end)]


def _text(rows: Sequence[Spec], y: Spec, at: int, field: str, dy: int, color: str) -> Spec:
    return {
        "data": {"values": [{"row": row["row"], "text": row[field]} for row in rows]},
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "middle",
            "dy": dy,
            "fontSize": 12,
            "color": color,
            "limit": {"expr": f"width - {at + _TEXT_PX}"},
            "tooltip": None,
        },
        "encoding": {"x": {"value": at + _TEXT_PX}, "y": {"field": "row", **y}, "text": {"field": "text"}},
    }
