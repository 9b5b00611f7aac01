"""Convolutions and linear layers of int16 whose biases, or sums, may exceed 32 bits."""

from __future__ import annotations

import numpy as np

from ..format import blocks
from ..format.record import I32, I64, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant
from . import conv_args
from .annotation import NotAnnotated
from .attrs import ConvAttrs
from .case import Case
from .cmsis_nn_rules import convolution_wide_fits
from .conv2d import Convolution
from .kernel import KernelSpec

_DOC = (
    "int16 convolution with int8 weights, NHWC; groups = input_dims.c / filter_dims.c. acc = bias + sum(filter * "
    "input), in 64 bits, requantized per output channel with multipliers that are rounded to 16 bits and shifts of at "
    "most 14."
)
_INPUT, _FILTER, _, *_SCALES = conv_args.OPERANDS_INT16
_OPERANDS = (
    _INPUT,
    _FILTER,
    blocks.bias("output_dims.c", doc="int64 [out channels], of at most 46 bits", element=I64),
    *_SCALES,
)
# The check of biases and shifts.
_VALUES = "long_sums"

KERNEL = KernelSpec(
    "conv2d_wide_int16",
    Struct(
        "Conv2dWideInt16Args",
        _DOC,
        (
            *_OPERANDS,
            blocks.scratch(),
            conv_args.OUTPUT_INT16,
            Field("scratch_bytes", I32),
            *conv_args.SIZES_INT16,
        ),
        geometry="convolution",
        values=_VALUES,
    ),
    priced_as="conv2d_int16",
)
# With groups, or more products than CMSIS-NN adds in 32 bits.
LARGE_KERNEL = KernelSpec(
    "conv2d_wide_large_int16",
    Struct(
        "Conv2dWideLargeInt16Args",
        _DOC,
        (*_OPERANDS, conv_args.OUTPUT_INT16, *conv_args.SIZES_INT16),
        geometry="convolution",
        values=_VALUES,
    ),
    variant="large",
    priced_as="conv2d_large_int16",
)


def _draw(d: Case) -> Value:
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation, element=Element.INT16)
    return draw_layer(d, x, kernel, ConvAttrs(d.pair(1, 3), d.padding(kernel, dilation), dilation, 1, d.clamp()))


def _draw_pointwise(d: Case) -> Value:
    """Also with more inputs than 32 bits add."""
    x = d.input(d.batch(), d.pick(d.channels(), 511, 512, d.integer(512, 600)), *d.pair(1, 3), element=Element.INT16)
    return draw_layer(d, x, (1, 1), ConvAttrs(clamp=d.clamp()))


def _draw_grouped(d: Case) -> Value:
    kernel, groups = d.pair(1, 3), d.integer(2, 5)
    x = d.image(d.batch(), groups * d.pick(1, d.integer(1, 9)), kernel, element=Element.INT16)
    return draw_layer(d, x, kernel, ConvAttrs(d.pair(1, 2), d.padding(kernel), groups=groups, clamp=d.clamp()))


def draw_layer(d: Case, x: Value, kernel: tuple[int, int], attrs: ConvAttrs, least: int = 1) -> Value:
    """A layer whose biases are so large that its output is between its limits; `least` channels a group, or more."""
    outputs = attrs.groups * d.integer(least, 9)
    (weight, bias), quant = d.weights(x, (outputs, x.shape[1] // attrs.groups, *kernel))
    bits = d.pick(0, 5, d.integer(0, 16))
    assert weight.quant is not None
    weight.retype(quant=Quant(tuple(scale * 2.0**-bits for scale in weight.quant.scale), 0, axis=0))
    most = int(np.abs(bias.constant).max()) + 1 << bits
    bias = d.constant((outputs,), Element.INT64, -most, most)
    return d.node("conv2d_wide", [x, weight, bias], attrs, quant)


class Conv2dWide(Convolution):
    """conv2d of int16 with sums of 64 bits; only where the compiler does not prove that 32 suffice.

    CMSIS-NN: arm_convolve_s16 with a bias of 64 bits, which adds up to 512 products in 32.
    """

    name = "conv2d_wide"
    annotation = NotAnnotated("it computes what conv2d and fully_connected are, which are annotated")
    kernels = (KERNEL, LARGE_KERNEL)
    elements = (Element.INT16,)
    draws = (_draw, _draw_pointwise, _draw_grouped)

    def variant(self, node: Node) -> str:
        _, depth, height, width = node.inputs[1].shape
        fits = convolution_wide_fits(node.inputs[0].shape[1], height, width, depth)
        return "" if fits else LARGE_KERNEL.variant
