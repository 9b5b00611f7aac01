"""The flash of a firmware image as a map by part and object."""

from __future__ import annotations

from ..image_sizes import ImageSizes
from .charts import Spec

_HEIGHT = 360
_COLORS = ("--tensor", "--input", "--output", "--scratch", "--state")


def flash_map(image: ImageSizes) -> Spec:
    """Returns a Vega specification of nested rectangles, as large as what they stand for. `image` has the sizes that
    are built beside a firmware."""
    parts = sorted(image.flash.parts.items(), key=lambda item: -item[1].total)
    rows: list[Spec] = [{"id": "image"}]
    for number, (name, part) in enumerate(parts):
        rows.append({"id": name, "parent": "image"})
        rows += [
            {
                "id": f"{name}/{source}",
                "parent": name,
                "part": name,
                "name": source.removesuffix(".o"),
                "size": size,
                "shown": f"{size:,} bytes ({size / max(image.flash.total, 1):.1%})",
                "color": f"var({_COLORS[number % len(_COLORS)]})",
            }
            for source, size in part.objects.items()
            if size
        ]
    resized = {"events": "window:resize", "update": "containerSize()[0]"}
    leaves = {"data": "leaves"}
    box = {"x": {"field": "x0"}, "x2": {"field": "x1"}, "y": {"field": "y0"}, "y2": {"field": "y1"}}
    tooltip = {"signal": "{title: datum.name, 'part': datum.part, 'size': datum.shown}"}
    wide = "datum.x1 - datum.x0"
    label = {
        "x": {"field": "x0", "offset": 4},
        "y": {"field": "y0", "offset": 3},
        "baseline": {"value": "top"},
        "fill": {"value": "var(--on-buffer)"},
        "fontSize": {"value": 11},
        "limit": {"signal": f"{wide} - 8"},
        "text": {"signal": f"{wide} > 34 && datum.y1 - datum.y0 > 16 ? datum.name : ''"},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "height": _HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "signals": [{"name": "width", "init": "containerSize()[0]", "on": [resized]}],
        "data": [
            {
                "name": "tree",
                "values": rows,
                "transform": [
                    {"type": "stratify", "key": "id", "parentKey": "parent"},
                    {
                        "type": "treemap",
                        "field": "size",
                        "sort": {"field": "value", "order": "descending"},
                        "round": True,
                        "paddingOuter": 2,
                        "size": [{"signal": "width"}, _HEIGHT],
                    },
                ],
            },
            {"name": "leaves", "source": "tree", "transform": [{"type": "filter", "expr": "isValid(datum.size)"}]},
        ],
        "marks": [
            {
                "type": "rect",
                "from": leaves,
                "encode": {
                    "update": {
                        **box,
                        "fill": {"field": "color"},
                        "fillOpacity": {"value": 0.72},
                        "stroke": {"value": "var(--page)"},
                        "tooltip": tooltip,
                    }
                },
            },
            {"type": "text", "from": leaves, "interactive": False, "encode": {"update": label}},
        ],
    }
