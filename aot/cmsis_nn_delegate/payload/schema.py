"""The payload format, version 3: the one source of its layout.

`cpp_header` generates runtime/payload/format.h from this module, `operator_checks` the checks of calls that init()
makes, `operator_fields` a table for tests; nothing else states an offset, a size, an opcode or a range.

A payload is little-endian, position-independent and used in place. It starts
16-byte aligned, and so does each of its sections:

    Header | input tensors, output tensors | calls | constants

A *call* is a `CallHeader` followed by the argument block of its opcode. Argument
blocks hold the parameter structs of CMSIS-NN member by member, so that a kernel
can hand them on without copying; linear layers, whose functions in CMSIS-NN take
numbers, have these in the order of the parameters. Data is named by a *reference*, see `make_ref`.
What a call writes, its output and scratch memory, lies apart from what it reads, but for outputs that
may be an input: ADD's. Inputs and outputs of the graph count as where their `arena_offset` puts them.

Kernels of some instruction sets load more than they use: as many bytes as `READS_BEHIND` says follow
every constant inside of the constants section. Nothing is read behind activations, scratch memory and
the caller's tensors.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from .layout import F32, I8, I32, REF, U8, U16, U32, Field, Operand, Role, Scalar, Struct

MAGIC = 0x444E4E43  # "CNND"
FORMAT_VERSION = 3
ALIGNMENT = 16  # of a payload, its sections, every constant and every arena offset

# The first 32 bits of the CMSIS-NN commit whose conventions (kernel sums, bias,
# weight layouts, scratch sizes) a payload follows. The revision is ABI.
CMSIS_NN_COMMIT = "dbf45dbfcc515421dd6099037d3e2637b90748c8"
KERNEL_REVISION = int(CMSIS_NN_COMMIT[:8], 16)


class Isa(enum.IntEnum):
    """The instruction set that scratch sizes and kernels were chosen for."""

    SCALAR = 0  # Armv6-M, Armv7-M: plain C kernels
    DSP = 1  # Armv7E-M, Armv8-M with the DSP extension
    MVE = 2  # Armv8.1-M with Helium


class DType(enum.IntEnum):
    """Element types; the values are ExecuTorch's ScalarType codes."""

    INT8 = 1
    FLOAT32 = 6


MAX_RANK = 6
MAX_DIM = 32767  # of an activation or a filter: CMSIS-NN keeps dims in 16 bits
MIN_SHIFT = -31  # of a multiplier, to the left if positive: no more leaves a bit of an int32
MAX_SHIFT = 30
MAX_SOFTMAX_DIFFERENCE = 31 << 26  # of a row's elements to its maximum, in Q5.26

# References -----------------------------------------------------------------

REF_OFFSET_BITS = 28
BASE_ARENA = 0
BASE_CONSTANT = 1  # offsets count from the start of the payload
BASE_IO = 2  # + index: inputs first, then outputs
BASE_NONE = 15  # resolves to a null pointer
MAX_IO = BASE_NONE - BASE_IO
BASE_COUNT = 16
MAX_REF_OFFSET = (1 << REF_OFFSET_BITS) - 1


def make_ref(base: int, offset: int = 0) -> int:
    """A location: 4 bits of base, 28 bits of byte offset from that base."""
    if not 0 <= base < BASE_COUNT:
        raise ValueError(f"base {base} is not in [0, {BASE_COUNT})")
    if not 0 <= offset <= MAX_REF_OFFSET:
        raise ValueError(f"offset {offset} does not fit {REF_OFFSET_BITS} bits")
    return base << REF_OFFSET_BITS | offset


NO_REF = make_ref(BASE_NONE)


def split_ref(ref: int) -> tuple[int, int]:
    """(base, offset) of a reference."""
    return ref >> REF_OFFSET_BITS, ref & MAX_REF_OFFSET


# Header and tensors ---------------------------------------------------------

