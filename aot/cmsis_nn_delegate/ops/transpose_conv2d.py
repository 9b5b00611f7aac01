"""Two-dimensional transposed convolution, grouped and dilated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, pair, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I32, Field, Struct
from ..format.schema import MAX_DIM, MAX_STEP
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import aten_convolution, block_values, channels, constant_weights, conv_args, per_channel_requantize, storage
from . import cmsis_nn_rules as rules
from .annotation import Weighted
from .attrs import ConvAttrs, Padding, TransposeConvAttrs
from .case import Case
from .channels import Bounds
from .constant_weights import Operands
from .features import Features, blocks_of, sums
from .geometry import Geometry, Pair
from .kernel import KernelSpec
from .op import Op

_DOC = (
    "int8 transposed convolution, NHWC; groups = input_dims.c / filter_dims.c. Input pixel (y, x) adds filter * "
    "(input + input_offset) to the outputs from (y, x) * stride - padding on, `dilation` apart; the sums start with "
    "the bias and are requantized per output channel."
)

KERNEL = KernelSpec(
    "transpose_conv2d",
    Struct(
        "TransposeConv2dArgs",
        _DOC,
        (*conv_args.OPERANDS, blocks.scratch(), conv_args.OUTPUT, Field("scratch_bytes", I32), *conv_args.SIZES),
        geometry="transposed_convolution",
    ),
)
# A table has one kernel of each opcode, and CMSIS-NN's does not compute everything.
ANY_GEOMETRY = KernelSpec(
    "transpose_conv2d_any",
    Struct(
        "TransposeConv2dAnyArgs",
        _DOC,
        (*conv_args.OPERANDS, conv_args.OUTPUT, *conv_args.SIZES),
        geometry="transposed_convolution",
    ),
    variant="any",
)
INT16 = KernelSpec(
    "transpose_conv2d_any_int16",
    Struct(
        "TransposeConv2dAnyInt16Args",
        _DOC.replace("int8", "int16").replace("(input + input_offset)", "input"),
        (*conv_args.OPERANDS_INT16, conv_args.OUTPUT_INT16, *conv_args.SIZES_INT16),
        geometry="transposed_convolution",
    ),
    variant="any",
    priced_as="transpose_conv2d_any",
)


def output_size(size: int, taps: int, stride: int, padding: int, dilation: int, extra: int = 0) -> int:
    """Returns the size of an axis of the output, `padding` less at both ends and `extra` more at the far one."""
    return (size - 1) * stride - 2 * padding + (taps - 1) * dilation + 1 + extra


# Of an output channel of a convolution: its bias, in whose word tuned kernels have the shift, and its multiplier.
_CHANNEL_BYTES = 8


def fits_convolution(
    weight: Sequence[int], size: Pair, stride: Pair, padding: Pair, output: Pair, dilation: Pair, groups: int
) -> bool:
    """Returns whether a convolution with as many products computes an image of `size` with weights [out, in / groups,
    h, w]: `passes.transposed_to_convolutions` says how."""
    kernel = weight[2:]
    whole = pair([(i - 1) * s + k for i, s, k in zip(size, stride, kernel)])  # nothing is cut off
    return (
        groups == 1
        and dilation == (1, 1)
        and not any(k % s for k, s in zip(kernel, stride))
        and all(p + out <= w for p, out, w in zip(padding, output, whole))
    )


def becomes_convolution(
    weight: Sequence[int], size: Pair, stride: Pair, padding: Pair, output: Pair, dilation: Pair, groups: int
) -> bool:
    """Returns whether `passes.transposed_to_convolutions` computes an image of `size` with weights of 4 bits, [out,
    in / groups, h, w]: where `fits_convolution`, and in fewer bytes of flash than with weights of 8, although each
    pixel of a square as large as the stride has output channels of its own."""
    _, inputs, *kernel = weight
    return (
        fits_convolution(weight, size, stride, padding, output, dilation, groups)
        and (math.prod(stride) - 1) * _CHANNEL_BYTES < inputs * math.prod(kernel) // 2
    )


def is_depthwise(x: Value, element: Optional[Element], weight: Value, attrs: ConvAttrs, output: Pair) -> bool:
    """Returns whether a depthwise convolution computes the one with `attrs`, which have stride 1, of an `x` that is
    quantized to `element`, if that is known."""
    if element not in (None, COMMON_ELEMENT):
        return False  # conv2d has the only kernels
    batch, channels, *size = x.shape
    before = attrs.padding.top, attrs.padding.left
    geometry = Geometry(batch, pair(size), pair(weight.shape[2:]), output, (1, 1), before, attrs.dilation)
    multiplier = weight.shape[0] // channels
    return attrs.groups == channels > 1 and aten_convolution.takes_depthwise(geometry, channels, multiplier)


def _draw(
    d: Case, channels: int, outputs: int, groups: int, dense: bool = False, element: Element = Element.INT8
) -> Value:
    kernel, stride = d.pair(1, 4), d.pair(1, 4)
    dilation = (1, 1) if dense else d.pick((1, 1), d.pair(1, 3))
    x = d.input(d.batch(), channels, *d.pair(1, 6), element=element)
    reach = [(k - 1) * e for k, e in zip(kernel, dilation)]
    padding = d.integer(0, reach[0]), d.integer(0, reach[1])
    if dense:  # filters at least as large as the stride
        kernel = pair([max(k, s) for k, s in zip(kernel, stride)])
    size, extra = [], []
    for i, k, s, p, e in zip(x.shape[2:], kernel, stride, padding, dilation):
        extra.append(d.integer(0, s - 1 if not dense else min(p, s - 1)))
        # A tiny image with much padding may have no output at all: then it has more of it.
        extra[-1] = max(extra[-1], 1 - output_size(i, k, s, p, e))
        size.append(output_size(i, k, s, p, e, extra[-1]))
    (weight, bias), quant = d.weights(x, (outputs, channels // groups, *kernel))
    attrs = TransposeConvAttrs(stride, padding, dilation, groups, (size[0], size[1]), d.clamp())
    return d.node("transpose_conv2d", [x, weight, bias], attrs, quant)


def _draw_any(d: Case) -> Value:
    return _draw(d, d.channels(), d.channels(), 1)


def _draw_grouped(d: Case) -> Value:
    groups = d.integer(2, 4)
    return _draw(d, groups * d.integer(1, 5), groups * d.integer(1, 5), groups)


def _draw_dense(d: Case) -> Value:
    """Mostly what CMSIS-NN's function computes."""
    return _draw(d, d.channels(), d.channels(), 1, dense=True)


