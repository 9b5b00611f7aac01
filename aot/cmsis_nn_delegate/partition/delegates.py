"""The delegate calls of a partitioned edge program.

ExecuTorch numbers the inputs and outputs of a partition in the order in which it meets them. If the whole model is
one partition, `take_model_order` gives the call the model's numbering instead, so that the same payload serves the
.pte and firmware without ExecuTorch.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind, OutputSpec, TensorArgument
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from ..payload.encode import Encoded
from .backend import CmsisNnBackend, debug_handles
from .exir import CompileSpec, EdgeProgramManager, LoweredBackendModule


@dataclass(frozen=True)
class Delegate:
    """A partition: `name` is its attribute in the edge program's module."""

    name: str
    module: LoweredBackendModule

    @property
    def program(self) -> ExportedProgram:
        """Returns what the delegate computes, as a separate edge program."""
        program: ExportedProgram = self.module.original_module
        return program


def delegates(edge: EdgeProgramManager) -> list[Delegate]:
    """Returns the partitions that went to this delegate, in order."""
    found = []
    for name, part in edge.exported_program().graph_module.named_children():
        if isinstance(part, LoweredBackendModule) and part.backend_id == CmsisNnBackend.__name__:
            found.append(Delegate(name, part))
    return found


def put_payload(edge: EdgeProgramManager, delegate: Delegate, encoded: Encoded, specs: Sequence[CompileSpec]) -> None:
    """Makes `encoded` the .pte's data for `delegate`; `specs` are those of `preprocess`."""
    module = LoweredBackendModule(delegate.program, CmsisNnBackend.__name__, encoded.payload, list(specs))
    module.meta = {"debug_handle_map": debug_handles(encoded.graph)}
    setattr(edge.exported_program().graph_module, delegate.name, module)


def obstacle(edge: EdgeProgramManager) -> str:
    """Returns why the program is not just one delegate call with the model's inputs and outputs; "" if it is."""
    program = edge.exported_program()
    signature = program.graph_signature
    names = {delegate.name for delegate in delegates(edge)}
    calls: list[Node] = []
    outside: list[str] = []
    for node in program.graph.nodes:
        if node.op == "get_attr" and node.target in names:
            calls += node.users
        elif node.op == "call_function" and node not in calls and "getitem" not in str(node.target):
            outside.append(node.name)
    if outside:
        stay = "1 node stays" if len(outside) == 1 else f"{len(outside)} nodes stay"
        return f"{stay} outside of the delegate: {', '.join(outside[:5])}"
    if not calls:
        return "there is nothing in it for the delegate to compute"
    if len(calls) != 1:
        return f"the model became {len(calls)} delegate calls"
    arguments, results = _names(calls[0])
    for name in signature.user_inputs:
        if name not in arguments:
            return f"input {name} is not used"
    for index, name in enumerate(signature.user_outputs):
        if name not in results:
            kind = "an input" if name in signature.user_inputs else "a constant"
            return f"output {index} is {kind}, {name}, and not computed by the delegate"
    state = [name for name in arguments if name not in signature.user_inputs]
    if state:
        return f"it keeps {', '.join(state)} from one inference to the next"
    return ""


def _names(call: Node) -> tuple[list[str], dict[str, int]]:
    """Returns the names of a call's arguments, in order, and which result each of its readers takes."""
    arguments: tuple[Any, ...] = call.args[1:]
    results: dict[str, Any] = {node.name: node.args[1] for node in call.users}
    return [node.name for node in arguments], results


