"""A typed view of payload bytes, for reports, headers and tests.

`decode` checks the structure as a device does, and says what is wrong with bytes that are
not a payload. It does not check the arguments of kernels; the runtime's validation does.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ..format import schema
from ..format.element import Element
from ..format.opcodes import Opcode
from ..format.record import REF
from ..providers.provider import Provider
from ..providers.registry import PROVIDERS, kernels


class PayloadError(ValueError):
    """The bytes are not a payload that this version reads; the message says why."""


@dataclass(frozen=True)
class Tensor:
    """An input or output. `shape` is logical; `dim_order` lists dimensions from outermost in memory."""

    nbytes: int
    arena_offset: Optional[int]  # None: the caller provides the memory
    dtype: Element
    shape: tuple[int, ...]
    dim_order: tuple[int, ...]
    scale: float  # 0 for float32
    zero_point: int


@dataclass(frozen=True)
class Call:
    """A kernel call: `args` are the fields of the argument block, nested structs as dicts."""

    opcode: Opcode
    provider: Provider  # that it was compiled for
    offset: int  # of the record in the payload
    args: Mapping[str, Any]

    def references(self) -> dict[str, tuple[int, int]]:
        """(base, offset) by field name; fields that name nothing are left out."""
        return {
            field.name: schema.split_ref(self.args[field.name])
            for field in kernels()[self.opcode].args.fields
            if field.type is REF and schema.split_ref(self.args[field.name])[0] != schema.BASE_NONE
        }


@dataclass(frozen=True)
class Payload:
    """A decoded payload. `data` are all of its bytes."""

    data: bytes
    header: Mapping[str, Any]
    isa: schema.Isa
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    calls: tuple[Call, ...]
    region_bytes: tuple[int, ...]  # of the regions beside the arena
    revisions: Mapping[int, int]  # of calls, by the number of the provider that they were compiled for

    @property
    def arena_bytes(self) -> int:
        return int(self.header["arena_bytes"])

    @property
    def persistent_bytes(self) -> int:
        return int(self.header["persistent_bytes"])

    @property
    def copied_bytes(self) -> int:
        return int(self.header["copied_bytes"])

    @property
    def constant_bytes(self) -> int:
        """Returns the size of all weights, biases and requantization: the arrays that calls name, each once."""
        io_count = len(self.inputs) + len(self.outputs)
        copies = schema.copies_base(io_count, self.persistent_bytes) if self.copied_bytes else None
        arrays: dict[int, int] = {}
        for call in self.calls:
            for name, (base, offset) in call.references().items():
                if base == copies:
                    base, offset = schema.BASE_CONSTANT, offset + self.header["constants_offset"]
                if base == schema.BASE_CONSTANT:
                    nbytes = kernels()[call.opcode].args.field(name).refers_to.nbytes(call.args)
                    arrays[offset] = max(nbytes, arrays.get(offset, 0))
        return sum(arrays.values())

    @property
    def overhead_bytes(self) -> int:
        """Returns what the payload takes besides them: header, tensors, calls and padding."""
        return len(self.data) - self.constant_bytes

    @property
    def crc32(self) -> int:
        return int(self.header["crc32"])


def decode(data: bytes) -> Payload:
    """Reads a whole payload; PayloadError if it is truncated, damaged or of another version."""
    data = bytes(data)
    header = _header(data)
    revisions = _revisions(data, header)
    tensors = _tensors(data, header)
    count = header["input_count"]
    region_bytes = _region_bytes(data, header)
    return Payload(
        data=data,
        header=header,
        isa=schema.Isa(header["isa"]),
        inputs=tensors[:count],
        outputs=tensors[count:],
        calls=_calls(data, header, [tensor.nbytes for tensor in tensors], region_bytes),
        region_bytes=region_bytes,
        revisions=revisions,
    )


def _header(data: bytes) -> dict[str, Any]:
    if len(data) < schema.HEADER.size:
        raise PayloadError(f"{len(data)} bytes are less than a payload header ({schema.HEADER.size})")
    header = schema.HEADER.unpack(data)
    if header["magic"] != schema.MAGIC:
        raise PayloadError(f"not a payload: it starts with 0x{header['magic']:08x}, not 0x{schema.MAGIC:08x}")
    if header["format_version"] != schema.FORMAT_VERSION:
        raise PayloadError(f"payload format {header['format_version']}, but this version reads {schema.FORMAT_VERSION}")
    header_bytes = schema.HEADER.size + 4 * header["providers"].bit_count()
    if header["header_bytes"] != header_bytes:
        raise PayloadError(f"header of {header['header_bytes']} bytes, not {header_bytes}")
    if header_bytes > len(data):
        raise PayloadError(f"payload is truncated: {len(data)} bytes are less than its header ({header_bytes})")
    if header["payload_bytes"] != len(data):
        state = "truncated" if header["payload_bytes"] > len(data) else "followed by other data"
        raise PayloadError(f"payload is {state}: it says {header['payload_bytes']} bytes, there are {len(data)}")
    crc_at = schema.HEADER.offset_of("crc32")
    crc = zlib.crc32(data[:crc_at] + bytes(4) + data[crc_at + 4 :])
    if crc != header["crc32"]:
        raise PayloadError(f"payload is damaged: its CRC is {crc:08x}, its header says {header['crc32']:08x}")
    if header["isa"] not in list(schema.Isa):
        raise PayloadError(f"unknown instruction set {header['isa']}")
    _section(data, header, "calls", header["calls_bytes"])
    _section(data, header, "constants", header["constants_bytes"])
    for memory, what in (("arena", "arena"), ("persistent", "persistent memory"), ("copied", "copied constants")):
        nbytes = header[f"{memory}_bytes"]
        if nbytes % schema.ALIGNMENT:
            raise PayloadError(f"{what} of {nbytes} bytes, not a multiple of {schema.ALIGNMENT}")
    if header["copied_bytes"] > header["constants_bytes"]:
        raise PayloadError(
            f"{header['copied_bytes']} bytes of constants are copied; it has {header['constants_bytes']}"
        )
    return header


def _tensor_count(header: Mapping[str, Any]) -> int:
    return int(header["input_count"] + header["output_count"])


def _section(data: bytes, header: Mapping[str, Any], name: str, size: int) -> None:
    offset = header[f"{name}_offset"]
    front_end = _sizes_begin(header) + 4 * header["region_count"]
    if offset % schema.ALIGNMENT or offset < front_end or offset + size > len(data):
        raise PayloadError(f"section {name} at {offset} of {size} bytes is not inside the payload")


def _tensors(data: bytes, header: Mapping[str, Any]) -> tuple[Tensor, ...]:
    tensors = []
    for index in range(_tensor_count(header)):
        offset = header["header_bytes"] + index * schema.IO_TENSOR.size
        fields = schema.IO_TENSOR.unpack(data, offset)
        rank = fields["rank"]
        if rank > schema.MAX_RANK:
            raise PayloadError(f"tensor {index} has rank {rank}, more than {schema.MAX_RANK}")
        element = Element.of_scalar_type(fields["dtype"])
        if element is None:
            raise PayloadError(f"tensor {index} has unknown element type {fields['dtype']}")
        arena_offset = fields["arena_offset"]
        if arena_offset == schema.NO_ARENA_OFFSET:
            arena_offset = None
        elif arena_offset + fields["nbytes"] > header["arena_bytes"]:
            raise PayloadError(f"tensor {index} at {arena_offset} extends past the end of the arena")
        tensors.append(
            Tensor(
                nbytes=fields["nbytes"],
                arena_offset=arena_offset,
                dtype=element,
                shape=fields["sizes"][:rank],
                dim_order=fields["dim_order"][:rank],
                scale=fields["scale"],
                zero_point=fields["zero_point"],
            )
        )
    return tuple(tensors)


def _sizes_begin(header: Mapping[str, Any]) -> int:
    """Returns where the sizes of the regions are, behind the tensors."""
    return int(header["header_bytes"]) + _tensor_count(header) * schema.IO_TENSOR.size


def _revisions(data: bytes, header: Mapping[str, Any]) -> dict[int, int]:
    """Returns the revisions by provider. PayloadError if one is not known here."""
    numbers = [number for number in range(schema.MAX_PROVIDERS) if header["providers"] >> number & 1]
    known = {provider.id: provider.revision for provider in PROVIDERS.values()}
    found = dict(zip(numbers, struct.unpack_from(f"<{len(numbers)}I", data, schema.HEADER.size)))
    for number, revision in found.items():
        if number not in known:
            raise PayloadError(
                f"payload for revision {revision:08x} of provider {number}, which is not registered: call "
                "providers.registry.register() with it"
            )
        if revision != known[number]:
            raise PayloadError(
                f"payload for revision {revision:08x} of provider {number}, which this version does not know: "
                "compile the model again"
            )
    return found


def _region_bytes(data: bytes, header: Mapping[str, Any]) -> tuple[int, ...]:
    sizes = struct.unpack_from(f"<{header['region_count']}I", data, _sizes_begin(header))
    for region, nbytes in enumerate(sizes, 1):
        if nbytes % schema.ALIGNMENT or nbytes > schema.MAX_REF_OFFSET:
            raise PayloadError(
                f"region {region} of {nbytes} bytes, not a multiple of {schema.ALIGNMENT} that references reach"
            )
    return sizes


def _calls(
    data: bytes, header: Mapping[str, Any], sizes: Sequence[int], region_bytes: Sequence[int]
) -> tuple[Call, ...]:
    calls = []
    offset = header["calls_offset"]
    end = offset + header["calls_bytes"]
    for index in range(header["call_count"]):
        if offset + schema.CALL_HEADER.size > end:
            raise PayloadError(f"call {index} lies past the end of the calls")
        record = schema.CALL_HEADER.unpack(data, offset)
        kernel = kernels().get(record["opcode"])
        if kernel is None:
            raise PayloadError(f"call {index} has unknown opcode {record['opcode']}")
        nbytes = record["bytes"]
        if nbytes != schema.CALL_HEADER.size + kernel.args.size or offset + nbytes > end:
            raise PayloadError(f"call {index} states {nbytes} bytes, which is not its size")
        provider = next((found for found in PROVIDERS.values() if 1 << found.id == record["provider"]), None)
        if provider is None or not header["providers"] & record["provider"]:
            mask = record["provider"]
            raise PayloadError(f"call {index} is for providers 0x{mask:02x}, which the header does not name")
        args = kernel.args.unpack(data, offset + schema.CALL_HEADER.size)
        call = Call(kernel.opcode, provider, offset, args)
        _check_references(index, call, header, sizes, region_bytes)
        calls.append(call)
        offset += nbytes
    if offset != end:
        raise PayloadError(f"{end - offset} trailing bytes after the last call")
    return tuple(calls)


def _check_references(
    index: int, call: Call, header: Mapping[str, Any], sizes: Sequence[int], region_bytes: Sequence[int]
) -> None:
    """`sizes` are those of the inputs and outputs."""
    persistent, copied = header["persistent_bytes"], header["copied_bytes"]
    constants_end = header["constants_offset"] + header["constants_bytes"]
    for name, (base, offset) in call.references().items():
        inside = {
            schema.BASE_ARENA: offset < header["arena_bytes"],
            schema.BASE_CONSTANT: header["constants_offset"] <= offset < constants_end,
            schema.BASE_IO + len(sizes): offset < persistent,
            **({schema.copies_base(len(sizes), persistent): offset < copied} if copied else {}),
            **{
                schema.region_base(region, len(sizes), persistent, copied): offset < nbytes
                for region, nbytes in enumerate(region_bytes, 1)
            },
            **{schema.BASE_IO + tensor: offset < size for tensor, size in enumerate(sizes)},
        }.get(base, False)
        if not inside:
            raise PayloadError(f"call {index}: {name} points nowhere: base {base}, offset {offset}")
