"""aten.convolution in edge programs: its arguments, and the checks and import of conv2d and depthwise_conv2d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Optional

from ..edge.nodes import first, pair, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT
from ..format.schema import MAX_STEP
from ..graph.ir import Node
from ..graph.tensor_type import Element
from . import cmsis_nn_geometry, constant_weights, foldable_pads
from .attrs import ConvAttrs, Padding
from .constant_weights import Operands
from .geometry import Geometry

TARGETS = ("aten.convolution.default",)


class Arguments(NamedTuple):
    """The arguments of aten.convolution, by name."""

    source: EdgeNode
    weight: EdgeNode
    bias: Optional[EdgeNode]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool
    output_padding: Sequence[int]
    groups: int

    @property
    def operands(self) -> Operands:
        return Operands(self.source, self.weight, self.bias)


def arguments(node: EdgeNode, context: EdgeContext) -> Arguments:
    return Arguments(*context.arguments(node))


def is_depthwise(node: EdgeNode, context: EdgeContext) -> bool:
    """Returns whether each group has one input channel, and the depthwise kernel takes the sizes. A single input
    channel makes an ordinary convolution, because its depthwise kernel is several times slower without MVE."""
    args = arguments(node, context)
    shape = shape_of(args.source)
    if args.transposed or len(shape) != 4 or not args.groups == shape[1] > 1:
        return False
    if context.operand_element(args.source) not in (None, COMMON_ELEMENT):
        return False  # conv2d has the only kernel
    source, pads = foldable_pads.in_front(args.source)
    top, left = pair(args.padding)
    geometry = Geometry(
        shape[0],
        pair(shape[2:]),
        pair(shape_of(args.weight)[2:]),
        pair(shape_of(node)[2:]),
        pair(args.stride),
        (top, left),
        pair(args.dilation),
    )
    # Pads before the convolution may become its padding, or not.
    folded = replace(geometry, input=pair(shape_of(source)[2:]), padding=(top + pads.top, left + pads.left))
    multiplier = shape_of(node)[1] // shape[1]
    return all(takes_depthwise(called, shape[1], multiplier) for called in (geometry, folded))


def takes_depthwise(geometry: Geometry, channels: int, multiplier: int) -> bool:
    """Returns whether the depthwise kernels take this, with `multiplier` outputs for each of `channels` inputs."""
    overlapping = cmsis_nn_geometry.depthwise(geometry, multiplier)
    return cmsis_nn_geometry.depthwise_fits(overlapping, channels, multiplier)


def check(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    args = arguments(node, context)
    return first(
        lambda: context.refuse_tensors(node, args.source, args.weight),
        lambda: context.refuse_image(args.source, "its input"),
        lambda: _refuse_windows(args),
        lambda: constant_weights.refuse_variable(args.operands, context),
        lambda: context.refuse_quant(node, [args.source]),
        lambda: constant_weights.check(node, args.operands, context),
    )


def check_data(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    args = arguments(node, context)
    return constant_weights.check_data(node, args.operands, context)


def build(op: str, node: EdgeNode, context: ImportContext) -> list[Node]:
    args = arguments(node, context)
    weight, bias = constant_weights.build(args.operands, context)
    top, left = pair(args.padding)
    attrs = ConvAttrs(
        stride=pair(args.stride),
        padding=Padding(top, left, top, left),
        dilation=pair(args.dilation),
        groups=args.groups,
    )
    op = constant_weights.WIDE if bias.element is Element.INT64 else op
    return [context.node(node, op, [context.value(args.source), weight, bias], attrs)]


def _refuse_windows(args: Arguments) -> Optional[Refusal]:
    """Refuses strides and padding that a payload cannot hold. Pads before the convolution count as its padding."""
    _, pads = foldable_pads.in_front(args.source)
    top, left = pair(args.padding)
    near = pads.top + top, pads.left + left
    if max(*near, *args.stride, *args.dilation) <= MAX_STEP:
        return None
    return Refusal(
        Reason.TOO_LARGE,
        f"padding {list(near)}, stride {list(pair(args.stride))} or dilation {list(pair(args.dilation))} is too large; "
        f"a payload holds at most {MAX_STEP}: use a smaller one",
    )
