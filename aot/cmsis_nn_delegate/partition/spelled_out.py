"""Gives recurrent layers and conditions that are not delegated back to PyTorch's operators, which ExecuTorch
decomposes."""

from __future__ import annotations

from collections.abc import Callable

from torch.export import ExportedProgram
from torch.fx import Node

from ..edge import condition_ops, leaky_ops, recurrent_ops
from ..quantization.rewriting import expand

_LAYERS = {**recurrent_ops.LAYERS, **leaky_ops.SUMS, **condition_ops.CONDITIONS}


def spell_out_layers(program: ExportedProgram, taken: Callable[[Node], bool]) -> bool:
    """Rewrites the calls of `edge.recurrent_ops`, `leaky_ops` and `condition_ops` in `program` for which `taken` is
    false. Returns whether there were any."""
    refused = [node for node in program.graph.nodes if node.target in _LAYERS and not taken(node)]
    for node in refused:
        (result,) = expand(node, _LAYERS[node.target])
        node.replace_all_uses_with(result)
        program.graph.erase_node(node)
    if refused:
        program.graph.lint()
        program.graph_module.recompile()
    return bool(refused)
