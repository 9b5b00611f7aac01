"""The operators' references against models that share no code with them.

Sums come from torch in float64, which is exact for int8 operands; the arithmetic after them is
restated here in Python's unbounded integers.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant, TensorType
from cmsis_nn_delegate.ops import cmsis_nn_geometry
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.ops.rescale import RescaleAttrs
from cmsis_nn_delegate.providers.registry import CMSIS_NN
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import SOFTMAX_QUANT, GraphBuilder
from cmsis_nn_delegate.testing.random_case import RandomCase

SEEDS = st.integers(0, 2**32)
EXAMPLES = settings(max_examples=80, deadline=None)
CLAMPS = [Clamp(), Clamp(0.0), Clamp(0.0, 6.0), Clamp(-1.0, 1.0)]


def wrap(x: int) -> int:
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


def rounded_shift(x: int, bits: int) -> int:
    """x / 2^bits, halves away from zero."""
    if bits == 0:
        return x
    magnitude = (abs(x) + (1 << (bits - 1))) >> bits
    return magnitude if x >= 0 else -magnitude


def scaled(acc: int, real: float) -> int:
    """acc * real in TFLite's two roundings."""
    fraction, exponent = math.frexp(real)
    mantissa = math.floor(fraction * 2**31 + 0.5)
    high = (wrap(acc << max(exponent, 0)) * mantissa + (1 << 30)) >> 31
    return rounded_shift(high, max(-exponent, 0))


def clamped(q: int, zero_point: int, clamp: Clamp, quant: Quant) -> int:
    lo, hi = clamp.quantized(TensorType(Element.INT8, (), quant=quant))
    return min(max(q + zero_point, lo), hi)


def run(graph, seed):
    inputs = networks.random_inputs(graph, seed)
    return inputs, reference.run(graph, inputs)


def check_weighted(graph, x, sums, got):
    """`sums`: exact integers without bias in the output's logical shape."""
    node = graph.nodes[0]
    weight, bias = node.inputs[1:]
    for index, total in np.ndenumerate(sums):
        channel = index[1]
        real = x.quant.scale[0] * weight.quant.scale[channel] / node.output.quant.scale[0]
        q = scaled(wrap(int(total) + int(bias.data[channel])), real)
        expected = clamped(q, node.output.quant.zero_point, node.attrs.clamp, node.output.quant)
        assert got[index] == expected


def random_conv(seed, depthwise):
    builder = GraphBuilder(seed)
    draw = builder.random
    kernel = tuple(int(k) for k in draw.integers(1, 4, 2))
    dilation = tuple(int(d) for d in draw.integers(1, 3, 2))
    padding = Padding(*(int(p) for p in draw.integers(0, 3, 4)))
    groups = int(draw.integers(2, 5)) if depthwise else int(draw.choice([1, 1, 2, 3]))
    per_group = 1 if depthwise else int(draw.integers(1, 4))
    size = [(k - 1) * d + 1 + int(draw.integers(0, 4)) for k, d in zip(kernel, dilation)]
    x = builder.input(int(draw.choice([1, 1, 2])), groups * per_group, *size)
    arguments = dict(
        kernel=kernel,
        stride=tuple(int(s) for s in draw.integers(1, 4, 2)),
        padding=padding,
        dilation=dilation,
        clamp=CLAMPS[int(draw.integers(len(CLAMPS)))],
    )
    if depthwise:
        y = builder.depthwise_conv2d(x, int(draw.integers(1, 3)), **arguments)
    else:
        y = builder.conv2d(x, groups * int(draw.integers(1, 4)), groups=groups, **arguments)
    return builder, x, y


def exact_conv(x, data, weight, attrs):
    centered = torch.from_numpy(data.astype(np.float64)) - x.quant.zero_point
    p = attrs.padding
    padded = torch.nn.functional.pad(centered, (p.left, p.right, p.top, p.bottom))
    kernel = torch.from_numpy(weight.astype(np.float64))
    return torch.nn.functional.conv2d(padded, kernel, None, attrs.stride, 0, attrs.dilation, attrs.groups).numpy()


@EXAMPLES
@given(SEEDS, st.booleans())
def test_convolutions(seed, depthwise):
    builder, x, y = random_conv(seed, depthwise)
    graph = builder.graph(y)
    inputs, (got,) = run(graph, seed)
    node = graph.nodes[0]
    check_weighted(graph, x, exact_conv(x, inputs[0], node.inputs[1].data, node.attrs), got)


