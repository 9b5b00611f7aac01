"""The constants of the kernels are those of the revision that payloads name."""

from __future__ import annotations

import zlib

import pytest

from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.format.schema import TUNED_REVISION
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops import conv2d_wide, fully_connected_groups
from cmsis_nn_delegate.ops.attrs import ConvAttrs, Padding
from cmsis_nn_delegate.ops.batch_matmul import BatchMatmulAttrs, Matrices, draw_product
from cmsis_nn_delegate.ops.broadcast import shapes_of
from cmsis_nn_delegate.ops.function_table import KNOTS
from cmsis_nn_delegate.ops.gru import Gru, GruAttrs
from cmsis_nn_delegate.ops.lookup import LookupAttrs
from cmsis_nn_delegate.ops.lstm import Lstm, LstmAttrs
from cmsis_nn_delegate.ops.lstm_projected import LstmProjected, LstmProjectedAttrs
from cmsis_nn_delegate.ops.masked_softmax import MaskedSoftmaxAttrs
from cmsis_nn_delegate.ops.mul import MulAttrs
from cmsis_nn_delegate.ops.recurrent import Numbers, Sizes
from cmsis_nn_delegate.ops.softmax import OUTPUT
from cmsis_nn_delegate.ops.strided_copy import draw_copy
from cmsis_nn_delegate.providers.tuned.kernels import IMPLEMENTATIONS
from cmsis_nn_delegate.testing.random_case import RandomCase

