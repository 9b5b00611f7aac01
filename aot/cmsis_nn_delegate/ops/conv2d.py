"""Two-dimensional convolution, grouped and dilated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import pair
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import (
    aten_convolution,
    channels,
    cmsis_nn_geometry,
    constant_weights,
    conv_args,
    foldable_pads,
    per_channel_requantize,
    storage,
)
from .annotation import Weighted
from .attrs import ConvAttrs, Padding
from .case import Case
from .channels import Bounds, Link
from .cmsis_nn_rules import (
    MAX_KERNEL_ELEMENTS,
    MAX_SIZE,
    convolution_int16_fits,
    takes_one_row,
    takes_pointwise,
)
from .conv_args import CallDims
from .features import Features, blocks_of, sums
from .geometry import Geometry, Pair
from .kernel import KernelSpec
from .op import Op
from .windows import taps

_DOC = (
    "int8 convolution, NHWC; groups = input_dims.c / filter_dims.c. "
    "acc = bias + sum(filter * (input + input_offset)), requantized per output channel."
)

KERNEL = KernelSpec(
    "conv2d",
    Struct(
        "Conv2dArgs",
        _DOC,
        (*conv_args.OPERANDS, blocks.scratch(), conv_args.OUTPUT, Field("scratch_bytes", I32), *conv_args.PACKED_SIZES),
        geometry="convolution",
    ),
)
# A table has one kernel of each opcode, and neither CMSIS-NN's nor its argument block takes every size.
LARGE_KERNEL = KernelSpec(
    "conv2d_large",
    Struct("Conv2dLargeArgs", _DOC, (*conv_args.OPERANDS, conv_args.OUTPUT, *conv_args.SIZES), geometry="convolution"),
    variant="large",
)
_DOC_INT16 = (
    "int16 convolution with int8 weights, NHWC; groups = input_dims.c / filter_dims.c. acc = bias + sum(filter * "
    "input), in 32 bits, requantized per output channel."
)
INT16 = KernelSpec(
    "conv2d_int16",
    Struct(
        "Conv2dInt16Args",
        _DOC_INT16,
        (
            *conv_args.OPERANDS_INT16,
            blocks.scratch(),
            conv_args.OUTPUT_INT16,
            Field("scratch_bytes", I32),
            *conv_args.SIZES_INT16,
        ),
        geometry="convolution",
    ),
    priced_as="conv2d",
)
# With groups, or larger than CMSIS-NN takes.
LARGE_INT16 = KernelSpec(
    "conv2d_large_int16",
    Struct(
        "Conv2dLargeInt16Args",
        _DOC_INT16,
        (*conv_args.OPERANDS_INT16, conv_args.OUTPUT_INT16, *conv_args.SIZES_INT16),
        geometry="convolution",
    ),
    variant=LARGE_KERNEL.variant,
    priced_as="conv2d_large",
)


INT4 = KernelSpec(
    "conv2d_int4",
    Struct(
        "Conv2dInt4Args",
        "Conv2dArgs of one group with weights of 4 bits, two in a byte, the first in the lower half; the filters "
        "follow each other without gaps.",
        (
            *conv_args.OPERANDS_INT4,
            blocks.scratch(),
            conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            *conv_args.PACKED_SIZES,
        ),
        geometry="convolution",
    ),
    priced_as="conv2d",
)
INT4_INT16 = KernelSpec(
    "conv2d_int4_int16",
    Struct(
        "Conv2dInt4Int16Args",
        "Conv2dInt16Args of one group with weights of 4 bits, as Conv2dInt4Args has them.",
        (*conv_args.OPERANDS_INT4_INT16, conv_args.OUTPUT_INT16, *conv_args.SIZES_INT16),
        geometry="convolution",
    ),
    priced_as="conv2d_large",
)


def _draw_general(d: Case) -> Value:
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation)
    return d.conv2d(
        x,
        d.channels(),
        kernel,
        d.pair(1, 3),
        d.padding(kernel, dilation),
        dilation,
        clamp=d.clamp(),
    )


def _draw_grouped(d: Case) -> Value:
    kernel, groups = d.pair(1, 3), d.integer(2, 4)
    x = d.image(d.batch(), groups * d.integer(2, 9), kernel)
    return d.conv2d(
        x, groups * d.integer(1, 6), kernel, d.pair(1, 2), d.padding(kernel), groups=groups, clamp=d.clamp()
    )


def _draw_one_channel(d: Case) -> Value:
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), 1, kernel)
    return d.conv2d(x, d.channels(), kernel, d.pair(1, 2), d.padding(kernel), clamp=d.clamp())


def _draw_pointwise(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.channels(), d.integer(40, 140)), *d.pair(1, 7))
    return d.conv2d(x, d.channels(), (1, 1), d.pick((1, 1), (1, 1), d.pair(1, 3)), clamp=d.clamp())


def _draw_pointwise_padded(d: Case) -> Value:
    """Padding of a 1x1 kernel, whose windows may then lie entirely in the padding; needs a rewrite."""
    x = d.input(d.batch(), d.channels(), *d.pair(1, 6))
    padding = Padding(*d.pair(0, 2), *d.pair(0, 2))
    return d.conv2d(x, d.channels(), (1, 1), d.pick((1, 1), (1, 1), d.pair(1, 3)), padding, clamp=d.clamp())


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    """Padding as wide as the kernel and wider."""
    kernel, dilation = d.pair(1, 3), d.pick((1, 1), d.pair(1, 2))
    x = d.image(d.batch(), d.channels(), kernel, dilation, extra=3)
    padding = Padding(*d.pair(0, 4), *d.pair(0, 4))
    return d.conv2d(x, d.channels(), kernel, d.pair(1, 3), padding, dilation, clamp=d.clamp())


def _draw_one_row(d: Case) -> Value:
    """1xN on an image of one row, in every combination of padding and stride. With MVE it has its own kernel;
    geometries that this kernel computes wrongly are rewritten."""
    taps, stride = d.integer(1, 7), d.pick(1, 1, 2, 3, 4)
    x = d.input(d.batch(), d.pick(4, 8, 12, 16, 20, d.integer(1, 9)), 1, taps + d.integer(0, 20))
    left = d.integer(0, taps - 1)
    right = d.pick(left, min(left + 1, taps - 1), d.integer(0, taps - 1))
    # Rarely rows of padding too: they make rows of output.
    top, bottom = d.pick((0, 0), (0, 0), (0, 0), d.pair(0, 2))
    padding = Padding(top, left, bottom, right)
    return d.conv2d(x, d.channels(), (1, taps), (d.integer(1, 2), stride), padding, clamp=d.clamp())


def _draw_one_column(d: Case) -> Value:
    taps = d.integer(2, 7)
    x = d.input(d.batch(), 4 * d.integer(1, 4), taps + d.integer(0, 12), 1)
    padding = Padding(d.integer(0, taps - 1), 0, d.integer(0, taps - 1), 0)
    return d.conv2d(x, d.channels(), (taps, 1), d.pair(1, 2), padding, clamp=d.clamp())


def _draw_long_steps(d: Case) -> Value:
    """What the kernel for any size does, with one window per row or column: the next one would lie far away."""
    kernel, dilation, groups = d.pair(1, 3), d.pick((1, 1), d.pair(1, 3)), d.pick(1, 1, d.integer(2, 4))
    x = d.image(d.batch(), groups * d.integer(1, 9), kernel, dilation)
    steps = MAX_SIZE + d.integer(1, 9), d.integer(1, 3)
    stride = d.pick(steps, steps[::-1])
    return d.conv2d(
        x,
        groups * d.integer(1, 6),
        kernel,
        stride,
        d.padding(kernel, dilation),
        dilation,
        groups=groups,
        clamp=d.clamp(),
    )


def _draw_int16(d: Case) -> Value:
    return _strided_int16(d, 1, d.channels())


def _draw_int16_grouped(d: Case) -> Value:
    """Also with one channel for each group, which int8 has another operator for."""
    return _strided_int16(d, d.integer(2, 9), d.pick(1, d.integer(1, 9)))


def _strided_int16(d: Case, groups: int, depth: int) -> Value:
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), groups * depth, kernel, dilation, element=Element.INT16)
    strides = d.pair(1, 3), d.padding(kernel, dilation), dilation
    return d.conv2d(x, groups * d.integer(1, 9), kernel, *strides, groups=groups, clamp=d.clamp())


def _draw_int16_pointwise(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.channels(), d.integer(40, 140)), *d.pair(1, 5), element=Element.INT16)
    return d.conv2d(x, d.channels(), (1, 1), clamp=d.clamp())


def _draw_int4(d: Case) -> Value:
    """Also filters of odd size, of which every other one begins within a byte."""
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation)
    strides = d.pair(1, 3), d.padding(kernel, dilation), dilation
    return d.conv2d(x, d.channels(), kernel, *strides, clamp=d.clamp(), element=Element.INT4)


def _draw_int4_pointwise(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.channels(), d.integer(40, 140)), *d.pair(1, 7))
    stride, padding = d.pick((1, 1), (1, 1), d.pair(1, 3)), d.pick(Padding(), Padding(*d.pair(0, 2), *d.pair(0, 2)))
    return d.conv2d(x, d.channels(), (1, 1), stride, padding, clamp=d.clamp(), element=Element.INT4)


def _draw_int4_row(d: Case) -> Value:
    taps = d.integer(1, 7)
    x = d.input(d.batch(), d.channels(), 1, taps + d.integer(0, 20))
    padding = Padding(0, d.integer(0, taps - 1), 0, d.integer(0, taps - 1))
    return d.conv2d(x, d.channels(), (1, taps), (1, d.integer(1, 4)), padding, clamp=d.clamp(), element=Element.INT4)


def _draw_int4_int16(d: Case) -> Value:
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation, element=Element.INT16)
    strides = d.pair(1, 3), d.padding(kernel, dilation), dilation
    return d.conv2d(x, d.channels(), kernel, *strides, clamp=d.clamp(), element=Element.INT4)


def _draw_large(d: Case) -> Value:
    """A filter with as many weights as CMSIS-NN counts and more, or a row of as many pixels."""
    if d.pick(False, True):
        channels = MAX_KERNEL_ELEMENTS // 3 + d.integer(0, 2)
        return d.conv2d(d.input(1, channels, 1, 4), 2, (1, 3), (1, 1), Padding(0, 1, 0, d.integer(0, 1)))
    x = d.input(1, 1, 1, MAX_SIZE + d.integer(0, 40))
    return d.conv2d(x, 1, (1, 3), (1, d.integer(1, 3)), Padding(0, d.integer(0, 1), 0, 0), clamp=d.clamp())


def call_dims(node: Node, geometry: Geometry) -> CallDims:
    """Returns the sizes of a call for `node` with `geometry`."""
    out_c, in_per_group = node.inputs[1].shape[:2]
    return CallDims(
        (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
        (out_c, *geometry.kernel, in_per_group),
        (geometry.batch, *geometry.output, out_c),
    )


def _is_depthwise(node: Node) -> bool:
    """Returns whether each group has one input channel, and there are several."""
    return node.attrs.groups > 1 and node.inputs[1].shape[1] == 1


class Convolution(Op):
    """Convolutions of any geometry, whose inputs are x, weight and bias."""

    attrs = ConvAttrs
    takes_images = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return aten_convolution.check(node, context)

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return aten_convolution.check_data(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return aten_convolution.build(self.name, node, context)

    def output_shape(self, inputs: Sequence[Value], attrs: ConvAttrs) -> tuple[int, ...]:
        return conv_args.output_shape(inputs, attrs)

    def absorbs_padding(self, value: float, image: TensorType) -> bool:
        return foldable_pads.is_zero(value)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        _, out_h, out_w, out_c = storage.nhwc(node.output)
        # float64 is exact below 2^53, which no sum reaches, and has a fast product.
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.float64) - x.zero_point
        # [taps, n, h, w, c]; outside of the image (x - zero point) is 0.
        columns = np.stack(
            list(
                taps(
                    image,
                    pair(weight.shape[2:]),
                    attrs.stride,
                    attrs.dilation,
                    attrs.padding,
                    (out_h, out_w),
                    0,
                )
            ),
            axis=-2,
        )
        per_group = out_c // attrs.groups
        in_per_group = weight.shape[1]
        sums = []
        for group in range(attrs.groups):
            part = columns[..., group * in_per_group : (group + 1) * in_per_group]
            kernel = self._filter(node)[group * per_group : (group + 1) * per_group]
            sums.append(
                part.reshape(-1, part.shape[-2] * in_per_group) @ kernel.reshape(per_group, -1).astype(np.float64).T
            )
        acc = np.concatenate(sums, axis=1).reshape(storage.nhwc(node.output))
        return per_channel_requantize.finish(node, acc, bias.constant).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        x = channels.by_channel(inputs[0], node.inputs[0])
        return channels.along(
            channels.weighted_bounds(node, x, node.attrs.groups, self.sees_padding(node)), node.output
        )

    def window(self, node: Node) -> Pair:
        height, width = node.inputs[1].shape[2:]
        return height, width

    def weighted(self, node: Node) -> bool:
        return bool(node.attrs.groups == 1)

    def sees_padding(self, node: Node) -> bool:
        return bool(node.attrs.padding != Padding())

    def links(self, node: Node) -> Optional[Sequence[Link]]:
        # int16 has no other operator for one channel a group.
        return channels.links_of_groups(node) if _is_depthwise(node) else None

    def narrow(self, node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
        if _is_depthwise(node):
            channels.narrow_groups(node, inputs, outputs)
        else:
            channels.narrow_weighted(node, inputs, outputs)

    def channel_parameters(self, node: Node) -> Sequence[bytes]:
        return channels.row_parameters(node)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].numel // node.inputs[1].shape[0]

    def features(self, node: Node) -> Features:
        geometry = Geometry.of(node)
        outputs, depth = node.inputs[1].shape[:2]
        groups, taps = node.attrs.groups, math.prod(geometry.kernel)
        called = node.inputs[0].shape[1], *geometry.kernel, depth, *geometry.padding, *geometry.dilation
        runs, run = geometry.batch, math.prod(geometry.output)  # of windows that are computed together
        path = "groups" if groups > 1 else ""
        if takes_pointwise(*called):
            path = "pointwise"
            if geometry.stride == (1, 1):
                runs, run = 1, runs * run
            else:
                runs, run = runs * geometry.output[0], geometry.output[1]
        elif takes_one_row(
            geometry.input[0],
            node.inputs[0].shape[1],
            geometry.kernel[0],
            depth,
            geometry.stride[1],
            geometry.dilation[1],
        ):
            path = "row"
        windows = runs * run
        rows, columns = geometry.taps_inside()
        inside = geometry.batch * rows * columns
        # Those of a row lie side by side in the image, unless they have gaps.
        segments = geometry.batch * rows * (geometry.output[1] if geometry.dilation[1] == 1 else columns)
        window = taps * depth
        products = {
            "runs": runs * groups,
            "windows": windows * groups,
            "gathered": windows * groups * window,
            "taps": windows * groups * taps,
            "taps in padding": (windows * taps - inside) * groups,
            "segments": segments * outputs,
            "taps of outputs": inside * outputs,
            "products in the image": inside * outputs * depth,
            "products of a last window": runs * (run % 2) * outputs * window,
            "products of a last channel": windows * (outputs // groups % 2) * groups * window,
            "vectors of four windows": runs * (run // 4) * outputs * blocks_of(window, 16),
            "four windows": runs * (run // 4) * outputs,
            "vectors of last windows": runs * (run % 4) * outputs * blocks_of(window, 16),
        }
        return Features({**products, **sums(windows * outputs, window)}, path)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = self._filter(node)
        out_c, in_per_group = node.inputs[1].shape[:2]
        weights = weights.reshape(out_c, -1, in_per_group)
        # If the kernel was made higher for its provider, rows of zeros follow at the bottom.
        extra = math.prod(Geometry.of(node).kernel) - weights.shape[1]
        weights = np.pad(weights, ((0, 0), (0, extra), (0, 0)))
        return per_channel_requantize.constants(node, node.inputs[1].type.packed(weights), node.inputs[2].constant)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        geometry = Geometry.of(node)
        given = scratch_bytes if self.kernel_of(node).args.names_of(Role.SCRATCH) else None
        return conv_args.encode(node, refs, given, geometry, call_dims(node, geometry))

    def _filter(self, node: Node) -> np.ndarray:
        """int8 [out, h, w, in per group]."""
        return np.ascontiguousarray(node.inputs[1].constant.transpose(0, 2, 3, 1))


class Conv2d(Convolution):
    """acc = bias + sum(weight * (x - zero point)), requantized per output channel.

    int16 activations have sums of 32 bits, which `check_data` proves to suffice, and no depthwise kernel of their own.

    Weights of 4 bits have kernels for one group; with groups, they take 8 bits.

    CMSIS-NN: arm_convolve_wrapper_s8, arm_convolve_s4, and arm_convolve_s16 with a bias of 32 bits. Convolutions of one
    input channel belong here: as depthwise convolutions they would be several times slower on cores without MVE. Sizes
    that CMSIS-NN does not count have a kernel of their own with the same arithmetic.
    """

    name = "conv2d"
    targets = aten_convolution.TARGETS
    annotation = Weighted(("aten.conv2d.default",), folds_batch_norm=True)
    kernels = (KERNEL, LARGE_KERNEL, INT16, LARGE_INT16, INT4, INT4_INT16)
    elements = KERNEL_ELEMENTS
    draws = (
        _draw_general,
        _draw_grouped,
        _draw_one_channel,
        _draw_pointwise,
        _draw_pointwise_padded,
        _draw_padding_beyond_the_kernel,
        _draw_one_row,
        _draw_one_column,
        _draw_long_steps,
        _draw_large,
        _draw_int16,
        _draw_int16_grouped,
        _draw_int16_pointwise,
        _draw_int4,
        _draw_int4_pointwise,
        _draw_int4_row,
        _draw_int4_int16,
    )
    limits = (
        "constant weights; any size, stride, padding, dilation and groups; in one dimension as an image of one row",
        constant_weights.INT16_LIMIT,
        f"{constant_weights.INT4_LIMIT}, in one group, with int8 activations of at most {MAX_KERNEL_ELEMENTS} weights "
        "for an output",
        "conv3d: what the filter covers of the depth are further channels; not in models that are trained with "
        "quantization",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        transposed = aten_convolution.arguments(node, context).transposed
        return not transposed and not aten_convolution.is_depthwise(node, context)

    def variant(self, node: Node) -> str:
        packed = node.inputs[1].element is Element.INT4
        if packed and node.attrs.groups != 1:
            return LARGE_KERNEL.variant
        if node.output.element is Element.INT16:
            if packed:
                return ""  # of any size
            _, depth, height, width = node.inputs[1].shape
            fits = convolution_int16_fits(node.inputs[0].shape[1], height, width, depth)
            return "" if fits else LARGE_KERNEL.variant
        outputs, per_group = node.inputs[1].shape[:2]
        plain = Geometry.plain(node)
        called_as = cmsis_nn_geometry.convolution(plain)
        fits = cmsis_nn_geometry.convolution_fits(
            called_as, node.inputs[0].shape[1], per_group, outputs, one_row=not packed
        ) and all(conv_args.fits_packed(geometry, call_dims(node, geometry)) for geometry in (plain, called_as))
        return "" if fits else LARGE_KERNEL.variant