HEADER = Struct(
    "Header",
    "The first bytes of a payload. Offsets count from its start.",
    (
        Field("magic", U32, "kMagic"),
        Field("format_version", U16, "kFormatVersion; another one is refused"),
        Field("header_bytes", U16, "sizeof(Header)"),
        Field("kernel_revision", U32, "kKernelRevision; another one is refused"),
        Field("isa", U8, "Isa that scratch sizes were computed for"),
        Field("input_count", U8, "inputs + outputs <= kMaxIo"),
        Field("output_count", U8),
        Field("reserved0", U8, "0"),
        Field("payload_bytes", U32, "size of the whole payload, a multiple of 16"),
        Field("crc32", U32, "CRC-32 (IEEE 802.3) of the payload with this field as 0"),
        Field("arena_bytes", U32, "activations and scratch, a multiple of 16; may be 0"),
        Field("persistent_bytes", U32, "state kept between executions; 0 in this version"),
        Field("tensors_offset", U32, "input_count + output_count records IoTensor"),
        Field("calls_offset", U32, "the calls, back to back"),
        Field("calls_bytes", U32, "a multiple of 4"),
        Field("call_count", U32),
        Field("constants_offset", U32),
        Field("constants_bytes", U32, "with what kernels load behind the last one"),
        Field("reserved", U32, "0", count=2),
    ),
)

NO_ARENA_OFFSET = 0xFFFFFFFF

IO_TENSOR = Struct(
    "IoTensor",
    "An input or output of the delegated graph, as the caller must provide it.",
    (
        Field("nbytes", U32, "size of its data"),
        Field("arena_offset", U32, "where in the arena the caller may keep it, or kNoArenaOffset"),
        Field("dtype", U8, "DType"),
        Field("rank", U8, "<= kMaxRank"),
        Field("dim_order", U8, "dimensions from outermost to innermost; 0 behind rank", count=MAX_RANK),
        Field("sizes", I32, "in logical order; 0 behind rank", count=MAX_RANK),
        Field("scale", F32, "real = scale * (q - zero_point); 0 for float tensors"),
        Field("zero_point", I32),
    ),
)

# Fields of argument blocks -------------------------------------------------------


def _operand(role: Role, name: str, element: Scalar, shape: tuple[str, ...], doc: str) -> Field:
    return Field(name, REF, doc, operand=Operand(role, element, shape))


def _input(name: str, element: Scalar, *shape: str, doc: str) -> Field:
    return _operand(Role.INPUT, name, element, shape, doc)


def _output(element: Scalar, *shape: str, doc: str) -> Field:
    return _operand(Role.OUTPUT, "output", element, shape, doc)


def _filter(*shape: str, doc: str) -> Field:
    return _operand(Role.FILTER, "filter", I8, shape, doc)


def _bias(channels: str, doc: str) -> Field:
    return _operand(Role.BIAS, "bias", I32, (channels,), doc)


def _multipliers(channels: str, doc: str) -> Field:
    return _operand(Role.MULTIPLIER, "multiplier", I32, (channels,), doc)


def _shifts(channels: str, doc: str) -> Field:
    return _operand(Role.SHIFT, "shift", I32, (channels,), doc)


def _scratch() -> Field:
    return _operand(Role.SCRATCH, "scratch", I8, ("scratch_bytes",), "16-byte aligned, or none")


def _input_offset(name: str = "input_offset") -> Field:
    return Field(name, I32, "-zero_point of the input", low=-127, high=128)


def _output_offset() -> Field:
    return Field("output_offset", I32, "zero_point of the output", low=-128, high=127)


def _zero_point() -> Field:
    return Field("zero_point", I32, low=-128, high=127)


def _multiplier(name: str, doc: str = "Q31") -> Field:
    return Field(name, I32, doc, low=0, high=2**31 - 1)


def _shift(name: str, low: int = MIN_SHIFT, high: int = MAX_SHIFT) -> Field:
    return Field(name, I32, "left if positive", low=low, high=high)


# Parameter blocks, member by member those of CMSIS-NN's arm_nn_types.h -------

TILE = Struct("Tile", "= cmsis_nn_tile", (Field("w", I32), Field("h", I32)))

