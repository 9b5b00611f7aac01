"""Convolutions of images and sequences in float32, with groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import F32, Field, Struct
from ..format.schema import MAX_STEP
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import aten_convolution, block_values, constant_weights
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn, reals
from .kernel import KernelSpec
from .windows_float32 import DIMS, Windows

KERNEL = KernelSpec(
    "conv2d_float32",
    Struct(
        "Conv2dFloat32Args",
        "float32 convolution of images [n, c, h, w] with filters [n, c, h, w], c of a group: the bias, plus input "
        "times filter for each channel, row and column of the window that lies in the image, added in this order.",
        (
            blocks.input("input", F32, "input_dims", doc="float32 [n, c, h, w]"),
            blocks.filter(
                "filter_dims", doc="float32 [n = out channels, c = input channels / groups, h, w]", element=F32
            ),
            blocks.input("bias", F32, "output_dims.c", doc="float32 [out channels]"),
            blocks.output(F32, "output_dims", doc="float32 [n, c, h, w]"),
            Field(
                "params",
                Struct(
                    "ConvFloat32Params",
                    "ConvParams of float32.",
                    (
                        Field("stride", blocks.TILE, ">= 1"),
                        Field("padding", blocks.TILE, "top and left, >= 0; bottom and right follow from output_dims"),
                        Field("dilation", blocks.TILE, ">= 1"),
                    ),
                ),
            ),
            *DIMS,
        ),
        geometry="convolution",
    ),
)


@dataclass(frozen=True)
class Conv2dFloat32Attrs:
    """conv2d_float32. Inputs: x, bias and weight [out, in / groups, h, w]."""

    windows: Windows
    channels: int
    groups: int


def _draw(d: Case) -> Value:
    groups, kernel, dilation = d.pick(1, 1, d.integer(1, 4)), d.pair(1, 3), d.pick((1, 1), d.pair(1, 2))
    stride, padding = d.pair(1, 2), d.pair(0, 2)
    inputs, outputs = groups * d.integer(1, 4), groups * d.integer(1, 4)
    extent = tuple((k - 1) * e + 1 for k, e in zip(kernel, dilation))
    image = extent[0] + d.integer(0, 5), extent[1] + d.integer(0, 5)
    output = tuple((i + 2 * p - e) // s + 1 for i, p, e, s in zip(image, padding, extent, stride))
    batch = d.pick(1, 1, 2)
    windows = Windows(batch, inputs, image, kernel, (output[0], output[1]), stride, padding, dilation)
    x = d.input(batch, inputs, image[0] * image[1], element=Element.FLOAT32)
    weight = reals(d, outputs, inputs // groups, *kernel)
    return drawn(d, "conv2d_float32", [x, reals(d, outputs), weight], Conv2dFloat32Attrs(windows, outputs, groups))


class Conv2dFloat32(FloatOp):
    """The bias, plus each element of a window times its weight, by channel, row and column."""

    name = "conv2d_float32"
    targets = aten_convolution.TARGETS
    attrs = Conv2dFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = ("one and two dimensions, any stride, padding, dilation and groups; constant weights; not transposed",)

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        args = aten_convolution.arguments(node, context)
        return first(
            lambda: constant_weights.refuse_variable(args.operands, context),
            lambda: self._refuse_geometry(args),
        )

    def _refuse_geometry(self, args: aten_convolution.Arguments) -> Optional[Refusal]:
        if args.transposed or len(shape_of(args.source)) not in (3, 4):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "kernels of float32 take convolutions of images and sequences, [N, C, H, W] and [N, C, L], that are "
                "not transposed: give this one another format",
            )
        if max(*args.padding, *args.stride, *args.dilation) <= MAX_STEP:
            return None
        return Refusal(
            Reason.TOO_LARGE, f"its padding, stride or dilation is more than {MAX_STEP}, which a payload holds at most"
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        args = aten_convolution.arguments(node, context)
        weight = shape_of(args.weight)
        batch, channels, *image = shape_of(args.source)
        sizes = [image, weight[2:], shape_of(node)[2:], args.stride, args.padding, args.dilation]
        # A sequence is an image of one row.
        fill = (1, 1, 1, 1, 0, 1)
        pairs = [(x[0], x[1]) if len(image) == 2 else (one, x[0]) for x, one in zip(sizes, fill)]
        attrs = Conv2dFloat32Attrs(Windows(batch, channels, *pairs), weight[0], args.groups)
        inputs = [
            context.value(args.source),
            context.real_operand(np.zeros(weight[0]) if args.bias is None else args.bias, f"{node.name}_bias"),
            context.real_operand(args.weight, f"{node.name}_weight", (*weight[:2], *pairs[1])),
        ]
        return [context.node(node, self.name, inputs, attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return attrs.windows.batch, attrs.channels, *attrs.windows.output

    def macs(self, node: Node) -> int:
        return node.output.numel * int(np.prod(node.inputs[2].shape[1:]))

    def features(self, node: Node) -> Features:
        a: Conv2dFloat32Attrs = node.attrs
        depth = a.windows.channels // a.groups
        products = a.windows.batch * a.channels * depth * a.windows.taps_inside()
        return Features({"outputs": node.output.numel, "planes": node.output.numel * depth, "products": products})

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: Conv2dFloat32Attrs = node.attrs
        weight = node.inputs[2].constant
        depth, per_group = a.windows.channels // a.groups, a.channels // a.groups
        total = np.broadcast_to(inputs[1].reshape(-1, 1, 1), (a.windows.batch, a.channels, *a.windows.output))
        taps = list(a.windows.taps(inputs[0]))
        group = np.arange(a.channels) // per_group
        for channel in range(depth):
            for ky, kx, found, inside in taps:
                products = found[:, group * depth + channel] * weight[:, channel, ky, kx][:, None, None]
                total = np.where(inside, total + products, total)
        return total

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"filter": node.inputs[2].constant}

    def fields(self, node: Node) -> Mapping[str, Any]:
        a: Conv2dFloat32Attrs = node.attrs
        w = a.windows
        return {
            "params": w.tiles(dilation=True),
            "input_dims": block_values.dims(w.batch, *w.image, w.channels),
            "filter_dims": block_values.dims(a.channels, *w.kernel, w.channels // a.groups),
            "output_dims": block_values.dims(w.batch, *w.output, a.channels),
        }