# CRC-32 of the constants of the nodes below.
CONSTANTS = {
    "conv2d_pairs": 0x74BECEBA,
    "depthwise_conv2d_planes": 0x301E260C,
    "fully_connected_pairs": 0x54394B93,
    "fully_connected_as_conv2d": 0xE32B16A4,
    "add_linear": 0x00000000,
    "conv2d_vectors": 0xCD3712D8,
    "depthwise_conv2d_vectors": 0xDEAA159C,
    "conv2d_winograd": 0x3F3F6F74,
    "depthwise_conv2d_rows": 0x6CF143DD,
    "lstm_lengths_pairs": 0x141DA3C0,
    "lstm_pairs": 0xF004C635,
    "gru_lengths_pairs": 0x75E9F319,
    "gru_pairs": 0x50A4910C,
    "lstm_lengths_vectors": 0x9F2112B9,
    "lstm_vectors": 0x7C777DBA,
    "gru_lengths_vectors": 0xCE5C5388,
    "gru_vectors": 0xBA996A14,
    "lstm_projected_pairs": 0x1F87A376,
    "lstm_projected_vectors": 0xBB6F1332,
    "conv2d_pairs_int16": 0x670C92E4,
    "conv2d_int4_pairs": 0x846AEE24,
    "fully_connected_int4_pairs": 0x54F5E56E,
    "fully_connected_int4_as_conv2d": 0xF872EB12,
    "conv2d_int4_vectors": 0xDE4DCFD7,
    "fully_connected_pairs_int16": 0xD77A7440,
    "fully_connected_as_conv2d_int16": 0xFB784581,
    "depthwise_conv2d_planes_int16": 0xE8638723,
    "add_pairs_int16": 0x00000000,
    "conv2d_vectors_int16": 0x13199675,
    "softmax_table": 0x4580FBAB,
    "depthwise_conv2d_vectors_int16": 0x4CB17BF3,
    "fully_connected_as_vectors_int16": 0x667D60B8,
    "fully_connected_vectors_int16": 0x3F4979EB,
    "fully_connected_as_vectors": 0x7F82FBDA,
    "fully_connected_vectors": 0x2112C5D1,
    "conv2d_int4_pairs_int16": 0x4B2F4BFE,
    "fully_connected_int4_pairs_int16": 0x0F112BE1,
    "fully_connected_int4_as_conv2d_int16": 0x81E81D79,
    "depthwise_conv2d_int4_planes": 0x1A250357,
    "depthwise_conv2d_int4_vectors": 0x9F242605,
    "depthwise_conv2d_rows_of_int4": 0x0C207112,
    "fully_connected_int4_as_vectors": 0x8051763D,
    "fully_connected_int4_vectors": 0xA865FFE1,
    "conv2d_int4_vectors_int16": 0x6E8272AA,
    "fully_connected_int4_as_vectors_int16": 0x95D2F8D4,
    "fully_connected_int4_vectors_int16": 0xF1DACF2A,
    "conv2d_joint_pairs": 0x648C2816,
    "fully_connected_joint_pairs": 0x5A979355,
    "fully_connected_joint_as_conv2d": 0xF96D2CA0,
    "add_linear_broadcast": 0x00000000,
    "lstm_pairs_int16": 0x149C977A,
    "lstm_vectors_int16": 0xE9424AC5,
    "gru_pairs_int16": 0xBF2CF28C,
    "gru_vectors_int16": 0x0845AE75,
    "lstm_lengths_pairs_int16": 0x1C3B88DD,
    "lstm_lengths_vectors_int16": 0x7ACD5EBB,
    "gru_lengths_pairs_int16": 0x2E497826,
    "gru_lengths_vectors_int16": 0xCF83AD47,
    "depthwise_conv2d_windows": 0x32E839DB,
    "depthwise_conv2d_lines": 0xB8976E92,
    "masked_softmax_table": 0x5EC38BFD,
    "lookup_vectors": 0xC02740F0,
    "lookup_vectors_int16": 0x5601137F,
    "mul_rounded": 0x00000000,
    "mul_rounded_broadcast": 0x00000000,
    "depthwise_conv2d_tap_vectors": 0x739CCDB4,
    "depthwise_conv2d_columns": 0x68E2616E,
    "depthwise_conv2d_5x5": 0x37268625,
    "depthwise_conv2d_5x5_of_int4": 0xE858C86F,
    "strided_copy_vectors": 0x00000000,
    "strided_copy_vectors_int16": 0x00000000,
    "lstm_int4_pairs": 0x8D5A925E,
    "gru_int4_pairs": 0x5888F8F0,
    "lstm_lengths_int4_pairs": 0xC6B9C26B,
    "gru_lengths_int4_pairs": 0xF93D3A15,
    "fully_connected_int4_groups_pairs": 0x7E0C59EC,
    "fully_connected_int4_groups_vectors": 0x3BA4F23F,
    "lstm_int4_vectors": 0x3BF6950C,
    "gru_int4_vectors": 0xD02AB0F8,
    "lstm_lengths_int4_vectors": 0x8DB21B25,
    "gru_lengths_int4_vectors": 0x1EAB03DE,
    "lstm_int4_pairs_int16": 0xC27FA950,
    "gru_int4_pairs_int16": 0x61EDC4B5,
    "lstm_lengths_int4_pairs_int16": 0xF7F97AAA,
    "gru_lengths_int4_pairs_int16": 0xE454BC30,
    "lstm_int4_vectors_int16": 0x69C4B8FB,
    "gru_int4_vectors_int16": 0x902D5868,
    "lstm_lengths_int4_vectors_int16": 0x39E3839E,
    "gru_lengths_int4_vectors_int16": 0x093D8088,
    "batch_matmul_pairs": 0x00000000,
    "batch_matmul_vectors": 0x00000000,
    "conv2d_grouped_pairs": 0x7D70DD3C,
    "conv2d_grouped_pairs_int16": 0xE56FDFE6,
    "conv2d_grouped_vectors": 0xDE11121A,
    "conv2d_grouped_vectors_int16": 0x817D51AB,
    "conv2d_few_channels_int16": 0xF135D06A,
    "conv2d_wide_vectors_int16": 0x8823B8E6,
    "batch_matmul_vectors_int16": 0x00000000,
    "conv2d_as_row": 0xF1EC8121,
    "conv2d_as_row_int16": 0x08D3F36E,
    "conv2d_int4_as_row": 0x5686FBF3,
    "conv2d_int4_as_row_int16": 0xFDC9222E,
    "depthwise_conv2d_windows_of_int4": 0x40416E25,
    "max_pool2d_channels": 0x00000000,
    "avg_pool2d_channels": 0x00000000,
    "max_pool2d_channels_int16": 0x00000000,
    "conv2d_int4_wide_pairs": 0x332296A6,
    "fully_connected_int4_wide_as_conv2d": 0x2CBF4603,
    "depthwise_conv2d_5x5_int16": 0xD04A671E,
}


