"""Lowered networks: the shapes of MLPerf Tiny, and random ones. All with random weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..graph.ir import Graph, Value
from ..graph.tensor_type import Element, Layout
from ..ops.annotation import Elementwise
from ..ops.attrs import Clamp, Padding
from ..ops.float_op import drawn, reals
from ..ops.function_float32 import FunctionFloat32Attrs
from ..ops.geometry import Pair
from ..ops.linear_float32 import LinearFloat32Attrs
from ..ops.pair_float32 import PairFloat32Attrs
from ..ops.registry import OPS, index_range
from ..ops.softmax_float32 import SoftmaxFloat32Attrs
from ..ops.strided_copy import StridedCopyAttrs
from ..passes.copies_to_parts import copies_to_parts
from ..passes.merge_concats import merge_concats
from ..passes.place_parts import place_parts
from .graph_builder import GraphBuilder
from .random_case import RandomCase

RELU = Clamp(0.0)
# Operators on two tensors of any scales, element by element.
_ELEMENTWISE = [
    name
    for name, op in OPS.items()
    if isinstance(op.annotation, Elementwise) and all(hasattr(op.attrs, field) for field in ("clamp", "shapes"))
]


def _same(x: Value, kernel: Pair, stride: int) -> Padding:
    """TensorFlow's SAME padding: the odd pixel goes to the bottom and right."""
    sides = []
    for size, k in zip(x.shape[2:], kernel):
        total = max((-(-size // stride) - 1) * stride + k - size, 0)
        sides.append((total // 2, total - total // 2))
    (top, bottom), (left, right) = sides
    return Padding(top, left, bottom, right)


def _conv(builder: GraphBuilder, x: Value, channels: int, kernel: int = 3, stride: int = 1) -> Value:
    pair = (kernel, kernel)
    padding = _same(x, pair, stride)
    return builder.conv2d(x, channels, pair, (stride, stride), padding, clamp=RELU)


def _depthwise(builder: GraphBuilder, x: Value, stride: int = 1) -> Value:
    kernel, strides, padding = (3, 3), (stride, stride), _same(x, (3, 3), stride)
    if x.element is Element.INT16:  # which has no operator of its own
        return builder.conv2d(x, x.shape[1], kernel, strides, padding, groups=x.shape[1], clamp=RELU)
    return builder.depthwise_conv2d(x, kernel=kernel, stride=strides, padding=padding, clamp=RELU)


def _classify(builder: GraphBuilder, x: Value, classes: int) -> Graph:
    mean = builder.avg_pool2d(x, (x.shape[2], x.shape[3]))
    scores = builder.fully_connected(mean, classes)
    return builder.graph(scores if x.element is Element.INT16 else builder.softmax(scores))


def ds_cnn(element: Element = Element.INT8) -> Graph:
    """Returns the network with activations of `element`; in int16 it has no softmax, which is one of int8."""
    builder = GraphBuilder()
    image = builder.input(1, 1, 49, 10, element=element)
    x = builder.conv2d(image, 64, (10, 4), (2, 2), Padding(4, 1, 5, 1), clamp=RELU)
    for _ in range(4):
        x = _conv(builder, _depthwise(builder, x), 64, kernel=1)
    return _classify(builder, x, 12)


def resnet8() -> Graph:
    builder = GraphBuilder()
    x = _conv(builder, builder.input(1, 3, 32, 32), 16)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = _conv(builder, _conv(builder, x, channels, stride=stride), channels)
        skip = x if stride == 1 else _conv(builder, x, channels, kernel=1, stride=stride)
        x = builder.add(y, skip, RELU)
    return _classify(builder, x, 10)


def mobilenet_v1_025() -> Graph:
    builder = GraphBuilder()
    x = _conv(builder, builder.input(1, 3, 96, 96), 8, stride=2)
    blocks = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *((128, 1),) * 5)
    for channels, stride in (*blocks, (256, 2), (256, 1)):
        x = _conv(builder, _depthwise(builder, x, stride), channels, kernel=1)
    return _classify(builder, x, 2)


def autoencoder() -> Graph:
    builder = GraphBuilder()
    x = builder.input(1, 640)
    for features in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = builder.fully_connected(x, features, RELU)
    return builder.graph(builder.fully_connected(x, 640))


def parallel_convolutions() -> Graph:
    """Two convolutions of one input that differ in their filters alone: these are its last constant."""
    builder = GraphBuilder()
    x = builder.input(1, 4, 6, 6)
    outputs = [builder.conv2d(x, 8), builder.conv2d(x, 8)]
    first, second = builder.nodes
    second.inputs[1].retype(quant=first.inputs[1].quant)
    second.inputs[2] = first.inputs[2]
    second.output.retype(quant=first.output.quant)
    return builder.graph(*outputs)


def random_network(seed: int, max_nodes: int = 12) -> Graph:
    """A valid graph of up to `max_nodes` nodes, and copies between them, with branches, every operator, float or int8
    I/O."""
    builder = GraphBuilder(seed)
    draw = builder.random
    batch = int(draw.choice([1, 1, 2]))
    shape = (batch, int(draw.integers(1, 6)), int(draw.integers(3, 12)), int(draw.integers(3, 12)))
    if draw.random() < 0.5:
        x = builder.quantize(builder.input(*shape, element=Element.FLOAT32))
    else:
        x = builder.input(*shape)
    images = [x]
    while len(builder.nodes) < max_nodes - 4:
        images.append(_random_step(builder, images))
    last = images[-1]
    outputs = []
    if draw.random() < 0.3 and len(images) > 2 and images[-2] not in builder.inputs:
        outputs.append(builder.transpose(images[-2], Layout.ROW_MAJOR))
    flat = builder.fully_connected(last, int(draw.integers(1, 12)))
    if draw.random() < 0.5:
        flat = builder.softmax(flat)
    if draw.random() < 0.3:
        outputs.append(builder.concat([flat, builder.fully_connected(last, 3), flat], 1))
    if draw.random() < 0.3:
        outputs.append(_in_float32(builder, flat))
    outputs.append(builder.dequantize(flat) if draw.random() < 0.5 else flat)
    graph = builder.graph(*outputs)
    merge_concats(graph)
    copies_to_parts(graph)
    place_parts(graph)
    return graph


def _in_float32(builder: GraphBuilder, x: Value) -> Value:
    """A head in float32."""
    rows, columns = x.shape
    hidden = int(builder.random.integers(1, 12))
    y = builder.dequantize(x)
    inputs = [y, reals(builder, hidden, columns), reals(builder, hidden)]
    y = drawn(builder, "linear_float32", inputs, LinearFloat32Attrs(1, rows, hidden, columns, 1, 0))
    y = drawn(builder, "function_float32", [y], FunctionFloat32Attrs(str(builder.random.choice(["tanh", "gelu"]))))
    y = drawn(builder, "pair_float32", [y, y], PairFloat32Attrs("mul"))
    return drawn(builder, "softmax_float32", [y], SoftmaxFloat32Attrs(rows, hidden, 1, 0))


def random_convolutions(seed: int) -> Graph:
    """Returns a chain of up to four convolutions of one image."""
    d = RandomCase(seed)
    value = d.input(1, d.integer(1, 5), d.integer(4, 30), d.integer(3, 8))
    for _ in range(d.integer(2, 4)):
        kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), (2, 1))
        extent = [(k - 1) * s + 1 for k, s in zip(kernel, dilation)]
        padding = Padding(*(d.integer(0, extent[i % 2] - 1) for i in range(4)))
        padded = value.shape[2] + padding.top + padding.bottom, value.shape[3] + padding.left + padding.right
        if any(size < extent[i] for i, size in enumerate(padded)):
            continue
        stride = d.pair(1, 3)
        if d.pick(False, True):
            value = d.depthwise_conv2d(value, 1, kernel=kernel, stride=stride, padding=padding, dilation=dilation)
        else:
            value = d.conv2d(value, d.integer(1, 5), kernel, stride, padding, dilation)
    return d.graph(value)


def _random_step(builder: GraphBuilder, images: Sequence[Value]) -> Value:
    """One more image, made from one or two of `images`."""
    draw = builder.random
    x = images[-1] if draw.random() < 0.7 else images[int(draw.integers(len(images)))]
    _, c, h, w = x.shape
    clamp = [Clamp(), RELU, Clamp(0.0, 6.0)][int(draw.integers(3))]
    kernel = int(draw.integers(1, min(h, w, 3) + 1)), int(draw.integers(1, min(h, w, 3) + 1))
    padding = Padding(*(int(draw.integers(0, k)) for k in kernel * 2))
    stride = int(draw.integers(1, 3)), int(draw.integers(1, 3))
    kinds = ["conv2d", "grouped", "depthwise", "pointwise", "avg", "max", "concat", "slice", *_ELEMENTWISE * 2]
    kind = draw.choice(kinds)
    if kind == "slice":
        return builder.node("strided_copy", [x], _random_slice(x, draw), x.quant)
    if kind == "concat":
        axis = int(draw.integers(4))
        partners = [y for y in images if _without(y.shape, axis) == _without(x.shape, axis)]
        chosen = [partners[int(draw.integers(len(partners)))] for _ in range(int(draw.integers(3)))]
        return builder.concat([x, *chosen], axis)
    if kind in _ELEMENTWISE:
        partners = [y for y in images if y.shape == x.shape]
        y = partners[int(draw.integers(len(partners)))]
        quant = builder.quant(max(x.scale, y.scale) * float(draw.uniform(0.7, 2.5)))
        attrs = OPS[kind].attrs
        assert attrs is not None
        return builder.node(kind, [x, y], attrs(clamp), quant)
    if kind == "avg" or kind == "max":
        pool = builder.avg_pool2d if kind == "avg" else builder.max_pool2d
        padding = Padding(padding.top, padding.left, 0, 0)
        return pool(x, kernel, stride=stride, padding=padding, clamp=clamp)
    if kind == "depthwise" and c > 1:
        multiplier = int(draw.choice([1, 1, 2]))
        return builder.depthwise_conv2d(x, multiplier, kernel=kernel, stride=stride, padding=padding, clamp=clamp)
    if kind == "grouped" and c > 1:
        return builder.conv2d(x, 2 * c, kernel, stride, padding, groups=c, clamp=clamp)
    if kind == "pointwise" or h == 1:
        return builder.conv2d(x, int(draw.integers(1, 9)), (1, 1), clamp=clamp)
    return builder.conv2d(x, int(draw.integers(1, 9)), kernel, stride, padding, clamp=clamp)


def _random_slice(x: Value, draw: np.random.Generator) -> StridedCopyAttrs:
    """Rows or columns of images, in memory: [n, h, w, c]."""
    n, c, h, w = x.shape
    axis = int(draw.integers(1, 3))
    size = (n, h, w, c)[axis]
    begin = int(draw.integers(size))
    sizes = [n, h, w, c]
    sizes[axis] = int(draw.integers(1, size - begin + 1))
    read, written = (tuple(math.prod(shape[i + 1 :]) for i in range(4)) for shape in ((n, h, w, c), sizes))
    return StridedCopyAttrs((n, c, sizes[1], sizes[2]), tuple(sizes), read, written, begin * read[axis])


def _without(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def random_inputs(graph: Graph, seed: int) -> list[np.ndarray]:
    """Inputs in logical shape and order that use the whole range; indices that of their tables."""
    draw = np.random.default_rng(seed)
    inputs = []
    for value in graph.inputs:
        indices = index_range(graph, value)
        if indices is not None:
            low, high = indices
            inputs.append(draw.integers(low, high, value.shape, value.element.numpy, endpoint=True))
        elif value.element is Element.FLOAT32:
            inputs.append(draw.normal(0, 10, value.shape).astype(np.float32))
        else:
            element = value.element
            inputs.append(draw.integers(element.low, element.high + 1, value.shape).astype(element.numpy))
    return inputs
