"""A bar chart of the instructions of an inference, as SVG: `draw`.

Written by hand: a library for charts would bring tens of megabytes into the environment of every user for one picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from benchmarks.anchors import Anchors
from benchmarks.results import Results

_WIDTH, _LABELS, _BARS = 860, 250, 470  # pixels: the picture, its left column, the longest bar
_ROW, _GAP = 20, 14
_OURS, _OTHERS = "#2a6fbb", "#9aa3ad"


class Bar(NamedTuple):
    label: str
    instructions: int
    ours: bool


def bars(results: Results, anchors: Anchors, core: str, network: str) -> list[Bar]:
    """Returns the bars of a network on a core: this project's, that of direct calls, those of other systems. There are
    none if there is nothing to compare."""
    own = [
        Bar(f"this project, {m.providers}", m.inference, True)
        for m in results.measurements
        if m.core == core and m.network == network and m.providers != "portable"  # off the scale
    ]
    direct = [e for e in results.direct if e.core == core and e.network == network]
    others = [e for e in anchors.counted if e.core == core and e.network == network]
    if not own or not others:
        return []
    own += [Bar("CMSIS-NN called directly", e.inference, False) for e in direct]
    return [*own, *(Bar(e.system, e.inference, False) for e in others)]


def draw(results: Results, anchors: Anchors) -> str:
    """Returns an SVG with the networks and cores that other systems were counted with. Bars are relative to the longest
    one of their network and core; numbers are millions of instructions."""
    groups = [
        (f"{network} on {core}", found)
        for core in dict.fromkeys(m.core for m in results.measurements)
        for network in anchors.networks
        if (found := bars(results, anchors, core, network))
    ]
    height = 60 + sum(_ROW * (len(found) + 1) + _GAP for _, found in groups)
    svg = ElementTree.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(_WIDTH),
        height=str(height),
        viewBox=f"0 0 {_WIDTH} {height}",
        attrib={"font-family": "sans-serif", "font-size": "13"},
    )
    ElementTree.SubElement(svg, "rect", width="100%", height="100%", fill="white")
    _text(svg, 12, 26, "Millions of executed instructions of an inference (not cycles)", weight="bold", size=16)
    y = 52
    for title, found in groups:
        _text(svg, 12, y + 14, title, weight="bold")
        y += _ROW
        for element in _rows(found, y):
            svg.append(element)
        y += _ROW * len(found) + _GAP
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _rows(found: list[Bar], y: int) -> Iterator[ElementTree.Element]:
    longest = max(bar.instructions for bar in found)
    for number, bar in enumerate(found):
        top = y + _ROW * number
        width = round(_BARS * bar.instructions / longest, 1)
        group = ElementTree.Element("g")
        _text(group, _LABELS - 8, top + 14, bar.label, anchor="end")
        fill = _OURS if bar.ours else _OTHERS
        attributes = {"x": str(_LABELS), "y": str(top + 2), "width": str(width), "height": str(_ROW - 5), "fill": fill}
        ElementTree.SubElement(group, "rect", attributes)
        _text(group, _LABELS + width + 6, top + 14, f"{bar.instructions / 1e6:.2f}")
        yield group


def _text(
    parent: ElementTree.Element, x: float, y: int, text: str, anchor: str = "start", weight: str = "", size: int = 0
) -> None:
    element = ElementTree.SubElement(parent, "text", {"x": str(x), "y": str(y), "text-anchor": anchor, "fill": "#222"})
    if weight:
        element.set("font-weight", weight)
    if size:
        element.set("font-size", str(size))
    element.text = text
