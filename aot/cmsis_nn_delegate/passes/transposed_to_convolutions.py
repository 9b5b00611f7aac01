"""Computes transposed convolutions as convolutions, whose kernels are faster, and take weights of 4 bits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Optional

import numpy as np

from ..format.element import COMMON_ELEMENT
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element
from ..ops.attrs import ConcatAttrs, ConvAttrs, Padding
from ..ops.loops import find_loops
from ..ops.rearrange import RearrangeAttrs
from ..ops.transpose_conv2d import becomes_convolution, fits_convolution, is_depthwise
from .rewriting import derived, insert_before

_MOST_CONVOLUTIONS = 16  # for one transposed convolution: each is a call, with an argument block

_Replace = Callable[[Graph, Node], None]


def transposed_to_convolutions(graph: Graph) -> None:
    """Replaces transposed convolutions with weights of 4 bits that `becomes_convolution`, because only convolutions
    have kernels for these. Those with weights of 8 bits are replaced in alternatives of the graph: convolutions mostly
    take fewer instructions, but the parameters of more channels, and memory for what they compute. Along each axis

        output[stride * j + r - padding] = bias + sum over u of weight[stride * u + r] * x[j - u]

    which is a convolution for each r, a *phase* of the output. There are two ways:

    - `_by_one`: the outputs in a square as large as the stride are channels of one pixel of a convolution, whose pixels
      are then taken apart, and what it computes beyond the output is cut off. The filter has to be a multiple of the
      stride, as `fits_convolution` says.
    - `_by_phases`: phases that read the same pixels are channels of a convolution of their own, which computes nothing
      beyond the output.
    """
    for node in _transposed(graph, Element.INT4):
        if _holds(becomes_convolution, node):
            _by_one(graph, node)
    fewest: dict[str, _Replace] = {}  # convolutions
    phases: dict[str, _Replace] = {}
    candidates = _transposed(graph, COMMON_ELEMENT)
    for node in candidates:
        fits, axes = _holds(fits_convolution, node), _axes(node)
        if axes is not None:
            phases[node.name] = _by_phases
        elif fits:
            phases[node.name] = _by_one
        if fits or axes is not None:
            together = axes is not None and all(len(axis.runs()) == 1 for axis in axes)
            fewest[node.name] = _by_one if fits and not together else _by_phases
    # What is next to the largest output may be all the memory that there is.
    by_size = sorted((node for node in candidates if node.name in fewest), key=lambda node: node.output.nbytes)
    smaller = {node.name: fewest[node.name] for node in by_size[:-1]}
    _offer(graph, fewest, "by convolutions")
    if phases != fewest:
        _offer(graph, phases, "by convolutions for each phase")
    _offer(graph, smaller, "by convolutions")


def _offer(graph: Graph, ways: dict[str, _Replace], what: str) -> None:
    """Adds an alternative in which the nodes with these names are replaced, if there are some."""
    if ways:
        other = graph.copy()
        for node in list(other.nodes):
            if node.op == "transpose_conv2d" and node.name in ways:
                ways[node.name](other, node)
        graph.alternatives[f"{', '.join(ways)}: {what}"] = other


def _transposed(graph: Graph, weights: Element) -> list[Node]:
    return [node for node in graph.nodes if node.op == "transpose_conv2d" and node.inputs[1].element is weights]


def _holds(condition: Callable[..., bool], node: Node) -> bool:
    """Whether `node` meets a condition of `ops.transpose_conv2d`."""
    (x, weight, _), attrs = node.inputs, node.attrs
    size = x.shape[2], x.shape[3]
    return condition(weight.shape, size, attrs.stride, attrs.padding, attrs.output, attrs.dilation, attrs.groups)


def _by_one(graph: Graph, node: Node) -> None:
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
    operands = [
        x,
        _repeated(weight, pixels, filters, f"{output.name}_squares"),
        _repeated(bias, pixels, np.tile(bias.constant, pixels), f"{output.name}_squares"),
    ]
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


class _Phase(NamedTuple):
    """What a phase reads along an axis: taps of the filter, in the order of the pixels under them, and pixels of
    padding before and after the input."""

    taps: list[int]
    before: int
    after: int


class _Axis(NamedTuple):
    """The phases along an axis, that of the first output first. As many as `run` that follow each other differ in their
    taps alone; each has `size` outputs."""

    phases: list[_Phase]
    run: int
    size: int

    @staticmethod
    def of(inputs: int, kernel: int, stride: int, padding: int, outputs: int) -> Optional[_Axis]:
        """Returns None if an output is computed from padding alone, if inputs are skipped, or if some phases have fewer
        outputs than others."""
        if outputs % stride:
            return None
        size, phases = outputs // stride, []
        for first in range(padding, padding + stride):  # of a phase, before `padding` is cut off
            taps = list(range(first % stride, kernel, stride))[::-1]
            skipped = first // stride
            phases.append(_Phase(taps, len(taps) - 1 - skipped, size + skipped - inputs))
        if not all(phase.taps and phase.before >= 0 and phase.after >= 0 for phase in phases):
            return None
        alike = itertools.groupby((len(phase.taps), phase.before, phase.after) for phase in phases)
        return _Axis(phases, math.gcd(*(len(list(same)) for _, same in alike)), size)

    def runs(self) -> list[list[_Phase]]:
        return [self.phases[first : first + self.run] for first in range(0, len(self.phases), self.run)]


def _axes(node: Node) -> Optional[list[_Axis]]:
    """Returns height and width of the output; None if `_by_phases` does not compute `node`."""
    (x, weight, _), attrs = node.inputs, node.attrs
    if attrs.dilation != (1, 1) or x.shape[0] != 1:
        return None
    axes = map(_Axis.of, x.shape[2:], weight.shape[2:], attrs.stride, attrs.padding, attrs.output)
    found = [axis for axis in axes if axis is not None]
    if len(found) != 2:
        return None
    if attrs.groups > 1:  # channels of several phases would not lie in the order of the groups
        found = [axis._replace(run=1) for axis in found]
    return found if math.prod(len(axis.runs()) for axis in found) <= _MOST_CONVOLUTIONS else None


def _by_phases(graph: Graph, node: Node) -> None:
    (x, weight, bias), output = node.inputs, node.output
    axes = _axes(node)
    if axes is None:
        raise AssertionError(f"{node.name} is not computed by phases")
    height, width = axes
    pixels, outputs = height.run * width.run, weight.shape[0]
    steps: list[Node] = []
    for rows, columns in itertools.product(height.runs(), width.runs()):
        name = f"{output.name}_phase{len(steps)}"
        filters = [weight.constant[:, :, row.taps][..., column.taps] for row in rows for column in columns]
        operands = [
            x,
            _repeated(weight, pixels, np.concatenate(filters), name),
            _repeated(bias, pixels, np.tile(bias.constant, pixels), name),
        ]
        padding = Padding(rows[0].before, columns[0].before, rows[0].after, columns[0].after)
        part = Value(name, output.type.of(shape=(1, pixels * outputs, height.size, width.size)))
        attrs = ConvAttrs(padding=padding, groups=node.attrs.groups, clamp=node.attrs.clamp)
        depthwise = is_depthwise(x, x.element, operands[1], attrs, (height.size, width.size))
        steps.append(derived(node, "depthwise_conv2d" if depthwise else "conv2d", operands, part, attrs))
    parts = [step.output for step in steps]
    whole = parts[0]
    if len(parts) > 1:
        whole = Value(f"{output.name}_phases", output.type.of(shape=(len(parts), *whole.shape[1:])))
        steps.append(derived(node, "concat", parts, whole, ConcatAttrs(0)))
    runs = len(height.runs()), len(width.runs()), height.run, width.run
    places = np.arange(whole.numel).reshape(*runs, outputs, height.size, width.size)
    places = places.transpose(4, 5, 0, 2, 6, 1, 3).reshape(output.shape)
    for step in (*steps, _moved(node, whole, output, places)):
        insert_before(graph, node, step)
    graph.remove([node])


def _repeated(value: Value, times: int, data: np.ndarray, of: str) -> Value:
    """Returns `data` with the scales of `value`, per index of dimension 0, as often. `of` is what is computed."""
    quant = value.type.quant
    if quant is not None:
        quant = replace(quant, scale=quant.scale * times)
    return Value(f"{value.name}_{of}", value.type.of(shape=data.shape, quant=quant), data)


def _moved(node: Node, source: Value, output: Value, places: Any) -> Node:
    loops = find_loops(places.reshape(-1))
    if loops is None:
        raise AssertionError(f"{node.name}: no loops go through {source.name}")
    return derived(node, "rearrange", [source], output, RearrangeAttrs(loops, output.shape))
