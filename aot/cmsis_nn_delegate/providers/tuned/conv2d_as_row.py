"""Convolution of a single window as a linear layer, for cores with MVE."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...graph.tensor_type import Layout
from ...ops import conv2d
from ...ops.attrs import FullyConnectedAttrs, Padding
from ...ops.case import Case
from ...ops.geometry import Geometry
from ...ops.op import Draw
from .drawing import typed
from .rewritten import Rewritten


def _draw(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(20, 300)), 1, 1, element=element)
    return d.maybe_relu(d.conv2d(x, 8 * d.integer(1, 6), (1, 1), clamp=d.clamp(), element=weights))


def _draw_image(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    kernel = d.pair(1, 4)
    x = d.input(d.batch(), d.integer(1, 12), *kernel, element=element)
    channels = 8 * d.integer(1, 4) - d.integer(0, 2)
    return d.maybe_relu(d.conv2d(x, channels, kernel, d.pair(1, 3), clamp=d.clamp(), element=weights))


class Conv2dAsRow(Rewritten):
    """An image of which the only window has every pixel, such as one of a single pixel, is the row of inputs."""

    name = "conv2d_as_row"
    op = "conv2d"
    like = conv2d.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = "one group, and a single window with every pixel; else as its kernel"
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_image)

    def why_not(self, node: Node) -> str:
        geometry = Geometry.plain(node)
        if node.attrs.groups != 1:
            return f"it computes one group, not {node.attrs.groups}"
        # A window of the size of the image, without padding.
        if node.attrs.padding != Padding() or geometry.kernel != geometry.input:
            return "it computes a single window, of all pixels"
        if tuple(node.attrs.dilation) != (1, 1):
            return "windows have gaps"
        return self._kernel.why_not(self.rewritten(node))

    def rewritten(self, node: Node) -> Node:
        return _row(node)


class Conv2dAsRowInt16(Conv2dAsRow):
    """The same of int16."""

    name = "conv2d_as_row_int16"
    like = conv2d.INT16
    draws = typed(Conv2dAsRow.draws, element=Element.INT16)


class Conv2dInt4AsRow(Conv2dAsRow):
    """The same with weights of 4 bits."""

    name = "conv2d_int4_as_row"
    like = conv2d.INT4
    draws = typed(Conv2dAsRow.draws, weights=Element.INT4)


class Conv2dInt4AsRowInt16(Conv2dAsRow):
    """The same of int16 with weights of 4 bits."""

    name = "conv2d_int4_as_row_int16"
    like = conv2d.INT4_INT16
    draws = typed(Conv2dAsRow.draws, element=Element.INT16, weights=Element.INT4)


def _row(node: Node) -> Node:
    """Returns the linear layer that computes the same. Images lie channels-last."""
    x, weight, bias = node.inputs
    n, channels, inputs = x.shape[0], weight.shape[0], math.prod(weight.shape[1:])
    rows = np.ascontiguousarray(weight.constant.transpose(0, 2, 3, 1)).reshape(channels, inputs)
    return replace(
        node,
        op="fully_connected",
        inputs=[_flat(x, n, inputs), replace(weight, type=weight.type.of(shape=rows.shape), data=rows), bias],
        outputs=[_flat(node.output, n, channels)],
        attrs=FullyConnectedAttrs(clamp=node.attrs.clamp),
    )


def _flat(value: Value, rows: int, columns: int) -> Value:
    return replace(value, type=value.type.of(shape=(rows, columns), layout=Layout.ROW_MAJOR))
