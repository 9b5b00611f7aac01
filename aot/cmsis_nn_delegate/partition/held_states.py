"""States that a delegate call holds itself: `tag_held_states` says which, `held_states` reads them from its program.

A state is a buffer that forward writes. A call can hold one that it alone reads and writes, and reads as integers with
one scale: then it keeps the numbers that the next inference reads, and nothing of the state crosses its border.
ExecuTorch holds the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, Optional

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node

from ..edge.nodes import DEQUANTIZE, QUANTIZE, quant_of, quantized_element, target_name
from ..graph.tensor_type import Element, Quant

_TAG = "delegation_tag"


class HeldState(NamedTuple):
    """`read` is the placeholder of the buffer `target`, `result` the node of its new value."""

    target: str
    read: Node
    result: Node
    element: Element
    quant: Quant


def tag_held_states(program: ExportedProgram) -> None:
    """Gives each state of a partitioned program that a call can hold the tag of that call."""
    for state in returned_once(program):
        tags = {node.meta.get(_TAG) for node in (state.result, *_readers(state))}
        if len(tags) == 1 and None not in tags:
            state.read.meta[_TAG] = tags.pop()


def states_without_border(program: ExportedProgram, inside: Collection[Node]) -> set[Node]:
    """Returns the placeholders and results of the states that a call with the nodes `inside` would hold, which are
    neither inputs nor outputs of it."""
    found: set[Node] = set()
    for state in returned_once(program):
        if state.result in inside and all(reader in inside for reader in _readers(state)):
            found |= {state.read, state.result}
    return found


def separate_new_states(program: ExportedProgram) -> None:
    """Gives each new value of a state that is dequantized, and is another result of `program` too, a dequantize of its
    own: ExecuTorch lets a call hold a state only if nothing else returns its new value."""
    output = program.graph.output_node()
    returned: Any = output.args[0]
    results: list[Any] = list(returned)
    for index, spec in enumerate(program.graph_signature.output_specs):
        result = results[index]
        if (
            spec.kind is not OutputKind.BUFFER_MUTATION
            or target_name(result) != DEQUANTIZE
            or results.count(result) == 1
        ):
            continue
        with program.graph.inserting_after(result):
            results[index] = program.graph.node_copy(result)
        spec.arg.name = results[index].name
    output.args = (type(returned)(results),)
    program.graph_module.recompile()


def held_states(program: ExportedProgram) -> Iterator[HeldState]:
    """Yields the states of `program` that are integers with one scale, which those of a delegate's program are: what is
    written to them, or else what they are read as. Other readers quantize what was held once more."""
    signature = program.graph_signature
    placeholders = {target: node for node, target in _buffers(program)}
    returned: Any = program.graph.output_node().args[0]
    for spec, result in zip(signature.output_specs, returned):
        if spec.kind is not OutputKind.BUFFER_MUTATION or spec.target not in placeholders:
            continue
        read = placeholders[spec.target]
        found = _type_written(result) or _type_read(read)
        if found is not None and result is not read:
            yield HeldState(spec.target, read, result, *found)


def _readers(state: HeldState) -> Iterator[Node]:
    """Yields what reads the old value, and the new one, within an inference."""
    yield from state.read.users
    yield from (user for user in state.result.users if user.op != "output")


def returned_once(program: ExportedProgram) -> Iterator[HeldState]:
    """Yields the states whose new value is no other result of `program`."""
    returned: Any = program.graph.output_node().args[0]
    results: list[Any] = list(returned)
    for state in held_states(program):
        if results.count(state.result) == 1:
            yield state


def initial_data(program: ExportedProgram, state: HeldState) -> torch.Tensor:
    """Returns what the buffer of `state` holds before the first inference."""
    found: Optional[torch.Tensor] = program.state_dict.get(state.target)
    if found is None:
        found = program.constants[state.target]
    return found


def _buffers(program: ExportedProgram) -> Iterator[tuple[Node, str]]:
    targets = program.graph_signature.inputs_to_buffers
    for node in program.graph.find_nodes(op="placeholder"):
        if node.name in targets:
            yield node, targets[node.name]


def _type_of(node: Node) -> Optional[tuple[Element, Quant]]:
    """Returns what a quantize makes, or a dequantize reads."""
    quant, element = quant_of(node), quantized_element(node)
    return None if quant is None or element is None else (element, quant)


def _type_written(result: Node) -> Optional[tuple[Element, Quant]]:
    return _type_of(result) if target_name(result) == DEQUANTIZE else None


def _type_read(read: Node) -> Optional[tuple[Element, Quant]]:
    found = {_type_of(user) if target_name(user) == QUANTIZE else None for user in read.users}
    return found.pop() if len(found) == 1 else None
