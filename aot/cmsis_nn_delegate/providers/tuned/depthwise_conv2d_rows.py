"""Depthwise convolution of 3 x 3 taps by rows, for cores without DSP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from ...format import blocks
from ...format.record import I8, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv_args, depthwise_conv2d
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ..implementation import OwnImplementation, Symbol
from . import depthwise_3x3, plane_order, product_requantization, requantization
from .depthwise_3x3 import TAPS
from .product_requantization import Products
from .requantization import Form

_CHANNELS = 4  # of a group
_WORDS = 7  # of a channel in the table
_COLUMN_BYTES = 20  # three rows of a column, and room for a sum
_ROW_BYTES = 4
# The byte after the first three taps.
_ANY, _PRODUCT = 0, 1
# Kernels read inputs as bytes without a sign.
_INPUT_OFFSET = 128


def _draw_any_scales(d: Case) -> Value:
    """Steps of the output so wide that a product does not give all results."""
    drawn = d.pick(*depthwise_3x3.DRAWS)(d)
    weight = d.nodes[0].inputs[1]
    quant = weight.quant
    assert quant is not None
    factors = 2.0 ** d.random.uniform(-14, 2, weight.shape[0])
    weight.retype(quant=replace(quant, scale=tuple(float(s * f) for s, f in zip(quant.scale, factors))))
    return drawn


KERNEL = KernelSpec(
    "depthwise_conv2d_rows",
    Struct(
        "DepthwiseConv2dRowsArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d computes it, row by row.",
        (
            blocks.input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
            blocks.weight_table(
                "output_dims.c",
                "channel_words",
                doc="for each channel: three words with the weights of a row or column of the filter, of which "
                "the first one's last byte is the form; the sum for inputs of -128; three words for the form, 0: "
                "shift, multiplier and correction of ANY, 1: span, factor and constant of a product",
            ),
            blocks.scratch(),
            conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            Field("channel_words", I32, low=_WORDS, high=_WORDS),
            Field("along_height", I32, "1: the kernel's rows are columns of the image", low=0, high=1),
            *conv_args.PACKED_SIZES,
        ),
        geometry="convolution",
    ),
)


class DepthwiseConv2dRows(OwnImplementation):
    """A row of outputs of four channels at a time: three rows of inputs lie in scratch memory, column by column. The
    nine weights of a channel stay in registers, and each column of inputs is read once for the three outputs that it
    is part of. The longer side of the output is the row. The zero point of the input is part of the bias.

    Each row of inputs lies one word after the one before, where a row that is no longer needed began, so none is moved.
    Inputs are read before the outputs that may lie on them are written (`plane_order`).
    """

    name = "depthwise_conv2d_rows"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    isas = frozenset({Isa.SCALAR})
    assumes = (
        "windows of at most 3 x 3, stride 1 or 2, as many output as input channels, and for each channel a product or "
        "the form ANY that gives the results of its sums"
    )
    draws = (*depthwise_3x3.DRAWS, _draw_any_scales)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/depthwise_conv2d/channel_rows_{isa}.S",))

    def legal(self, node: Node) -> Node:
        return depthwise_3x3.whole(node)

    def why_not(self, node: Node) -> str:
        node = self.legal(node)
        reason = depthwise_3x3.why_not(node)
        if reason:
            return reason
        try:
            self._products(node)
        except ValueError as error:
            return str(error)
        return ""

    def scratch_bytes(self, node: Node) -> int:
        lines, row, stride = _sizes(node)
        nbytes = ((row - 1) * stride + TAPS[1]) * _COLUMN_BYTES + (lines - 1) * stride * _ROW_BYTES
        return blocks_of(nbytes, 16) * 16

    def distance(self, node: Node) -> Optional[int]:
        geometry = Geometry.plain(node)
        along = depthwise_3x3.along_height(node)
        return 0 if plane_order.overlaps_exactly(geometry, along, max(geometry.output)) else None

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        lines, row, stride = _sizes(node)
        across = 1 if depthwise_3x3.along_height(node) else 0  # the axis of the rows
        channels = int(node.inputs[1].shape[0])
        groups = geometry.batch * blocks_of(channels, _CHANNELS)
        columns = (row - 1) * stride + TAPS[1]
        size, before = geometry.input[across], geometry.padding[across]
        inside = sum(0 <= y - before < size for y in range((lines - 1) * stride + TAPS[0]))
        outside = (lines - 1) * stride + TAPS[0] - inside
        before = geometry.padding[1 - across]
        pixels = max(0, min(columns - before, geometry.input[1 - across]))
        whole = channels % _CHANNELS == 0
        any_form = int((~self._products(node).exact).sum())
        limited = node.attrs.clamp.limits(node.output.type)
        done = geometry.batch * lines
        return Features(
            {
                "groups": groups,
                "lines": groups * lines,
                "lines read": groups * inside,
                "words read": groups * inside * pixels if whole else 0,
                "words read byte by byte": 0 if whole else groups * inside * pixels,
                "columns of padding": groups * (inside * (columns - pixels) + outside * columns),
                "lines of channels": done * channels,
                "outputs": done * row * channels,
                "outputs of form ANY": done * row * any_form,
                "outputs with a limit": done * row * (channels - any_form) if limited else 0,
            },
            f"stride {stride}",
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        taps = depthwise_3x3.taps(node)
        products = self._products(node)
        start = node.inputs[2].constant - (node.inputs[0].zero_point + _INPUT_OFFSET) * taps.sum((1, 2))
        exact = products.exact[:, None]
        product = np.stack([products.span, products.factor, products.constant], axis=1)
        scales = np.where(exact, product, requantization.table(node, Form.ANY))
        start = np.where(products.exact, start - products.first, start)
        words = np.zeros((len(taps), TAPS[0], 4), np.int8)
        words[:, :, : TAPS[1]] = taps
        words[:, 0, TAPS[1]] = np.where(products.exact, _PRODUCT, _ANY)
        packed = words.reshape(len(taps), -1).view("<i4")
        # `start` may exceed 32 bits, but no sum does: what is lost comes back.
        return {"table": np.concatenate([packed, start[:, None].astype(np.int32), scales.astype(np.int32)], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**depthwise_3x3.encode(node, refs, scratch_bytes), "channel_words": _WORDS}

    def _products(self, node: Node) -> Products:
        """Returns the products; the channels for which they are not exact have the form ANY. ValueError says why a
        channel has neither."""
        weights, bias = node.inputs[1].constant, node.inputs[2].constant.astype(np.int64)
        least, most = requantization.sum_limits(node, weights, bias)
        found = product_requantization.products(node, least, most)
        requantization.check_any(node, np.maximum(most, -least), ~found.exact)
        return found


class DepthwiseConv2dRowsOfInt4(DepthwiseConv2dRows):
    """Weights of 4 bits stored in 8: a word of the seven of a channel is all that 4 bits would save."""

    name = "depthwise_conv2d_rows_of_int4"
    like = depthwise_conv2d.INT4
    draws = depthwise_3x3.DRAWS_INT4


def _sizes(node: Node) -> tuple[int, int, int]:
    """Returns the number of rows, the outputs of a row, and the stride."""
    output = Geometry.plain(node).output
    return min(output), max(output), int(node.attrs.stride[0])