@EXAMPLES
@given(SEEDS, st.booleans())
def test_call_records_describe_the_same_convolution(seed, depthwise):
    """What `encode` tells the kernel (dims, padding, filter) gives the sums of the graph's node."""
    builder, x, y = random_conv(seed, depthwise)
    graph = builder.graph(y)
    node = graph.nodes[0]
    (data,) = networks.random_inputs(graph, seed)
    expected = exact_conv(x, data, node.inputs[1].data, node.attrs)

    op = OPS[node.op]
    args = op.encode(node, {}, 0)
    dims = {name: args[f"{name}_dims"] for name in ("input", "filter", "output")}
    params = args["params"]
    nhwc = {name: tuple(d[key] for key in "nhwc") for name, d in dims.items()}
    image = data.transpose(0, 2, 3, 1).reshape(nhwc["input"]).astype(np.int64)
    weights = op.constants(node)["filter"].reshape(nhwc["filter"]).astype(np.int64)
    n, out_h, out_w, out_c = nhwc["output"]
    _, h, w, in_c = nhwc["input"]
    sums = np.zeros((n, out_h, out_w, out_c), np.int64)
    in_per_group = 1 if depthwise else nhwc["filter"][3]
    groups = in_c // in_per_group
    for oy, ox, i, j in np.ndindex(out_h, out_w, nhwc["filter"][1], nhwc["filter"][2]):
        row = oy * params["stride"]["h"] - params["padding"]["h"] + i * params["dilation"]["h"]
        column = ox * params["stride"]["w"] - params["padding"]["w"] + j * params["dilation"]["w"]
        if not (0 <= row < h and 0 <= column < w):
            continue
        for o in range(out_c):
            group = o // (out_c // groups)
            pixel = image[:, row, column, group * in_per_group : (group + 1) * in_per_group]
            tap = weights[0, i, j, o : o + 1] if depthwise else weights[o, i, j]
            sums[:, oy, ox, o] += (pixel + params["input_offset"]) @ tap
    assert np.array_equal(sums.reshape(-1), expected.transpose(0, 2, 3, 1).reshape(-1))


@EXAMPLES
@given(SEEDS)
def test_fully_connected(seed):
    builder = GraphBuilder(seed)
    draw = builder.random
    x = builder.input(int(draw.integers(1, 4)), int(draw.integers(1, 50)))
    y = builder.fully_connected(x, int(draw.integers(1, 10)), CLAMPS[int(draw.integers(4))])
    graph = builder.graph(y)
    inputs, (got,) = run(graph, seed)
    weight = graph.nodes[0].inputs[1].data.astype(object)
    sums = (inputs[0].astype(object) - x.quant.zero_point) @ weight.T
    check_weighted(graph, x, sums, got)


def test_accumulators_wrap_like_a_register():
    builder = GraphBuilder(1)
    x = builder.input(1, 4)
    graph = builder.graph(builder.fully_connected(x, 3))
    bias = graph.nodes[0].inputs[2]
    bias.data[:] = [2**31 - 1, -(2**31), 2**31 - 1]
    inputs, (got,) = run(graph, 0)
    weight = graph.nodes[0].inputs[1].data.astype(object)
    check_weighted(graph, x, (inputs[0].astype(object) - x.quant.zero_point) @ weight.T, got)


@EXAMPLES
@given(SEEDS)
def test_add(seed):
    builder = GraphBuilder(seed)
    shape = tuple(int(s) for s in builder.random.integers(1, 5, 4))
    a, b = builder.input(*shape), builder.input(*shape)
    y = builder.add(a, b, CLAMPS[int(builder.random.integers(4))])
    inputs, (got,) = run(builder.graph(y), seed)
    twice_max = 2 * max(a.quant.scale[0], b.quant.scale[0])
    for index in np.ndindex(shape):
        total = sum(
            scaled((int(data[index]) - v.quant.zero_point) << 20, v.quant.scale[0] / twice_max)
            for v, data in zip((a, b), inputs)
        )
        q = scaled(total, twice_max / (2**20 * y.quant.scale[0]))
        clamp = builder.nodes[0].attrs.clamp
        assert got[index] == clamped(q, y.quant.zero_point, clamp, y.quant)


def test_add_refuses_an_output_scale_far_below_its_inputs():
    builder = GraphBuilder()
    a = builder.input(1, 4, quant=Quant((1.0,), 0))
    y = builder.add(a, a, quant=Quant((1e-7,), 0))
    with pytest.raises(ValueError, match="too small"):
        reference.run(builder.graph(y), [np.zeros((1, 4), np.int8)])


