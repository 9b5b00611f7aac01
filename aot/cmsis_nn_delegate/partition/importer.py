"""Turns the partition that `preprocess` gets into a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node as EdgeNode

from ..edge.context import layout_of
from ..edge.import_context import ImportContext
from ..edge.nodes import DEQUANTIZE, GETITEM, element_type, is_dynamic, quant_of, shape_of, target_name, tensor
from ..edge.torch_types import torch_type
from ..format.element import KERNEL_ELEMENTS
from ..graph.failure import shown_in_errors
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from ..ops.held import HeldAttrs, initial_value
from .held_states import HeldState, held_states, initial_data
from .support import find_op

# What the border of a partition may be. Operators that compute indices give int64.
_INPUTS = {torch_type(element): element for element in Element if element.at_border}
_OUTPUTS = {dtype: element for dtype, element in _INPUTS.items() if element is not Element.INT32}
_TAKEN = " and ".join(element.value for element in (Element.FLOAT32, *KERNEL_ELEMENTS))
_INDICES = " and ".join(element.value for element in Element if element.is_index)


def import_program(program: ExportedProgram, checked: bool = False) -> Graph:
    """Returns the graph of `program`, node by node: still with quantize and dequantize around every operator, and
    with all values row-major except graph inputs and outputs.

    ValueError for weights that the kernels cannot take: the partitioner gets a program without data, so that they are
    checked only here. ValueError also for nodes that `Support` would not have delegated, unless the program is
    `checked`: then the partitioner has called `Op.check` for each of its nodes.
    """
    context = ImportContext(program)
    graph = Graph([], [])
    states = {state.read: _Held.of(program, state) for state in held_states(program)}
    if len(states) != len(program.graph_signature.buffers_to_mutate):
        raise ValueError("a state of the partition has no single scale: lower with the helper of this package")
    for node in program.graph.nodes:
        if node in states:
            graph.nodes.extend(states[node].recall(context))
        elif node.op == "placeholder":
            if not context.is_constant(node):
                value = _input(node)
                context.define(node, value)
                graph.inputs.append(value)
        elif node.op == "call_function":
            graph.nodes.extend(_import_call(node, context, checked))
        elif node.op == "output":
            for held in states.values():
                graph.nodes.extend(held.keep(context))
            results = node.args[0][len(states) :]  # behind the new values of the states
            graph.outputs = [_output(result, context) for result in results]
        else:
            raise ValueError(f"{node.name}: a node of kind {node.op} cannot be delegated")
    with shown_in_errors(graph):
        graph.verify()
    return graph


def _import_call(node: EdgeNode, context: ImportContext, checked: bool) -> list[Node]:
    if target_name(node) == GETITEM or context.constant_float(node) is not None or context.moves_indices(node):
        return []  # read by the operators that they belong to
    op = find_op(node, context)
    if op is None:
        raise ValueError(f"{node.name}: there is no kernel for {target_name(node) or node.target}")
    refusal = None if checked else op.refuse(node, context)
    refusal = refusal or op.check_data(node, context)
    if refusal is not None:
        raise ValueError(f"{node.name} ({target_name(node)}) cannot be delegated: {refusal.message}")
    return op.build(node, context)


def _input(node: EdgeNode) -> Value:
    element, layout = _border(node, "input", _INPUTS)
    quant = _input_quant(node, element) if element.is_activation else None
    return Value(node.name, TensorType(element, shape_of(node), layout, quant))


def _input_quant(node: EdgeNode, element: Element) -> Quant:
    """Returns the parameters with which a quantized input is read."""
    quants = {quant_of(user) for user in node.users if target_name(user) == DEQUANTIZE}
    quant = quants.pop() if len(quants) == 1 else None
    if quant is None or len(node.users) != sum(target_name(user) == DEQUANTIZE for user in node.users):
        raise ValueError(
            f"{element.value} input {node.name} is not read by dequantize nodes of one scale and zero point; "
            "lower with the helper of this package, which keeps them"
        )
    return quant


def _output(node: EdgeNode, context: ImportContext) -> Value:
    """Returns the value of a graph output, in the memory layout that its reader expects."""
    _, layout = _border(node, "output", _OUTPUTS)
    value = context.value(node)
    value.retype(layout=layout)
    return value


def _border(node: EdgeNode, what: str, elements: Mapping[torch.dtype, Element]) -> tuple[Element, Layout]:
    value = tensor(node)
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"{what} {node.name} is not a tensor")
    if is_dynamic(node):
        raise ValueError(f"{what} {node.name} has the dynamic shape {list(value.shape)}; export with static shapes")
    if value.dtype not in elements:
        raise ValueError(
            f"{what} {node.name} is {element_type(value.dtype)}; the delegate takes "
            f"{_TAKEN}, and {_INDICES} as indices: convert the model and its inputs with .float()"
        )
    layout = layout_of(node)
    if layout is None:
        raise ValueError(
            f"{what} {node.name} has strides {tuple(value.stride())}; it must be contiguous or "
            "channels_last: call .contiguous() on it"
        )
    return elements[value.dtype], layout


class _Held(NamedTuple):
    """A state that the call holds: `value` in persistent memory, and what it holds at first."""

    state: HeldState
    value: Value
    initial: Value

    @classmethod
    def of(cls, program: ExportedProgram, state: HeldState) -> _Held:
        tensor_type = TensorType(state.element, shape_of(state.read), quant=state.quant)
        data = tensor_type.quantize(initial_data(program, state).detach().cpu().contiguous().numpy())
        return cls(state, Value(state.target, tensor_type), initial_value(state.read.name, data))

    def recall(self, context: ImportContext) -> list[Node]:
        """Returns what reads it, with a dequantize, which the quantize of its readers undoes."""
        name, source = self.state.read.name, (self.state.read.name,)
        held = Value(f"{name}_held", self.value.type)
        read = Value(name, TensorType(Element.FLOAT32, self.value.shape))
        context.define(self.state.read, read)
        attrs = HeldAttrs(self.value.shape)
        return [
            Node("recall", f"{name}_recall", [self.initial], [held], attrs, source, states=[self.value]),
            Node("dequantize", name, [held], [read], sources=source),
        ]

    def keep(self, context: ImportContext) -> list[Node]:
        """Returns what writes it."""
        name, source = self.state.read.name, (self.state.result.name,)
        result = context.value(self.state.result)
        new = Value(f"{name}_new", self.value.type)
        attrs = HeldAttrs(self.value.shape)
        return [
            Node("quantize", f"{name}_quantize", [result], [new], sources=source),
            Node("keep", f"{name}_keep", [new, self.initial], [], attrs, source, states=[self.value]),
        ]
