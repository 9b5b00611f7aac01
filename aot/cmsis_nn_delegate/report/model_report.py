"""The facts of a compiled model, as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

from ..format import schema
from ..format.opcodes import Opcode
from ..graph.ir import Value
from ..payload.decode import decode
from ..payload.encode import Call, Encoded
from ..planner.memory import MemoryPlan
from ..selection.costs import costs
from ..targets.memory import copies_weights
from .buffers import BufferReport, buffers_of, origins_of
from .names import Names
from .stream_report import StreamReport
from .tensors import TensorReport, require_both, tensors_of

# Instructions of init() for each 16 bytes that it copies, counted in the simulator (tests/end_to_end/copies_test.py).
_COPY_BLOCK = 13

# The version of the JSON's structure. Additions do not change it; documents before version 2 have no `schema`.
SCHEMA = 2


@dataclass(frozen=True)
class LiveBuffer:
    """Memory that is alive in some step: of scratch memory, of a value, or of several that overlap, which `name` lists.
    The size is not rounded up."""

    name: str
    nbytes: int
    offset: int


@dataclass(frozen=True)
class MemoryReport:
    """A memory that was described to the compiler. Sizes are bytes."""

    name: str
    region: str  # as buffers name it: "arena" for the last memory, else its name
    limit: int  # its size
    nbytes: int
    bound: int  # no placement of its buffers takes less
    peak_call: int  # in which the most bytes are alive
    touched: int  # bytes that the calls of an inference read and write there, as `planner.memories` counts them


@dataclass(frozen=True)
class CopiesReport:
    """The constants that init() copies to `memory`, which had `room` bytes for them. Of the `all_reads` bytes of
    constants that an inference reads, counted as one for each multiplication, `reads` are those of copies. init() takes
    about `init_instructions` to copy them."""

    memory: str
    room: int
    nbytes: int
    reads: int
    all_reads: int
    init_instructions: int


@dataclass(frozen=True)
class ArenaReport:
    """RAM of the delegate. `peak_*` say which call needs the most memory, and for which buffers."""

    nbytes: int
    bound: int  # the largest live set: no plan takes less
    gap: int
    io_placement: str
    peak_call: int
    peak_buffers: tuple[LiveBuffer, ...]
    in_place: tuple[str, ...]  # what stores its output over an input
    inside: tuple[str, ...]  # values that lie inside of others: "x in y+OFFSET"
    buffers: tuple[BufferReport, ...]  # all of them, also those of persistent memory


@dataclass(frozen=True)
class CallReport:
    """One kernel call. `stored` says where each output lies: "arena+N", or "dtcm+N" in another memory, or "output N"
    for memory named by the caller, with "+M" if it begins M bytes after that."""

    index: int
    op: str
    kernel: str  # as a table of kernels names it (runtime/kernels): an operator may have several
    provider: str  # whose kernel the call was compiled for
    why: str  # why no preferred provider has it, "" if the first one has
    sources: tuple[str, ...]
    modules: tuple[str, ...]  # of the user's model, "layers.0 (Conv2d)"; empty if unknown
    lines: tuple[str, ...]  # of the user's code, "model.py:12"
    inputs: tuple[tuple[int, ...], ...]
    input_types: tuple[str, ...]
    outputs: tuple[tuple[int, ...], ...]
    output_types: tuple[str, ...]
    stored: tuple[str, ...]
    macs: int
    scratch_bytes: int
    constant_bytes: int
    live_bytes: int  # while it runs, in all memories together
    # If the call was given a kernel that trades flash for speed: what it adds to the payload, and about how many
    # instructions it saves; else None.
    growth_bytes: Optional[int]
    saved_instructions: Optional[int]
    # About how many instructions it takes on the target (`selection.costs`); None if there is no model for it.
    predicted_instructions: Optional[int]


@dataclass(frozen=True)
class PredictionReport:
    """About how many instructions the calls of an inference take together, without what the executor does around them.
    Of `networks` networks that were measured on this core, predictions without their own measurements were half the
    time within `median_error` of what was counted, and always within `largest_error`, relative to that. All are None if
    that is unknown: `instructions` if there is no model for a call, the errors for providers that were not measured."""

    instructions: Optional[int]
    networks: Optional[int]
    median_error: Optional[float]
    largest_error: Optional[float]


@dataclass(frozen=True)
class IoReport:
    """An input or output of the payload."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    layout: str
    scale: Optional[float]
    zero_point: Optional[int]
    arena_offset: Optional[int]

    def __post_init__(self) -> None:
        require_both(self, "scale", "zero_point")