DIMS = Struct(
    "Dims",
    "= cmsis_nn_dims",
    (Field("n", I32), Field("h", I32), Field("w", I32), Field("c", I32)),
)

ACTIVATION = Struct(
    "Activation",
    "= cmsis_nn_activation",
    (
        Field("min", I32, "at most max", low=-128, high=127),
        Field("max", I32, low=-128, high=127),
    ),
    values="activation",
)

CONV_PARAMS = Struct(
    "ConvParams",
    "= cmsis_nn_conv_params",
    (
        _input_offset(),
        _output_offset(),
        Field("stride", TILE, ">= 1"),
        Field("padding", TILE, "top and left, >= 0; bottom and right follow from output_dims"),
        Field("dilation", TILE, ">= 1"),
        Field("activation", ACTIVATION),
    ),
)

DW_CONV_PARAMS = Struct(
    "DwConvParams",
    "= cmsis_nn_dw_conv_params",
    (
        _input_offset(),
        _output_offset(),
        Field("ch_mult", I32, "output channels = ch_mult * input channels"),
        Field("stride", TILE, ">= 1"),
        Field("padding", TILE, "top and left, >= 0; bottom and right follow from output_dims"),
        Field("dilation", TILE, ">= 1"),
        Field("activation", ACTIVATION),
    ),
)

POOL_PARAMS = Struct(
    "PoolParams",
    "= cmsis_nn_pool_params",
    (
        Field("stride", TILE, ">= 1"),
        Field("padding", TILE, "top and left, in [0, kernel)"),
        Field("activation", ACTIVATION),
    ),
)

# Calls ----------------------------------------------------------------------


class Opcode(enum.IntEnum):
    """Kernels. 0 is never valid; the order is ABI."""

    CONV2D = 1
    DEPTHWISE_CONV2D = 2
    FULLY_CONNECTED = 3
    ADD = 4
    AVG_POOL2D = 5
    MAX_POOL2D = 6
    SOFTMAX = 7
    QUANTIZE = 8
    DEQUANTIZE = 9
    TRANSPOSE = 10
    FULLY_CONNECTED_PER_TENSOR = 11


CALL_HEADER = Struct(
    "CallHeader",
    "Precedes the argument block of each call.",
    (
        Field("opcode", U16, "Opcode"),
        Field("bytes", U16, "of this header and the argument block, a multiple of 4"),
    ),
)

CONV2D = Struct(
    "Conv2dArgs",
    "int8 convolution, NHWC; groups = input_dims.c / filter_dims.c. "
    "acc = bias + sum(filter * (input + input_offset)), requantized per output channel.",
    (
        _input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
        _filter("filter_dims", doc="int8 [n = out channels, h, w, c = input channels / groups]"),
        _bias("output_dims.c", doc="int32 [out channels]"),
        _multipliers("output_dims.c", doc="int32 [out channels], Q31, >= 0"),
        _shifts("output_dims.c", doc="int32 [out channels], left if positive, [-31, 30]"),
        _scratch(),
        _output(I8, "output_dims", doc="int8 [n, h, w, c]"),
        Field("scratch_bytes", I32),
        Field("params", CONV_PARAMS),
        Field("input_dims", DIMS),
        Field("filter_dims", DIMS),
        Field("output_dims", DIMS),
    ),
    geometry="convolution",
)

DEPTHWISE_CONV2D = Struct(
    "DepthwiseConv2dArgs",
    "int8 depthwise convolution, NHWC; output channel o reads input channel o / ch_mult.",
    (
        _input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
        _filter("filter_dims", doc="int8 [1, h, w, c = out channels]"),
        _bias("output_dims.c", doc="int32 [out channels]"),
        _multipliers("output_dims.c", doc="int32 [out channels], Q31, >= 0"),
        _shifts("output_dims.c", doc="int32 [out channels], left if positive, [-31, 30]"),
        _scratch(),
        _output(I8, "output_dims", doc="int8 [n, h, w, c]"),
        Field("scratch_bytes", I32),
        Field("params", DW_CONV_PARAMS),
        Field("input_dims", DIMS),
        Field("filter_dims", DIMS),
        Field("output_dims", DIMS),
    ),
    geometry="depthwise_convolution",
)

