"""Computes transposed convolutions with weights of 4 bits as convolutions, which have kernels for these."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element
from ..ops.attrs import ConvAttrs, Padding
from ..ops.loops import find_loops
from ..ops.rearrange import RearrangeAttrs
from ..ops.transpose_conv2d import becomes_convolution
from .rewriting import derived, insert_before


def transposed_to_convolutions(graph: Graph) -> None:
    """Replaces transposed convolutions with weights of 4 bits that `becomes_convolution`. The outputs in a square as
    large as the stride are channels of one pixel of a convolution, whose pixels are then taken apart:

        output[stride * j + r] = bias + sum over u of weight[stride * u + r] * x[j - u]

    along each axis, if the filter is a multiple of the stride and nothing is cut off. A copy cuts off what is
    computed beyond the output.
    """
    for node in [node for node in graph.nodes if node.op == "transpose_conv2d"]:
        x, weight, _ = node.inputs
        attrs, size = node.attrs, (x.shape[2], x.shape[3])
        if weight.element is Element.INT4 and becomes_convolution(
            weight.shape, size, attrs.stride, attrs.padding, attrs.output, attrs.dilation, attrs.groups
        ):
            _replace(graph, node)


def _replace(graph: Graph, node: Node) -> None:
    x, weight, bias = node.inputs
    attrs, output = node.attrs, node.output
    stride, pixels = attrs.stride, math.prod(attrs.stride)
    outputs, inputs, *kernel = weight.shape
    taps = [k // s for k, s in zip(kernel, stride)]
    axes = list(zip(x.shape[2:], taps, stride, attrs.padding, attrs.output))
    # Of each axis: the windows that the output does not need, in front, and then those that it does.
    skipped = [min(padding // step, tap - 1) for _, tap, step, padding, _ in axes]
    counts = [-(-(padding + out) // step) - skip for (_, _, step, padding, out), skip in zip(axes, skipped)]
    before = [tap - 1 - skip for tap, skip in zip(taps, skipped)]
    after = [max(skip + count - size, 0) for (size, *_), skip, count in zip(axes, skipped, counts)]
    counts = [size + b + a - tap + 1 for size, b, a, tap in zip(x.shape[2:], before, after, taps)]

    # [outputs, inputs, taps, stride, taps, stride]: a convolution goes through the taps the other way round.
    parts = weight.constant.reshape(outputs, inputs, taps[0], stride[0], taps[1], stride[1])[:, :, ::-1, :, ::-1]
    filters = np.ascontiguousarray(parts.transpose(3, 5, 0, 1, 2, 4)).reshape(pixels * outputs, inputs, *taps)
    operands = [x, _repeated(weight, pixels, filters), _repeated(bias, pixels, np.tile(bias.constant, pixels))]
    apart = output.type.of(shape=(x.shape[0], pixels * outputs, *counts))
    squares = Value(f"{output.name}_squares", apart)
    padding = Padding(before[0], before[1], after[0], after[1])
    convolution = derived(node, "conv2d", operands, squares, ConvAttrs(padding=padding, clamp=attrs.clamp))

    whole = (x.shape[0], outputs, counts[0] * stride[0], counts[1] * stride[1])
    places = np.arange(math.prod(apart.shape)).reshape(x.shape[0], *stride, outputs, *counts)
    places = places.transpose(0, 3, 4, 1, 5, 2).reshape(whole)
    first = [padding - skip * step for (_, _, step, padding, _), skip in zip(axes, skipped)]
    kept = tuple(slice(f, f + out) for f, out in zip(first, attrs.output))
    steps = [convolution]
    if whole == output.shape:
        steps.append(_moved(node, squares, output, places))
    else:
        pieces = Value(f"{output.name}_whole", output.type.of(shape=whole))
        steps.append(_moved(node, squares, pieces, places))
        steps.append(_moved(node, pieces, output, np.arange(math.prod(whole)).reshape(whole)[:, :, kept[0], kept[1]]))
    for step in steps:
        insert_before(graph, node, step)
    graph.remove([node])


def _repeated(value: Value, times: int, data: np.ndarray) -> Value:
    """Returns `data` with the scales of `value`, per index of dimension 0, as often."""
    quant = value.type.quant
    if quant is not None:
        quant = replace(quant, scale=quant.scale * times)
    return Value(f"{value.name}_squares", value.type.of(shape=data.shape, quant=quant), data)


def _moved(node: Node, source: Value, output: Value, places: Any) -> Node:
    loops = find_loops(places.reshape(-1))
    if loops is None:
        raise AssertionError(f"{node.name}: no loops go through {source.name}")
    return derived(node, "rearrange", [source], output, RearrangeAttrs(loops, output.shape))
