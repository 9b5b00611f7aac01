"""Removes clamps that cannot act, because of what comes before them."""

from __future__ import annotations

from ..graph.ir import Graph
from .bounds import bounds_of
from .rewriting import merge_sources


def drop_idle_clamps(graph: Graph) -> None:
    """Removes the clamps whose input always lies within the limits, and says so in the graph's notes."""
    bounds = bounds_of(graph)
    for node in [node for node in graph.nodes if node.op == "clamp"]:
        source, output = node.inputs[0], node.output
        producer = graph.producer(source)
        if id(source) not in bounds or source.quant != output.quant or producer is None or graph.is_output(output):
            continue
        low, high = node.attrs.clamp.quantized(output.type)
        found = bounds[id(source)]
        if low <= found.low.min() and found.high.max() <= high:
            graph.replace_uses(output, source)
            graph.remove([node])
            merge_sources(producer, node)
            graph.notes.append(f"{node.name}: a clamp that cannot act is left out")
