"""How tensors are quantized, and what that costs in accuracy where it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Optional

from . import html

Document = Mapping[str, Any]


def section(report: Document, accuracy: Optional[Document]) -> str:
    """Returns the table of tensors, and that of layers if `accuracy` is known."""
    rows = [
        [
            escape(tensor["name"]),
            escape(tensor["kind"]),
            escape(f"{tensor['dtype']} {'×'.join(map(str, tensor['shape']))}"),
            escape(tensor["layout"]),
            "" if tensor["scale"] is None else f"{tensor['scale']:.6g}",
            "" if tensor["zero_point"] is None else str(tensor["zero_point"]),
            "" if tensor["low"] is None else f"{tensor['low']:.4g}",
            "" if tensor["high"] is None else f"{tensor['high']:.4g}",
            ", ".join(map(str, tensor["writers"])),
            ", ".join(map(str, tensor["readers"])),
        ]
        for tensor in report["tensors"]
    ]
    heads = [
        "tensor",
        "",
        "type",
        "layout",
        "scale",
        "zero point",
        "least",
        "largest",
        "written by call",
        "read by calls",
    ]
    note = (
        "<p class=faint>The integer q stands for scale × (q − zero point): for numbers between the least and the "
        "largest one. The calls that write and read a tensor are the lines of the graph.</p>"
    )
    tensors = html.table(heads, rows, numbers=(4, 5, 6, 7))
    folded = f"<details><summary>All {len(rows)} tensors as a table</summary>{tensors}</details>"
    return f"<h2>Quantization</h2>{note}{'' if accuracy is None else measured(accuracy)}{folded}"


def figures(accuracy: Document) -> tuple[str, str, str]:
    """Returns the figure of how well the quantized model follows the float model, its unit, and a note."""
    last = accuracy["arithmetics"][-1]  # the device's, if it is known
    note = f"{last['name']}, on {accuracy['samples']:,} samples; cosine {last['cosine']:.5f}"
    if last["top1"] is not None:
        first = accuracy["arithmetics"][0]
        return f"{last['top1']:.2%}", "top-1", f"{note}; {first['name']} {first['top1']:.2%}"
    return decibels(last["sqnr"]), "signal to noise", note


def decibels(value: Optional[float]) -> str:
    return "–" if value is None else f"{value:.1f} dB"


def measured(accuracy: Document) -> str:
    """Returns the table of the layers that were measured; "" if none were."""
    layers = accuracy["layers"]
    if not layers:  # of a part of the data, or of a model that was quantized before
        return ""
    most = max((layer["cost"] for layer in layers), default=0.0) or 1.0
    rows = [
        [
            f"{escape(layer['module'] or layer['name'])}<br><span class=faint>{escape(layer['source'])}</span>",
            f"<code>{escape(layer['function'])}</code>",
            decibels(layer["sqnr"]),
            decibels(layer["device_sqnr"]),
            f"{layer['saturation']:.2%}",
            f"{layer['levels']:.0%}",
            f"{layer['cost']:.1%}{html.bar(layer['cost'] / most)}",
            "<br>".join(map(escape, layer["proposals"])),
        ]
        for layer in layers
    ]
    heads = ["layer", "function", "SQNR", "on the device", "saturated", "levels used", "cost", "what to try"]
    note = (
        f"<p class=faint>Measured by cmsisnn accuracy on {accuracy['layer_samples']} samples: signal to noise of "
        "each layer next to the float model, the share of numbers outside of its range, the share of its 256 integers "
        "that occur, and the share of the outputs' noise that it causes.</p>"
    )
    return note + html.table(heads, rows, numbers=(2, 3, 4, 5, 6))