def nodes():
    """Rows of windows that do not end with a word, and channels that no block of them divides."""
    builder = RandomCase(seed=3)
    image = builder.input(1, 5, 9, 9)
    same = Padding(1, 1, 1, 1)
    convolved = builder.conv2d(image, 9, (3, 3), padding=same)
    depthwise = builder.depthwise_conv2d(convolved, 1, kernel=(3, 3), padding=same)
    strided = builder.conv2d(builder.add(depthwise, convolved), 6, (3, 2), stride=(2, 2), dilation=(1, 2))
    row, rows = builder.input(1, 19), builder.input(3, 19)
    layers = [builder.fully_connected(row, 14), builder.fully_connected(rows, 11)]
    for lengths in (False, True):
        for op, attrs in ((Lstm, LstmAttrs()), (Gru, GruAttrs())):
            layers.append(op.draw_layer(builder, attrs, builder.quant(2.0**-7, 3), Sizes(2, 1, 19, 11), lengths))
    projected = LstmProjectedAttrs(unit_zero_point=3)
    layers.append(LstmProjected.draw_layer(builder, projected, builder.quant(2.0**-7, 3), Sizes(2, 1, 19, 11)))
    wide = builder.input(1, 5, 9, 9, element=Element.INT16)
    layers.append(builder.conv2d(builder.conv2d(wide, 9, (3, 3), padding=same), 6, (3, 2), (2, 2), dilation=(1, 2)))
    layers.append(builder.conv2d(wide, 5, (3, 3), padding=same, groups=5))
    for rows, outputs in ((1, 14), (3, 11)):
        layers.append(builder.fully_connected(builder.input(rows, 19, element=Element.INT16), outputs))
    layers.append(builder.add(wide, wide))
    layers.append(builder.softmax(builder.input(40, 30, quant=builder.quant(2.0**-4, 3))))
    wider = builder.input(1, 9, 9, 9, element=Element.INT16)
    layers.append(builder.conv2d(wider, 9, (3, 2), padding=same, dilation=(1, 2), groups=9))
    repeated = shapes_of(image.shape, (1, 5, 1, 1), Layout.CHANNELS_LAST)
    layers.append(builder.add(image, builder.input(1, 5, 1, 1), shapes=repeated))
    layers.append(builder.depthwise_conv2d(builder.input(1, 9, 2, 19), 1, kernel=(1, 6)))
    scores = builder.input(40, 30, quant=builder.quant(2.0**-4, 3))
    mask = builder.constant((4, 30), Element.INT8, 0, 1)
    layers.append(builder.node("masked_softmax", [scores, mask], MaskedSoftmaxAttrs(), OUTPUT))
    entries = builder.constant((256,), Element.INT8, -128, 127)
    layers.append(builder.node("lookup", [row, entries], LookupAttrs(), builder.quant(0.1, 3)))
    sizes = BatchMatmulAttrs(Matrices(1, 2, 3, 9), Matrices(1, 2, 5, 9))
    factors = [builder.input(2, rows, 9, quant=builder.quant(0.1, 3)) for rows in (3, 5)]
    layers.append(builder.node("batch_matmul", factors, sizes, builder.quant(0.5, 3)))
    squared = builder.quant(image.scale**2 * 2.0**6)
    for other, shapes in ((image, None), (builder.input(1, 5, 1, 1, quant=image.quant), repeated)):
        layers.append(builder.node("mul", [image, other], MulAttrs(shapes=shapes), squared))
    entries = builder.constant((KNOTS[0],), Element.INT16, -128, 127)
    layers.append(builder.node("lookup", [wide, entries], LookupAttrs(), builder.quant(0.1, element=Element.INT16)))
    others = [*nodes_with_nibbles(), *nodes_with_groups(), *recurrent_nodes(), *large_windows_and_a_copy()]
    others += [*convolutions_in_groups(), *large_sums_and_windows(), *wide_convolution(), *single_windows()]
    return [*builder.graph(strided, *layers).nodes, *others]


def nodes_with_nibbles():
    """The same with weights of 4 bits."""
    found = []
    for seed, inputs in ((4, Element.INT8), (5, Element.INT16)):
        builder = RandomCase(seed)
        image, row, rows = (builder.input(*shape, element=inputs) for shape in ((1, 5, 9, 9), (1, 19), (3, 19)))
        convolved = builder.conv2d(image, 9, (3, 3), padding=Padding(1, 1, 1, 1), element=Element.INT4)
        layers = [builder.fully_connected(x, outputs, element=Element.INT4) for x, outputs in ((row, 14), (rows, 11))]
        if inputs is Element.INT8:
            around = Padding(1, 1, 1, 1)
            layers.append(builder.depthwise_conv2d(image, 1, kernel=(3, 3), padding=around, element=Element.INT4))
            convolved = builder.depthwise_conv2d(convolved, 1, kernel=(3, 3), element=Element.INT4)
        found += builder.graph(convolved, *layers).nodes
    return found


def nodes_with_groups():
    builder = RandomCase(seed=8)
    return builder.graph(fully_connected_groups.grouped(builder, 16, 3, 11)).nodes


