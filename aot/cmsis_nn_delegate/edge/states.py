"""The states of a functional program, which are buffers that it returns new values for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node


def copy_held_states(program: ExportedProgram, clone: Callable[[Node], Node]) -> None:
    """Makes `program` return a `clone` of a state's old value, where that becomes another state or is an output.

    What a program returns for states is written to them at the end, one after the other. PyTorch, in the module that it
    makes of the program, reads old values while it does that, and finds what was written before. ExecuTorch takes a
    state that becomes the old value of another one for a state that does not change."""
    signature, output = program.graph_signature, program.graph.output_node()
    returned: Any = output.args[0]
    results: list[Node] = list(returned)
    mutated = set(signature.buffers_to_mutate.values())
    for index, (spec, result) in enumerate(zip(signature.output_specs, results)):
        held = signature.inputs_to_buffers.get(getattr(result, "name", ""))
        moves = spec.kind is OutputKind.BUFFER_MUTATION or held in mutated
        if held is None or held == spec.target or not moves:
            continue
        with program.graph.inserting_before(output):
            results[index] = clone(result)
        results[index].meta = {"val": result.meta["val"].clone()}
        spec.arg.name = results[index].name
    output.args = (tuple(results),)
    program.graph_module.recompile()
