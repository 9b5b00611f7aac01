"""Gives recurrent layers that are not delegated back to PyTorch's operators, which ExecuTorch decomposes."""

from __future__ import annotations

from collections.abc import Callable

from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.recurrent_ops import LAYERS
from ..quantization.rewriting import expand


def spell_out_layers(program: ExportedProgram, taken: Callable[[Node], bool]) -> bool:
    """Rewrites the calls of `edge.recurrent_ops` in `program` for which `taken` is false. Returns whether there were
    any."""
    refused = [node for node in program.graph.nodes if node.target in LAYERS and not taken(node)]
    for node in refused:
        (result,) = expand(node, LAYERS[node.target])
        node.replace_all_uses_with(result)
        program.graph.erase_node(node)
    if refused:
        program.graph.lint()
        program.graph_module.recompile()
    return bool(refused)
