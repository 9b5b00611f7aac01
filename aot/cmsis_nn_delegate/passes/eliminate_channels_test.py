"""What is left out changes no result."""

import copy
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant
from cmsis_nn_delegate.ops import storage
from cmsis_nn_delegate.ops.attrs import Clamp, Padding, PoolAttrs
from cmsis_nn_delegate.ops.lookup import LookupAttrs, table_value
from cmsis_nn_delegate.ops.mul import MulAttrs
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.passes.bounds import bounds_of
from cmsis_nn_delegate.passes.eliminate_channels import eliminate_channels
from cmsis_nn_delegate.passes.functions_to_lookups import functions_to_lookups
from cmsis_nn_delegate.passes.run_passes import OPTIONAL_PASSES, PASSES
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

RELU = Clamp(0.0)


class Network(GraphBuilder):
    """Random networks in which some channels are constant, dead, or equal to others."""

    def image(self, *shape):
        return self.input(*shape, quant=Quant((0.05,), int(self.random.integers(-128, 128))))

    def planted(self, y):
        """Spoils some rows and columns of the weights of the layer that computes `y`."""
        node = self.nodes[-1]
        _, weight, bias = node.inputs
        data, biases, rows = weight.data, bias.data, len(bias.data)
        scales = list(weight.quant.scale)
        for row in range(rows):
            kind = self.random.integers(0, 5)
            if kind == 0:  # below the clamp, or some constant
                data[row], biases[row] = 0, self.random.integers(-30000, 3000)
            elif kind == 1 and row:
                twin = int(self.random.integers(0, row))
                data[row], biases[row], scales[row] = data[twin], biases[twin], scales[twin]
        if getattr(node.attrs, "groups", 1) == 1:
            data[:, self.random.random(data.shape[1]) < 0.3] = 0
            if self.random.random() < 0.5:
                data //= 3  # so that the sums of two fit
        weight.retype(quant=Quant(tuple(scales), 0, 0))
        return y

    def layer(self, x):
        channels = int(self.random.integers(1, 9))
        clamp = [RELU, Clamp(), Clamp(0.0, 6.0)][self.random.integers(0, 3)]
        kind = self.random.integers(0, 9)
        padding = Padding(*(int(p) for p in self.random.integers(0, 2, 4)))
        if kind < 3:
            kernel = (1, 1) if kind == 0 or min(x.shape[2:]) < 3 else (3, 3)
            return self.planted(self.conv2d(x, channels, kernel, padding=padding, clamp=clamp))
        if kind < 5 and x.shape[1] > 1:
            outputs = x.shape[1] * int(self.random.integers(1, 3))
            depthwise = bool(self.random.integers(0, 2))  # else as in int16, which has no operator of its own
            arguments = {"padding": Padding(1, 1), "groups": x.shape[1], "clamp": clamp, "depthwise": depthwise}
            return self.planted(self.conv2d(x, outputs, (2, 2), **arguments))
        if kind == 5 and min(x.shape[2:]) > 1:
            op = ["max_pool2d", "avg_pool2d"][self.random.integers(0, 2)]
            return self.node(op, [x], PoolAttrs((2, 2), (1, 1), clamp=clamp), x.quant)
        if kind == 6:
            table = table_value("table", np.sort(self.random.integers(-128, 128, 256)))
            return self.node("lookup", [x, table], LookupAttrs(), self.quant())
        return None

    def network(self):
        shape = (int(self.random.integers(1, 3)), int(self.random.integers(1, 5)), 5, 4)
        values = [self.planted(self.conv2d(self.image(*shape), 8, (1, 1), clamp=RELU))]
        for _ in range(int(self.random.integers(2, 7))):
            x = values[self.random.integers(max(0, len(values) - 2), len(values))]
            y = self.layer(x)
            if y is None:
                other = values[self.random.integers(0, len(values))]
                if other.shape == x.shape and self.random.random() < 0.7:
                    y = self.add(x, other, clamp=RELU)
                elif other.shape[2:] == x.shape[2:] and other.quant == x.quant:
                    y = self.concat([x, other], 1)
                else:
                    gate = self.conv2d(self.avg_pool2d(x, x.shape[2:]), x.shape[1], (1, 1), clamp=RELU)
                    y = self.node("mul", [x, self.planted(gate)], MulAttrs(), self.quant(x.scale * gate.scale * 100))
            values.append(y)
        pooled = self.avg_pool2d(values[-1], values[-1].shape[2:])
        flat = self.node_of_shape("reshape", pooled, (shape[0], pooled.shape[1]))
        flat = self.fully_connected(flat, 3)
        return self.row_major(self.graph(flat, *values[-2:-1]))

    def node_of_shape(self, op, x, shape):
        output = copy.copy(x)
        output.name, output.type = f"v{len(self.nodes)}", x.type.of(shape=shape, layout=Layout.ROW_MAJOR)
        return self._append(op, [x], output, None)

    def row_major(self, graph):
        """As programs are imported: layouts are chosen later."""
        for value in graph.activations():
            value.retype(layout=Layout.ROW_MAJOR)
        return graph


