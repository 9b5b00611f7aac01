"""CMSIS-NN's convolutions. Their wrappers pick special kernels, some of which assume what the wrapper does not check:
a node is then called with an equivalent geometry (`cmsis_nn_geometry`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...format.schema import Isa, ReadsPast
from ...graph.ir import Node
from ...ops import cmsis_nn_geometry, conv2d, conv2d_wide, depthwise_conv2d, storage, transpose_conv2d
from ...ops import cmsis_nn_rules as rules
from ...ops.conv_args import CallDims
from ...ops.geometry import Geometry
from ...ops.op import mismatch
from ...targets.target import TARGET_OF_ISA, Target
from ..implementation import Function, Implementation, Symbol, Workspace, copy_of, in_int8
from . import scratch

# For all functions among which arm_convolve_wrapper_s8 chooses.
_CONVOLVE = (
    "ConvolutionFunctions/arm_convolve_1_x_n_s8.c",
    "ConvolutionFunctions/arm_convolve_1x1_s8.c",
    "ConvolutionFunctions/arm_convolve_1x1_s8_fast.c",
    "ConvolutionFunctions/arm_convolve_get_buffer_sizes_s8.c",
    "ConvolutionFunctions/arm_convolve_s8.c",
    "ConvolutionFunctions/arm_nn_mat_mult_kernel_row_offset_s8_s16.c",
    "ConvolutionFunctions/arm_nn_mat_mult_kernel_s8_s16.c",
    "NNSupportFunctions/arm_nn_mat_mult_nt_t_s8.c",
    "NNSupportFunctions/arm_q7_to_q15_with_offset.c",
    "NNSupportFunctions/arm_s8_to_s16_unordered_with_offset.c",
)
# Of the function that says how much scratch memory a depthwise call takes.
_DEPTHWISE_SIZES = (
    "ConvolutionFunctions/arm_convolve_get_buffer_sizes_s8.c",
    "ConvolutionFunctions/arm_depthwise_conv_get_buffer_sizes_s8.c",
)


CONVOLVE_INT16 = (
    "ConvolutionFunctions/arm_convolve_get_buffer_sizes_s16.c",
    "ConvolutionFunctions/arm_convolve_s16.c",
    "ConvolutionFunctions/arm_nn_mat_mult_kernel_s16.c",
    "NNSupportFunctions/arm_nn_mat_mult_nt_t_s16.c",
)
PRODUCT_INT4 = ("NNSupportFunctions/arm_nn_mat_mult_nt_t_s4.c",)
# It loads the next weights before it knows that there are none.
INT16_READS_PAST = {Isa.MVE: ReadsPast(filter=8)}


class Conv2d(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "conv2d",
            Symbol(
                conv2d.KERNEL,
                "arm_convolve_wrapper_s8",
                _CONVOLVE,
                reads_past={Isa.MVE: ReadsPast(filter=16)},
            ),
        )

    def legal(self, node: Node) -> Node:
        return _called_as(node, cmsis_nn_geometry.convolution(Geometry.plain(node)))

    def workspace(self, node: Node, target: Target) -> Workspace:
        geometry = Geometry.of(node)
        dims = conv2d.call_dims(node, geometry)
        return _workspace("convolve_wrapper_buffer_size", node, target, geometry, dims)


class Conv2dInt16(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "conv2d", Symbol(conv2d.INT16, "arm_convolve_s16", CONVOLVE_INT16, reads_past=INT16_READS_PAST)
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        geometry = Geometry.of(node)
        return int16_workspace(node, target, geometry, conv2d.call_dims(node, geometry))


class Conv2dWide(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "conv2d_wide",
            Symbol(conv2d_wide.KERNEL, "arm_convolve_s16", CONVOLVE_INT16, reads_past=INT16_READS_PAST),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        geometry = Geometry.of(node)
        return int16_workspace(node, target, geometry, conv2d.call_dims(node, geometry))


class Conv2dInt4(Implementation):
    """Not by arm_convolve_wrapper_s4, which gives rows to functions that do not compute all of them."""

    def __init__(self) -> None:
        super().__init__(
            "conv2d",
            Symbol(
                conv2d.INT4,
                "arm_convolve_s4",
                (
                    *PRODUCT_INT4,
                    "ConvolutionFunctions/arm_convolve_1x1_s4.c",
                    "ConvolutionFunctions/arm_convolve_1x1_s4_fast.c",
                    "ConvolutionFunctions/arm_convolve_get_buffer_sizes_s4.c",
                    "ConvolutionFunctions/arm_convolve_s4.c",
                    "ConvolutionFunctions/arm_nn_mat_mult_kernel_s4_s16.c",
                    "NNSupportFunctions/arm_q7_to_q15_with_offset.c",
                ),
            ),
        )

    def legal(self, node: Node) -> Node:
        return _called_as(node, cmsis_nn_geometry.convolution(Geometry.plain(node)))

    def workspace(self, node: Node, target: Target) -> Workspace:
        geometry = Geometry.of(node)
        dims = conv2d.call_dims(node, geometry)
        # arm_convolve_s4_get_buffer_size, which is the same everywhere. With MVE, that of the wrapper is less for rows.
        any_target = TARGET_OF_ISA["dsp"]
        return _workspace("convolve_wrapper_buffer_size", node, any_target, geometry, dims, data_type="A8W4")


def _takes_3x3(args: Mapping[str, Any], isa: Isa) -> bool:
    kernel, params = args["filter_dims"], args["params"]
    padding, dilation = params["padding"], params["dilation"]
    return isa is not Isa.MVE and rules.takes_3x3(
        args["input_dims"]["n"],
        params["ch_mult"],
        *(kernel["h"], kernel["w"], padding["h"], padding["w"], dilation["h"], dilation["w"]),
    )


def _takes_opt(args: Mapping[str, Any], isa: Isa) -> bool:
    image, params = args["input_dims"], args["params"]
    dilation = params["dilation"]
    return not _takes_3x3(args, isa) and rules.takes_opt(
        isa is Isa.MVE, image["n"], image["c"], params["ch_mult"], dilation["h"], dilation["w"]
    )


class DepthwiseConv2d(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "depthwise_conv2d",
            Symbol(
                depthwise_conv2d.KERNEL,
                "arm_depthwise_conv_wrapper_s8",
                (
                    *_DEPTHWISE_SIZES,
                    # With MVE, calls of one input channel go to arm_convolve_wrapper_s8.
                    *_CONVOLVE,
                    "ConvolutionFunctions/arm_convolve_wrapper_s8.c",
                    "ConvolutionFunctions/arm_depthwise_conv_3x3_s8.c",
                    "ConvolutionFunctions/arm_depthwise_conv_s8.c",
                    "ConvolutionFunctions/arm_depthwise_conv_s8_opt.c",
                    "ConvolutionFunctions/arm_depthwise_conv_wrapper_s8.c",
                    "NNSupportFunctions/arm_nn_depthwise_conv_nt_t_s8.c",
                    "TransposeFunctions/arm_transpose_s8.c",
                ),
                functions=(
                    Function(
                        "depthwise_conv2d_3x3",
                        "arm_depthwise_conv_3x3_s8",
                        _takes_3x3,
                        (*_DEPTHWISE_SIZES, "ConvolutionFunctions/arm_depthwise_conv_3x3_s8.c"),
                    ),
                    Function(
                        "depthwise_conv2d_opt",
                        "arm_depthwise_conv_s8_opt",
                        _takes_opt,
                        (
                            *_DEPTHWISE_SIZES,
                            "ConvolutionFunctions/arm_depthwise_conv_s8.c",
                            "ConvolutionFunctions/arm_depthwise_conv_s8_opt.c",
                            "NNSupportFunctions/arm_nn_depthwise_conv_nt_t_s8.c",
                            "NNSupportFunctions/arm_q7_to_q15_with_offset.c",
                        ),
                    ),
                ),
                reads_past={Isa.MVE: ReadsPast(filter=3, parameters=12)},
            ),
        )

    def why_not(self, node: Node) -> str:
        channels, multiplier = node.inputs[0].shape[1], depthwise_conv2d.channel_multiplier(node)
        if rules.becomes_convolution(channels):
            return f"{node.name}: one input channel; build a conv2d instead"
        called_as = cmsis_nn_geometry.depthwise(Geometry.plain(node), multiplier)
        if not cmsis_nn_geometry.depthwise_fits(called_as, channels, multiplier):
            return f"{node.name}: CMSIS-NN has no kernel for {called_as}; build a conv2d instead"
        return ""

    def legal(self, node: Node) -> Node:
        return _called_as(
            node, cmsis_nn_geometry.depthwise(Geometry.plain(node), depthwise_conv2d.channel_multiplier(node))
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        geometry = Geometry.of(node)
        dims = depthwise_conv2d.call_dims(node, geometry)
        multiplier = depthwise_conv2d.channel_multiplier(node)
        return _workspace("depthwise_conv_wrapper_buffer_size", node, target, geometry, dims, ch_mult=multiplier)


class DepthwiseConv2dInt4(Implementation):
    """Not by arm_depthwise_conv_wrapper_s4: its other functions are for DSP and MVE, with which `UnpackedWithDsp` is
    preferred."""

    def __init__(self) -> None:
        super().__init__(
            "depthwise_conv2d",
            Symbol(depthwise_conv2d.INT4, "arm_depthwise_conv_s4", ("ConvolutionFunctions/arm_depthwise_conv_s4.c",)),
        )

    def why_not(self, node: Node) -> str:
        channels = node.inputs[0].shape[1]
        if channels % 2:
            return f"{node.name}: arm_depthwise_conv_s4 takes wrong weights at the border of {channels} channels"
        return _DEPTHWISE.why_not(node)

    def legal(self, node: Node) -> Node:
        return _DEPTHWISE.legal(node)

    def workspace(self, node: Node, target: Target) -> Workspace:
        return Workspace(0)


class Unpacked(DepthwiseConv2d):
    """Weights of 4 bits stored in 8."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "depthwise_conv2d_of_int4"

    def takes(self, node: Node) -> bool:
        return mismatch(depthwise_conv2d.INT4, node) is None

    def legal(self, node: Node) -> Node:
        return super().legal(in_int8(node))


