"""The states of a functional program, which are buffers that it returns new values for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node


def copy_held_states(
    program: ExportedProgram, clone: Callable[[Node], Node], aliased: Callable[[Node], Iterable[Node]]
) -> None:
    """Makes `program` return a `clone` of a state's old value, or of a part of it, where that becomes a state or is an
    output, and of a value that becomes a second state. `aliased` yields the arguments whose memory the result of a node
    may share.

    What a program returns for states is written to them at the end, one after the other. PyTorch, in the module that it
    makes of the program, reads old values while it does that, and finds what was written before. ExecuTorch takes a
    state that becomes the old value of another one for a state that does not change. Neither can tell two states that
    get the same value apart."""
    signature, output = program.graph_signature, program.graph.output_node()
    returned: Any = output.args[0]
    results: list[Node] = list(returned)
    mutated = set(signature.buffers_to_mutate.values())
    states: set[Node] = set()  # that have become one
    for index, (spec, result) in enumerate(zip(signature.output_specs, results)):
        if not isinstance(result, Node):
            continue
        becomes_state = spec.kind is OutputKind.BUFFER_MUTATION
        held = {signature.inputs_to_buffers.get(node.name) for node in _shares(result, aliased)} - {None}
        stays = becomes_state and signature.inputs_to_buffers.get(result.name) == spec.target
        second = becomes_state and result in states
        if becomes_state:
            states.add(result)
        if stays or not second and not (held if becomes_state else held & mutated):
            continue
        with program.graph.inserting_before(output):
            results[index] = clone(result)
        results[index].meta = {"val": result.meta["val"].clone()}
        spec.arg.name = results[index].name
    output.args = (tuple(results),)
    program.graph_module.recompile()


def _shares(node: Node, aliased: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Returns the nodes that `node` may share memory with, and were before it, and `node`."""
    found, pending = set(), [node]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += aliased(node)
    return found
