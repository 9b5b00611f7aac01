"""A lowered graph as a payload: schedule, memory plan and constants, in the bytes of `schema`.

`plan` and then `encode_planned`; `encode` is both.

Equal graphs give equal bytes: nothing here depends on addresses, hash order or time.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional, Union

import numpy as np

from ..format import schema
from ..format.opcodes import Opcode
from ..format.record import REF
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Element, Layout
from ..ops import storage
from ..ops.registry import OPS
from ..target import Target
from .planner.memory import IoPlacement, MemoryPlan, plan_memory

# Of inputs and outputs.
_DTYPES = {Element.INT8: schema.DType.INT8, Element.FLOAT32: schema.DType.FLOAT32}


@dataclass(frozen=True)
class Constant:
    """Where an array lies in the payload. `shared`: an earlier call has put it there."""

    name: str
    offset: int
    nbytes: int
    shared: bool


@dataclass(frozen=True)
class Call:
    """What the payload holds for one node, for reports and debug maps."""

    index: int
    node: Node
    opcode: Opcode
    record_bytes: int
    scratch_bytes: int
    scratch_offset: Optional[int]
    macs: int
    constants: tuple[Constant, ...]

    @property
    def constant_bytes(self) -> int:
        """Bytes that this call adds to the payload's constants, padding excluded."""
        return sum(constant.nbytes for constant in self.constants if not constant.shared)


@dataclass(frozen=True)
class Encoded:
    """A payload, and how it came to be. `sections` has the size of each part of the payload."""

    payload: bytes
    target: Target
    io_placement: IoPlacement
    graph: Graph
    plan: MemoryPlan
    calls: tuple[Call, ...]
    sections: Mapping[str, int]


@dataclass(frozen=True)
class Planned:
    """A graph and the memory that it takes on a target. `scratch` has the bytes of every node's kernel."""

    graph: Graph
    target: Target
    io_placement: IoPlacement
    scratch: tuple[int, ...]
    memory: MemoryPlan


def plan(graph: Graph, target: Target, io_placement: Union[str, IoPlacement] = IoPlacement.ARENA) -> Planned:
    """The memory of `graph`, every activation of which a pass has lowered to a kernel's operand.

    ValueError for a graph that the format cannot express.
    """
    if not isinstance(io_placement, IoPlacement):
        io_placement = IoPlacement.of(io_placement)
    _check(graph)
    scratch = tuple(OPS[node.op].scratch_bytes(node, target) for node in graph.nodes)
    return Planned(graph, target, io_placement, scratch, plan_memory(graph, scratch, io_placement))


def encode(graph: Graph, target: Target, io_placement: Union[str, IoPlacement] = IoPlacement.ARENA) -> Encoded:
    """The payload of `graph`, planned and encoded."""
    return encode_planned(plan(graph, target, io_placement))


def encode_planned(planned: Planned) -> Encoded:
    """The payload of a graph whose memory is planned. ValueError names the node that a kernel cannot express."""
    graph, target, scratch, memory = planned.graph, planned.target, planned.scratch, planned.memory
    io_count = len(graph.inputs) + len(graph.outputs)
    tensors_offset = _aligned(schema.HEADER.size)
    calls_offset = _aligned(tensors_offset + io_count * schema.IO_TENSOR.size)
    calls_bytes = sum(schema.CALL_HEADER.size + OPS[node.op].kernel_of(node).args.size for node in graph.nodes)
    pool = _ConstantPool(_aligned(calls_offset + calls_bytes))

    records, calls = bytearray(), []
    for index, node in enumerate(graph.nodes):
        try:
            record, call = _encode_call(graph, index, node, target, memory, scratch[index], pool)
        except ValueError as error:
            raise ValueError(f"cannot encode {node.name} ({node.op}): {error}") from error
        records += record
        calls.append(call)
    assert len(records) == calls_bytes

    parts = {
        schema.HEADER.size: b"",
        tensors_offset: b"".join(_io_tensor(value, memory) for value in (*graph.inputs, *graph.outputs)),
        calls_offset: bytes(records),
        pool.offset: bytes(pool.data),
    }
    payload_bytes = pool.offset + len(pool.data)
    header = {
        "magic": schema.MAGIC,
        "format_version": schema.FORMAT_VERSION,
        "header_bytes": schema.HEADER.size,
        "kernel_revision": schema.KERNEL_REVISION,
        "isa": target.isa,
        "input_count": len(graph.inputs),
        "output_count": len(graph.outputs),
        "reserved0": 0,
        "payload_bytes": payload_bytes,
        "crc32": 0,
        "arena_bytes": memory.arena_bytes,
        "persistent_bytes": 0,
        "tensors_offset": tensors_offset,
        "calls_offset": calls_offset,
        "calls_bytes": calls_bytes,
        "call_count": len(calls),
        "constants_offset": pool.offset,
        "constants_bytes": len(pool.data),
        "reserved": (0, 0),
    }

    def assemble() -> bytes:
        out = bytearray(payload_bytes)
        out[: schema.HEADER.size] = schema.HEADER.pack(header)
        for offset, data in parts.items():
            out[offset : offset + len(data)] = data
        return bytes(out)

    header["crc32"] = zlib.crc32(assemble())
    return Encoded(
        payload=assemble(),
        target=target,
        io_placement=planned.io_placement,
        graph=graph,
        plan=memory,
        calls=tuple(calls),
        sections={
            "header": tensors_offset,
            "tensors": calls_offset - tensors_offset,
            "calls": pool.offset - calls_offset,
            "constants": len(pool.data),
        },
    )