class UnpackedWithDsp(Unpacked):
    """For the functions with DSP and MVE nothing has to be unpacked. That is worth more than half a byte for each tap
    of a channel, which has 12 bytes for its bias and scale besides."""

    isas = frozenset({Isa.DSP, Isa.MVE})


_DEPTHWISE = DepthwiseConv2d()


class TransposeConv2d(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "transpose_conv2d",
            Symbol(
                transpose_conv2d.KERNEL,
                "arm_transpose_conv_s8",
                (
                    "ConvolutionFunctions/arm_transpose_conv_s8.c",
                    "NNSupportFunctions/arm_nn_transpose_conv_row_s8_s32.c",
                ),
            ),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        _, _, width, _ = storage.nhwc(node.inputs[0])
        channels, taps = node.inputs[1].shape[0], node.inputs[1].shape[3]
        rows = transpose_conv2d.filter_rows(node)
        return Workspace(rules.transpose_conv_scratch(width, rows, taps, node.attrs.stride[1], channels))


def _called_as(node: Node, geometry: Geometry) -> Node:
    """Returns `node` with the equivalent `geometry` for its kernel."""
    if geometry == Geometry.plain(node):
        return node
    legal = copy_of(node)
    legal.attrs = replace(node.attrs, called_as=geometry)
    return legal


def int16_workspace(node: Node, target: Target, geometry: Geometry, dims: CallDims) -> Workspace:
    """Returns what arm_convolve_s16 needs."""
    return _workspace("convolve_wrapper_buffer_size", node, target, geometry, dims, data_type="A16W8")


def _workspace(function: str, node: Node, target: Target, geometry: Geometry, dims: CallDims, **more: Any) -> Workspace:
    """Returns the result of size function `function` (see `scratch.query`); `more` are further arguments."""
    lo, hi = node.attrs.clamp.quantized(node.output.type)
    return Workspace(
        scratch.query(
            function,
            target,
            input_nhwc=dims.input,
            filter_nhwc=dims.filter,
            output_nhwc=dims.output,
            padding_hw=geometry.padding,
            stride_hw=geometry.stride,
            dilation_hw=geometry.dilation,
            input_offset=-node.inputs[0].zero_point,
            output_offset=node.output.zero_point,
            activation_min=lo,
            activation_max=hi,
            **more,
        )
    )