FULLY_CONNECTED = Struct(
    "FullyConnectedArgs",
    "int8 linear layer with a multiplier per output. acc = bias + filter @ input: the bias already "
    "contains -zero_point of the input * sum(filter row), on every ISA, so that no kernel needs an "
    "input offset, or kernel sums at run time on MVE.",
    (
        _input("input", I8, "batch", "inputs", doc="int8 [batch, in]"),
        _filter("inputs", "outputs", doc="int8 [out, in]"),
        _bias("outputs", doc="int32 [out], effective bias"),
        _multipliers("outputs", doc="int32 [out], Q31, >= 0"),
        _shifts("outputs", doc="int32 [out], left if positive, [-31, 30]"),
        _output(I8, "batch", "outputs", doc="int8 [batch, out]"),
        Field("batch", I32, "at least 1"),
        _output_offset(),
        Field("inputs", I32, "in, at least 1"),
        Field("outputs", I32, "out, at least 1"),
        Field("activation", ACTIVATION),
    ),
)

FULLY_CONNECTED_PER_TENSOR = Struct(
    "FullyConnectedPerTensorArgs",
    "FullyConnectedArgs with one multiplier for all outputs, which makes a faster kernel.",
    (
        _input("input", I8, "batch", "inputs", doc="int8 [batch, in]"),
        _filter("inputs", "outputs", doc="int8 [out, in]"),
        _bias("outputs", doc="int32 [out], effective bias"),
        _output(I8, "batch", "outputs", doc="int8 [batch, out]"),
        Field("batch", I32, "at least 1"),
        _output_offset(),
        _multiplier("multiplier"),
        _shift("shift"),
        Field("inputs", I32, "in, at least 1"),
        Field("outputs", I32, "out, at least 1"),
        Field("activation", ACTIVATION),
    ),
)

ADD = Struct(
    "AddArgs",
    "int8 elementwise sum of two tensors of one shape. The output may be one of the inputs.",
    (
        _input("input1", I8, "count", doc="int8 [count]"),
        _input("input2", I8, "count", doc="int8 [count]"),
        _output(I8, "count", doc="int8 [count]"),
        _input_offset("input1_offset"),
        _multiplier("input1_multiplier"),
        _shift("input1_shift", high=0),
        _input_offset("input2_offset"),
        _multiplier("input2_multiplier"),
        _shift("input2_shift", high=0),
        Field("left_shift", I32, low=20, high=20),
        _output_offset(),
        _multiplier("output_multiplier"),
        _shift("output_shift", high=0),
        Field("activation", ACTIVATION),
        Field("count", I32, "elements"),
    ),
)

AVG_POOL2D = Struct(
    "AvgPool2dArgs",
    "int8 average pooling, NHWC; padding does not count; input and output share scale and zero point.",
    (
        _input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
        _scratch(),
        _output(I8, "output_dims", doc="int8 [n, h, w, c]"),
        Field("scratch_bytes", I32),
        Field("params", POOL_PARAMS),
        Field("input_dims", DIMS),
        Field("filter_dims", DIMS, "h, w of the window; n = c = 1"),
        Field("output_dims", DIMS),
    ),
    geometry="pooling",
)

MAX_POOL2D = Struct(
    "MaxPool2dArgs",
    "int8 maximum pooling, NHWC; padding does not count; input and output share scale and zero point.",
    (
        _input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
        _output(I8, "output_dims", doc="int8 [n, h, w, c]"),
        Field("params", POOL_PARAMS),
        Field("input_dims", DIMS),
        Field("filter_dims", DIMS, "h, w of the window; n = c = 1"),
        Field("output_dims", DIMS),
    ),
    geometry="pooling",
)

SOFTMAX = Struct(
    "SoftmaxArgs",
    "int8 softmax along rows; the output has scale 1/256 and zero point -128.",
    (
        _input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
        _output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
        Field("rows", I32),
        Field("row_size", I32),
        _multiplier("multiplier", "Q31 of the input scale"),
        _shift("shift", low=0),
        Field(
            "diff_min",
            I32,
            "smaller differences to the maximum contribute nothing; [-(kMaxSoftmaxDifference >> shift), 0]",
        ),
    ),
    values="softmax",
)