def _aligned(offset: int) -> int:
    return -(-offset // schema.ALIGNMENT) * schema.ALIGNMENT


def _check(graph: Graph) -> None:
    """Refuses what only a mistake in the passes can produce."""
    graph.verify()
    if not graph.nodes:
        raise ValueError("the graph has no operation: there is nothing to delegate")
    for node in graph.nodes:
        if node.op not in OPS or not OPS[node.op].kernels:
            raise ValueError(f"{node.name}: {node.op} has no kernel; a pass should have removed it")
        _require_elements(node)
    io = [*graph.inputs, *graph.outputs]
    if len({id(value) for value in io}) != len(io):
        raise ValueError("a value is input or output of the graph twice; a pass should have copied it")
    if len(io) > schema.MAX_IO:
        raise ValueError(f"{len(io)} inputs and outputs; a payload has at most {schema.MAX_IO}")
    for value in io:
        if value.is_constant:
            raise ValueError(f"graph output {value.name} is a constant")
        if len(value.shape) > schema.MAX_RANK:
            raise ValueError(f"{value.name} has rank {len(value.shape)}, more than {schema.MAX_RANK}")
        if value.element not in _DTYPES:
            raise ValueError(f"{value.name} is {value.element.value}; I/O is int8 or float32")


def _require_elements(node: Node) -> None:
    """Refuses activations of elements that the kernel does not take."""
    op = OPS[node.op]
    kernel = op.kernel_of(node)
    inputs, output = op.activation_fields(node)
    for name, value in (*zip(inputs, node.inputs), (output, node.output)):
        taken = kernel.args.field(name).refers_to.element.element
        if value.element.value != taken:
            raise ValueError(
                f"{value.name} is {value.element.value}; there is no kernel {kernel.name} for that: "
                f"its {name} is {taken}"
            )


class _ConstantPool:
    """The constants section: arrays at aligned offsets, equal bytes once."""

    def __init__(self, offset: int) -> None:
        self.offset = offset  # in the payload
        self.data = bytearray()
        self._known: dict[bytes, int] = {}

    def add(self, name: str, data: bytes, behind: int) -> Constant:
        """Puts `data` here, unless it is, with `behind` bytes of anything after it."""
        shared = data in self._known
        if not shared:
            self._known[data] = self.offset + len(self.data)
            self.data += data + bytes(_aligned(len(data)) - len(data))
        begin = self._known[data]
        self.data += bytes(max(_aligned(begin + len(data) + behind) - self.offset - len(self.data), 0))
        return Constant(name, begin, len(data), shared)


def _encode_call(
    graph: Graph,
    index: int,
    node: Node,
    target: Target,
    plan: MemoryPlan,
    scratch_bytes: int,
    pool: _ConstantPool,
) -> tuple[bytes, Call]:
    op = OPS[node.op]
    kernel = op.kernel_of(node)
    refs = {field.name: schema.NO_REF for field in kernel.args.fields if field.type is REF}
    constants = []
    behind = kernel.reads_behind_on(target.isa)

    def place(name: str, data: bytes) -> None:
        constant = pool.add(name, data, behind.of(name))
        constants.append(constant)
        refs[name] = schema.make_ref(schema.BASE_CONSTANT, constant.offset)

    input_fields, output_field = op.activation_fields(node)
    for name, value in zip(input_fields, node.inputs):
        if value.is_constant:
            place(name, value.type.to_bytes(storage.to_storage(value.constant, value)))
        else:
            refs[name] = _activation_ref(graph, value, plan)
    refs[output_field] = _activation_ref(graph, node.output, plan)
    for name, array in op.constants(node).items():
        place(name, np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    scratch_offset = plan.scratch_offset(index)
    if scratch_offset is not None:
        refs["scratch"] = schema.make_ref(schema.BASE_ARENA, scratch_offset)

    block = kernel.args.pack(op.encode(node, refs, scratch_bytes))
    record_bytes = schema.CALL_HEADER.size + len(block)
    header = schema.CALL_HEADER.pack({"opcode": kernel.opcode, "bytes": record_bytes})
    call = Call(
        index,
        node,
        kernel.opcode,
        record_bytes,
        scratch_bytes,
        scratch_offset,
        op.macs(node),
        tuple(constants),
    )
    return header + block, call


def _activation_ref(graph: Graph, value: Value, plan: MemoryPlan) -> int:
    """Inputs and outputs are named as such wherever they lie: the caller may pass other memory."""
    for index, io in enumerate((*graph.inputs, *graph.outputs)):
        if io is value:
            return schema.make_ref(schema.BASE_IO + index)
    offset = plan.offset_of(value)
    if offset is None:
        raise ValueError(f"{value.name} is not in the arena")
    return schema.make_ref(schema.BASE_ARENA, offset)


def _io_tensor(value: Value, plan: MemoryPlan) -> bytes:
    rank = len(value.shape)
    order = (0, 2, 3, 1) if value.layout is Layout.CHANNELS_LAST else range(rank)
    behind = (0,) * (schema.MAX_RANK - rank)
    arena_offset = plan.offset_of(value)
    quant = value.quant
    return schema.IO_TENSOR.pack(
        {
            "nbytes": value.nbytes,
            "arena_offset": schema.NO_ARENA_OFFSET if arena_offset is None else arena_offset,
            "dtype": _DTYPES[value.element],
            "rank": rank,
            "dim_order": (*order, *behind),
            "sizes": (*value.shape, *behind),
            "scale": 0.0 if quant is None else quant.scale[0],
            "zero_point": 0 if quant is None else quant.zero_point,
        }
    )
