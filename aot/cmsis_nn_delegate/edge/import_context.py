"""The interface through which an operator turns one of its edge nodes into graph nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
from torch.export import ExportedProgram
from torch.fx import Node as EdgeNode

from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from .context import EdgeContext
from .naming import computed_in_float
from .nodes import quant_of, quantized_element, shape_of


class ImportContext(EdgeContext):
    """An `EdgeContext` that also knows the graph values of edge nodes; `build` works on it."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program)
        self._values: dict[EdgeNode, Value] = {}
        # Of recurrent layers that give it: the state after the last step.
        self.last_states: dict[EdgeNode, Value] = {}

    def value(self, node: EdgeNode) -> Value:
        """Returns the value of an edge node that was imported before, or of a float constant."""
        constant = None if node in self._values else self.constant_float(node)
        if constant is not None and constant.data is not None and not constant.quantized:
            data = np.ascontiguousarray(constant.data, np.float32)
            self.define(node, Value(node.name, TensorType(Element.FLOAT32, data.shape), data))
        return self._values[node]

    def operand(self, node: EdgeNode, name: str, shape: Optional[Sequence[int]] = None) -> Value:
        """Returns the value of an operand that may be a constant, which then gets this name and, if given, shape."""
        constant = self.constant_float(node)
        if constant is None:
            return self.value(node)
        if constant.data is None or constant.quant is None:
            raise ValueError(f"{node.name} is no constant that kernels can read")
        data = np.ascontiguousarray(constant.data.reshape(constant.shape if shape is None else shape))
        return Value(name, TensorType(Element(constant.dtype), data.shape, quant=constant.quant), data)

    def real_operand(self, node: Any, name: str, shape: Optional[Sequence[int]] = None) -> Value:
        """Returns the value of a float operand of what is computed in float32: of an activation, or of a constant or a
        number, which then get this name and, if given, shape."""
        if not isinstance(node, EdgeNode):
            data: Any = np.array(node)
        else:
            constant = self.constant_float(node)
            if constant is None:
                return self.value(node)
            if constant.data is None or constant.quantized:
                raise ValueError(f"{node.name} is no float constant that kernels can read")
            data = constant.data
        data = np.ascontiguousarray(data.reshape(data.shape if shape is None else shape), np.float32)
        return Value(name, TensorType(Element.FLOAT32, data.shape), data)

    def define(self, node: EdgeNode, value: Value) -> None:
        self._values[node] = value

    def node(
        self,
        node: EdgeNode,
        op: str,
        inputs: Sequence[Value],
        attrs: Any = None,
        shape: Optional[tuple[int, ...]] = None,
        suffix: str = "",
    ) -> Node:
        """Returns a graph node for edge node `node`, whose value is the graph node's output from now on.

        `shape` and `suffix` are for intermediate results that the edge program does not have.
        """
        element = quantized_element(node) if op == "quantize" else Element.FLOAT32
        if element is None:
            raise ValueError(f"{node.name} does not quantize to the whole range of an element")
        quant = quant_of(node) if op == "quantize" else None
        name = node.name + suffix
        output = Value(name, TensorType(element, shape_of(node) if shape is None else shape, quant=quant))
        self.define(node, output)
        handles, in_float = _debug_handles(node), computed_in_float(node)
        return Node(op, name, list(inputs), [output], attrs, (node.name,), handles, in_float=in_float)


def _debug_handles(node: EdgeNode) -> tuple[int, ...]:
    handles = node.meta.get("debug_handle")
    if handles is None:
        return ()
    return tuple(handles) if isinstance(handles, (tuple, list)) else (handles,)