@dataclass(frozen=True)
class Report:
    """A payload: its RAM, its flash by part, and its calls. Sizes are bytes."""

    name: str
    target: str
    isa: str
    quantizer: str  # the preset and overrides
    prefer: str  # what kernels were chosen by: "speed", "flash" or "ram"
    cmsis_nn: str
    payload_crc32: str  # 8 hexadecimal digits
    arena: ArenaReport
    memories: tuple[MemoryReport, ...]  # the fastest first; none if none were described: the arena is all there is
    persistent_bytes: int  # what the model remembers between inferences
    copies: Optional[CopiesReport]  # None if no memory for weights was described
    flash: dict[str, int]  # by part; the values add up to `flash_bytes`
    flash_bytes: int
    macs: int
    prediction: PredictionReport
    left_out: tuple[str, ...]  # what need not be computed, a sentence each
    inputs: tuple[IoReport, ...]
    outputs: tuple[IoReport, ...]
    calls: tuple[CallReport, ...]
    tensors: tuple[TensorReport, ...]  # activations, in the order in which they are written
    stream: Optional[StreamReport] = None  # of a streaming model

    def __post_init__(self) -> None:
        for number, call in enumerate(self.calls):
            if call.index != number:
                raise ValueError(f"calls[{number}] has the index {call.index}")
        if not 0 <= self.arena.peak_call < max(len(self.calls), 1):
            raise ValueError(f"arena.peak_call is {self.arena.peak_call}, and there are {len(self.calls)} calls")
        if sum(self.flash.values()) != self.flash_bytes:
            raise ValueError(f"flash_bytes is {self.flash_bytes}, and the values of flash do not add up to it")
        if (self.prediction.instructions is None) != any(c.predicted_instructions is None for c in self.calls):
            raise ValueError("prediction.instructions is not that of predicted_instructions of the calls")

    def to_json(self) -> str:
        """Returns the fields as a document of the version `SCHEMA`, with a final newline."""
        return json.dumps({"schema": SCHEMA, **dataclasses.asdict(self)}, indent=2) + "\n"


_UNKNOWN: Mapping[str, str] = MappingProxyType({})


def build_report(
    name: str,
    encoded: Encoded,
    quantizer: str = "",
    modules: Mapping[str, str] = _UNKNOWN,
    lines: Mapping[str, str] = _UNKNOWN,
    stream: Optional[StreamReport] = None,
) -> Report:
    """Builds the report of a payload that was just encoded. `quantizer` says how the model was quantized, "" if
    that is unknown. `modules` and `lines` have the user's module and line of code by the names of edge nodes, in
    execution order, for those where they are known."""
    graph, plan = encoded.graph, encoded.plan
    names = Names(graph, modules)
    calls = tuple(_call(call, encoded, modules, lines) for call in encoded.calls)
    return Report(
        name=name,
        target=encoded.target.name,
        isa=encoded.target.isa.name,
        quantizer=quantizer,
        prefer=encoded.options.preference.value,
        cmsis_nn=schema.CMSIS_NN_COMMIT,
        payload_crc32=f"{decode(encoded.payload).crc32:08x}",
        arena=_arena(encoded, modules, names),
        memories=tuple(
            MemoryReport(
                name=memory.name,
                region="arena" if memory is plan.memories[0] else memory.name,
                limit=memory.limit,
                nbytes=memory.nbytes,
                bound=memory.bound,
                peak_call=max(range(len(memory.live)), key=memory.live.__getitem__, default=0),
                touched=memory.touched,
            )
            for memory in plan.in_order
        ),
        persistent_bytes=plan.persistent_bytes,
        copies=_copies(encoded),
        flash=_flash(encoded),
        flash_bytes=len(encoded.payload),
        macs=sum(call.macs for call in encoded.calls),
        prediction=_prediction(encoded, calls),
        left_out=tuple(map(names.in_text, graph.notes)),
        inputs=tuple(_io(value, plan, names) for value in graph.inputs),
        outputs=tuple(_io(value, plan, names) for value in graph.outputs),
        calls=calls,
        tensors=tensors_of(graph, modules),
        stream=stream,
    )


def _copies(encoded: Encoded) -> Optional[CopiesReport]:
    kept, copies = encoded.plan.kept, encoded.copies
    if kept is None or not copies_weights(encoded.options.memories):
        return None
    copying = copies.nbytes // 16 * _COPY_BLOCK
    return CopiesReport(kept.name, kept.room, copies.nbytes, copies.reads, copies.all_reads, copying)


