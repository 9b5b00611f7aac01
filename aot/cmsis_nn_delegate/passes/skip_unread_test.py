"""What nothing reads is not computed, and the results stay."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element, Quant
from cmsis_nn_delegate.ops.attrs import AddAttrs, Padding, PoolAttrs
from cmsis_nn_delegate.ops.lookup import LookupAttrs, table_value
from cmsis_nn_delegate.ops.loops import find_loops
from cmsis_nn_delegate.ops.rearrange import RearrangeAttrs
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.ops.steps import Steps, Windows
from cmsis_nn_delegate.passes.merge_rearrangements import merge_rearrangements
from cmsis_nn_delegate.passes.run_passes import PASSES
from cmsis_nn_delegate.passes.skip_unread import skip_unread
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

QUANT = Quant((0.05,), -3)


class Network(GraphBuilder):
    """Random networks that end in selections."""

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def select(self, x, *index):
        elements = np.arange(x.numel).reshape(x.shape)[index]
        loops = find_loops(elements.reshape(-1))
        assert loops is not None
        return self.node("rearrange", [x], RearrangeAttrs(loops, elements.shape), x.quant)

    def selection(self, size):
        start = int(self.random.integers(size))
        last = slice(size - 1, size)
        return self.pick(last, last, slice(start, size, int(self.random.integers(1, 4))), slice(0, start + 1))

    def look_up(self, x):
        table = table_value("table", self.random.integers(-128, 128, 256))
        return self.node("lookup", [x, table], LookupAttrs(), QUANT)

    def windowed(self, x):
        """A convolution or pooling."""
        kernel = tuple(int(k) for k in self.random.integers(1, 4, 2))
        dilation = tuple(int(d) for d in self.random.integers(1, 4, 2))
        fits = all(s > d * (k - 1) for s, d, k in zip(x.shape[2:], dilation, kernel))
        kernel = kernel if fits else (1, 1)
        stride = self.pick((1, 1), (1, 1), (1, 2), (2, 1), (3, 2))
        reach = [d * (k - 1) for d, k in zip(dilation, kernel)]
        padding = Padding(*(int(self.random.integers(0, 1 + r)) for r in (*reach, *reach)))
        kind = self.pick("conv2d", "conv2d", "depthwise", "pool")
        if kind == "pool":
            attrs = PoolAttrs(
                kernel,
                stride,
                Padding(
                    *(
                        min(p, (k - 1) // 2)
                        for p, k in zip((padding.top, padding.left, padding.bottom, padding.right), (*kernel, *kernel))
                    )
                ),
            )
            return self.node(self.pick("max_pool2d", "avg_pool2d"), [x], attrs, x.quant)
        arguments = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
        return (
            self.conv2d(x, self.pick(2, 3, 4), **arguments)
            if kind == "conv2d"
            else self.depthwise_conv2d(x, **arguments)
        )

    def network(self):
        values = [self.input(1, 3, *self.pick((1, 40), (1, 40), (9, 8)), quant=QUANT)]
        for _ in range(int(self.random.integers(2, 9))):
            x = values[-int(self.random.integers(1, min(3, len(values)) + 1))]
            others = [value for value in values if value.shape == x.shape]
            kind = self.pick("window", "window", "lookup", "add", "constant", "concat", "reshape")
            if kind == "window" and min(x.shape[2:]) > 0:
                values.append(self.windowed(x))
            elif kind == "lookup":
                values.append(self.look_up(x))
            elif kind == "add":
                values.append(self.add(x, self.pick(*others)))
            elif kind == "constant":
                shape = self.pick((1, x.shape[1], 1, 1), (1, 1, *x.shape[2:]), x.shape)
                values.append(self.add(x, self.constant(shape, Element.INT8, -128, 127, QUANT)))
            elif kind == "concat":
                same = [value for value in others if value.quant == x.quant]
                values.append(self.concat([x, self.pick(*same)], int(self.random.integers(1, 4))))
            else:
                values.append(self.node("reshape", [x], None, x.quant))
        outputs = []
        for x in {id(x): x for x in (values[-1], self.pick(*values[1:]))}.values():
            rows, columns = (self.selection(size) for size in x.shape[2:])
            outputs.append(self.select(x, slice(None), slice(None), rows, columns))
        return self.graph(*outputs)


def both(graph):
    """The graph after the passes on int8, without and with this one."""
    graphs = copy.deepcopy(graph), graph
    for found, skipped in zip(graphs, ([skip_unread], [])):
        for step in PASSES[PASSES.index(merge_rearrangements) :]:
            if step not in skipped:
                step(found)
                found.verify()
    return graphs


def data_of(graph, seed):
    random = np.random.default_rng(seed)
    return [random.integers(-128, 128, value.shape, np.int8) for value in graph.inputs]


def macs(graph):
    return sum(OPS[node.op].macs(node) for node in graph.nodes)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_results_stay(seed):
    whole, less = both(Network(seed).network())
    data = data_of(whole, seed)
    for a, b in zip(reference.run(whole, data), reference.run(less, data)):
        assert np.array_equal(a, b)
    assert macs(less) <= macs(whole)


def wavenet(builder, length, dilations):
    x = builder.conv2d(builder.input(1, 1, 1, length, quant=QUANT), 4, (1, 1))
    total = None
    for dilation in dilations:
        y = builder.look_up(builder.conv2d(x, 4, (1, 2), padding=Padding(left=dilation), dilation=(1, dilation)))
        skip = builder.conv2d(y, 4, (1, 1))
        total = skip if total is None else builder.add(total, skip)
        x = builder.add(x, builder.conv2d(y, 4, (1, 1)))
    return builder.conv2d(builder.look_up(total), 3, (1, 1))


def test_the_last_step_of_a_wavenet():
    """Convolutions compute 1, 2, 4 and 8 steps, from the last on, and not 32."""
    builder = Network(1)
    y = wavenet(builder, 32, (1, 2, 4, 8))
    whole, less = both(builder.graph(builder.select(y, slice(None), slice(None), 0, slice(31, 32))))
    widths = [node.output.shape[3] for node in less.nodes if node.op == "conv2d" and node.inputs[1].shape[3] == 2]
    assert widths == [8, 4, 2, 1]
    (note,) = less.notes
    assert "only what is read is computed" in note and f"{macs(less):,} of {macs(whole):,}" in note
    data = data_of(whole, 0)
    assert np.array_equal(reference.run(whole, data)[0], reference.run(less, data)[0])


@pytest.mark.parametrize("kept", [slice(0, 16), slice(1, 16)])
def test_nothing_changes_where_nothing_is_saved(kept):
    """Copies for the readers of what is kept would cost more than one step of a sum."""
    builder = Network(2)
    x = builder.input(1, 8, 1, 16, quant=QUANT)
    y = builder.node("add", [x, builder.look_up(x)], AddAttrs(), QUANT)
    whole, less = both(builder.graph(builder.select(y, slice(None), slice(None), slice(None), kept)))
    assert str(whole) == str(less) and not less.notes


def test_rows_of_a_linear_layer():
    """A classifier of the first token computes one row."""
    builder = Network(3)
    x = builder.input(1, 9, 6, quant=QUANT)
    inputs, quant = builder.weights(x, (5, 6))
    y = builder.node("fully_connected", [x, *inputs], OPS["fully_connected"].attrs(), quant)
    y.retype(shape=(1, 9, 5))
    y = builder.look_up(y)
    _, less = both(builder.graph(builder.select(y, slice(None), 0)))
    assert macs(less) == 5 * 6


windows = st.builds(Windows, *(st.integers(low, high) for low, high in ((1, 40), (1, 4), (1, 5), (0, 6), (1, 9))))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(windows, st.integers(0, 9), st.integers(1, 5), st.integers(1, 6))
def test_windows_read_the_same_indices(whole, start, step, count):
    outputs = Steps(start, step if count > 1 else 1, count)

    def read(windows, positions, names):
        taps = positions[:, None] * windows.stride - windows.before + np.arange(windows.taps) * windows.dilation
        return [[names[t] if 0 <= t < windows.size else None for t in row] for row in taps.tolist()]

    wanted = read(whole, outputs.indices(), list(range(whole.size)))
    found = whole.only(outputs)
    if found is None:
        assert all(tap is None for row in wanted for tap in row)
        return
    needed, less, after = found
    assert less.before >= 0 and after >= 0
    assert read(less, np.arange(count), needed.indices().tolist()) == wanted
