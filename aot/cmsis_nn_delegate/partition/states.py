"""Makes ExecuTorch keep the state of a model from one inference to the next as PyTorch does: `keep_state`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from executorch.exir.dialects._ops import ops as edge_ops
from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.states import copy_held_states


def keep_state(program: ExportedProgram) -> None:
    """Changes an edge program, from which ExecuTorch's program will be written."""
    _keep_initial_values(program)
    copy_held_states(program, _clone, _viewed)


def _keep_initial_values(program: ExportedProgram) -> None:
    """By default ExecuTorch stores only the shape of buffers that inferences change."""
    signature = program.graph_signature
    for node in program.graph.nodes:
        if signature.inputs_to_buffers.get(node.name) in signature.buffers_to_mutate.values():
            node.meta["et_init_buffer"] = True


def _clone(node: Node) -> Node:
    order = list(node.meta["val"].dim_order())
    return node.graph.call_function(edge_ops.edge.dim_order_ops._clone_dim_order.default, (node,), {"dim_order": order})


def _viewed(node: Node) -> Iterator[Node]:
    """Of the copies that an edge program makes, ExecuTorch turns those of `view_copy` into views."""
    if node.target is edge_ops.edge.aten.view_copy.default:
        source: Any = node.args[0]
        yield source
