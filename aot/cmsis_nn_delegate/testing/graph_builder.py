"""Lowered graphs built by hand, with random weights: `GraphBuilder(seed).input(...).conv2d(...)`.

Shapes are logical (NCHW); images lie channels-last. Every method appends one node
and returns its output value. Scales are drawn so that outputs use most of the
range of their elements without always saturating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from ..ops.attrs import (
    AddAttrs,
    Clamp,
    ConcatAttrs,
    ConvAttrs,
    FullyConnectedAttrs,
    Padding,
    PoolAttrs,
    SoftmaxAttrs,
    TransposeAttrs,
)
from ..ops.geometry import Pair
from ..ops.shape_rules import SHAPE_RULES

SOFTMAX_QUANT = Quant((1 / 256,), Element.INT8.low)


class GraphBuilder:
    """Collects nodes; `graph(outputs)` verifies and returns the graph."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []

    def graph(self, *outputs: Value) -> Graph:
        graph = Graph(list(self.inputs), list(outputs), list(self.nodes))
        graph.verify()
        return graph

    # Values -----------------------------------------------------------------

    def quant(
        self, scale: Optional[float] = None, zero_point: Optional[int] = None, element: Element = Element.INT8
    ) -> Quant:
        """A per-tensor Quant; what is not given is random."""
        if scale is None:
            scale = float(2.0 ** self.random.uniform(-element.bits, 6 - element.bits))
        if element.is_symmetric:
            zero_point = 0
        if zero_point is None:
            zero_point = int(self.random.integers(Element.INT8.low, Element.INT8.high, endpoint=True))
        return Quant((scale,), zero_point)

    def input(
        self,
        *shape: int,
        element: Element = Element.INT8,
        layout: Optional[Layout] = None,
        quant: Optional[Quant] = None,
    ) -> Value:
        """A graph input; quantized images are channels-last unless `layout` says otherwise."""
        if element.is_activation:
            quant = quant or self.quant(element=element)
            layout = layout or _inner_layout(shape)
        value = Value(f"x{len(self.inputs)}", TensorType(element, shape, layout or Layout.ROW_MAJOR, quant))
        self.inputs.append(value)
        return value

    def constant(
        self, shape: Sequence[int], element: Element, lo: int, hi: int, quant: Optional[Quant] = None
    ) -> Value:
        """Random integers in [lo, hi]."""
        data = self.random.integers(lo, hi, tuple(shape), endpoint=True).astype(element.numpy)
        return Value(f"c{len(self.nodes)}", TensorType(element, tuple(shape), quant=quant), data)

    # Operators --------------------------------------------------------------

    def conv2d(
        self,
        x: Value,
        channels: int,
        kernel: Pair = (3, 3),
        stride: Pair = (1, 1),
        padding: Padding = Padding(),
        dilation: Pair = (1, 1),
        groups: int = 1,
        clamp: Clamp = Clamp(),
        depthwise: bool = False,
        element: Element = Element.INT8,
    ) -> Value:
        inputs, quant = self.weights(x, (channels, x.shape[1] // groups, *kernel), element)
        attrs = ConvAttrs(stride, padding, dilation, groups, clamp)
        return self.node("depthwise_conv2d" if depthwise else "conv2d", [x, *inputs], attrs, quant)

    def depthwise_conv2d(self, x: Value, multiplier: int = 1, **arguments: Any) -> Value:
        channels = x.shape[1]
        return self.conv2d(x, channels * multiplier, groups=channels, depthwise=True, **arguments)

    def fully_connected(
        self,
        x: Value,
        features: int,
        clamp: Clamp = Clamp(),
        per_tensor: bool = False,
        *,
        element: Element = Element.INT8,
    ) -> Value:
        row_size = math.prod(x.shape[1:])
        inputs, quant = self.weights(x, (features, row_size), element)
        if per_tensor:
            weight = inputs[0].quant
            assert weight is not None
            inputs[0].retype(quant=Quant(weight.scale[:1], 0))
        return self.node("fully_connected", [x, *inputs], FullyConnectedAttrs(clamp), quant)

    def add(
        self, a: Value, b: Value, clamp: Clamp = Clamp(), quant: Optional[Quant] = None, **attributes: Any
    ) -> Value:
        """`attributes` are further ones of `AddAttrs`."""
        attrs = AddAttrs(clamp, **attributes)
        scale = max(a.scale, abs(attrs.alpha) * b.scale) * float(self.random.uniform(0.7, 2.5))
        quant = quant or self.quant(scale, element=a.element)
        return self.node("add", [a, b], attrs, quant)

    def node(self, op: str, inputs: list[Value], attrs: Any, quant: Optional[Quant]) -> Value:
        """A node of any operator, with an output of the shape that the operator gives it and the type of its first
        input, or int8 if that is no activation. What computes in float32 changes that."""
        shape = SHAPE_RULES[op].output_shape(inputs, attrs)
        element = inputs[0].element if inputs[0].element.is_activation else Element.INT8
        output = Value(f"v{len(self.nodes)}", TensorType(element, tuple(shape), _inner_layout(shape), quant))
        return self._append(op, inputs, output, attrs)

    def avg_pool2d(self, x: Value, kernel: Pair, **arguments: Any) -> Value:
        return self._pool("avg_pool2d", x, kernel, **arguments)

    def max_pool2d(self, x: Value, kernel: Pair, **arguments: Any) -> Value:
        return self._pool("max_pool2d", x, kernel, **arguments)

    def softmax(self, x: Value, dim: int = 1) -> Value:
        return self.node("softmax", [x], SoftmaxAttrs(dim), SOFTMAX_QUANT)

    def quantize(self, x: Value, quant: Optional[Quant] = None, element: Element = Element.INT8) -> Value:
        output = self.node("quantize", [x], None, quant or self.quant())
        output.retype(element=element)
        return output

    def dequantize(self, x: Value, shape: Optional[Sequence[int]] = None) -> Value:
        shape = tuple(shape or x.shape)
        output = Value(f"v{len(self.nodes)}", TensorType(Element.FLOAT32, shape))
        return self._append("dequantize", [x], output, None)

    def transpose(self, x: Value, to: Layout) -> Value:
        output = Value(f"v{len(self.nodes)}", x.type.of(layout=to))
        return self._append("transpose", [x], output, TransposeAttrs(to))

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """For `place_parts`, as passes leave it before that."""
        return self.node("concat", list(values), ConcatAttrs(axis), values[0].quant)

    # Parts ------------------------------------------------------------------

    def weights(self, x: Value, shape: tuple[int, ...], element: Element = Element.INT8) -> tuple[list[Value], Quant]:
        """([weight, bias], output quant): the accumulator's spread fills the range of the elements. `element` is the
        type of the weight."""
        taps = math.prod(shape[1:])
        steps = 2 ** (x.element.bits - 8)  # of x and the output, in each step of int8
        # Standard deviations of uniform numbers.
        spread = 73 * 2.0 ** (element.bits - 8) * 74 * steps * math.sqrt(taps)
        quant = self.quant(element=x.element)
        typical = quant.scale[0] * 50 * steps / (x.scale * spread)
        scales = tuple(float(s) for s in typical * 2.0 ** self.random.uniform(-2, 2, shape[0]))
        # Other tools give weights of 4 bits the least number, too.
        least = element.symmetric_low if element is Element.INT8 else element.low
        weight = self.constant(shape, element, least, element.high, Quant(scales, 0, axis=0))
        bias = self.constant(shape[:1], Element.INT32, -int(spread), int(spread))
        return [weight, bias], quant

    def _pool(
        self,
        op: str,
        x: Value,
        kernel: Pair,
        stride: Optional[Pair] = None,
        padding: Padding = Padding(),
        clamp: Clamp = Clamp(),
    ) -> Value:
        return self.node(op, [x], PoolAttrs(kernel, stride or kernel, padding, clamp), x.quant)

    def _append(self, op: str, inputs: list[Value], output: Value, attrs: Any) -> Value:
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(Node(op, name, inputs, [output], attrs, sources=(name,)))
        return output


def _inner_layout(shape: Sequence[int]) -> Layout:
    return Layout.CHANNELS_LAST if len(shape) == 4 else Layout.ROW_MAJOR
