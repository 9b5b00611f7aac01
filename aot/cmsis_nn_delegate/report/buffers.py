"""What lies in each region of a payload's memory: where, how large, and during which calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..ops.registry import OPS, calls
from ..payload.encode import Encoded

# Regions. Others are called as the memories that were described to the compiler.
PERSISTENT = "persistent"


@dataclass(frozen=True)
class BufferReport:
    """A tensor or scratch memory. It takes `nbytes` bytes (not rounded up) of `region`, `offset` bytes from its start,
    from call `first` to call `last`, both inclusive. Buffers overlap where a kernel may write over what it has read,
    and where tensors are parts of others."""

    name: str  # for readers: the module that computes it, or the input's name, or "output"
    value: str  # in the lowered graph, "" for scratch memory
    kind: str  # "input", "output", "tensor", "scratch", "state", or "copy" of a constant, after the states
    region: str
    nbytes: int
    offset: int
    first: int
    last: int
    call: Optional[int]  # the one that writes it, None for inputs and states
    dtype: str  # "int8", "bytes" for scratch memory
    shape: tuple[int, ...]


def buffers_of(encoded: Encoded, modules: Mapping[str, str]) -> tuple[BufferReport, ...]:
    """Returns all buffers, by region and offset. `modules` are the user's by the names of edge nodes. With I/O kept by
    the caller, inputs and outputs lie in none of the payload's regions and are left out."""
    found = [
        *_tensors(encoded, modules),
        *_scratch(encoded, modules),
        *_states(encoded, modules),
        *_copies(encoded, modules),
    ]
    return tuple(sorted(found, key=lambda b: (b.region, b.offset, b.first, b.last)))


def origins_of(node: Node, origins: Mapping[str, str]) -> tuple[str, ...]:
    """Returns what `origins` has for the edge nodes that a node computes, each once, in the order of `origins`."""
    return tuple({origin: None for source, origin in origins.items() if source in node.sources})


def _label(node: Node, modules: Mapping[str, str]) -> str:
    # What a node mainly computes is its first source; what was fused with it follows.
    return next((modules[source] for source in node.sources if source in modules), node.op)


def _tensors(encoded: Encoded, modules: Mapping[str, str]) -> Iterator[BufferReport]:
    graph, plan = encoded.graph, encoded.plan
    for name, value, step in written(graph, modules):
        offset = plan.offset_of(value)
        if offset is None:
            continue
        first, last = plan.lifetime_of(value)
        kind = "input" if step is None else "output" if graph.is_output(value) else "tensor"
        yield BufferReport(
            name,
            value.name,
            kind,
            plan.name_of(plan.region_of(value)),
            value.nbytes,
            offset,
            first,
            last,
            step,
            value.element.value,
            value.shape,
        )


def written(graph: Graph, modules: Mapping[str, str]) -> Iterator[tuple[str, Value, Optional[int]]]:
    """Yields the name of every activation for readers, the activation, and the call that writes it, None for inputs."""
    for value in graph.inputs:
        yield value.name, value, None
    step = -1
    for node in graph.nodes:
        step += not OPS[node.op].only_places
        for value in node.outputs:
            name = _output_name(graph, value) if graph.is_output(value) else _label(node, modules)
            yield name, value, max(step, 0)


def _output_name(graph: Graph, value: Value) -> str:
    if len(graph.outputs) == 1:
        return "output"
    return f"output {next(i for i, output in enumerate(graph.outputs) if output is value)}"


def _scratch(encoded: Encoded, modules: Mapping[str, str]) -> Iterator[BufferReport]:
    for step, node in enumerate(calls(encoded.graph)):
        offset = encoded.plan.scratch_offset(step)
        if offset is None:
            continue
        nbytes = encoded.calls[step].scratch_bytes
        yield BufferReport(
            f"scratch of {_label(node, modules)}",
            "",
            "scratch",
            encoded.plan.name_of(encoded.plan.scratch_region(step)),
            nbytes,
            offset,
            step,
            step,
            step,
            "bytes",
            (nbytes,),
        )


def _states(encoded: Encoded, modules: Mapping[str, str]) -> Iterator[BufferReport]:
    last = max(len(encoded.calls) - 1, 0)
    seen: set[int] = set()
    for node in encoded.graph.nodes:
        for value in node.states:
            offset = encoded.plan.state_offset(value)
            if offset is None or id(value) in seen:
                continue
            seen.add(id(value))
            name = f"state of {_label(node, modules)}"
            yield BufferReport(
                name,
                value.name,
                "state",
                PERSISTENT,
                value.nbytes,
                offset,
                0,
                last,
                None,
                value.element.value,
                value.shape,
            )


def _copies(encoded: Encoded, modules: Mapping[str, str]) -> Iterator[BufferReport]:
    begin = len(encoded.payload) - encoded.sections["constants"] - encoded.plan.persistent_bytes
    for call in encoded.calls:
        for constant in call.constants:
            if constant.copied and not constant.shared:
                yield BufferReport(
                    f"{constant.name} of {_label(call.node, modules)}",
                    "",
                    "copy",
                    PERSISTENT,
                    constant.nbytes,
                    constant.offset - begin,
                    0,
                    max(len(encoded.calls) - 1, 0),
                    None,
                    "bytes",
                    (constant.nbytes,),
                )