@EXAMPLES
@given(SEEDS, st.booleans())
def test_pools(seed, average):
    builder = GraphBuilder(seed)
    draw = builder.random
    kernel = tuple(int(k) for k in draw.integers(1, 4, 2))
    padding = Padding(*(int(draw.integers(0, k)) for k in kernel * 2))
    size = [k + int(draw.integers(0, 5)) for k in kernel]
    # With a stride of at most the kernel no window lies past the image.
    stride = tuple(int(draw.integers(1, k - far + 1)) for k, far in zip(kernel, (padding.bottom, padding.right)))
    x = builder.input(int(draw.choice([1, 2])), int(draw.integers(1, 4)), *size)
    pool = builder.avg_pool2d if average else builder.max_pool2d
    y = pool(x, kernel, stride=stride, padding=padding, clamp=CLAMPS[int(draw.integers(4))])
    graph = builder.graph(y)
    (data,), (got,) = run(graph, seed)
    for n, c, oy, ox in np.ndindex(got.shape):
        top, left = oy * stride[0] - padding.top, ox * stride[1] - padding.left
        window = data[n, c, max(top, 0) : top + kernel[0], max(left, 0) : left + kernel[1]]
        numbers = [int(q) for q in window.reshape(-1)]
        if average:
            total, count = sum(numbers), len(numbers)
            q = abs(total) + count // 2
            q = q // count if total > 0 else -(q // count)
        else:
            q = max(numbers)
        lo, hi = builder.nodes[0].attrs.clamp.quantized(y.type)
        assert got[n, c, oy, ox] == min(max(q, lo), hi)


@EXAMPLES
@given(SEEDS)
def test_softmax_is_within_one_step_of_the_real_one(seed):
    builder = GraphBuilder(seed)
    scale = float(2.0 ** builder.random.uniform(-8, 1))
    x = builder.input(3, int(builder.random.integers(1, 100)), quant=Quant((scale,), 3))
    graph = builder.graph(builder.softmax(x))
    (data,), (got,) = run(graph, seed)
    real = torch.softmax(torch.from_numpy(data.astype(np.float64) * scale), 1).numpy()
    expected = np.clip(np.rint(real / SOFTMAX_QUANT.scale[0]) - 128, -128, 127)
    assert np.max(np.abs(got - expected)) <= 1


def test_softmax_with_huge_steps_is_a_maximum():
    builder = GraphBuilder()
    x = builder.input(1, 4, quant=Quant((100.0,), 0))
    graph = builder.graph(builder.softmax(x))
    (got,) = reference.run(graph, [np.array([[5, 7, 7, -3]], np.int8)])
    assert got.tolist() == [[-128, 0, 0, -128]]


def test_softmax_along_the_channels_of_an_image():
    builder = GraphBuilder()
    x = builder.input(1, 5, 2, 3)
    graph = builder.graph(builder.softmax(x, dim=1))
    (data,), (got,) = run(graph, 0)
    rows = GraphBuilder()
    flat = rows.graph(rows.softmax(rows.input(6, 5, quant=x.quant)))
    (expected,) = reference.run(flat, [data.transpose(0, 2, 3, 1).reshape(6, 5)])
    assert np.array_equal(got.transpose(0, 2, 3, 1).reshape(6, 5), expected)


def test_softmax_refuses_a_dimension_that_is_not_innermost():
    builder = GraphBuilder()
    graph = builder.graph(builder.softmax(builder.input(1, 5, 2, 3), dim=2))
    with pytest.raises(ValueError, match="innermost"):
        reference.run(graph, [np.zeros((1, 5, 2, 3), np.int8)])


def test_softmax_of_a_long_row_of_equal_numbers_is_zero():
    """The sum of their exponentials is beyond 32 bits; in CMSIS-NN's arithmetic, it would be a shift by 35 bits."""
    builder = GraphBuilder()
    graph = builder.graph(builder.softmax(builder.input(1, 5000)))
    (got,) = reference.run(graph, [np.full((1, 5000), 7, np.int8)])
    assert set(got.ravel()) == {-128}


@EXAMPLES
@given(SEEDS)
def test_log_softmax_is_the_real_one(seed):
    builder = RandomCase(seed)
    graph = builder.graph(OPS["log_softmax"].draws[0](builder))
    (x,), (y,) = graph.inputs, graph.outputs
    (data,), (got,) = run(graph, seed)
    real = torch.log_softmax(torch.from_numpy((data.astype(np.float64) - x.zero_point) * x.scale), 1).numpy()
    assert np.array_equal(got, np.clip(np.rint(real / y.scale) + y.zero_point, -128, 127))


