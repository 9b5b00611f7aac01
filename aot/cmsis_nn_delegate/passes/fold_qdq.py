"""Turns operators between dequantize and quantize into operators on integers."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ..format.element import COMMON_ELEMENT
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, TensorType
from ..ops.lookup import LookupAttrs, has_table, indices, table_value
from ..ops.registry import OPS
from ..ops.rescale import RescaleAttrs, takes
from .rewriting import merge_sources, remove_dead


def fold_qdq(graph: Graph) -> None:
    """dequantize -> op -> quantize becomes op, reading and writing integers.

    Only the quantize nodes of float graph inputs and the dequantize nodes of float
    graph outputs remain, and those around what is computed in float32. A quantize that follows a dequantize with other
    parameters becomes a look-up, which is exact and can be joined with others, or a rescaling where one of them has
    more bits than a table has entries for; both stay if a step of the output is vanishingly small. If an operator has
    no quantize directly after it (because it feeds a reshape, say), it takes the parameters of the next quantize.
    """
    integer: dict[Value, Value] = {}  # of each float value, its integer counterpart

    def counterpart(value: Value) -> Value:
        return integer.get(value, value)

    for node in list(graph.nodes):
        if node.op == "dequantize":
            integer[node.output] = counterpart(node.inputs[0])
            node.inputs = [counterpart(node.inputs[0])]
        elif node.op == "quantize":
            _fold_quantize(graph, node, integer)
        elif node.in_float:
            node.inputs = [_real(graph, node, value, integer) for value in node.inputs]
        else:
            inputs = [counterpart(value) for value in node.inputs]
            outputs = [_integer_output(graph, node, value, inputs) for value in node.outputs]
            integer.update(zip(node.outputs, outputs))
            node.inputs, node.outputs = inputs, outputs
    remove_dead(graph)


def _real(graph: Graph, node: Node, value: Value, integer: dict[Value, Value]) -> Value:
    """Returns float `value`, which `node` reads, also if what defined it gives its integer counterpart now."""
    source = integer.get(value)
    if source is None or graph.producer(value) is not None:
        return value
    real = Value(f"{node.name}_{value.name}", TensorType(Element.FLOAT32, value.shape))
    before = Node("dequantize", f"{node.name}_dequantize", [source], [real], sources=node.sources)
    graph.nodes.insert(graph.nodes.index(node), before)
    return real


def _integer_output(graph: Graph, node: Node, value: Value, inputs: list[Value]) -> Value:
    """Returns the integer value that `node` defines instead of float `value`, with the next quantize's parameters."""
    if OPS[node.op].gives_index or value.element.is_integer:
        return value  # not a number with a scale, or a state
    result = _result_type(graph, value)
    quant = None if result is None else result.quant
    if quant is None and OPS[node.op].keeps_quant:
        # Dequantized, reshaped and read in float, so the parameters stay the same.
        quant = inputs[0].quant
    if quant is None and not graph.consumers(value) and not graph.is_output(value):
        quant = inputs[0].quant  # nobody reads it: any parameters do
    if quant is None or any(not (operand.element.is_integer or operand.is_constant) for operand in inputs):
        raise ValueError(f"{node.name} ({node.op}) is not between dequantize and quantize")
    if OPS[node.op].converts and result is not None:
        element = result.element
    elif OPS[node.op].elements is None:
        element = COMMON_ELEMENT  # of a layer, which may keep a state with another one
    else:
        # Beside it there may be indices, or nothing but integers. A table may have fewer bits than what is looked up in
        # it.
        element = next((operand.element for operand in inputs if operand.quant is not None), COMMON_ELEMENT)
        element = element if element.is_activation else COMMON_ELEMENT
    return Value(value.name, TensorType(element, value.shape, quant=quant))


def _fold_quantize(graph: Graph, node: Node, integer: dict[Value, Value]) -> None:
    source = integer.get(node.inputs[0])
    if source is None:
        return  # reads a float graph input
    tables = has_table(source.element) and has_table(node.output.element)
    if not tables and (source.element, source.quant) != (node.output.element, node.output.quant):
        if takes(source.type, node.output.type):
            node.op, node.attrs, node.inputs = "rescale", RescaleAttrs(), [source]
            return
        real = Value(f"{node.name}_real", TensorType(Element.FLOAT32, source.shape))
        before = Node("dequantize", f"{node.name}_dequantize", [source], [real], sources=node.sources)
        graph.nodes.insert(graph.nodes.index(node), before)
        node.inputs = [real]
        return
    if source.quant != node.output.quant:
        node.op, node.attrs = "lookup", LookupAttrs(("requantize",))
        node.inputs = [source, table_value(f"{node.name}_table", _requantized(source, node.output))]
        return
    producer = graph.producer(source)
    if producer is not None:
        merge_sources(producer, node)
    if graph.is_output(node.output) and producer is not None and not graph.is_output(source):
        # A graph output keeps its identity, because the caller chose its name and layout.
        for reader in graph.consumers(source):
            reader.inputs = [node.output if value is source else value for value in reader.inputs]
        producer.replace_output(source, node.output)
        for key, value in list(integer.items()):
            if value is source:
                integer[key] = node.output
    else:
        graph.replace_uses(node.output, source)
        integer.setdefault(node.output, source)
    graph.remove([node])


def _requantized(source: Value, output: Value) -> np.ndarray:
    """Returns what each number that `source` can hold becomes as an element of `output`: dequantized and quantized in
    float32, as PyTorch does."""
    steps = indices(source.element) - source.zero_point
    return output.type.quantize(steps.astype(np.float32) * np.float32(source.scale))


def _result_type(graph: Graph, value: Value) -> Optional[TensorType]:
    """Returns the type and parameters that `value` gets from the quantize nodes that read it, directly or through
    others."""
    for reader in graph.consumers(value):
        if reader.op == "quantize":
            return reader.output.type
        found = _result_type(graph, reader.output) if reader.op in ("reshape", "clamp") else None
        if found is not None:
            return found
    return None
