"""The arguments of the kernels of convolutions, which are alike for CMSIS-NN's wrappers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from ..format import blocks
from ..format.record import I4, I8, I16, Field, Struct
from ..graph.ir import Node, Value
from . import block_values
from .attrs import ConvAttrs
from .geometry import Geometry

CONV_PARAMS = Struct(
    "ConvParams",
    "= cmsis_nn_conv_params",
    (
        blocks.input_offset(),
        blocks.output_offset(),
        Field("stride", blocks.TILE, ">= 1"),
        Field("padding", blocks.TILE, "top and left, >= 0; bottom and right follow from output_dims"),
        Field("dilation", blocks.TILE, ">= 1"),
        Field("activation", blocks.ACTIVATION),
    ),
)
PACKED_CONV_PARAMS = Struct(
    "PackedConvParams",
    "ConvParams in 16 bits.",
    (
        blocks.input_offset(type=I16),
        blocks.output_offset(type=I16),
        Field("stride", blocks.PACKED_TILE, ">= 1"),
        Field("padding", blocks.PACKED_TILE, "top and left; bottom and right follow from output_dims"),
        Field("dilation", blocks.PACKED_TILE, ">= 1"),
        Field("activation", blocks.PACKED_ACTIVATION),
    ),
)
CONV_INT16_PARAMS = Struct(
    "ConvInt16Params",
    "ConvParams of int16, whose zero points are 0.",
    (*CONV_PARAMS.fields[2:5], Field("activation", blocks.ACTIVATION_INT16)),
)
PACKED_CONV_INT16_PARAMS = Struct(
    "PackedConvInt16Params",
    "ConvInt16Params in 16 bits.",
    (*PACKED_CONV_PARAMS.fields[2:5], Field("activation", blocks.PACKED_ACTIVATION_INT16)),
)
# Of convolutions with groups, also transposed ones.
OPERANDS = (
    blocks.input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
    blocks.filter("filter_dims", doc="int8 [n = out channels, h, w, c = input channels / groups]"),
    blocks.bias("output_dims.c", doc="int32 [out channels]"),
    blocks.multipliers("output_dims.c", doc="int32 [out channels], Q31, >= 0"),
    blocks.shifts("output_dims.c", doc="int32 [out channels], left if positive, [-31, 30]"),
)
_FILTER_INT4 = blocks.filter("filter_dims", doc="int4 [n = out channels, h, w, c = input channels]", element=I4)
OPERANDS_INT4 = (OPERANDS[0], _FILTER_INT4, *OPERANDS[2:])
OUTPUT = blocks.output(I8, "output_dims", doc="int8 [n, h, w, c]")
OUTPUT_INT16 = blocks.output(I16, "output_dims", doc="int16 [n, h, w, c]")
OPERANDS_INT16 = (blocks.input("input", I16, "input_dims", doc="int16 [n, h, w, c]"), *OPERANDS[1:])
OPERANDS_INT4_INT16 = (OPERANDS_INT16[0], *OPERANDS_INT4[1:])
_DIMS = (
    Field("input_dims", blocks.DIMS),
    Field("filter_dims", blocks.DIMS),
    Field("output_dims", blocks.DIMS),
)
SIZES = (Field("params", CONV_PARAMS), *_DIMS)
SIZES_INT16 = (Field("params", CONV_INT16_PARAMS), *_DIMS)
PACKED_SIZES = (
    Field("params", PACKED_CONV_PARAMS),
    Field("input_dims", blocks.PACKED_DIMS),
    Field("filter_dims", blocks.PACKED_DIMS),
    Field("output_dims", blocks.PACKED_DIMS),
)
PACKED_SIZES_INT16 = (Field("params", PACKED_CONV_INT16_PARAMS), *PACKED_SIZES[1:])
# Of a number in the packed fields.
MAX_PACKED = 65535


class CallDims(NamedTuple):
    """NHWC, as the wrappers see them."""

    input: tuple[int, int, int, int]
    filter: tuple[int, int, int, int]
    output: tuple[int, int, int, int]


def output_shape(inputs: Sequence[Value], attrs: ConvAttrs) -> tuple[int, ...]:
    """[n, out channels, h, w] with as many windows as fit the padded image."""
    n, _, *size = inputs[0].shape
    channels, _, *kernel = inputs[1].shape
    padding = attrs.padding
    padded = size[0] + padding.top + padding.bottom, size[1] + padding.left + padding.right
    windows = ((i - (k - 1) * d - 1) // s + 1 for i, k, d, s in zip(padded, kernel, attrs.dilation, attrs.stride))
    return (n, channels, *windows)


def fits_packed(geometry: Geometry, dims: CallDims) -> bool:
    """Returns whether PACKED_SIZES can hold `dims`, and the strides, padding and dilation of `geometry`."""
    sizes = (*geometry.stride, *geometry.padding, *geometry.dilation, *dims.input, *dims.filter, *dims.output)
    return max(sizes) <= MAX_PACKED


def encode(
    node: Node,
    refs: Mapping[str, int],
    scratch_bytes: Optional[int],
    geometry: Geometry,
    dims: CallDims,
    **params: int,
) -> Mapping[str, Any]:
    """Returns the fields of the argument block; `params` are further members of its parameter struct. `scratch_bytes`
    is None for a kernel without scratch memory."""
    offsets = {"input_offset": -node.inputs[0].zero_point, "output_offset": node.output.zero_point}
    return {
        **refs,
        **({} if scratch_bytes is None else {"scratch_bytes": scratch_bytes}),
        "params": {
            **({} if node.output.element.is_symmetric else offsets),
            "stride": block_values.tile(*geometry.stride),
            "padding": block_values.tile(*geometry.padding),
            "dilation": block_values.tile(*geometry.dilation),
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **params,
        },
        "input_dims": block_values.dims(*dims.input),
        "filter_dims": block_values.dims(*dims.filter),
        "output_dims": block_values.dims(*dims.output),
    }
