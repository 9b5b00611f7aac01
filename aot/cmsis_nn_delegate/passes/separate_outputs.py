"""Gives every graph output memory of its own."""

from __future__ import annotations

import dataclasses

from ..graph.ir import Graph, Node, Value
from ..ops.attrs import TransposeAttrs


def separate_outputs(graph: Graph) -> None:
    """Copies each output that is also an input, or was returned before."""
    seen = {id(value) for value in graph.inputs}
    for index, value in enumerate(graph.outputs):
        if id(value) in seen:
            graph.outputs[index] = _copy(graph, value, index)
        seen.add(id(value))


def _copy(graph: Graph, value: Value, index: int) -> Value:
    copy = dataclasses.replace(value, name=f"{value.name}_output{index}")
    producer = graph.producer(value)
    if producer is not None and value.quant is None:
        # There is no copy kernel for floats and indices, but they can be computed twice.
        graph.nodes.append(dataclasses.replace(producer, name=copy.name, outputs=[copy]))
        return copy
    if value.quant is None:
        raise ValueError(f"output {value.name} is a float input that nothing is computed from")
    sources = producer.sources if producer is not None else ()
    handles = producer.debug_handles if producer is not None else ()
    attrs = TransposeAttrs(value.layout)
    graph.nodes.append(Node("transpose", copy.name, [value], [copy], attrs, sources, handles))
    return copy
