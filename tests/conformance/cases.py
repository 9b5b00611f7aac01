"""Random calls of every operator, as suites.

A case is one node with random shape, parameters, weights and input, compiled for an instruction set as
any network is; what it must answer comes from the integer reference. Cases of an operator are
drawn from several kinds in turn, so that each special kernel of CMSIS-NN, and each geometry that
the compiler rewrites because a special kernel is wrong for it (ops/geometry.py), is met often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import DType, Graph, Layout, Quant, Value
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.target import Target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.networks import random_inputs
from tests.conformance.suite import Case

# Draws the operator of one case; returns its output.
Draw = Callable[["Drawing"], Value]


class Drawing(GraphBuilder):
    """A graph of one node under construction."""

    def integer(self, lo: int, hi: int) -> int:
        """In [lo, hi]."""
        return int(self.random.integers(lo, hi, endpoint=True))

    def pair(self, lo: int, hi: int) -> tuple[int, int]:
        return self.integer(lo, hi), self.integer(lo, hi)

    def pick(self, *choices):
        return choices[self.integer(0, len(choices) - 1)]

    def clamp(self) -> Clamp:
        return self.pick(Clamp(), Clamp(), Clamp(0.0), Clamp(0.0, 6.0), Clamp(-1.0, 1.0))

    def batch(self) -> int:
        return self.pick(1, 1, 2, 3, 4)

    def channels(self) -> int:
        """Mostly few; sometimes around the widths that kernels work in."""
        return self.pick(self.integer(1, 9), self.integer(1, 9), 4 * self.integer(1, 8), self.integer(10, 40))

    def padding(self, kernel, dilation=(1, 1)) -> Padding:
        """Any, but every window has a tap in the image."""
        rows, columns = ((k - 1) * d for k, d in zip(kernel, dilation))
        return Padding(self.integer(0, rows), self.integer(0, columns), self.integer(0, rows), self.integer(0, columns))

    def image(self, batch, channels, kernel, dilation=(1, 1), extra=6) -> Value:
        """At least as large as the kernel: then padding as above leaves no window empty."""
        size = [(k - 1) * d + 1 + self.integer(0, extra) for k, d in zip(kernel, dilation)]
        return self.input(batch, channels, *size)


# conv2d ---------------------------------------------------------------------


def _conv_general(d: Drawing) -> Value:
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation)
    return d.conv2d(
        x,
        d.channels(),
        kernel,
        d.pair(1, 3),
        d.padding(kernel, dilation),
        dilation,
        clamp=d.clamp(),
    )


def _conv_grouped(d: Drawing) -> Value:
    kernel, groups = d.pair(1, 3), d.integer(2, 4)
    x = d.image(d.batch(), groups * d.integer(2, 9), kernel)
    return d.conv2d(
        x, groups * d.integer(1, 6), kernel, d.pair(1, 2), d.padding(kernel), groups=groups, clamp=d.clamp()
    )


def _conv_one_channel(d: Drawing) -> Value:
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), 1, kernel)
    return d.conv2d(x, d.channels(), kernel, d.pair(1, 2), d.padding(kernel), clamp=d.clamp())


def _conv_pointwise(d: Drawing) -> Value:
    x = d.input(d.batch(), d.pick(d.channels(), d.integer(40, 140)), *d.pair(1, 7))
    return d.conv2d(x, d.channels(), (1, 1), d.pick((1, 1), (1, 1), d.pair(1, 3)), clamp=d.clamp())


def _conv_pointwise_padded(d: Drawing) -> Value:
    """Rewritten: padding of a 1x1 kernel, whose windows then lie in it entirely."""
    x = d.input(d.batch(), d.channels(), *d.pair(1, 6))
    padding = Padding(*d.pair(0, 2), *d.pair(0, 2))
    return d.conv2d(x, d.channels(), (1, 1), d.pick((1, 1), (1, 1), d.pair(1, 3)), padding, clamp=d.clamp())


def _conv_beyond(d: Drawing) -> Value:
    """Padding as wide as the kernel and wider."""
    kernel, dilation = d.pair(1, 3), d.pick((1, 1), d.pair(1, 2))
    x = d.image(d.batch(), d.channels(), kernel, dilation, extra=3)
    padding = Padding(*d.pair(0, 4), *d.pair(0, 4))
    return d.conv2d(x, d.channels(), kernel, d.pair(1, 3), padding, dilation, clamp=d.clamp())


def _conv_one_row(d: Drawing) -> Value:
    """1xN on an image of one row, in every combination of padding and stride; with MVE a kernel of its
    own. What that computes wrongly is rewritten."""
    taps, stride = d.integer(1, 7), d.pick(1, 1, 2, 3, 4)
    x = d.input(d.batch(), d.pick(4, 8, 12, 16, 20, d.integer(1, 9)), 1, taps + d.integer(0, 20))
    left = d.integer(0, taps - 1)
    right = d.pick(left, min(left + 1, taps - 1), d.integer(0, taps - 1))
    # Rarely rows of padding too: they make rows of output.
    top, bottom = d.pick((0, 0), (0, 0), (0, 0), d.pair(0, 2))
    padding = Padding(top, left, bottom, right)
    return d.conv2d(x, d.channels(), (1, taps), (d.integer(1, 2), stride), padding, clamp=d.clamp())


def _conv_one_column(d: Drawing) -> Value:
    taps = d.integer(2, 7)
    x = d.input(d.batch(), 4 * d.integer(1, 4), taps + d.integer(0, 12), 1)
    padding = Padding(d.integer(0, taps - 1), 0, d.integer(0, taps - 1), 0)
    return d.conv2d(x, d.channels(), (taps, 1), d.pair(1, 2), padding, clamp=d.clamp())


# depthwise_conv2d -----------------------------------------------------------


def _depthwise_channels(d: Drawing) -> int:
    return max(2, d.pick(d.channels(), d.channels(), d.integer(120, 130), d.integer(240, 260)))


def _depthwise_general(d: Drawing) -> Value:
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), _depthwise_channels(d), kernel)
    return d.depthwise_conv2d(x, 1, kernel=kernel, stride=d.pair(1, 3), padding=d.padding(kernel), clamp=d.clamp())


def _depthwise_3x3(d: Drawing) -> Value:
    """A kernel of its own without MVE; with wide padding at the right, rewritten."""
    x = d.image(1, _depthwise_channels(d), (3, 3))
    padding = Padding(d.integer(0, 1), d.integer(0, 1), d.integer(0, 2), d.integer(0, 2))
    return d.depthwise_conv2d(
        x, 1, kernel=(3, 3), stride=d.pick((1, 1), (2, 2), d.pair(1, 3)), padding=padding, clamp=d.clamp()
    )


def _depthwise_multiplied(d: Drawing) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.integer(2, 9), kernel)
    return d.depthwise_conv2d(
        x, d.integer(2, 6), kernel=kernel, stride=d.pair(1, 2), padding=d.padding(kernel), clamp=d.clamp()
    )


def _depthwise_dilated(d: Drawing) -> Value:
    kernel, dilation = d.pair(2, 3), d.pair(1, 3)
    x = d.image(d.batch(), max(2, d.channels()), kernel, dilation)
    return d.depthwise_conv2d(
        x,
        d.pick(1, 1, 2),
        kernel=kernel,
        stride=d.pair(1, 2),
        padding=d.padding(kernel, dilation),
        dilation=dilation,
        clamp=d.clamp(),
    )


# The others -----------------------------------------------------------------


def _fully_connected(d: Drawing) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 300)))
    return d.fully_connected(x, d.integer(1, 40), d.clamp())


def _fully_connected_image(d: Drawing) -> Value:
    x = d.input(d.batch(), d.integer(1, 6), *d.pair(1, 5))
    return d.fully_connected(x, d.integer(1, 20), d.clamp())


def _fully_connected_per_tensor(d: Drawing) -> Value:
    """A kernel of its own."""
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(20, 300)))
    return d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor=True)


def _add(d: Drawing) -> Value:
    shape = d.batch(), d.channels(), *d.pair(1, 6)
    return d.add(d.input(*shape), d.input(*shape), d.clamp())


def _add_to_itself(d: Drawing) -> Value:
    x = d.input(d.batch(), d.integer(1, 70))
    return d.add(x, x, d.clamp())


def _pool(average: bool) -> Draw:
    def draw(d: Drawing) -> Value:
        kernel = d.pair(1, 5)
        x = d.image(d.batch(), d.channels(), kernel)
        # With a stride of at most the kernel, less what is padded, no window lies behind the image.
        padding = d.padding(kernel)
        stride = tuple(d.integer(1, max(1, k - far)) for k, far in zip(kernel, (padding.bottom, padding.right)))
        pool = d.avg_pool2d if average else d.max_pool2d
        return pool(x, kernel, stride=stride, padding=padding, clamp=d.clamp())

    return draw


def _global_average(d: Drawing) -> Value:
    kernel = d.pair(1, 9)
    return d.avg_pool2d(d.input(d.batch(), d.channels(), *kernel), kernel, clamp=d.clamp())


def _softmax(d: Drawing) -> Value:
    scale = float(2.0 ** d.random.uniform(-8, 3))
    columns = d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 511))
    return d.softmax(d.input(d.integer(1, 6), columns, quant=d.quant(scale)))


def _layout(d: Drawing) -> tuple[Layout, Layout]:
    return d.pick((Layout.ROW_MAJOR, Layout.CHANNELS_LAST), (Layout.CHANNELS_LAST, Layout.ROW_MAJOR))


def _quantize(d: Drawing) -> Value:
    shape = d.batch(), d.channels(), *d.pair(1, 5)
    return d.quantize(d.input(*shape, dtype=DType.FLOAT32))


def _dequantize(d: Drawing) -> Value:
    return d.dequantize(d.input(d.batch(), d.channels(), *d.pair(1, 5)))


def _transpose(d: Drawing) -> Value:
    source, target = _layout(d)
    return d.transpose(d.input(d.batch(), d.channels(), *d.pair(1, 6), layout=source), target)


KINDS: dict[str, tuple[Draw, ...]] = {
    "conv2d": (
        _conv_general,
        _conv_grouped,
        _conv_one_channel,
        _conv_pointwise,
        _conv_pointwise_padded,
        _conv_beyond,
        _conv_one_row,
        _conv_one_column,
    ),
    "depthwise_conv2d": (_depthwise_general, _depthwise_3x3, _depthwise_multiplied, _depthwise_dilated),
    "fully_connected": (_fully_connected, _fully_connected_image, _fully_connected_per_tensor),
    "add": (_add, _add_to_itself),
    "avg_pool2d": (_pool(average=True), _global_average),
    "max_pool2d": (_pool(average=False),),
    "softmax": (_softmax,),
    "quantize": (_quantize,),
    "dequantize": (_dequantize,),
    "transpose": (_transpose,),
}


def _spread_multipliers(d: Drawing, graph: Graph) -> None:
    """Weight scales far from those that fit the output: positive shifts, and sums that vanish."""
    for node in graph.nodes:
        if node.op not in ("conv2d", "depthwise_conv2d", "fully_connected"):
            return
        weight = node.inputs[1]
        factors = 2.0 ** d.random.uniform(-16, 10, len(weight.quant.scale))
        scales = tuple(float(s * f) for s, f in zip(weight.quant.scale, factors))
        weight.quant = replace(weight.quant, scale=scales)


def graph_of(operator: str, seed: int) -> Graph:
    """Case `seed` of `operator`."""
    kinds = KINDS[operator]
    d = Drawing(seed)
    graph = d.graph(kinds[seed % len(kinds)](d))
    if seed // len(kinds) % 5 == 4:
        _spread_multipliers(d, graph)
    return graph


def describe(operator: str, seed: int, graph: Graph) -> str:
    node = graph.nodes[0]
    quants = [value.quant for value in (*graph.inputs, node.output) if isinstance(value.quant, Quant)]
    zero_points = [quant.zero_point for quant in quants]
    shapes = [tuple(value.shape) for value in (*node.inputs, node.output)]
    return f"{operator} seed {seed}: shapes {shapes}, {node.attrs}, zero points {zero_points}"


def case(operator: str, seed: int, target: Target) -> Case:
    graph = graph_of(operator, seed)
    inputs = random_inputs(graph, seed)
    expected = reference.run(graph, inputs)
    payload = encode(graph, target, "caller").payload
    view = decode(payload)
    return Case(
        describe(operator, seed, graph),
        payload,
        tuple(to_bytes(np.asarray(a), t) for a, t in zip(inputs, view.inputs)),
        tuple(to_bytes(np.asarray(a), t) for a, t in zip(expected, view.outputs)),
    )


def cases(operator: str, count: int, target: Target) -> Iterator[Case]:
    return (case(operator, seed, target) for seed in range(count))