def quantize_graph(scale, zero_point, shape=(1, 8)):
    builder = GraphBuilder()
    x = builder.input(*shape, element=Element.FLOAT32)
    return builder.graph(builder.quantize(x, Quant((scale,), zero_point)))


def test_quantize_rounds_half_to_even_and_saturates():
    # `reference.run` refuses what is not finite; the arithmetic is defined for it, as the kernel's is.
    x = np.array([[0.5, 1.5, 2.5, -0.5, 1e30, -np.inf, np.nan, 126.6]], np.float32)
    (node,) = quantize_graph(1.0, 1).nodes
    q = OPS[node.op].reference(node, [x])
    assert q.tolist() == [[1, 3, 3, 1, 127, -128, 1, 127]]


@EXAMPLES
@given(st.floats(1e-6, 1e3), st.integers(-128, 127), SEEDS)
def test_quantize_multiplies_once_in_float32(scale, zero_point, seed):
    x = np.random.default_rng(seed).normal(0, 100 * scale, (1, 8)).astype(np.float32)
    (q,) = reference.run(quantize_graph(scale, zero_point), [x])
    inverse = np.float32(1 / scale)
    expected = [round(float(np.float32(v) * inverse)) + zero_point for v in x[0]]
    assert q[0].tolist() == [min(max(e, -128), 127) for e in expected]


@given(st.floats(1e-6, 1e3), st.integers(-128, 127))
def test_dequantize(scale, zero_point):
    builder = GraphBuilder()
    x = builder.input(1, 256, quant=Quant((scale,), zero_point))
    graph = builder.graph(builder.dequantize(x))
    q = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
    (got,) = reference.run(graph, [q])
    expected = [np.float32(int(v) - zero_point) * np.float32(scale) for v in q[0]]
    assert got.dtype == np.float32 and got[0].tolist() == expected


@EXAMPLES
@given(st.tuples(*[st.integers(1, 4)] * 4), st.booleans(), SEEDS)
def test_changes_of_order_keep_logical_values(shape, to_channels_last, seed):
    builder = GraphBuilder()
    layouts = [Layout.ROW_MAJOR, Layout.CHANNELS_LAST]
    source, target = layouts if to_channels_last else layouts[::-1]
    x = builder.input(*shape, layout=source)
    graph = builder.graph(builder.transpose(x, target))
    (data,), (got,) = run(graph, seed)
    assert np.array_equal(got, data)

    # The record, as TransposeArgs is defined: [batch, rows, columns] -> [batch, columns, rows].
    args = OPS["transpose"].encode(graph.nodes[0], {}, 0)
    memory = data if to_channels_last else data.transpose(0, 2, 3, 1)
    moved = memory.reshape(args["batch"], args["rows"], args["columns"]).transpose(0, 2, 1)
    expected = data.transpose(0, 2, 3, 1) if to_channels_last else data
    assert np.array_equal(moved.reshape(-1), expected.reshape(-1))


def test_a_dropped_reshape_does_not_disturb():
    builder = GraphBuilder(3)
    x = builder.input(2, 3, 4, 5)
    flat = builder.fully_connected(x, 6)
    graph = builder.graph(builder.dequantize(flat, shape=(2, 2, 3)))
    assert run(graph, 0)[1][0].shape == (2, 2, 3)


def test_inputs_are_checked():
    builder = GraphBuilder()
    graph = builder.graph(builder.fully_connected(builder.input(1, 4), 2))
    with pytest.raises(ValueError, match="takes 1 inputs, not 0"):
        reference.run(graph, [])
    with pytest.raises(ValueError, match="x0 is int8.*not float64"):
        reference.run(graph, [np.zeros((1, 4))])
    with pytest.raises(ValueError, match=r"not int8\[1, 5\]"):
        reference.run(graph, [np.zeros((1, 5), np.int8)])


# Geometry -------------------------------------------------------------------


def geometry(**changes) -> Geometry:
    fields = dict(batch=1, input=(1, 8), kernel=(1, 3), output=(1, 8), stride=(1, 1), padding=(0, 1), dilation=(1, 1))
    return Geometry(**{**fields, **changes})


@pytest.mark.parametrize(
    "original, swapped",
    [
        (geometry(), False),  # symmetric padding
        (geometry(output=(1, 9)), False),  # one more at the right
        (geometry(padding=(0, 0)), True),  # two at the right, none at the left
        (geometry(padding=(0, 2)), True),  # two at the left, none at the right
        (geometry(padding=(0, 0), output=(1, 3), stride=(1, 2)), True),  # last column unread
        (geometry(input=(1, 2), output=(1, 2)), True),  # narrower than the kernel
        (geometry(padding=(1, 1), stride=(2, 1)), True),  # all windows above the image
        (geometry(input=(2, 8), output=(2, 8)), False),  # two rows: the general path
    ],
)
def test_one_row_convolutions_avoid_the_kernel_that_cannot(original, swapped):
    assert cmsis_nn_geometry.convolution(original) == (original.swapped() if swapped else original)


