"""Leaves out ExecuTorch's passes that would change nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap
from executorch.exir.passes.memory_format_ops_pass import MemoryFormatOpsPass
from executorch.exir.passes.normalize_transpose_pass import NormalizeTransposePass
from executorch.exir.passes.remove_mixed_type_operators import RemoveMixedTypeOperators
from executorch.exir.passes.replace_broken_ops_with_function_ops_pass import ReplaceBrokenOpsWithFunctionalOpsPass
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass
from executorch.exir.passes.sym_to_tensor_pass import SymToTensorPass
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult


def _is_transposition(node: Node) -> bool:
    return node.target is torch.ops.aten.t.default


def _is_view(node: Node) -> bool:
    return bool(getattr(node.target, "is_view", False))


def _has_dim_order(node: Node) -> bool:
    return node.target in DimOrderOpsMap


def _is_symbol(node: Node) -> bool:
    return isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool))


def _takes_a_number_as_tensor(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return False
    for index, argument in enumerate(schema.arguments):
        value = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
        if isinstance(value, (float, int, bool)) and isinstance(argument.type, torch.TensorType):
            return True
    return False


def _mixes_types(node: Node) -> bool:
    """Whether operands may have to be converted. Operands that are all of one type of real numbers never have to."""
    if getattr(node.target, "namespace", None) != "aten":
        return False
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    types = {value.dtype if isinstance(value, torch.Tensor) else None for value in values}
    return len(node.args) > 1 and types != {torch.float32}


# Each of these passes asks this of a node, and passes on the nodes of which it is not true.
_CHANGES: Mapping[type[Any], Callable[[Node], bool]] = {
    NormalizeTransposePass: _is_transposition,
    ReplaceBrokenOpsWithFunctionalOpsPass: _is_view,
    ScalarToTensorPass: _takes_a_number_as_tensor,
    SymToTensorPass: _is_symbol,
    RemoveMixedTypeOperators: _mixes_types,
    MemoryFormatOpsPass: _has_dim_order,
}


def _nodes(module: GraphModule) -> Iterator[Node]:
    """Yields the nodes of a graph and of the bodies of its branches and loops."""
    for part in module.modules():
        if isinstance(part, GraphModule):
            yield from part.graph.nodes


@contextlib.contextmanager
def needed_passes() -> Iterator[None]:
    """Inside this context, ExecuTorch runs some of its passes only on graphs of which they change a node. Each
    interprets the whole graph with tensors that have no data and builds it anew, and most find nothing: a sixth of the
    time of lowering."""
    saved = {kind: vars(kind).get("call") for kind in _CHANGES}
    for kind, changes in _CHANGES.items():
        kind.call = _call_if_needed(kind.call, changes)
    try:
        yield
    finally:
        for kind, call in saved.items():
            if call is None:
                del kind.call
            else:
                kind.call = call


def _call_if_needed(call: Callable[[Any, GraphModule], PassResult], changes: Callable[[Node], bool]) -> Any:
    def call_if_needed(self: Any, module: GraphModule) -> PassResult:
        return call(self, module) if any(map(changes, _nodes(module))) else PassResult(module, False)

    return call_if_needed
