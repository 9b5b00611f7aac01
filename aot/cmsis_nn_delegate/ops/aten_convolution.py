"""aten.convolution in edge programs: its arguments, and the checks and import of conv2d and depthwise_conv2d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

from ..edge.nodes import first, pair, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.schema import MAX_DIM
from ..graph.ir import Node
from . import constant_weights, foldable_pads
from .attrs import ConvAttrs, Padding
from .constant_weights import Operands
from .geometry import Geometry, Pair
from .providers import cmsis_nn_geometry
from .providers.cmsis_nn_rules import MAX_KERNEL_ELEMENTS

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
    """Returns whether each group has one input channel. A single input channel makes an ordinary convolution,
    because its depthwise kernel is several times slower without MVE."""
    args = arguments(node, context)
    shape = shape_of(args.source)
    return not args.transposed and len(shape) == 4 and args.groups == shape[1] > 1


def check(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    args = arguments(node, context)
    return first(
        lambda: context.refuse_tensors(node, args.source, args.weight),
        lambda: context.refuse_image(args.source, "its input"),
        lambda: _refuse_kernel(args),
        lambda: _refuse_windows(node, args, is_depthwise(node, context)),
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
    return [context.node(node, op, [context.value(args.source), weight, bias], attrs)]


def computes_turned(
    image: Sequence[int], weight: Sequence[int], output: Pair, padding: Pair, dilation: Pair, groups: int
) -> bool:
    """Whether a convolution of stride 1 can compute a transposed one: of `image`, [N, C, H, W], with the filters
    `weight`, [O, I, h, w], turned around, to height and width `output`, with `padding` at the top and left."""
    _, in_per_group, *taps = weight
    geometry = Geometry(image[0], pair(image[2:]), pair(taps), output, (1, 1), padding, dilation)
    fits = in_per_group * taps[0] * taps[1] <= MAX_KERNEL_ELEMENTS and 0 <= min(padding) and max(padding) <= MAX_DIM
    return fits and _refuse_geometry(geometry, in_per_group, groups == image[1] > 1) is None


def _refuse_kernel(args: Arguments) -> Optional[Refusal]:
    _, in_per_group, height, width = shape_of(args.weight)
    elements = in_per_group * height * width
    if elements > MAX_KERNEL_ELEMENTS:
        return Refusal(
            Reason.TOO_LARGE,
            f"its kernel has {elements} elements per output channel; CMSIS-NN counts them in 16 "
            f"bits, at most {MAX_KERNEL_ELEMENTS}: use groups or fewer channels",
        )
    return None


def _refuse_windows(node: EdgeNode, args: Arguments, depthwise: bool) -> Optional[Refusal]:
    """Refuses strides and padding outside the kernels' range. Pads before the convolution count as its padding."""
    source, pads = foldable_pads.in_front(args.source)
    own = pair(args.padding)
    near = pads.top + own[0], pads.left + own[1]
    stride, dilation = pair(args.stride), pair(args.dilation)
    largest = max(*near, *stride, *dilation)
    if largest > MAX_DIM:
        return Refusal(
            Reason.TOO_LARGE,
            f"padding {list(near)}, stride {list(stride)} or dilation {list(dilation)} is too large;"
            f" CMSIS-NN keeps them in 16 bits, at most {MAX_DIM}",
        )
    batch, _, *size = shape_of(source)
    geometry = Geometry(
        batch,
        pair(size),
        pair(shape_of(args.weight)[2:]),
        pair(shape_of(node)[2:]),
        stride,
        near,
        dilation,
    )
    return _refuse_geometry(geometry, shape_of(args.weight)[1], depthwise)


def _refuse_geometry(geometry: Geometry, in_per_group: int, depthwise: bool) -> Optional[Refusal]:
    near, size = geometry.padding, geometry.input
    if not depthwise:
        height, width = cmsis_nn_geometry.convolution(geometry).kernel
        elements = in_per_group * height * width
        if elements > MAX_KERNEL_ELEMENTS:
            return Refusal(
                Reason.TOO_LARGE,
                f"with {list(near)} pixels of padding around an image of one row its kernel needs a row of"
                f" zeros, and has {elements} elements per output channel; CMSIS-NN counts them in 16 bits, at"
                f" most {MAX_KERNEL_ELEMENTS}: use less padding, groups or fewer channels",
            )
        return None
    geometry = cmsis_nn_geometry.overlapping(geometry)
    height, width = geometry.kernel
    if height * width > MAX_KERNEL_ELEMENTS or max(geometry.padding) > MAX_DIM:
        return Refusal(
            Reason.TOO_LARGE,
            f"with {list(near)} pixels of padding most of its windows see nothing of the image of "
            f"{list(size)}, and zeros that let them would make a kernel of {height} x {width}: use less "
            "padding",
        )
    return None