def take_model_order(edge: EdgeProgramManager) -> None:
    """Gives the only call of a program without `obstacle` the inputs and outputs of the model, in the model's order;
    an output that the model returns twice becomes two. Removes the model's state, because nothing reads it.

    Only the numbering changes, not what is computed, nor the order of the computation.
    """
    program = edge.exported_program()
    _drop_state(program)
    (delegate,) = delegates(edge)
    (call,) = (node for node in program.graph.nodes if node.op == "call_function" and node.args[0].op == "get_attr")
    arguments, results = _names(call)
    signature = program.graph_signature
    inputs = [arguments.index(name) for name in signature.user_inputs]
    outputs = [results[name] for name in signature.user_outputs]
    if inputs == list(range(len(arguments))) and outputs == list(range(len(results))):
        return
    part = LoweredBackendModule(
        _in_order(delegate.program, inputs, outputs),
        CmsisNnBackend.__name__,
        delegate.module.processed_bytes,
        delegate.module.compile_specs,
    )
    part.meta = delegate.module.meta
    setattr(program.graph_module, delegate.name, part)
    call.args = (call.args[0], *(call.args[1 + index] for index in inputs))
    call.meta["val"] = [call.meta["val"][index] for index in outputs]
    _read_in_order(program, call)
    program.graph_module.recompile()


def _drop_state(program: ExportedProgram) -> None:
    """Removes the writes to buffers."""
    signature, output = program.graph_signature, program.graph.output_node()
    pairs = list(zip(signature.output_specs, output.args[0]))
    kept = [(spec, node) for spec, node in pairs if spec.kind is not OutputKind.BUFFER_MUTATION]
    if len(kept) < len(pairs):
        signature.output_specs = [spec for spec, _ in kept]
        output.args = (type(output.args[0])(node for _, node in kept),)


def _read_in_order(program: ExportedProgram, call: Node) -> None:
    """Makes result i of `call` output i of the program."""
    graph, output = program.graph, program.graph.output_node()
    old = list(call.users)
    metas = {node.name: node.meta for node in old}
    with graph.inserting_before(output):
        readers = [graph.call_function(operator.getitem, (call, index)) for index in range(len(output.args[0]))]
    for reader, node, spec in zip(readers, output.args[0], program.graph_signature.output_specs):
        reader.meta = copy.copy(metas[node.name])
        spec.arg = TensorArgument(name=reader.name)
    output.args = (type(output.args[0])(readers),)
    for node in old:
        graph.erase_node(node)


def _in_order(program: ExportedProgram, inputs: Sequence[int], outputs: Sequence[int]) -> ExportedProgram:
    """`program` with other numbers for its inputs and outputs: new input i is the old `inputs[i]`."""
    signature = program.graph_signature
    graph = Graph()
    copies: dict[Node, Node] = {}
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    pairs = list(zip(placeholders, signature.input_specs))
    constants = [pair for pair in pairs if pair[1].kind is not InputKind.USER_INPUT]
    user = [pair for pair in pairs if pair[1].kind is InputKind.USER_INPUT]
    in_order = constants + [user[index] for index in inputs]
    for node, _ in in_order:
        copies[node] = graph.node_copy(node)
    held = len(signature.buffers_to_mutate)  # the new values of states that the call holds come first
    returned = [*range(held), *(held + index for index in outputs)]
    for node in program.graph.nodes:
        if node.op == "output":
            results: Any = type(node.args[0])(copies[node.args[0][index]] for index in returned)
            graph.output(results).meta = node.meta
        elif node.op != "placeholder":
            copies[node] = graph.node_copy(node, copies.__getitem__)
    old = signature.output_specs
    output_specs = [OutputSpec(old[i].kind, copy.copy(old[i].arg), old[i].target) for i in returned]
    new = ExportGraphSignature([spec for _, spec in in_order], output_specs)
    flat = ModuleCallSignature(
        inputs=[],
        outputs=[],
        in_spec=pytree.tree_structure((tuple(new.user_inputs), {})),
        out_spec=pytree.tree_structure(new.user_outputs),
    )
    return ExportedProgram(
        root=program.graph_module,
        graph=graph,
        graph_signature=new,
        state_dict=program.state_dict,
        range_constraints=program.range_constraints,
        module_call_graph=[ModuleCallEntry("", flat)],
        constants=program.constants,
        verifiers=[program.verifier],
    )