def large_windows_and_a_copy():
    builder = RandomCase(seed=9)
    image = builder.input(1, 9, 11, 9)
    layers = [builder.depthwise_conv2d(image, 1, kernel=kernel) for kernel in ((5, 5), (3, 4))]
    layers.append(builder.depthwise_conv2d(image, 1, kernel=(5, 5), element=Element.INT4))
    layers += [builder.max_pool2d(image, (2, 2)), builder.avg_pool2d(image, (3, 2))]
    layers.append(builder.max_pool2d(builder.input(1, 9, 11, 9, element=Element.INT16), (2, 2)))
    layers.append(draw_copy(builder, image, [9, 11, 9], [9, 81, 1], 0))
    layers.append(draw_copy(builder, builder.input(3, 9, element=Element.INT16), [3, 5], [9, 1], 2))
    return builder.graph(*layers).nodes


def convolutions_in_groups():
    found = []
    for seed, element in ((10, Element.INT8), (11, Element.INT16)):
        builder = RandomCase(seed)
        image = builder.input(1, 15, 9, 9, element=element)
        found += builder.graph(builder.conv2d(image, 12, (3, 2), padding=Padding(1, 1, 1, 1), groups=3)).nodes
    return found


def large_sums_and_windows():
    """Of weights of 4 bits and of int16."""
    builder = RandomCase(seed=12)
    image = builder.input(1, 150, 4, 3)
    layers = [builder.conv2d(image, 6, (3, 3), element=Element.INT4)]
    layers.append(builder.fully_connected(builder.input(2, 1350), 6, element=Element.INT4))
    wide = builder.input(1, 9, 9, 9, element=Element.INT16)
    layers += [builder.conv2d(wide, 9, kernel, groups=9) for kernel in ((5, 5), (3, 4))]
    return builder.graph(*layers).nodes


def wide_convolution():
    builder = RandomCase(seed=12)
    image = builder.input(1, 5, 9, 9, element=Element.INT16)
    return builder.graph(conv2d_wide.draw_layer(builder, image, (3, 2), ConvAttrs(), least=5)).nodes


def single_windows():
    """And a product of matrices, and a few channels with weights of 4 bits."""
    found = []
    for seed, element in ((13, Element.INT8), (14, Element.INT16)):
        builder = RandomCase(seed)
        image = builder.input(1, 5, 3, 2, element=element)
        layers = [builder.conv2d(image, 14, (3, 2), element=weights) for weights in (Element.INT8, Element.INT4)]
        found += builder.graph(*layers).nodes
    builder = RandomCase(seed=16)
    found += builder.graph(draw_product(builder, (1, 2), (1, 2), 3, 5, 9, Element.INT16)).nodes
    builder = RandomCase(seed=15)
    image = builder.input(1, 5, 9, 11)
    layer = builder.depthwise_conv2d(image, 1, kernel=(3, 3), element=Element.INT4)
    return [*found, *builder.graph(layer).nodes]


def recurrent_nodes():
    """Layers of int16, then with weights of 4 bits, and then both."""
    found = []
    wide, small = Element.INT16, Element.INT4
    for seed, numbers in ((6, Numbers(wide)), (7, Numbers(weights=small)), (8, Numbers(wide, small))):
        builder, element = RandomCase(seed), numbers.activations
        quant = builder.quant(2.0**-15 if element is Element.INT16 else 2.0**-7, element=element)
        layers = [
            op.draw_layer(builder, attrs, quant, Sizes(2, 1, 19, 11), lengths, numbers)
            for lengths in (False, True)
            for op, attrs in ((Lstm, LstmAttrs()), (Gru, GruAttrs()))
        ]
        found += builder.graph(*layers).nodes
    return found


@pytest.mark.parametrize("kernel", IMPLEMENTATIONS, ids=lambda kernel: kernel.name)
def test_constants_are_those_of_the_revision(kernel):
    taken = [node for node in nodes() if node.op == kernel.op and kernel.takes(node) and not kernel.why_not(node)]
    found = [kernel.legal(node) for node in taken]
    assert found
    crc = 0
    for node in found:
        for name, array in sorted(kernel.constants(node).items()):
            crc = zlib.crc32(array.tobytes(), zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), crc))
    assert crc == CONSTANTS[kernel.name], (
        f"a payload of revision {TUNED_REVISION} has other constants: if the kernel reads them in another way than "
        f"before, set schema.TUNED_REVISION to {TUNED_REVISION + 1}, so that devices refuse older payloads; then "
        f"state {crc:#010x} here"
    )
