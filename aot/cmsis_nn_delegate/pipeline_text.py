"""The results of the stages of `pipeline`, as readable text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union

from torch.export import ExportedProgram
from torch.fx import GraphModule

from .graph.ir import Graph
from .payload.encode import Encoded
from .selection.choose_kernels import Chosen
from .selection.planned import Planned
from .targets.target import Target


def program_text(program: Union[GraphModule, ExportedProgram]) -> str:
    """Returns a PyTorch program as Python code, with the shape and element type of every tensor."""
    module = program.graph_module if isinstance(program, ExportedProgram) else program
    return module.print_readable(print_output=False).strip()


def graphs_text(graphs: list[Graph]) -> str:
    """The graphs of all partitions."""
    return _parts([str(graph) for graph in graphs])


def plans_text(planned: Mapping[Target, list[Planned]]) -> str:
    """Returns, for each target, the arena of each partition: where every buffer lies, and in which calls it is live."""
    return _by_target({target: [_plan(part) for part in parts] for target, parts in planned.items()})


def payloads_text(encoded: Mapping[Target, list[Encoded]]) -> str:
    """Returns, for each target, the calls of each partition's payload, with their sizes."""
    return _by_target({target: [_payload(part) for part in parts] for target, parts in encoded.items()})


def choices_text(chosen: Mapping[Target, list[Chosen]]) -> str:
    """Returns, for each target, the kernel of each node, by partition."""
    return _by_target({target: [_choices(part) for part in parts] for target, parts in chosen.items()})


def _choices(chosen: Chosen) -> str:
    lines = ["kernels"]
    for choice in chosen.choices:
        why = f" ({choice.assignment.why})" if choice.assignment.why else ""
        lines.append(
            f"  %{choice.node.name}: {choice.kernel}: {choice.provider.name}{why}, scratch {choice.scratch_bytes}"
        )
    return "\n".join(lines)


def _plan(planned: Planned) -> str:
    memory = planned.memory
    lines = [f"arena of {memory.arena_bytes} bytes, no less than {memory.bound}"]
    lines += [f"{m.name} of {m.nbytes} bytes, no less than {m.bound}" for m in memory.memories[1:]]
    for buffer in sorted(memory.buffers, key=lambda buffer: (buffer.interval.first, buffer.offset)):
        where = f"{buffer.offset:>8} + {buffer.interval.size:<8}"
        region = f" in {memory.name_of(buffer.region)}" if buffer.region else ""
        lines.append(f"  {where} calls {buffer.interval.first:>3} to {buffer.interval.last:<3}  {buffer.name}{region}")
    return "\n".join(lines)


def _payload(encoded: Encoded) -> str:
    lines = [f"payload of {len(encoded.payload)} bytes"]
    for call in encoded.calls:
        inputs, outputs = (
            ", ".join(f"%{value.name}" for value in values) for values in (call.node.inputs, call.node.outputs)
        )
        lines.append(
            f"  {call.index:>3} {call.choice.kernel.name}({inputs}) -> {outputs}: record "
            f"{call.record_bytes}, constants {call.constant_bytes}, scratch {call.scratch_bytes}"
        )
    return "\n".join(lines)


def _by_target(parts: Mapping[Target, list[str]]) -> str:
    return "\n".join(f"{target.name}: {_parts(texts)}" for target, texts in parts.items())


def _parts(texts: list[str]) -> str:
    if not texts:
        return "nothing is delegated"
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"partition {index}: {text}" for index, text in enumerate(texts))
