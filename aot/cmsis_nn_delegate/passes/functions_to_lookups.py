"""Turns functions of one number into look-ups, whose tables follow from the scales, or into rescalings."""

from __future__ import annotations

import dataclasses

from ..graph.ir import Graph, Node
from ..ops.function_table import knots, line, table
from ..ops.lookup import LookupAttrs, has_table, table_value
from ..ops.rescale import takes


def functions_to_lookups(graph: Graph) -> None:
    """A function becomes a table of its results for all int8 numbers; a clamp that was fused into it is part of the
    table. Of int16, a line with or without limits is a rescaling, which needs no table; any other function is
    interpolated between the results for some numbers."""
    for node in graph.nodes:
        if node.op == "function":
            _convert(node)


def _convert(node: Node) -> None:
    attrs, source, output = node.attrs, node.inputs[0], node.output
    given = attrs.name, attrs.arguments, attrs.position, source.type.per_tensor, output.type
    if has_table(source.element):
        entries, found = table(*given, attrs.clamp), LookupAttrs((attrs.name,))
    else:
        straight = line(*given)
        if straight is not None and takes(source.type, output.type, straight):
            node.op, node.attrs = "rescale", dataclasses.replace(straight, clamp=straight.clamp.then(attrs.clamp))
            return
        entries, found = knots(*given), LookupAttrs((attrs.name,), attrs.clamp)
    node.op, node.attrs = "lookup", found
    node.inputs = [source, table_value(f"{node.name}_table", entries)]
