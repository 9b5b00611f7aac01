"""What the kernels for depthwise convolutions of 3 x 3 taps have in common.

They also compute smaller windows, such as 3 x 1 or two taps with one between them: as 3 x 3 with weights of 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import conv_args
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.geometry import Geometry
from ...ops.op import Draw
from ..implementation import copy_of
from . import block_args
from .drawing import typed

TAPS = (3, 3)
_STRIDES = ((1, 1), (2, 2))


def whole(node: Node, least: tuple[int, int] = TAPS, most: tuple[int, int] = TAPS) -> Node:
    """Returns an equivalent of `node` with at least `least` taps side by side, `node` itself if it has these, or if it
    has more than `most`."""
    weights, dilation = node.inputs[1], node.attrs.dilation
    sizes = [(taps - 1) * step + 1 for taps, step in zip(weights.shape[2:], dilation)]
    taps = tuple(max(size, limit) for size, limit in zip(sizes, least))
    if taps == tuple(weights.shape[2:]) or any(size > limit for size, limit in zip(sizes, most)):
        return node
    data = np.zeros((*weights.shape[:2], *taps), weights.element.numpy)
    data[:, :, : sizes[0] : dilation[0], : sizes[1] : dilation[1]] = weights.constant
    found = copy_of(node)
    found.inputs[1] = Value(f"{weights.name}_{taps[0]}x{taps[1]}", weights.type.of(shape=data.shape), data)
    # As many windows as before: those of the image's last pixels reach beyond it.
    reach = Padding(bottom=taps[0] - sizes[0], right=taps[1] - sizes[1])
    found.attrs = dataclasses.replace(
        node.attrs, stride=_same_stride(node, sizes), dilation=(1, 1), padding=node.attrs.padding.plus(reach)
    )
    return found


def _same_stride(node: Node, sizes: Sequence[int]) -> tuple[int, int]:
    """Returns the stride of `node`, whose windows cover `sizes` pixels, with that of the other axis for an axis where
    either finds a single window."""
    padding, (height, width) = node.attrs.padding, node.inputs[0].shape[2:]
    steps = height + padding.top + padding.bottom - sizes[0], width + padding.left + padding.right - sizes[1]
    down, along = node.attrs.stride
    if steps[0] < min(down, along):
        return along, along
    return (down, down) if steps[1] < min(down, along) else (down, along)


def why_not(node: Node) -> str:
    """Returns why a depthwise_conv2d is not one of 3 x 3 taps with as many outputs as inputs, "" if it is. `node` is
    `whole`."""
    if tuple(node.inputs[1].shape[2:]) != TAPS or node.attrs.dilation != (1, 1):
        return "it computes windows of at most 3 x 3"
    if node.attrs.stride not in _STRIDES:
        return "it computes strides 1 and 2, the same for height and width"
    if node.inputs[1].shape[0] != node.inputs[0].shape[1]:
        return "it computes as many output as input channels"
    return block_args.why_not(node)


def along_height(node: Node) -> bool:
    """Returns whether the kernel takes columns of the image for rows, because its output is higher than wide."""
    height, width = Geometry.plain(node).output
    return height > width


def taps(node: Node) -> np.ndarray:
    """Returns int64 [channels, 3, 3] in the order of the kernel's rows."""
    weights = np.asarray(node.inputs[1].constant[:, 0], np.int64)
    return weights.transpose(0, 2, 1) if along_height(node) else weights


def encode(node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
    """Returns the fields of the argument block that both kernels have."""
    sizes = conv_args.encode(node, refs, scratch_bytes, Geometry.plain(node), block_args.dims(node))
    return {**sizes, "along_height": int(along_height(node))}


def _draw(d: Case, x: Value, padding: Padding, weights: Element = Element.INT8) -> Value:
    stride = d.pick(*_STRIDES)
    if x.element is Element.INT16:
        channels = x.shape[1]
        return d.maybe_relu(d.conv2d(x, channels, TAPS, stride, padding, groups=channels, clamp=d.clamp()))
    return d.maybe_relu(
        d.depthwise_conv2d(x, 1, kernel=TAPS, stride=stride, padding=padding, clamp=d.clamp(), element=weights)
    )


def draw_small(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    return _draw(d, d.image(d.batch(), max(2, d.channels()), TAPS, element=element), d.padding(TAPS), weights)


def draw_large(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """Long rows, along the width or the height."""
    size = d.pick(d.pair(3, 40), (d.integer(3, 9), d.integer(20, 70)), (d.integer(20, 70), d.integer(3, 9)))
    return _draw(d, d.input(1, d.integer(2, 13), *size, element=element), d.padding(TAPS), weights)


def draw_padding_beyond_the_kernel(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    image = d.image(d.batch(), max(2, d.channels()), TAPS, element=element)
    return _draw(d, image, Padding(*d.pair(0, 5), *d.pair(0, 5)), weights)


def draw_smaller_window(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """Fewer taps than 3 x 3, next to each other or apart, also of sequences, which have any stride along the other
    axis."""
    axes = [d.pick((1, 1), (2, 1), (2, 2), (3, 1)) for _ in range(2)]
    taps, dilation = ((axes[0][i], axes[1][i]) for i in range(2))
    stride: Any = {"stride": d.pick(*_STRIDES), "padding": d.padding(taps, dilation), "dilation": dilation}
    if taps[0] == 1 and d.pick(True, False):
        image = d.input(d.batch(), d.integer(8, 19), 1, d.integer(5, 30), element=element)
        stride["stride"] = d.pick(*_STRIDES, (1, 2), (2, 1))
    else:
        image = d.image(d.batch(), d.integer(8, 19), taps, dilation, element=element)
    if element is Element.INT16:
        channels = image.shape[1]
        return d.maybe_relu(d.conv2d(image, channels, taps, **stride, groups=channels, clamp=d.clamp()))
    return d.maybe_relu(d.depthwise_conv2d(image, 1, kernel=taps, **stride, clamp=d.clamp(), element=weights))


DRAWS: tuple[Draw, ...] = (draw_small, draw_large, draw_padding_beyond_the_kernel, draw_smaller_window)
DRAWS_INT4 = typed(DRAWS, weights=Element.INT4)