def _prediction(encoded: Encoded, calls: Sequence[CallReport]) -> PredictionReport:
    found = [call.predicted_instructions for call in calls]
    total = sum(count for count in found if count is not None) if None not in found else None
    accuracy = costs().accuracy_of(encoded.target.name, [provider.name for provider in encoded.options.providers])
    if accuracy is None:
        return PredictionReport(total, None, None, None)
    return PredictionReport(total, accuracy.networks, accuracy.median_error, accuracy.largest_error)


def _arena(encoded: Encoded, modules: Mapping[str, str], names: Names) -> ArenaReport:
    plan = encoded.plan
    peak = max(range(len(plan.live)), key=plan.live.__getitem__, default=0)
    live = [
        LiveBuffer(names.in_text(name), nbytes, offset)
        for buffer in plan.buffers
        if buffer.region == 0
        for name, offset, nbytes in buffer.alive_in(peak)
    ]
    live.sort(key=lambda buffer: buffer.offset)
    return ArenaReport(
        nbytes=plan.arena_bytes,
        bound=plan.bound,
        gap=plan.gap,
        io_placement=encoded.options.io_placement.value,
        peak_call=peak,
        peak_buffers=tuple(live),
        in_place=tuple(map(names.in_text, plan.in_place)),
        inside=tuple(names.in_text(f"{home.value.name} in {home.root.name}+{home.offset}") for home in plan.homes),
        buffers=buffers_of(encoded, modules),
    )


_PARTS = {
    "filter": "weights",
    "bias": "biases",
    "multiplier": "requantization",
    "shift": "requantization",
    "table": "packed weights",  # of a tuned kernel, with what belongs to them
    "scales": "requantization",
}


def _flash(encoded: Encoded) -> dict[str, int]:
    sections = encoded.sections
    parts: dict[str, int] = defaultdict(int)
    for call in encoded.calls:
        for constant in call.constants:
            name = _PARTS.get(constant.name, "constant operands")
            if call.opcode in (Opcode.LOOKUP, Opcode.LOOKUP_VECTORS):
                name = "lookup tables"
            parts[name] += 0 if constant.shared else constant.nbytes
    constants = sum(parts.values())
    records = sum(call.record_bytes for call in encoded.calls)
    return {
        **parts,
        "call records": records,
        "header and I/O descriptions": sections["header"] + sections["tensors"],
        "alignment": sections["constants"] - constants + sections["calls"] - records,
    }


def _io(value: Value, plan: MemoryPlan, names: Names) -> IoReport:
    return IoReport(
        name=names.in_text(value.name),
        dtype=value.element.value,
        shape=value.shape,
        layout=value.layout.value,
        scale=value.quant.scale[0] if value.quant else None,
        zero_point=value.quant.zero_point if value.quant else None,
        arena_offset=plan.offset_of(value),
    )


def _call(call: Call, encoded: Encoded, modules: Mapping[str, str], lines: Mapping[str, str]) -> CallReport:
    node, plan = call.node, encoded.plan
    price = call.choice.price
    return CallReport(
        index=call.index,
        op=node.op,
        kernel=call.choice.kernel.name,
        provider=call.choice.provider.name,
        why=call.choice.assignment.why,
        sources=node.sources,
        modules=origins_of(node, modules),
        lines=origins_of(node, lines),
        inputs=tuple(v.shape for v in node.inputs if not v.is_constant),
        input_types=tuple(v.element.value for v in node.inputs if not v.is_constant),
        outputs=tuple(value.shape for value in node.outputs),
        output_types=tuple(value.element.value for value in node.outputs),
        stored=tuple(_place(value, encoded) for value in node.outputs),
        macs=call.macs,
        scratch_bytes=call.scratch_bytes,
        constant_bytes=call.constant_bytes,
        live_bytes=plan.live_in(call.index),
        growth_bytes=None if price is None else price.flash_bytes,
        saved_instructions=None if price is None else price.saved_instructions,
        predicted_instructions=call.choice.instructions(encoded.target),
    )


def _place(value: Value, encoded: Encoded) -> str:
    home = encoded.plan.home_of(value)
    for index, output in enumerate(encoded.graph.outputs):
        if home.root is output:
            return f"output {index}" + (f"+{home.offset}" if home.offset else "")
    return f"{encoded.plan.name_of(encoded.plan.region_of(value))}+{encoded.plan.offset_of(value)}"
