"""Turns functions of one number into look-ups, whose tables follow from the scales."""

from __future__ import annotations

from ..graph.ir import Graph
from ..ops.function_table import table
from ..ops.lookup import LookupAttrs, table_value


def functions_to_lookups(graph: Graph) -> None:
    """A function becomes a table of its results for all int8 numbers; a clamp that was fused into it is part of the
    table."""
    for node in graph.nodes:
        if node.op != "function":
            continue
        attrs, source = node.attrs, node.inputs[0]
        entries = table(
            attrs.name, attrs.arguments, attrs.position, source.type.per_tensor, node.output.type, attrs.clamp
        )
        node.op, node.attrs = "lookup", LookupAttrs((attrs.name,))
        node.inputs = [source, table_value(f"{node.name}_table", entries)]
