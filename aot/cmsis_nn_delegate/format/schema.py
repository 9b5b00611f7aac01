"""The payload format, version 7: its header, tensors and references.

A payload is little-endian, position-independent and used in place. It starts
16-byte aligned, and so does each of its sections:

    Header, revisions | input tensors, output tensors | calls | constants

The revisions are those of the providers that calls were compiled for, a U32 each in the order of the providers'
numbers. `header_bytes` counts them, so that it says where the tensors start.

A *call* is a `CallHeader` followed by the argument block of its opcode. The operators (`ops`) declare these blocks
from the parts in `blocks`. Those of pooling and products contain the parameter structs of CMSIS-NN member by member, so
that a kernel can pass them on without copying. Those of convolutions have the same numbers in 16 bits, in half of the
flash, and a kernel that calls CMSIS-NN widens them on its stack; `conv2d_large` is for larger numbers. CMSIS-NN's
functions for linear layers take numbers instead; their blocks have these numbers in the order of the parameters. Calls
name data by a *reference*, see `make_ref`. A call's output and scratch memory lie apart from everything that it reads,
except that an output may be an input if the kernel allows it. Inputs and outputs of the graph count as lying where
their `arena_offset` puts them.

A payload for several memories has *regions* beside the arena, numbered from 1 (the arena is number 0). The size of
each, a U32, follows the last tensor, and the references to it have a base of their own, see `region_base`.

The first `copied_bytes` of the constants are *copied constants*: init() copies them to memory of their own, behind the
persistent memory, and calls that use the copies refer to these with another base than the payload's, see `copies_base`.

Kernels of some instruction sets load more bytes than they use. Every constant is therefore followed by as many bytes
as the kernel's `ReadsPast` says, inside the constants section. No kernel reads past the end of activations, scratch
memory or the caller's tensors.

The generators of aot/codegen write runtime/payload/format.h and the checks that init() makes of calls from these
declarations and those of the operators; nothing else states an offset, a size, an opcode or a range.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from .element import Element
from .record import F32, I32, U8, U16, U32, Field, Struct

MAGIC = 0x444E4E43  # "CNND"
FORMAT_VERSION = 7
ALIGNMENT = 16  # of a payload, its sections, every constant and every arena offset


class ProviderId(enum.IntEnum):
    """The provider whose kernel a call was compiled for (`cmsis_nn_delegate.providers`). Numbers keep their meaning."""

    PORTABLE = 0
    CMSIS_NN = 1
    TUNED = 2


MAX_PROVIDERS = 8  # bits of a byte

# The revision that the constants and scratch sizes of a provider's calls follow: kernel sums, bias, layout of weights.
# It is part of the ABI and changes when a kernel needs other constants than before. CMSIS-NN's is that of a commit.
CMSIS_NN_COMMIT = "dbf45dbfcc515421dd6099037d3e2637b90748c8"
CMSIS_NN_REVISION = int(CMSIS_NN_COMMIT[:8], 16)
PORTABLE_REVISION = 1
TUNED_REVISION = 7
REVISIONS = {
    ProviderId.PORTABLE: PORTABLE_REVISION,
    ProviderId.CMSIS_NN: CMSIS_NN_REVISION,
    ProviderId.TUNED: TUNED_REVISION,
}


class Isa(enum.IntEnum):
    """The instruction set that scratch sizes and kernels were chosen for."""

    SCALAR = 0  # Armv6-M, Armv7-M: plain C kernels
    DSP = 1  # Armv7E-M, Armv8-M with the DSP extension
    MVE = 2  # Armv8.1-M with Helium


_IO = sorted((number, e.name) for e in Element if e.at_border and (number := e.scalar_type) is not None)
# mypy takes literals alone for the members of an enumeration.
DType = enum.IntEnum("DType", {name: number for number, name in _IO})  # type: ignore[misc]
DType.__doc__ = "Element types; the values are ExecuTorch's ScalarType codes."


MAX_RANK = 6
MAX_DIM = 2**28 - 1  # of an activation or a filter, in elements: as many as a reference reaches
MAX_STEP = 2**26 - 1  # of a stride, a dilation or padding: positions that they lead to fit MAX_DIM
MAX_RESIZED = 32767  # height and width of images that are resampled: kernels multiply two of them
MAX_PRODUCTS = 32767  # of two activations in a sum of 32 bits
MIN_SHIFT = -31  # of a multiplier, to the left if positive; a lower one would leave no bit of an int32
MAX_SHIFT = 30
MAX_SOFTMAX_DIFFERENCE = 31 << 26  # of a row's elements to its maximum, in Q5.26

# References -----------------------------------------------------------------

REF_OFFSET_BITS = 28
BASE_ARENA = 0
BASE_CONSTANT = 1  # offsets are relative to the start of the payload
BASE_IO = 2  # + index: inputs, outputs, the persistent memory and the copied constants if there are any, the regions
BASE_NONE = 15  # resolves to a null pointer
MAX_IO = BASE_NONE - BASE_IO
BASE_COUNT = 16
MAX_REF_OFFSET = (1 << REF_OFFSET_BITS) - 1


def make_ref(base: int, offset: int = 0) -> int:
    """Returns a location: 4 bits of base, 28 bits of byte offset from that base."""
    if not 0 <= base < BASE_COUNT:
        raise ValueError(f"base {base} is not in [0, {BASE_COUNT})")
    if not 0 <= offset <= MAX_REF_OFFSET:
        raise ValueError(f"offset {offset} does not fit {REF_OFFSET_BITS} bits")
    return base << REF_OFFSET_BITS | offset


NO_REF = make_ref(BASE_NONE)


def copies_base(io_count: int, persistent_bytes: int) -> int:
    """Returns the base of references to copied constants, whose offsets are relative to the first of them."""
    return BASE_IO + io_count + bool(persistent_bytes)


def region_base(region: int, io_count: int, persistent_bytes: int, copied_bytes: int) -> int:
    """Returns the base of references to `region`: 0 is the arena."""
    return copies_base(io_count, persistent_bytes) + bool(copied_bytes) + region - 1 if region else BASE_ARENA


def split_ref(ref: int) -> tuple[int, int]:
    """Returns (base, offset) of a reference."""
    return ref >> REF_OFFSET_BITS, ref & MAX_REF_OFFSET


# Header and tensors ---------------------------------------------------------

HEADER = Struct(
    "Header",
    "The first bytes of a payload, before a revision for each bit of providers, and its tensors: input_count + "
    "output_count records IoTensor, then region_count sizes of regions. Offsets are relative to the start of the "
    "payload.",
    (
        Field("magic", U32, "kMagic"),
        Field("format_version", U8, "kFormatVersion; init() refuses any other"),
        Field("providers", U8, "1 << ProviderId of each that a call was compiled for; their revisions follow"),
        Field("header_bytes", U16, "sizeof(Header) and 4 for each revision"),
        Field("isa", U8, "the Isa that scratch sizes were computed for"),
        Field("input_count", U8, "inputs + outputs <= kMaxIo"),
        Field("output_count", U8),
        Field("region_count", U8, "regions beside the arena, whose sizes follow the last IoTensor"),
        Field("payload_bytes", U32, "size of the whole payload, a multiple of 16"),
        Field("crc32", U32, "CRC-32 (IEEE 802.3) of the payload with this field as 0"),
        Field("arena_bytes", U32, "activations and scratch, a multiple of 16; may be 0"),
        Field("persistent_bytes", U32, "zeros at init(), kept between executions; a multiple of 16, may be 0"),
        Field(
            "copied_bytes", U32, "of constants that init() copies, from constants_offset on; a multiple of 16, may be 0"
        ),
        Field("calls_offset", U32, "the calls, back to back"),
        Field("calls_bytes", U32, "a multiple of 4"),
        Field("call_count", U32),
        Field("constants_offset", U32),
        Field("constants_bytes", U32, "including what kernels load past the end of the last constant"),
    ),
)

NO_ARENA_OFFSET = 0xFFFFFFFF

STATE_OFFSET = 16  # of the persistent memory, relative to the delegate's handle, which precedes it

IO_TENSOR = Struct(
    "IoTensor",
    "An input or output of the delegated graph, as the caller must provide it.",
    (
        Field("nbytes", U32, "size of its data"),
        Field("arena_offset", U32, "where in the arena the caller may keep it, or kNoArenaOffset"),
        Field("dtype", U8, "DType"),
        Field("rank", U8, "<= kMaxRank"),
        Field("dim_order", U8, "dimensions from outermost to innermost; 0 after rank", count=MAX_RANK),
        Field("sizes", I32, "in logical order; 0 after rank", count=MAX_RANK),
        Field("scale", F32, "real = scale * (q - zero_point); 0 for float tensors"),
        Field("zero_point", I32),
    ),
)

# Calls ----------------------------------------------------------------------

CALL_HEADER = Struct(
    "CallHeader",
    "Precedes the argument block of each call.",
    (
        Field("opcode", U8, "Opcode"),
        Field("provider", U8, "1 << the ProviderId that the call was compiled for"),
        Field("bytes", U16, "size of this header and the argument block, a multiple of 4"),
    ),
)


class ReadsPast(NamedTuple):
    """Bytes that a kernel may load past the end of its filter, and past the end of its bias, multipliers and
    shifts. It does not use them."""

    filter: int = 0
    parameters: int = 0

    def of(self, field: str) -> int:
        """Returns the bytes for the constant that `field` of the argument block names."""
        return self.filter if field == "filter" else self.parameters
