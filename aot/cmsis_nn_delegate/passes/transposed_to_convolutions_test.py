"""transposed_to_convolutions on random layers: the same bytes, by a convolution."""

from dataclasses import replace

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.attrs import TransposeConvAttrs
from cmsis_nn_delegate.ops.transpose_conv2d import output_size
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.testing.random_case import RandomCase


def layer(d, inputs, kernel, stride, padding, extra=(0, 0), dilation=(1, 1), groups=1, element=Element.INT8):
    """A graph of a transposed convolution with weights of 4 bits."""
    x = d.input(d.batch(), inputs, *d.pair(4, 6), element=element)
    axes = zip(x.shape[2:], kernel, stride, padding, dilation, extra)
    size = tuple(output_size(*axis) for axis in axes)
    (weight, bias), quant = d.weights(x, (groups * d.integer(1, 6), inputs // groups, *kernel), Element.INT4)
    attrs = TransposeConvAttrs(stride, padding, dilation, groups, size, d.clamp())
    return d.graph(d.node("transpose_conv2d", [x, weight, bias], attrs, quant))


def ops(graph):
    return [node.op for node in graph.nodes]


def test_random_layers_stay_the_same():
    seen = set()
    for seed in range(60):
        d = RandomCase(seed)
        taps, stride = d.pair(1, 3), d.pair(1, 3)
        padding = tuple(d.integer(0, t * s - 1) for t, s in zip(taps, stride))
        extra = tuple(d.integer(0, min(s - 1, p)) for s, p in zip(stride, padding))
        kernel = tuple(t * s for t, s in zip(taps, stride))
        graph = layer(d, 40, kernel, stride, padding, extra, element=d.pick(Element.INT8, Element.INT16))
        data = d.random.integers(-128, 128, graph.inputs[0].shape)
        data = data.astype(graph.inputs[0].element.numpy)
        weight = graph.nodes[0].inputs[1]
        graph.nodes[0].inputs[1] = replace(weight, type=weight.type.of(element=Element.INT8))  # which has a kernel
        (wanted,) = reference.run(graph, [data])
        graph.nodes[0].inputs[1] = weight
        run_passes(graph)
        seen.add(tuple(ops(graph)))
        assert graph.nodes[0].op == "conv2d" and graph.nodes[0].inputs[1].element is Element.INT4, seed
        assert not graph.notes
        (found,) = reference.run(graph, [data])
        assert np.array_equal(found, wanted), seed
    assert ("conv2d",) in seen and ("conv2d", "strided_copy") in seen


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": 4},  # the parameters of more channels take more than the weights save
        {"extra": (1, 0)},  # rows of nothing but the bias
        {"dilation": (1, 2)},
        {"groups": 2},
        {"kernel": (3, 2)},  # no multiple of the stride
    ],
)
def test_the_rest_keeps_8_bits(changes):
    arguments = {"inputs": 40, "kernel": (2, 2), "stride": (2, 2), "padding": (0, 0), **changes}
    graph = layer(RandomCase(1), **arguments)
    run_passes(graph)
    assert graph.nodes[0].op == "transpose_conv2d" and graph.nodes[0].inputs[1].element is Element.INT8
    assert len(graph.notes) == 1