QUANTIZE = Struct(
    "QuantizeArgs",
    "float32 to int8: q = clamp(round_half_even(x * inverse_scale) + zero_point); NaN gives the "
    "zero point. [batch, channels, pixels] is transposed to [batch, pixels, channels] on the way; "
    "channels = 1 keeps the order.",
    (
        _input("input", F32, "batch", "channels", "pixels", doc="float32 [batch, channels, pixels], 4-byte aligned"),
        _output(I8, "batch", "channels", "pixels", doc="int8 [batch, pixels, channels]"),
        Field("batch", I32),
        Field("channels", I32),
        Field("pixels", I32),
        Field("inverse_scale", F32, "float32(1 / scale)"),
        _zero_point(),
    ),
)

DEQUANTIZE = Struct(
    "DequantizeArgs",
    "int8 to float32: x = (q - zero_point) * scale. [batch, pixels, channels] is transposed to "
    "[batch, channels, pixels] on the way; channels = 1 keeps the order.",
    (
        _input("input", I8, "batch", "channels", "pixels", doc="int8 [batch, pixels, channels]"),
        _output(F32, "batch", "channels", "pixels", doc="float32 [batch, channels, pixels], 4-byte aligned"),
        Field("batch", I32),
        Field("channels", I32),
        Field("pixels", I32),
        Field("scale", F32),
        _zero_point(),
    ),
)

TRANSPOSE = Struct(
    "TransposeArgs",
    "int8 [batch, rows, columns] to [batch, columns, rows]: NCHW to NHWC with rows = c and columns = h * w, "
    "the reverse with them exchanged, and a copy with rows = 1.",
    (
        _input("input", I8, "batch", "rows", "columns", doc="int8 [batch, rows, columns]"),
        _output(I8, "batch", "rows", "columns", doc="int8 [batch, columns, rows]"),
        Field("batch", I32),
        Field("rows", I32),
        Field("columns", I32),
    ),
)

ARGS = {
    Opcode.CONV2D: CONV2D,
    Opcode.DEPTHWISE_CONV2D: DEPTHWISE_CONV2D,
    Opcode.FULLY_CONNECTED: FULLY_CONNECTED,
    Opcode.ADD: ADD,
    Opcode.AVG_POOL2D: AVG_POOL2D,
    Opcode.MAX_POOL2D: MAX_POOL2D,
    Opcode.SOFTMAX: SOFTMAX,
    Opcode.QUANTIZE: QUANTIZE,
    Opcode.DEQUANTIZE: DEQUANTIZE,
    Opcode.TRANSPOSE: TRANSPOSE,
    Opcode.FULLY_CONNECTED_PER_TENSOR: FULLY_CONNECTED_PER_TENSOR,
}


class ReadsBehind(NamedTuple):
    """Bytes that a kernel may load, and does not use, behind its filter, and behind its bias,
    multipliers and shifts."""

    filter: int = 0
    parameters: int = 0

    def of(self, field: str) -> int:
        """For the constant that `field` of the argument block names."""
        return self.filter if field == "filter" else self.parameters


# Of the kernels of CMSIS-NN at this commit; those that are not here read nothing. Where they come from:
# runtime/kernels/cmsis_nn/README.md.
READS_BEHIND = {
    (Isa.MVE, Opcode.CONV2D): ReadsBehind(filter=16),
    (Isa.MVE, Opcode.DEPTHWISE_CONV2D): ReadsBehind(filter=3, parameters=12),
}


def reads_behind(isa: Isa, opcode: Opcode) -> ReadsBehind:
    """What the kernel for `opcode` may load behind its constants."""
    return READS_BEHIND.get((isa, opcode), ReadsBehind())


PARAMETER_BLOCKS = (TILE, DIMS, ACTIVATION, CONV_PARAMS, DW_CONV_PARAMS, POOL_PARAMS)
