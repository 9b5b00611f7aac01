"""Copies of models that leave the original as it is, without holding its weights twice."""

from __future__ import annotations

import copy
import operator
from typing import Union

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule

from ..support.errors import UserError, users_code
from ..support.finite import require_finite
from .in_place import frozen_nodes

Model = Union[torch.nn.Module, ExportedProgram]


def private_copy(model: Model) -> Model:
    """Returns a copy of the caller's model that may be exported, but not run: it has its own buffers and shares the
    parameters.

    UserError if `model` cannot be copied.
    """
    # torch.export does not take parameters that were made in inference mode.
    memo: dict[int, torch.Tensor] = {
        id(parameter): torch.nn.Parameter(parameter.clone(), False) if parameter.is_inference() else parameter
        for parameter in model.parameters()
    }
    if isinstance(model, torch.nn.Module):
        # Old-style weight_norm and the like keep results of earlier computations, which refuse to be copied.
        for module in model.modules():
            for value in vars(module).values():
                if isinstance(value, torch.Tensor) and not value.is_leaf:
                    memo[id(value)] = value.detach().clone()
    with users_code("the model cannot be copied with copy.deepcopy, which keeps the caller's one as it is"):
        return copy.deepcopy(model, memo)


def runnable_copy(module: GraphModule) -> GraphModule:
    """Returns a copy of `module` that may be run: it shares what its graph does not write."""
    read = {str(node.target): node for node in module.graph.nodes if node.op == "get_attr"}
    frozen = frozen_nodes(module.graph)
    shared = {name: value for name, value in module.named_parameters() if name not in read}
    shared |= {name: operator.attrgetter(name)(module) for name, node in read.items() if node in frozen}
    return copy.deepcopy(module, {id(value): value for value in shared.values()})


def require_finite_weights(program: ExportedProgram) -> None:
    """UserError names a parameter that holds NaN or infinity, or a buffer or constant that holds NaN, if
    the program reads it. Infinite buffers are allowed: they mask attention."""
    placeholders = (node for node in program.graph.nodes if node.op == "placeholder")
    for node, spec in zip(placeholders, program.graph_signature.input_specs):
        if not node.users or spec.target is None:
            continue
        value = program.state_dict.get(spec.target, program.constants.get(spec.target))
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            continue
        if spec.kind is not InputKind.PARAMETER and not value.isnan().any():
            continue
        require_finite(value.detach().float().cpu().numpy(), f"{spec.target} of the model")


def require_separate_inputs(program: ExportedProgram) -> None:
    """UserError if `program` was exported with one tensor object for several inputs: torch.export then
    takes all of them from one, and ignores the others."""
    seen: dict[int, str] = {}
    arguments = program.example_inputs[0] if program.example_inputs else ()
    for name, value in zip(program.graph_signature.user_inputs, arguments):
        if isinstance(value, torch.Tensor):
            first = seen.setdefault(id(value), name)
            if first != name:
                raise UserError(
                    f"inputs {first} and {name} of the exported program were given as one tensor object, so "
                    "that it ignores one of them: export the model with a tensor for each"
                )
