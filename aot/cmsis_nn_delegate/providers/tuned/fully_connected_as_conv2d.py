"""Linear layer as a pointwise convolution, for cores without MVE."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...graph.tensor_type import Layout
from ...ops import fully_connected, storage
from ...ops.attrs import ConvAttrs
from ...ops.case import Case
from ...ops.op import Draw
from .rewritten import Rewritten

_FEW = 16  # outputs


def draw(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    x = d.input(d.integer(2, 7), d.pick(d.integer(1, 20), d.integer(20, 300)), element=element)
    return d.maybe_relu(
        d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor=d.pick(False, True), element=weights)
    )


def draw_few_outputs(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    x = d.input(1, d.integer(1, 80), element=element)
    return d.maybe_relu(
        d.fully_connected(x, d.integer(1, 12), d.clamp(), per_tensor=d.pick(False, True), element=weights)
    )


def draw_image(d: Case, element: Element = Element.INT8) -> Value:
    x = d.input(d.integer(1, 4), d.integer(1, 6), *d.pair(1, 5), element=element)
    return d.maybe_relu(d.fully_connected(x, d.integer(1, _FEW), d.clamp()))


class FullyConnectedAsConv2d(Rewritten):
    """The rows are the pixels of an image. Two rows share each load of weights. It also takes one row with few
    outputs: it is computed twice, but an image with convolutions needs no further kernel for it.
    """

    name = "fully_connected_as_conv2d"
    op = "fully_connected"
    like = fully_connected.PER_CHANNEL
    isas = frozenset({Isa.SCALAR, Isa.DSP})
    assumes = "several rows or few outputs, and sums that fit one of the forms of requantization"
    draws: ClassVar[tuple[Draw, ...]] = (draw, draw_few_outputs, draw_image)

    def why_not(self, node: Node) -> str:
        channels, inputs = node.inputs[1].shape
        if channels > _FEW and storage.rows_of(node.inputs[0], inputs) == 1:
            return f"it would compute the row twice, which pays for at most {_FEW} outputs"
        return self._kernel.why_not(self.rewritten(node))

    def rewritten(self, node: Node) -> Node:
        return _convolution(node)


def _convolution(node: Node) -> Node:
    """Returns the pointwise convolution that computes the same."""
    x, weight, bias = node.inputs
    channels, inputs = weight.shape
    rows = storage.rows_of(x, inputs)
    filters = replace(
        weight,
        type=weight.type.of(shape=(channels, inputs, 1, 1)),
        data=weight.constant.reshape(channels, inputs, 1, 1),
    )
    return replace(
        node,
        op="conv2d",
        inputs=[_image(x, rows, inputs), filters, bias],
        outputs=[_image(node.output, rows, channels)],
        attrs=ConvAttrs(clamp=node.attrs.clamp),
    )


def _image(value: Value, rows: int, channels: int) -> Value:
    return replace(value, type=value.type.of(shape=(1, channels, 1, rows), layout=Layout.CHANNELS_LAST))