def test_padded_pointwise_convolutions_take_the_general_path():
    plain = geometry(input=(4, 4), kernel=(1, 1), output=(4, 4), padding=(0, 0))
    assert cmsis_nn_geometry.convolution(plain) == plain
    padded = geometry(input=(4, 4), kernel=(1, 1), output=(5, 4), padding=(0, 0))
    assert cmsis_nn_geometry.convolution(padded).dilation == (2, 2)


def test_rows_of_padding_around_one_row_get_a_second_kernel_row():
    assert cmsis_nn_geometry.convolution(geometry(output=(3, 8), padding=(1, 1))).kernel == (2, 3)


@EXAMPLES
@given(SEEDS)
def test_depthwise_windows_overlap_the_image_and_sum_what_they_did(seed):
    builder = GraphBuilder(seed)
    draw = builder.random
    channels, multiplier = int(draw.integers(2, 5)), int(draw.integers(1, 3))
    kernel, stride, dilation = (tuple(int(v) for v in draw.integers(1, most + 1, 2)) for most in (4, 3, 3))
    padding = Padding(*(int(p) for p in draw.integers(0, 8, 4)))
    around = (padding.top + padding.bottom, padding.left + padding.right)
    size = [max((k - 1) * d + 1 - pad, 0) + int(draw.integers(1, 4)) for k, d, pad in zip(kernel, dilation, around)]
    x = builder.input(1, channels, *size)
    arguments = dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation)
    y = builder.depthwise_conv2d(x, multiplier, **arguments)
    node = builder.graph(y).nodes[0]
    (implementation,) = (found for found in CMSIS_NN.implementations(node.op) if found.takes(node))
    node = implementation.legal(node)
    args = OPS[node.op].encode(node, {}, 0)
    filters, near = OPS[node.op].constants(node)["filter"], args["params"]["padding"]

    assert filters.shape == tuple(args["filter_dims"][name] for name in "hwc")
    for axis, name in enumerate("hw"):
        extent = (filters.shape[axis] - 1) * dilation[axis] + 1
        last = (args["output_dims"][name] - 1) * stride[axis] - near[name]
        assert near[name] < extent and last < size[axis]

    data = networks.random_inputs(builder.graph(y), seed)[0]
    # As much past the image as any window needs; the outputs in excess go.
    reach = max(filters.shape[:2]) * 3 + 3 * 20
    grown = exact_conv(
        x,
        data,
        filters.transpose(2, 0, 1)[:, None],
        dataclasses.replace(node.attrs, padding=Padding(near["h"], near["w"], reach, reach)),
    )[:, :, : node.output.shape[2], : node.output.shape[3]]
    np.testing.assert_array_equal(grown, exact_conv(x, data, node.inputs[1].data, node.attrs))


@pytest.mark.parametrize("seed", range(60))
def test_rescalings_are_within_one_and_a_quarter_steps_of_the_exact_line(seed):
    case = RandomCase(seed)
    OPS["rescale"].draws[0](case)
    graph = case.graph(case.nodes[-1].output)
    (node,) = graph.nodes
    (x,), (y,) = run(graph, seed)
    source, output = node.inputs[0], node.output
    real = node.attrs.factor * source.scale * (x.astype(np.float64) - source.zero_point) + node.attrs.addend
    exact = np.clip(real / output.scale + output.zero_point, *node.attrs.clamp.quantized(output.type))
    assert np.abs(y - exact).max() <= 1.25


def test_conversions_between_formats_are_rounded_as_all_products_are():
    builder = GraphBuilder()
    x = builder.input(1, 5, quant=Quant((0.5,), 3))
    attrs = RescaleAttrs()
    wide = builder.node("rescale", [x], attrs, Quant((2.0**-9,), 0))
    wide.retype(element=Element.INT16)
    back = builder.node("rescale", [wide], attrs, Quant((0.25,), -100))
    back.retype(element=Element.INT8)
    numbers = np.array([[-128, 2, 3, 4, 127]], np.int8)
    found = reference.run(builder.graph(wide, back), [numbers])
    assert found[0].tolist() == [[-32768, -256, 0, 256, 31744]]  # the first one saturates
    assert found[1].tolist() == [[-128, -102, -100, -98, 127]]
