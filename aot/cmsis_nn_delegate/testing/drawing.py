"""Hand-built graphs of any stage, for the tests of passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from ..ops.attrs import (
    Clamp,
    ClampAttrs,
    ConvAttrs,
    FullyConnectedAttrs,
    PadAttrs,
    Padding,
    PoolAttrs,
)

Q = Quant((0.5,), -128)  # the default of every int8 value


class Drawing:
    """Appends nodes to `graph`; each method returns the node's output. Values are v0, v1..."""

    def __init__(self) -> None:
        self.graph = Graph([], [])
        self._count = 0

    def value(
        self,
        shape: Sequence[int],
        element: Element = Element.INT8,
        layout: Layout = Layout.ROW_MAJOR,
        quant: Optional[Quant] = Q,
    ) -> Value:
        name = f"v{self._count}"
        self._count += 1
        return Value(name, TensorType(element, tuple(shape), layout, quant if element.is_integer else None))

    def input(self, *shape: int, element: Element = Element.INT8, layout: Layout = Layout.ROW_MAJOR) -> Value:
        value = self.value(shape, element, layout)
        self.graph.inputs.append(value)
        return value

    def node(self, op: str, *inputs: Value, shape: Sequence[int], attrs: Any = None, **options: Any) -> Value:
        """An operator on values of its first input's type; `options` are those of `value`."""
        options.setdefault("element", inputs[0].element)
        options.setdefault("quant", inputs[0].quant)
        output = self.value(shape, **options)
        count = len(self.graph.nodes)
        self.graph.nodes.append(Node(op, output.name, list(inputs), [output], attrs, (f"edge{count}",), (count,)))
        return output

    def quantize(self, x: Value, quant: Quant = Q) -> Value:
        return self.node("quantize", x, shape=x.shape, element=Element.INT8, quant=quant)

    def dequantize(self, x: Value) -> Value:
        return self.node("dequantize", x, shape=x.shape, element=Element.FLOAT32)

    def conv2d(self, x: Value, padding: Padding = Padding(), op: str = "conv2d", **options: Any) -> Value:
        """1x1 kernels; as many output as input channels."""
        n, c, h, w = x.shape
        channels = np.ones((c, 1 if op == "depthwise_conv2d" else c, 1, 1), np.int8)
        weight = Value("weight", TensorType(Element.INT8, channels.shape, quant=Quant((1.0,) * c, 0, 0)), channels)
        bias = Value("bias", TensorType(Element.INT32, (c,)), np.zeros(c, np.int32))
        shape = (n, c, h + padding.top + padding.bottom, w + padding.left + padding.right)
        return self.node(op, x, weight, bias, shape=shape, attrs=ConvAttrs(padding=padding), **options)

    def linear(self, x: Value, weight: np.ndarray) -> Value:
        rows = Value("weight", TensorType(Element.INT8, weight.shape, quant=Quant((1.0,) * len(weight), 0, 0)), weight)
        bias = Value("bias", TensorType(Element.INT32, weight.shape[:1]), np.zeros(len(weight), np.int32))
        shape = (x.numel // weight.shape[1], len(weight))
        return self.node("fully_connected", x, rows, bias, shape=shape, attrs=FullyConnectedAttrs())

    def clamp(self, x: Value, lo: float = 0.0, hi: float = 6.0, **options: Any) -> Value:
        return self.node("clamp", x, shape=x.shape, attrs=ClampAttrs(Clamp(lo, hi)), **options)

    def reshape(self, x: Value, *shape: int, **options: Any) -> Value:
        return self.node("reshape", x, shape=shape, **options)

    def pad(self, x: Value, padding: Padding, value: float = 0.0) -> Value:
        n, c, h, w = x.shape
        shape = (n, c, h + padding.top + padding.bottom, w + padding.left + padding.right)
        return self.node("pad", x, shape=shape, attrs=PadAttrs(padding, value))

    def max_pool2d(self, x: Value, kernel: int) -> Value:
        n, c, h, w = x.shape
        attrs = PoolAttrs((kernel, kernel), (kernel, kernel))
        return self.node("max_pool2d", x, shape=(n, c, h // kernel, w // kernel), attrs=attrs)

    def returns(self, *outputs: Value) -> Graph:
        """The graph, finished."""
        self.graph.outputs = list(outputs)
        self.graph.verify()
        return self.graph


def wiring(graph: Graph) -> str:
    """The graph in one line: `v1=conv2d(v0) v2=add(v1,v1) -> v2`. Constants are left out."""

    def arguments(node: Node) -> str:
        return ",".join(value.name for value in node.inputs if not value.is_constant)

    calls = [f"{node.output.name}={node.op}({arguments(node)})" for node in graph.nodes]
    return " ".join([*calls, "->", *(value.name for value in graph.outputs)])