def lower(graph, skip=()):
    """Runs the passes for graphs of integers."""
    for step in PASSES[PASSES.index(functions_to_lookups) :]:
        if step not in skip:
            step(graph)
    graph.verify()


def inputs_of(graph, random):
    return [random.integers(-128, 128, value.shape).astype(np.int8) for value in graph.inputs]


def macs(graph):
    return sum(OPS[node.op].macs(node) for node in graph.nodes)


def test_results_stay_while_much_is_lost():
    saved = []

    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        network = Network(seed)
        graph = network.network()
        whole, narrow = copy.deepcopy(graph), copy.deepcopy(graph)
        lower(whole, skip=OPTIONAL_PASSES.values())
        lower(narrow)
        assert macs(narrow) <= macs(whole)
        saved.append(macs(narrow) / macs(whole))
        for value, before in zip((*narrow.inputs, *narrow.outputs), (*graph.inputs, *graph.outputs)):
            assert value.shape == before.shape
        for _ in range(3):
            x = inputs_of(graph, network.random)
            for a, b in zip(reference.run(whole, x), reference.run(narrow, x)):
                np.testing.assert_array_equal(a, b)

    check()
    assert len(saved) >= 100 and np.mean(saved) < 0.7


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_values_lie_within_their_bounds(seed):
    network = Network(seed)
    graph = network.network()
    bounds = {value.name: bounds_of(graph)[id(value)] for value in graph.activations()}
    shapes = {value.name: value.shape for value in graph.activations()}
    lower(graph, skip=OPTIONAL_PASSES.values())
    checked = 0

    def see(node, value, array):
        nonlocal checked
        if shapes.get(value.name) == value.shape:
            elements = storage.from_storage(array, value)
            low, high = (np.broadcast_to(side, elements.shape) for side in bounds[value.name])
            assert np.all(low <= elements) and np.all(elements <= high), node.name
            checked += 1

    for _ in range(3):
        reference.run(graph, inputs_of(graph, network.random), see)
    assert checked


def two_layers(random=0, channels=6, padding=Padding()):
    """A layer without padding and one that reads it, with small weights."""
    d = Network(random)
    y = d.conv2d(d.image(1, 3, 5, 5), channels, (1, 1), clamp=RELU)
    z = d.conv2d(y, 4, (2, 2), padding=padding)
    for node in d.nodes:
        node.inputs[1].data[:] = d.random.integers(1, 60, node.inputs[1].shape)
        node.inputs[2].data[:] = 0
    return d.graph(z), d.nodes[0].inputs, d.nodes[1].inputs


def left_after(graph):
    x = inputs_of(graph, np.random.default_rng(0))
    before = reference.run(graph, x)
    eliminate_channels(graph)
    np.testing.assert_array_equal(before[0], reference.run(graph, x)[0])
    return graph.nodes[0].output.shape[1]


def test_nothing_goes_where_everything_counts():
    graph, _, _ = two_layers()
    assert left_after(graph) == 6 and not graph.notes


