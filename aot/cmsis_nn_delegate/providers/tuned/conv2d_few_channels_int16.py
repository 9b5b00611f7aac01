"""Convolution of int16 in groups of very few channels as one of a single group, for cores with MVE."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Optional

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.op import Draw
from .rewritten import Rewritten

_MOST_CHANNELS = 7  # of the input: 8 are a vector of the kernel for depthwise convolutions


def _draw(d: Case, padding: Optional[Padding] = None) -> Value:
    kernel, channels = d.pick((3, 3), d.pair(1, 5)), d.integer(2, _MOST_CHANNELS)
    groups = d.pick(*(count for count in range(2, channels + 1) if channels % count == 0))
    x = d.image(d.batch(), channels, kernel, extra=0 if padding is None else 3, element=Element.INT16)
    strides = d.pair(1, 3), d.padding(kernel) if padding is None else padding
    return d.maybe_relu(d.conv2d(x, groups * d.integer(1, 3), kernel, *strides, groups=groups, clamp=d.clamp()))


def _draw_any(d: Case) -> Value:
    return _draw(d)


def _draw_wide(d: Case) -> Value:
    """A channel a group, and several tiles in a row."""
    channels = d.integer(2, _MOST_CHANNELS)
    x = d.input(d.batch(), channels, d.integer(3, 6), d.integer(9, 30), element=Element.INT16)
    sizes = (3, 3), d.pair(1, 2), d.padding((3, 3))
    return d.maybe_relu(d.conv2d(x, channels, *sizes, groups=channels, clamp=d.clamp()))


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    return _draw(d, Padding(*d.pair(0, 4), *d.pair(0, 4)))


class Conv2dFewChannelsInt16(Rewritten):
    """Weights of 0 join the groups: all products of a window with up to 7 channels take fewer instructions than those
    of one channel after the other. Sums are the same. Weights are few, so that the table is small as well."""

    name = "conv2d_few_channels_int16"
    op = "conv2d"
    like = conv2d.LARGE_INT16
    isas = frozenset({Isa.MVE})
    assumes = (
        f"several groups of at most {_MOST_CHANNELS} input channels together, windows without gaps, two or more output "
        "pixels, and shifts to the right"
    )
    draws: ClassVar[tuple[Draw, ...]] = (_draw_any, _draw_wide, _draw_padding_beyond_the_kernel)

    def why_not(self, node: Node) -> str:
        channels = node.inputs[0].shape[1]
        if node.attrs.groups == 1 or channels > _MOST_CHANNELS:
            return f"it joins groups of at most {_MOST_CHANNELS} input channels together"
        return self._kernel.why_not(self.rewritten(node))

    def rewritten(self, node: Node) -> Node:
        return _joined(node)

    def distance(self, node: Node) -> Optional[int]:
        return self._kernel.distance(self.rewritten(node))


def _joined(node: Node) -> Node:
    """Returns the convolution of one group that computes the same."""
    x, weight, bias = node.inputs
    outputs, inputs, *kernel = weight.shape
    per_group = outputs // node.attrs.groups
    filters = np.zeros((outputs, x.shape[1], *kernel), np.int8)
    for channel, weights in enumerate(weight.constant):
        first = channel // per_group * inputs
        filters[channel, first : first + inputs] = weights
    joined = replace(weight, type=weight.type.of(shape=filters.shape), data=filters)
    return replace(node, inputs=[x, joined, bias], attrs=replace(node.attrs, groups=1))