def _draw_int16(d: Case) -> Value:
    groups = d.pick(1, 1, d.integer(2, 4))
    return _draw(d, groups * d.integer(1, 9), groups * d.integer(1, 9), groups, element=Element.INT16)


def _zeros(node: Node) -> int:
    """Rows of zeros in front of the filter for which CMSIS-NN's function is right: they add to as many more rows of
    padding, which then are a multiple of the stride."""
    zeros: int = -node.attrs.padding[0] % node.attrs.stride[0]
    return zeros


def filter_rows(node: Node) -> int:
    """Returns the rows of the filter with which KERNEL is called."""
    return node.inputs[1].shape[2] + _zeros(node)


class TransposeConv2d(Op):
    """output[i * stride + tap * dilation - padding] += weight[tap] * (x[i] - zero point), from the bias on, requantized
    per output channel.

    CMSIS-NN: arm_transpose_conv_s8, where that is right: see `cmsis_nn_rules.transpose_conv_fits`. CMSIS-NN's wrapper
    would rather upsample the input if it has many channels and a stride of at most 2; this takes as many more
    multiplications as the stride has pixels, and a copy of the weights in memory.

    With stride 1 it is a convolution with the filter turned around, and becomes a conv2d or depthwise_conv2d. With
    other strides it becomes convolutions and a copy where that takes fewer instructions and no more RAM: see
    `passes.transposed_to_convolutions`.
    """

    name = "transpose_conv2d"
    targets = aten_convolution.TARGETS
    annotation = Weighted(("aten.conv_transpose2d.input",), transposed=True, folds_batch_norm=True)
    attrs = TransposeConvAttrs
    kernels = (KERNEL, ANY_GEOMETRY, INT16)
    draws = (_draw_any, _draw_grouped, _draw_dense, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "constant weights; any stride, padding, output_padding, dilation and groups; in one dimension as an image of "
        "one row",
        "conv_transpose3d: what the filter covers of the depth are further channels, once for each image of a stride; "
        "not in models that are trained with quantization",
        "computed by convolutions and a copy where that takes fewer instructions and no larger arena; a note of the "
        "report says so",
        "F.fold, whose filters have a single 1",
        "with groups, the weights of output channels that have the same place in their groups share a scale",
        constant_weights.INT16_SHORT_LIMIT,
        f"{constant_weights.INT4_LIMIT} in one group without dilation, if the size of the filter is a multiple of the "
        "stride and there are enough weights to save flash",
    )
    takes_images = True

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return aten_convolution.arguments(node, context).transposed

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        args = aten_convolution.arguments(node, context)
        operands = self._operands(node, context)
        return first(
            lambda: context.refuse_tensors(node, args.source, args.weight),
            lambda: context.refuse_image(args.source, "its input"),
            lambda: self._refuse_windows(args),
            lambda: constant_weights.refuse_variable(operands, context),
            lambda: context.refuse_quant(node, [args.source]),
            lambda: constant_weights.check(node, operands, context),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return constant_weights.check_data(node, self._operands(node, context), context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        args = aten_convolution.arguments(node, context)
        weight, bias = constant_weights.build(self._operands(node, context), context)
        x = context.value(args.source)
        stride, padding, dilation = pair(args.stride), pair(args.padding), pair(args.dilation)
        reach = [(k - 1) * d for k, d in zip(weight.shape[2:], dilation)]
        before = pair([r - p for r, p in zip(reach, padding)])
        size = pair(shape_of(node)[2:])
        if stride == (1, 1):
            # What a window needs behind the image: its last one ends with the output.
            after = pair([o - 1 + r - b - (i - 1) for o, r, b, i in zip(size, reach, before, x.shape[2:])])
            if min(*before, *after) >= 0:
                filters = np.ascontiguousarray(weight.constant[:, :, ::-1, ::-1])
                attrs = ConvAttrs(stride, Padding(*before, *after), dilation, args.groups)
                op = (
                    "depthwise_conv2d"
                    if is_depthwise(x, context.operand_element(args.source), weight, attrs, size)
                    else "conv2d"
                )
                return [context.node(node, op, [x, Value(weight.name, weight.type, filters), bias], attrs)]
        transposed = TransposeConvAttrs(stride, padding, dilation, args.groups, size)
        return [context.node(node, self.name, [x, weight, bias], transposed)]

    def _operands(self, node: EdgeNode, context: EdgeContext) -> Operands:
        args = aten_convolution.arguments(node, context)
        return Operands(args.source, args.weight, args.bias, transposed_groups=args.groups)

    def _refuse_windows(self, args: aten_convolution.Arguments) -> Optional[Refusal]:
        stride, padding, dilation = pair(args.stride), pair(args.padding), pair(args.dilation)
        reach = [
            i * s + (k - 1) * d
            for i, s, k, d in zip(shape_of(args.source)[2:], stride, shape_of(args.weight)[2:], dilation)
        ]
        if max(*stride, *padding, *dilation) <= MAX_STEP and max(reach) <= MAX_DIM:
            return None
        return Refusal(
            Reason.TOO_LARGE,
            f"padding {list(padding)}, stride {list(stride)} or dilation {list(dilation)} is too large; a payload "
            f"holds at most {MAX_STEP}: use a smaller one",
        )

    def output_shape(self, inputs: Sequence[Value], attrs: TransposeConvAttrs) -> tuple[int, ...]:
        return (inputs[0].shape[0], inputs[1].shape[0], *attrs.output)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        n, h, w, _ = storage.nhwc(x)
        _, out_h, out_w, out_c = storage.nhwc(node.output)
        (stride_h, stride_w), (top, left), (gap_h, gap_w) = attrs.stride, attrs.padding, attrs.dilation
        taps_h, taps_w = weight.shape[2:]
        # float64 is exact below 2^53, which no int8 sum reaches, and has a fast product.
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.float64) - x.zero_point
        # All that the pixels add to, and as much more as the output has behind that.
        rows = max((h - 1) * stride_h + (taps_h - 1) * gap_h + 1, top + out_h)
        columns = max((w - 1) * stride_w + (taps_w - 1) * gap_w + 1, left + out_w)
        acc = np.zeros((n, rows, columns, out_c))
        per_group, in_per_group = out_c // attrs.groups, weight.shape[1]
        for group in range(attrs.groups):
            outputs = slice(group * per_group, (group + 1) * per_group)
            part = image[..., group * in_per_group : (group + 1) * in_per_group]
            for i in range(taps_h):
                for j in range(taps_w):
                    under = acc[
                        :,
                        i * gap_h : i * gap_h + (h - 1) * stride_h + 1 : stride_h,
                        j * gap_w : j * gap_w + (w - 1) * stride_w + 1 : stride_w,
                        outputs,
                    ]
                    under += part @ weight.constant[outputs, :, i, j].astype(np.float64).T
        kept = acc[:, top : top + out_h, left : left + out_w]
        return per_channel_requantize.finish(node, kept, bias.constant).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        x = channels.by_channel(inputs[0], node.inputs[0])
        return channels.along(channels.weighted_bounds(node, x, node.attrs.groups, True), node.output)

    def weighted(self, node: Node) -> bool:
        return bool(node.attrs.groups == 1)

    def sees_padding(self, node: Node) -> bool:
        return True

    def narrow(self, node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
        channels.narrow_weighted(node, inputs, outputs)

    def channel_parameters(self, node: Node) -> Sequence[bytes]:
        return channels.row_parameters(node)

    def macs(self, node: Node) -> int:
        n, _, h, w = node.inputs[0].shape
        return n * h * w * node.inputs[1].numel

    def features(self, node: Node) -> Features:
        n, h, w, c = storage.nhwc(node.inputs[0])
        _, out_h, out_w, outputs = storage.nhwc(node.output)
        attrs, (depth, *kernel) = node.attrs, node.inputs[1].shape[1:]
        axes = zip((h, w), kernel, (out_h, out_w), attrs.stride, attrs.padding, attrs.dilation)
        rows, columns = (_sources(*axis) for axis in axes)
        runs = blocks_of(outputs, 16)
        return Features(
            {
                "pixels": n * h * w,
                "taps": n * h * w * math.prod(kernel),
                "windows": n * out_h * out_w * runs,
                "rows tried": n * out_h * out_w * runs * kernel[0],
                "taps tried": n * out_w * rows * runs * kernel[1],
                "taps of outputs": n * rows * columns * outputs,
                "taps of runs": n * rows * columns * runs,
                "products in the output": n * rows * columns * outputs * depth,
                "vectors of four pixels": n * h * (w // 4) * math.prod(kernel) * outputs * blocks_of(depth, 16),
                "sums of four pixels": n * h * (w // 4) * math.prod(kernel) * outputs,
                "results": node.output.numel,
                "inputs": n * h * w * c,
                **sums(n * h * w * math.prod(kernel) * outputs, depth),
            }
        )

    def variant(self, node: Node) -> str:
        attrs, (_, h, w, c) = node.attrs, storage.nhwc(node.inputs[0])
        _, out_h, out_w, out_c = storage.nhwc(node.output)
        _, in_per_group, height, width = node.inputs[1].shape
        top, left = attrs.padding
        zeros = _zeros(node)
        fits = rules.transpose_conv_fits(
            *(h, w, c, height + zeros, width, in_per_group, out_h, out_w, out_c),
            *(*attrs.stride, top + zeros, left, *attrs.dilation),
        )
        return "" if fits and node.output.element is Element.INT8 else ANY_GEOMETRY.variant

    def _called(self, node: Node) -> tuple[int, Pair]:
        """(rows of zeros, padding) with which the kernel of `node` is called."""
        zeros = 0 if self.variant(node) else _zeros(node)
        top, left = node.attrs.padding
        return zeros, (top + zeros, left)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        zeros, _ = self._called(node)
        weights = np.pad(node.inputs[1].constant.transpose(0, 2, 3, 1), ((0, 0), (zeros, 0), (0, 0), (0, 0)))
        return per_channel_requantize.constants(node, weights, node.inputs[2].constant)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs = node.attrs
        out_c, in_per_group, height, width = node.inputs[1].shape
        zeros, padding = self._called(node)
        scratch = {} if self.variant(node) else {"scratch_bytes": scratch_bytes}
        offsets = {"input_offset": -node.inputs[0].zero_point, "output_offset": node.output.zero_point}
        return {
            **refs,
            **scratch,
            "params": {
                **({} if node.output.element.is_symmetric else offsets),
                "stride": block_values.tile(*attrs.stride),
                "padding": block_values.tile(*padding),
                "dilation": block_values.tile(*attrs.dilation),
                "activation": block_values.activation(attrs.clamp, node.output.type),
            },
            "input_dims": block_values.dims(*storage.nhwc(node.inputs[0])),
            "filter_dims": block_values.dims(out_c, height + zeros, width, in_per_group),
            "output_dims": block_values.dims(*storage.nhwc(node.output)),
        }


def _sources(size: int, taps: int, out: int, stride: int, padding: int, dilation: int) -> int:
    """Returns how many pairs of an output and a tap along an axis have a pixel."""
    distances = np.arange(out)[:, None] + padding - np.arange(taps) * dilation
    return int(((distances >= 0) & (distances % stride == 0) & (distances < size * stride)).sum())
