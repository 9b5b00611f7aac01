"""transposed_to_convolutions on random layers: the same bytes, by convolutions."""

from dataclasses import replace

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.attrs import TransposeConvAttrs
from cmsis_nn_delegate.ops.transpose_conv2d import output_size
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.random_case import RandomCase


def layer(
    d,
    inputs,
    kernel,
    stride,
    padding,
    extra=(0, 0),
    dilation=(1, 1),
    groups=1,
    element=Element.INT8,
    weights=Element.INT4,
    batch=None,
):
    """A graph of a transposed convolution."""
    x = d.input(batch or d.batch(), inputs, *d.pair(4, 6), element=element)
    axes = zip(x.shape[2:], kernel, stride, padding, dilation, extra)
    size = tuple(output_size(*axis) for axis in axes)
    (weight, bias), quant = d.weights(x, (groups * d.integer(1, 6), inputs // groups, *kernel), weights)
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


def test_alternatives_of_random_layers_compute_the_same():
    seen = set()
    for seed in range(600):
        d = RandomCase(seed)
        stride = d.pair(1, 3)
        kernel = tuple(d.pick(2 * s, s + d.integer(0, 2 * s)) for s in stride)
        padding = tuple(d.integer(0, k - 1) for k in kernel)
        whole = [(2 * p - k) % s for k, s, p in zip(kernel, stride, padding)]  # as many outputs of each phase
        extra = tuple(d.pick(e, d.integer(0, s - 1)) if e <= p else 0 for e, s, p in zip(whole, stride, padding))
        element = d.pick(Element.INT8, Element.INT16)
        graph = layer(d, 3, kernel, stride, padding, extra, element=element, weights=Element.INT8, batch=1)
        data = networks.random_inputs(graph, seed)
        run_passes(graph)
        assert ops(graph) == ["transpose_conv2d"]
        (wanted,) = reference.run(graph, data)
        for what, other in graph.alternatives.items():
            assert not other.alternatives and not other.notes
            assert "transpose_conv2d" not in ops(other), seed
            (found,) = reference.run(other, data)
            assert np.array_equal(found, wanted), (seed, what)
            seen.add((what.split(": ")[1], ops(other).count("conv2d")))
    assert {("by convolutions", 1), ("by convolutions", 4), ("by convolutions for each phase", 4)} <= seen
    assert max(count for _, count in seen) == 9


@pytest.mark.parametrize(
    "kernel, stride, padding, size, counts",
    [
        ((2, 2), (2, 2), (0, 0), (8, 8), [1]),  # all phases read the same pixels
        ((4, 4), (2, 2), (1, 1), (8, 8), [1, 4]),
        ((3, 3), (2, 2), (1, 1), (8, 8), [4]),
        ((1, 8), (1, 4), (0, 2), (4, 16), [1, 2]),  # two phases each
        ((1, 8), (1, 4), (0, 1), (4, 16), [1, 4]),  # one and three
        ((7, 1), (5, 1), (1, 0), (20, 4), [5]),
        ((7, 7), (5, 5), (1, 1), (20, 20), []),  # 25 are too many
        ((3, 3), (2, 2), (0, 0), (9, 9), []),
        ((1, 3), (1, 4), (0, 0), (4, 16), []),  # an output of the bias alone
    ],
)
def test_how_many_convolutions_each_way_takes(kernel, stride, padding, size, counts):
    d = RandomCase(1)
    x = d.input(1, 3, 4, 4)
    (weight, bias), quant = d.weights(x, (2, 3, *kernel))
    attrs = TransposeConvAttrs(stride, padding, (1, 1), 1, size, d.clamp())
    graph = run_passes(d.graph(d.node("transpose_conv2d", [x, weight, bias], attrs, quant)))
    assert [ops(other).count("conv2d") for other in graph.alternatives.values()] == counts


def test_of_several_layers_an_alternative_leaves_the_largest_output():
    d = RandomCase(1)
    x = d.input(1, 3, 4, 4)
    for size in (8, 16):
        (weight, bias), quant = d.weights(x, (3, 3, 2, 2))
        attrs = TransposeConvAttrs((2, 2), (0, 0), (1, 1), 1, (size, size), d.clamp())
        x = d.node("transpose_conv2d", [x, weight, bias], attrs, quant)
    graph = run_passes(d.graph(x))
    both, first = graph.alternatives.values()
    assert ops(both).count("conv2d") == 2 and "transpose_conv2d" not in ops(both)
    assert ops(first)[0] == "conv2d" and ops(first)[-1] == "transpose_conv2d"


@pytest.mark.parametrize("channels, outputs, groups, op", [(6, 6, 6, "depthwise_conv2d"), (4, 6, 2, "conv2d")])
@pytest.mark.parametrize("element", [Element.INT8, Element.INT16])
@pytest.mark.parametrize("kernel, padding, count", [((4, 3), (1, 1), 2), ((2, 3), (0, 1), 2), ((2, 1), (0, 0), 2)])
def test_groups_have_a_convolution_for_each_phase(channels, outputs, groups, op, element, kernel, padding, count):
    """Also where all phases read the same pixels."""
    for seed in range(5):
        d = RandomCase(seed)
        x = d.input(1, channels, 4, 5, element=element)
        (weight, bias), quant = d.weights(x, (outputs, channels // groups, *kernel))
        attrs = TransposeConvAttrs((2, 1), padding, (1, 1), groups, (8, 5), d.clamp())
        graph = d.graph(d.node("transpose_conv2d", [x, weight, bias], attrs, quant))
        data = networks.random_inputs(graph, seed)
        run_passes(graph)
        (other,) = graph.alternatives.values()
        assert ops(other).count(op if element is Element.INT8 else "conv2d") == count
        assert np.array_equal(reference.run(other, data)[0], reference.run(graph, data)[0])


def test_of_several_images_only_one_convolution_is_offered():
    d = RandomCase(1)
    graph = run_passes(layer(d, 3, (4, 4), (2, 2), (1, 1), weights=Element.INT8, batch=2))
    data = networks.random_inputs(graph, 1)
    ((what, other),) = graph.alternatives.items()
    assert what.endswith(": by convolutions") and ops(other).count("conv2d") == 1
    assert np.array_equal(reference.run(other, data)[0], reference.run(graph, data)[0])
