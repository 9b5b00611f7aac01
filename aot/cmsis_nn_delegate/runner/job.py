"""Jobs for a firmware runner: a payload, or a whole ExecuTorch program, and input vectors in one blob.

The simulator loads the blob at the board's mailbox (symbol `__mailbox_start`) before the
image starts. One image therefore runs any payload made for its core. Layout, little-endian:

    JobHeader | payload | input set 0 | input set 1 | ... | layers | state

With the flag PROGRAM the payload is a .pte, for a runner with ExecuTorch's executor; without it, for
the standalone runner. The payload and every input start 16-byte aligned, counted from the start of the blob. An
input set holds the inputs in the payload's order. Layers are tensors that a profile image prints as soon as a call has
written them; other images ignore them. The state is what persistent memory has before the first input set, instead of
zeros; ExecuTorch's executor, which hands out no persistent memory, refuses it. `cpp_header` generates the C++ side.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from ..format import schema
from ..format.record import U32, Field, Struct

MAGIC = 0x4A4E4E43  # "CNNJ"
VERSION = 2
ALIGNMENT = 16


class JobFlag(enum.IntFlag):
    """What the runner does in addition to running."""

    NONE = 0
    VERIFY_CRC = 1  # check the payload's CRC-32 at init
    NULL_KERNELS = 2  # kernels that return at once: measures dispatch, outputs are undefined
    PRINT_OUTPUTS = 4  # print the outputs as hexadecimal, not only their CRC-32
    PROGRAM = 8  # the payload is a .pte
    RESET = 16  # states begin anew before each input set; of a PROGRAM
    PRINT_STATE = 32  # print persistent memory after the last input set; not of a PROGRAM


JOB_HEADER = Struct(
    "JobHeader",
    "The first bytes of a job. Offsets count from its start and are multiples of 16.",
    (
        Field("magic", U32, "kJobMagic"),
        Field("version", U32, "kJobVersion"),
        Field("flags", U32, "JobFlag"),
        Field("payload_offset", U32),
        Field("payload_bytes", U32),
        Field("inputs_offset", U32, "set_count sets of set_bytes, back to back"),
        Field("set_count", U32),
        Field("set_bytes", U32, "the inputs of one execution, each padded to 16 bytes"),
        Field("layers_offset", U32, "layer_count of JobLayer"),
        Field("layer_count", U32),
        Field("state_offset", U32),
        Field("state_bytes", U32, "0, or the payload's persistent_bytes"),
        Field("reserved", U32, "0", count=4),
    ),
)

JOB_LAYER = Struct(
    "JobLayer",
    "A tensor to print. References are those of payloads.",
    (
        Field("call", U32, "the number of the call that writes it"),
        Field("ref", U32),
        Field("nbytes", U32),
    ),
)


@dataclass(frozen=True)
class Layer:
    """A tensor that call number `call` writes: `ref` is a reference as in payloads."""

    call: int
    ref: int
    nbytes: int


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def _input_sizes(payload: bytes) -> list[int]:
    """Returns the sizes of the inputs of `payload` in bytes."""
    if len(payload) < schema.HEADER.size:
        raise ValueError(f"a payload of {len(payload)} bytes is shorter than its header")
    header = schema.HEADER.unpack(payload)
    end = header["header_bytes"] + header["input_count"] * schema.IO_TENSOR.size
    if header["magic"] != schema.MAGIC or end > len(payload):
        raise ValueError("not a payload of cmsis_nn_delegate, or a truncated one")
    return [
        schema.IO_TENSOR.unpack(payload, header["header_bytes"] + i * schema.IO_TENSOR.size)["nbytes"]
        for i in range(header["input_count"])
    ]


def build_job(
    payload: bytes,
    input_sets: Sequence[Sequence[bytes]],
    flags: JobFlag = JobFlag.NONE,
    layers: Sequence[Layer] = (),
    state: bytes = b"",
) -> bytes:
    """Returns the blob that runs `payload` once per element of `input_sets`, and prints `layers` each time. `state` is
    its persistent memory before; without it that begins anew.

    An input set has the raw bytes of each input, in order. ValueError if their number or sizes
    are not those of the payload's inputs.
    """
    sizes = _input_sizes(payload)
    for index, inputs in enumerate(input_sets):
        given = [len(data) for data in inputs]
        if given != sizes:
            raise ValueError(f"input set {index} has inputs of {given} bytes, the payload takes {sizes}")
    sets = [b"".join(_pad(bytes(data)) for data in inputs) for inputs in input_sets]
    return pack_job(payload, sets, flags, layers, state)


def build_program_job(
    pte: bytes,
    input_sets: Sequence[Sequence[bytes]],
    flags: JobFlag = JobFlag.NONE,
) -> bytes:
    """Returns the blob that runs the method `forward` of `pte` once per element of `input_sets`.

    The runner checks the sizes of the inputs; this function does not.
    """
    sets = [b"".join(_pad(bytes(data)) for data in inputs) for inputs in input_sets]
    return pack_job(pte, sets, flags | JobFlag.PROGRAM)


def payload_range(job: bytes) -> tuple[int, int]:
    """Returns where the payload of a job begins, and the offset after it."""
    header = JOB_HEADER.unpack(job)
    return header["payload_offset"], header["payload_offset"] + header["payload_bytes"]


def pack_job(
    payload: bytes,
    sets: Sequence[bytes],
    flags: JobFlag = JobFlag.NONE,
    layers: Sequence[Layer] = (),
    state: bytes = b"",
) -> bytes:
    """Like `build_job`, without reading the payload, because tests run damaged ones. The input
    sets are already laid out, and all have the same size, a multiple of 16.
    """
    set_bytes = len(sets[0]) if sets else 0
    if set_bytes % ALIGNMENT or any(len(data) != set_bytes for data in sets):
        raise ValueError("input sets must have one size, a multiple of 16")
    payload_offset = JOB_HEADER.size
    body, all_sets = _pad(payload), b"".join(sets)
    inputs_offset = payload_offset + len(body)
    layers_offset = inputs_offset + len(all_sets)
    listed = _pad(b"".join(JOB_LAYER.pack(vars(layer)) for layer in layers))
    header = JOB_HEADER.pack(
        {
            "magic": MAGIC,
            "version": VERSION,
            "flags": int(flags),
            "payload_offset": payload_offset,
            "payload_bytes": len(payload),
            "inputs_offset": inputs_offset,
            "set_count": len(sets),
            "set_bytes": set_bytes,
            "layers_offset": layers_offset,
            "layer_count": len(layers),
            "state_offset": layers_offset + len(listed) if state else 0,
            "state_bytes": len(state),
            "reserved": (0,) * 4,
        }
    )
    return header + body + all_sets + listed + state
