"""Quantized inputs and outputs: `check_quantized_io` says before calibration whether a model can have them, and
`with_io` gives them to a quantized program, in the types of `IoTypes`. Inputs of booleans become int8, 0 and 1, in any
case: the bytes are the same.

The program then takes the results of its inputs' quantize nodes, and returns the operands of its outputs' dequantize
nodes. ExecuTorch's QuantizeInputs and QuantizeOutputs do this to an edge program, but only before it is partitioned,
and `to_edge_transform_and_lower` partitions at once. So this module changes the exported program before that.
`io_quants` gives the parameters that the caller then needs.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec, TensorArgument
from torch.fx import Graph, GraphModule, Node

from ..edge.context import is_index
from ..edge.naming import computed_in_float, described
from ..edge.nodes import DEQUANTIZE, QUANTIZE, element_type, operand, quant_of, quantized_element, target_name
from ..edge.torch_types import element_of
from ..format.element import COMMON_ELEMENT
from ..graph.tensor_type import Quant
from ..support.errors import UserError
from .decompose import decompose
from .io_types import FLOAT, QUANTIZED, IoTypes

# How booleans are read.
_BYTES = Quant((1.0,), 0)
# Of this package's recurrent layers.
_LAYERS = "cmsis_nn_delegate."
_ASSERTION = "aten._assert_tensor_metadata.default"


def check_quantized_io(prepared: GraphModule, types: IoTypes) -> None:
    """Checks a module of `prepare_pt2e`. UserError names an input that something reads in float or as another type
    than it is to have, or an output that stays float or has another type; also a name that nothing has. Inputs and
    outputs of integers stay as they are, and states of recurrent layers that have more bits stay in float."""
    inputs = [node for node in prepared.graph.nodes if node.op == "placeholder"]
    types.require_names([node.name for node in inputs], len(_results(prepared.graph)))
    for node in inputs:
        io = types.of_input(node.name)
        if is_index(node) or _is_bool(node) or io in (FLOAT, QUANTIZED):
            continue
        if not node.users:
            raise _refused(f"input {node.name}", io, "nothing reads it")
        for user in node.users:
            if not _observes(user):
                what = described(user) if user.op != "output" else "the model's output, which returns it"
                raise _refused(f"input {node.name}", io, f"it is read by {what}", user)
            if _observed(user) != io and not (_keeps_states(io) and all(_is_layer(reader) for reader in user.users)):
                raise _other_type(f"input {node.name}", io, _observed(user))
    for index, node in enumerate(_results(prepared.graph)):
        io = types.of_output(index)
        if is_index(node) or io in (FLOAT, QUANTIZED):
            continue
        if not _observes(node):
            raise _refused(f"output {index} ({node.name})", io, f"it comes from {described(node)}", node)
        if _observed(node) != io and not (_keeps_states(io) and _is_layer(operand(node))):
            raise _other_type(f"output {index} ({node.name})", io, _observed(node))


def _keeps_states(io: str) -> bool:
    """Returns whether states of recurrent layers that have more bits than `io` stay in float."""
    return bool(io == COMMON_ELEMENT.value)


def _results(graph: Graph) -> list[Node]:
    """Returns the results of a program."""
    returned: Any = graph.output_node().args[0]
    return list(returned)


def _observes(node: Node) -> bool:
    """Returns whether convert_pt2e will quantize and dequantize here."""
    if node.op != "call_module":
        return False
    module = node.graph.owning_module
    return module is not None and hasattr(module.get_submodule(str(node.target)), "calculate_qparams")


def _observed(node: Node) -> str:
    """Returns the type that convert_pt2e will quantize to here."""
    module: Any = node.graph.owning_module
    return element_type(module.get_submodule(str(node.target)).dtype)


def _is_layer(node: Node) -> bool:
    """Returns whether it is a recurrent layer, whose states may have more bits than other tensors."""
    return str(node.target).startswith(_LAYERS)


def _refused(what: str, io: str, cause: str, in_float: Optional[Node] = None) -> UserError:
    """`in_float`: what stays in float, which `cause` ends with."""
    advice = "use float inputs and outputs, or operators that are quantized"
    if in_float is not None and computed_in_float(in_float):
        cause += ", which computes in float32, as `format: float32` says"
        advice = f"ask for {QUANTIZED}, which leaves it in float (`--io {QUANTIZED}`), or give that another format"
    elif in_float is not None:
        cause += ", which stays in float"
    return UserError(f"{what} cannot become {io}: {cause}; {advice}", exit_code=1)


def _other_type(what: str, io: str, found: str) -> UserError:
    return UserError(
        f"{what} cannot become {io}: it is quantized to {found}; ask for float, {found} or {QUANTIZED} here, or give "
        f"what reads or computes it the format {io}",
        exit_code=1,
    )


def io_quants(program: ExportedProgram) -> tuple[list[Optional[Quant]], list[Optional[Quant]]]:
    """Returns the parameters of each user input and output of a quantized program; None for those that
    are not quantized. They are the same before and after `with_io`."""
    inputs = [_input_quant(node) for node in _user_inputs(program)]
    outputs = [_output_quant(node) for _, _, node in _user_outputs(program)]
    return inputs, outputs


def with_io(program: ExportedProgram, types: IoTypes) -> ExportedProgram:
    """Returns a decomposed copy of `program` with inputs and outputs of these types. What is quantized to another type
    stays in float, as states of recurrent layers with more bits do; `check_quantized_io` refuses the rest.

    ValueError names an input that cannot have its type because something reads it in float, or such an output because
    it is not dequantized.
    """
    program = decompose(program)
    inputs = _user_inputs(program)
    types.require_names([node.name for node in inputs], len(_user_outputs(program)))
    for node in inputs:
        _take_bytes(node)
        if types.of_input(node.name) != FLOAT:
            _quantize_input(node, types.of_input(node.name))
    _quantize_outputs(program, types)
    graph = program.graph_module.graph
    graph.eliminate_dead_code()
    graph.lint()
    program.graph_module.recompile()
    return program


def _take_bytes(node: Node) -> None:
    """Makes an input of booleans one of int8, 0 and 1, if that is all that is read of it."""
    if not _is_bool(node):
        return
    for user in list(node.users):
        if target_name(user) == _ASSERTION:
            node.graph.erase_node(user)
    quantizes = [quantize for conversion in node.users for quantize in conversion.users]
    of_bytes = [
        quantize for quantize in quantizes if target_name(quantize) == QUANTIZE and quant_of(quantize) == _BYTES
    ]
    if not quantizes or len(of_bytes) < len(quantizes) or not all(conversion.users for conversion in node.users):
        return
    node.meta["val"] = quantizes[0].meta["val"].new_empty(node.meta["val"].shape)
    for quantize in quantizes:
        quantize.replace_all_uses_with(node)


def _is_bool(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def _quantize_input(node: Node, io: str) -> None:
    if _is_quantized(node) or is_index(node) or _is_bool(node):
        return
    if node.users and all(_is_other_type(user, io) for user in node.users):
        return
    quant = _input_quant(node)
    if quant is None and io == QUANTIZED:
        return
    if quant is None:
        readers = ", ".join(f"{user.name} ({target_name(user) or user.op})" for user in node.users)
        raise ValueError(
            f"input {node.name} cannot become {io}: it is read by {readers or 'nothing'}, not by "
            "quantize nodes of one scale and zero point; use float inputs and outputs, or have "
            "its readers quantized"
        )
    quantizes = list(node.users)
    node.meta["val"] = quantizes[0].meta["val"]
    for quantize in quantizes:
        quantize.replace_all_uses_with(node)


def _user_inputs(program: ExportedProgram) -> list[Node]:
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = program.graph_signature.input_specs
    return [n for n, spec in zip(placeholders, specs) if spec.kind is InputKind.USER_INPUT]


def _user_outputs(program: ExportedProgram) -> list[tuple[int, OutputSpec, Node]]:
    """Returns (position, spec, node) of each user output."""
    results = _results(program.graph)
    pairs = enumerate(zip(program.graph_signature.output_specs, results))
    return [(i, spec, node) for i, (spec, node) in pairs if spec.kind is OutputKind.USER_OUTPUT]


def _quantize_outputs(program: ExportedProgram, types: IoTypes) -> None:
    output = program.graph.output_node()
    results = _results(program.graph)
    for number, (index, spec, node) in enumerate(_user_outputs(program)):
        io = types.of_output(number)
        if io == FLOAT or _is_quantized(node) or is_index(node) or _is_other_type(node, io):
            continue
        if _output_quant(node) is None and io == QUANTIZED:
            continue
        if _output_quant(node) is None:
            raise ValueError(
                f"output {index} ({node.name}) cannot become {io}: it comes from "
                f"{target_name(node) or node.op}, not from a dequantize; use float inputs and "
                "outputs, or have what computes it quantized"
            )
        results[index] = operand(node)
        spec.arg = TensorArgument(name=results[index].name)
    output.args = (tuple(results),)


def _is_other_type(node: Node, io: str) -> bool:
    """Returns whether it quantizes to another type of activations than `io`, or dequantizes one."""
    if io == QUANTIZED:
        return False
    if target_name(node) not in (QUANTIZE, DEQUANTIZE) or quant_of(node) is None:
        return False
    element = quantized_element(node)
    return element is not None and element.value != io


def _is_quantized(node: Node) -> bool:
    value = node.meta.get("val")
    element = element_of(value.dtype) if isinstance(value, torch.Tensor) else None
    return element is not None and element.is_activation


def _input_quant(node: Node) -> Optional[Quant]:
    wanted = DEQUANTIZE if _is_quantized(node) else QUANTIZE
    if not node.users or any(target_name(user) != wanted for user in node.users):
        return None
    quants = {quant_of(user) for user in node.users}
    return quants.pop() if len(quants) == 1 else None


def _output_quant(node: Node) -> Optional[Quant]:
    if target_name(node) in (DEQUANTIZE, QUANTIZE):
        return quant_of(node)
    return _input_quant(node) if _is_quantized(node) else None
