"""Encodes a planned graph as a payload: schedule, memory plan and constants, in the format of `schema`.

`lower_partition.encode` does this and the steps before it.

Equal graphs give equal bytes: nothing here depends on addresses, hash order or time.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..format import schema
from ..format.opcodes import Opcode
from ..format.record import REF, Role
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import storage
from ..ops.kernel import KernelSpec
from ..ops.op import operands
from ..ops.registry import OPS
from ..planner.copies import Copyable, choose_copies
from ..planner.memory import MemoryPlan
from ..selection.choose_kernels import Choice, Chosen
from ..selection.options import PayloadOptions
from ..selection.planned import Planned
from ..targets.target import Target

# The operands that are values of the graph, unlike weights and scratch memory.
_ACTIVATIONS = (Role.INPUT, Role.OUTPUT, Role.STATE)


@dataclass(frozen=True)
class Constant:
    """Where an array lies in the payload. `shared` if an earlier call uses it too; `copied` if init() copies it, and
    calls read the copy."""

    name: str
    offset: int
    nbytes: int
    shared: bool
    copied: bool


@dataclass(frozen=True)
class Call:
    """What the payload contains for one node, for reports and debug maps."""

    index: int
    choice: Choice
    record_bytes: int
    scratch_offset: Optional[int]
    macs: int
    constants: tuple[Constant, ...]

    @property
    def node(self) -> Node:
        return self.choice.node

    @property
    def opcode(self) -> Opcode:
        return self.choice.kernel.opcode

    @property
    def scratch_bytes(self) -> int:
        return self.choice.scratch_bytes

    @property
    def constant_bytes(self) -> int:
        """Returns how many bytes this call adds to the payload's constants, without padding."""
        return sum(constant.nbytes for constant in self.constants if not constant.shared)


@dataclass(frozen=True)
class Copies:
    """The constants that init() copies: their bytes, with what lies between them, and at most how many bytes of them,
    and of all constants, an inference reads, as `_reads` counts them."""

    nbytes: int = 0
    reads: int = 0
    all_reads: int = 0


@dataclass(frozen=True)
class Encoded:
    """A payload, and what it was made from. `sections` has the size of each part of the payload."""

    payload: bytes
    target: Target
    options: PayloadOptions
    graph: Graph
    plan: MemoryPlan
    calls: tuple[Call, ...]
    copies: Copies
    sections: Mapping[str, int]


def encode_planned(planned: Planned) -> Encoded:
    """Returns the payload of a graph whose memory is planned. ValueError names a node that no kernel can express."""
    graph, chosen, memory = planned.graph, planned.chosen, planned.memory
    io_count = len(graph.inputs) + len(graph.outputs)
    providers = {choice.provider.id: choice.provider.revision for choice in chosen.choices}
    revisions = [providers[number] for number in sorted(providers)]
    header_bytes = schema.HEADER.size + 4 * len(revisions)
    sizes = b"".join(size.to_bytes(4, "little") for size in memory.region_bytes)
    calls_offset = _aligned(header_bytes + io_count * schema.IO_TENSOR.size + len(sizes))
    calls_bytes = sum(schema.CALL_HEADER.size + choice.kernel.args.size for choice in chosen.choices)
    pool = _ConstantPool(_aligned(calls_offset + calls_bytes))
    copies = _copy_constants(chosen, memory, pool)

    records, calls = bytearray(), []
    for index, choice in enumerate(chosen.choices):
        try:
            record, call = _encode_call(chosen, index, choice, memory, pool, copies)
        except ValueError as error:
            raise ValueError(f"cannot encode {choice.node.name} ({choice.node.op}): {error}") from error
        records += record
        calls.append(call)
    assert len(records) == calls_bytes
    pool.close()

    payload_bytes = pool.offset + len(pool.data)
    header = {
        "magic": schema.MAGIC,
        "format_version": schema.FORMAT_VERSION,
        "providers": sum(1 << number for number in providers),
        "header_bytes": header_bytes,
        "isa": chosen.target.isa,
        "input_count": len(graph.inputs),
        "output_count": len(graph.outputs),
        "region_count": len(memory.region_bytes),
        "payload_bytes": payload_bytes,
        "crc32": 0,
        "arena_bytes": memory.arena_bytes,
        "persistent_bytes": memory.persistent_bytes,
        "copied_bytes": copies.nbytes,
        "calls_offset": calls_offset,
        "calls_bytes": calls_bytes,
        "call_count": len(calls),
        "constants_offset": pool.offset,
        "constants_bytes": len(pool.data),
    }

    front = bytearray(pool.offset)  # all but the constants, which may be large: they are copied once
    for offset, data in (
        (0, schema.HEADER.pack(header)),
        (schema.HEADER.size, b"".join(revision.to_bytes(4, "little") for revision in revisions)),
        (header_bytes, b"".join(_io_tensor(value, memory) for value in (*graph.inputs, *graph.outputs)) + sizes),
        (calls_offset, records),
    ):
        front[offset : offset + len(data)] = data
    header["crc32"] = zlib.crc32(pool.data, zlib.crc32(front))
    front[: schema.HEADER.size] = schema.HEADER.pack(header)
    return Encoded(
        payload=b"".join((front, pool.data)),
        target=chosen.target,
        options=chosen.options,
        graph=graph,
        plan=memory,
        calls=tuple(calls),
        copies=copies,
        sections={
            "header": header_bytes,
            "tensors": calls_offset - header_bytes,
            "calls": pool.offset - calls_offset,
            "constants": len(pool.data),
        },
    )