def test_constant_channels_go_into_the_bias():
    graph, (_, weight, bias), (_, _, after) = two_layers()
    weight.data[2:5] = 0
    bias.data[2:5] = 1000, -1000, 3000
    assert left_after(graph) == 3
    assert np.any(graph.nodes[1].inputs[2].data != after.data)
    assert re.fullmatch(r"conv2d_0: 3 constant of 6 channels; 225 of 450 multiplications are left", graph.notes[0])


def test_behind_padding_only_the_zero_point_is_constant():
    graph, (_, weight, bias), _ = two_layers(padding=Padding(1, 0, 0, 0))
    weight.data[2:5] = 0
    bias.data[2:5] = 1000, -(10**6), 3000
    output = graph.nodes[0].output
    output.retype(quant=Quant(output.quant.scale, -128))
    assert left_after(graph) == 5


def test_channels_that_nothing_reads_go():
    graph, _, (_, weight, _) = two_layers()
    weight.data[:, [0, 5]] = 0
    assert left_after(graph) == 4
    assert graph.notes[0].startswith("conv2d_0: 2 unread of 6")


def test_equal_channels_become_one_if_their_weights_fit():
    for factor, left in ((1, 5), (120, 6)):
        graph, (_, weight, bias), (_, after, _) = two_layers()
        weight.data[4], bias.data[4] = weight.data[1], bias.data[1]
        scales = list(weight.quant.scale)
        scales[4] = scales[1]
        weight.retype(quant=Quant(tuple(scales), 0, 0))
        after.data[0, 4] = factor
        assert left_after(graph) == left
    assert not graph.notes


def test_one_channel_stays():
    graph, (_, weight, bias), _ = two_layers()
    weight.data[:], bias.data[:] = 0, 500
    assert left_after(graph) == 1


def test_outputs_keep_their_shapes():
    graph, (_, weight, bias), _ = two_layers()
    graph.outputs.append(graph.nodes[0].output)
    weight.data[1], bias.data[1] = 0, 0
    assert left_after(graph) == 6


def test_what_may_wrap_has_no_bounds():
    graph, (_, weight, bias), _ = two_layers()
    bias.data[0] = 2**31 - 1
    bounds = bounds_of(graph)[id(graph.nodes[0].output)]
    assert (bounds.low.reshape(-1)[0], bounds.high.reshape(-1)[0]) == (graph.nodes[0].output.zero_point, 127)
    assert left_after(graph) == 6


@pytest.mark.parametrize("zero_point", [-128, 0])
def test_a_depthwise_layer_with_one_channel_left_becomes_a_convolution(zero_point):
    d = Network(3)
    y = d.conv2d(d.image(1, 2, 4, 4), 3, (1, 1), clamp=RELU)
    z = d.conv2d(d.depthwise_conv2d(y, 2, kernel=(3, 3), padding=Padding(1, 1, 1, 1), clamp=RELU), 2, (1, 1))
    graph = d.graph(z)
    y.retype(quant=Quant(y.quant.scale, zero_point))
    weight, bias = graph.nodes[0].inputs[1:]
    weight.data[1:], bias.data[1:] = 0, -(10**6)
    assert left_after(graph) == 1
    assert [node.op for node in graph.nodes] == ["conv2d", "conv2d", "conv2d"]
    assert graph.nodes[1].inputs[1].shape == (2, 1, 3, 3)
    assert OPS["conv2d"].kernel_of(graph.nodes[1]).name == "conv2d"


def test_float_tensors_at_the_border_stay():
    d = Network(1)
    x = d.input(1, 3, 4, 4, element=Element.FLOAT32, layout=Layout.CHANNELS_LAST)
    y = d.conv2d(d.quantize(x), 5, (1, 1), clamp=RELU)
    graph = d.graph(d.dequantize(d.conv2d(y, 2, (1, 1))))
    graph.nodes[2].inputs[1].data[:, 1] = 0
    eliminate_channels(graph)
    assert [node.output.shape[1] for node in graph.nodes] == [3, 4, 2, 2]
