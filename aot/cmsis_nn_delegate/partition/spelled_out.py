"""Gives recurrent layers, sums, conditions and selections that are not delegated back to PyTorch's operators, which
ExecuTorch decomposes or has kernels for."""

from __future__ import annotations

from collections.abc import Callable

from torch.export import ExportedProgram
from torch.fx import Node

from ..edge import condition_ops, leaky_ops, recurrent_ops, selection_ops, sound_ops
from ..quantization.rewriting import expand

_LAYERS = {
    **recurrent_ops.LAYERS,
    **leaky_ops.SUMS,
    **sound_ops.NORMALIZATIONS,
    **condition_ops.CONDITIONS,
    **selection_ops.SELECTIONS,
}


def spell_out_layers(program: ExportedProgram, taken: Callable[[Node], bool]) -> bool:
    """Rewrites the calls of `_LAYERS` in `program` for which `taken` is false. Returns whether there were any."""
    refused = [node for node in program.graph.nodes if node.target in _LAYERS and not taken(node)]
    for node in refused:
        (result,) = expand(node, _LAYERS[node.target])
        node.replace_all_uses_with(result)
        program.graph.erase_node(node)
    if refused:
        program.graph.lint()
        program.graph_module.recompile()
    return bool(refused)