def _aligned(offset: int) -> int:
    return -(-offset // schema.ALIGNMENT) * schema.ALIGNMENT


class _ConstantPool:
    """The constants section: arrays at aligned offsets, equal bytes once."""

    def __init__(self, offset: int) -> None:
        self.offset = offset  # in the payload
        self.data = bytearray()
        self._known: dict[bytes, int] = {}  # by digest
        self._end = offset  # of what kernels load
        self._used: set[int] = set()  # offsets

    def add(self, data: bytes, past: int) -> int:
        """Adds `data`, unless it is already here, and returns its offset in the payload. Once the pool is closed,
        `past` bytes of anything follow it."""
        digest = hashlib.sha256(data).digest()
        if digest not in self._known:
            self._known[digest] = self.offset + len(self.data)
            self.data += data
            self.data += bytes(_aligned(len(data)) - len(data))
        begin = self._known[digest]
        self._end = max(self._end, begin + len(data) + past)
        return begin

    def use(self, name: str, data: bytes, past: int, copies: Copies) -> Constant:
        """Adds `data` for a call, which reads the copy if it is one of `copies`: these have been added first."""
        begin = self.add(data, past)
        shared = begin in self._used
        self._used.add(begin)
        return Constant(name, begin, len(data), shared, begin - self.offset < copies.nbytes)

    def close(self) -> None:
        """Adds what kernels load past the last arrays; past others they load those that follow."""
        self.data += bytes(max(_aligned(self._end) - self.offset - len(self.data), 0))


def _copy_constants(chosen: Chosen, plan: MemoryPlan, pool: _ConstantPool) -> Copies:
    """Chooses the constants that init() copies, and adds them to `pool`, which is empty."""
    if plan.kept is None or not plan.kept.room:
        return Copies()
    # Equal ones are stored, and copied, once.
    found: dict[bytes, tuple[bytes, int, int]] = {}  # by digest: the data, what is loaded past its end, and reads
    for choice in chosen.choices:
        for name, data, past in _constants(chosen, choice):
            digest = hashlib.sha256(data).digest()
            _, most, reads = found.get(digest, (data, 0, 0))
            found[digest] = data, max(most, past), reads + _reads(choice, name, len(data))
    constants = list(found.values())
    copyable = [Copyable(len(data), reads, past) for data, past, reads in constants]
    indices = choose_copies(copyable, plan.kept.room, schema.ALIGNMENT)
    for index in indices:
        data, past, _ = constants[index]
        pool.add(data, past)
    pool.close()  # what kernels load past a copy is copied too
    return Copies(len(pool.data), sum(copyable[i].reads for i in indices), sum(constant.reads for constant in copyable))


def _reads(choice: Choice, name: str, nbytes: int) -> int:
    """Returns at most how many bytes an inference reads of the constant `name` of a call: one weight for each
    multiplication, one parameter for each output, and everything else once. Kernels that keep weights in registers for
    several outputs read less, in about the same proportion."""
    node = choice.node
    role = choice.kernel.args.field(name).refers_to.role
    if role in (Role.BIAS, Role.MULTIPLIER, Role.SHIFT):
        return 4 * sum(value.nbytes for value in node.outputs)
    return max(OPS[node.op].macs(node) if role is Role.FILTER else 0, nbytes)


def _constants(chosen: Chosen, choice: Choice) -> Iterator[tuple[str, bytes, int]]:
    """Yields the constants of a call: field, data, and how many bytes past the end the kernel may load."""
    kernel, node = choice.kernel, choice.node
    past = choice.provider.reads_past(kernel, chosen.target.isa)
    for role in _ACTIVATIONS:
        for name, value in _tensors(kernel, node, role).items():
            if value.is_constant:
                yield name, value.type.to_bytes(storage.to_storage(value.constant, value)), past.of(name)
    for name, array in choice.implementation.constants(node).items():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        yield name, data, past.of(name)


def _encode_call(
    chosen: Chosen, index: int, choice: Choice, plan: MemoryPlan, pool: _ConstantPool, copies: Copies
) -> tuple[bytes, Call]:
    node, kernel = choice.node, choice.kernel
    op = OPS[node.op]
    refs = {field.name: schema.NO_REF for field in kernel.args.fields if field.type is REF}
    constants = []
    for name, data, past in _constants(chosen, choice):
        constant = pool.use(name, data, past, copies)
        constants.append(constant)
        if constant.copied:
            refs[name] = schema.make_ref(_copies_base(chosen.graph, plan), constant.offset - pool.offset)
        else:
            refs[name] = schema.make_ref(schema.BASE_CONSTANT, constant.offset)
    for role in _ACTIVATIONS:
        for name, value in _tensors(kernel, node, role).items():
            if not value.is_constant:
                refs[name] = _reference(chosen.graph, value, plan, copies)
    scratch_offset = plan.scratch_offset(index)
    if scratch_offset is not None:
        base = _base(chosen.graph, plan, copies, plan.scratch_region(index))
        refs["scratch"] = schema.make_ref(base, scratch_offset)

    fields = choice.implementation.encode(node, refs, choice.scratch_bytes)
    for role in _ACTIVATIONS:
        for name, value in _tensors(kernel, node, role).items():
            _require_bytes(kernel, fields, name, value)
    block = kernel.args.pack(fields)
    record_bytes = schema.CALL_HEADER.size + len(block)
    header = schema.CALL_HEADER.pack(
        {"opcode": kernel.opcode, "provider": 1 << choice.provider.id, "bytes": record_bytes}
    )
    return header + block, Call(index, choice, record_bytes, scratch_offset, op.macs(node), tuple(constants))


def _tensors(kernel: KernelSpec, node: Node, role: Role) -> Mapping[str, Value]:
    """The operands of `role`. ValueError if the node has more or fewer of them than the kernel."""
    found, fields = operands(kernel, node, role), kernel.args.names_of(role)
    given = {Role.OUTPUT: node.outputs, Role.STATE: node.states}.get(role)
    if len(found) != len(fields) or (given is not None and len(given) != len(fields)):
        count = len(found) if given is None else len(given)
        raise ValueError(f"{kernel.name} has {len(fields)} operands of role {role.name.lower()}, the node {count}")
    return found


def _require_bytes(kernel: KernelSpec, fields: Mapping[str, Any], name: str, value: Value) -> None:
    """Refuses a tensor of another size than the kernel reads or writes, which would reach into its neighbours."""
    nbytes = kernel.args.field(name).refers_to.nbytes(fields)
    if nbytes != value.nbytes:
        raise ValueError(f"{kernel.name} takes {nbytes} bytes for its {name}, and {value.name} has {value.nbytes}")


def _reference(graph: Graph, value: Value, plan: MemoryPlan, copies: Copies) -> int:
    """Refers to inputs and outputs, and to what lies inside of them, as such, wherever they lie, because the caller may
    pass other memory."""
    io = (*graph.inputs, *graph.outputs)
    home = plan.home_of(value)
    for index, tensor in enumerate(io):
        if tensor is home.root:
            return schema.make_ref(schema.BASE_IO + index, home.offset)
    state = plan.state_offset(value)
    if state is not None:
        return schema.make_ref(schema.BASE_IO + len(io), state)
    offset = plan.offset_of(value)
    if offset is None:
        raise ValueError(f"{value.name} is not in the arena")
    return schema.make_ref(_base(graph, plan, copies, plan.region_of(value)), offset)


def _copies_base(graph: Graph, plan: MemoryPlan) -> int:
    return schema.copies_base(len(graph.inputs) + len(graph.outputs), plan.persistent_bytes)


def _base(graph: Graph, plan: MemoryPlan, copies: Copies, region: int) -> int:
    io_count = len(graph.inputs) + len(graph.outputs)
    return schema.region_base(region, io_count, plan.persistent_bytes, copies.nbytes)


def _io_tensor(value: Value, plan: MemoryPlan) -> bytes:
    rank = len(value.shape)
    order = (0, 2, 3, 1) if value.layout is Layout.CHANNELS_LAST else range(rank)
    unused = (0,) * (schema.MAX_RANK - rank)
    arena_offset = plan.offset_of(value)
    quant = value.quant
    return schema.IO_TENSOR.pack(
        {
            "nbytes": value.nbytes,
            "arena_offset": schema.NO_ARENA_OFFSET if arena_offset is None else arena_offset,
            "dtype": value.element.scalar_type,
            "rank": rank,
            "dim_order": (*order, *unused),
            "sizes": (*value.shape, *unused),
            "scale": 0.0 if quant is None else quant.scale[0],
            "zero_point": 0 if quant is None else quant.zero_point,
        }
    )
