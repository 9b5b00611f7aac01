"""Gives recurrent layers that are not delegated back to PyTorch's operators, which ExecuTorch decomposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.recurrent_ops import LAYERS
from ..quantization.rewriting import inline


def spell_out_layers(program: ExportedProgram, taken: Callable[[Node], bool]) -> bool:
    """Rewrites the calls of `edge.recurrent_ops` in `program` for which `taken` is false. Returns whether there were
    any."""
    refused = [node for node in program.graph.nodes if node.target in LAYERS and not taken(node)]
    for node in refused:
        tensors = tuple(torch.zeros(source.meta["val"].shape) for source in node.all_input_nodes)
        (result,) = inline(node, torch.export.export(_Layer(node), tensors).graph)
        node.replace_all_uses_with(result)
        program.graph.erase_node(node)
    if refused:
        program.graph.lint()
        program.graph_module.recompile()
    return bool(refused)


class _Layer(torch.nn.Module):
    """A layer as a function of its tensors alone."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self._node = node

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        values = dict(zip(self._node.all_input_nodes, tensors))
        arguments: Any = torch.fx.node.map_arg(self._node.args, values.__getitem__)
        target: Any = self._node.target
        found: torch.Tensor = LAYERS[target](*arguments)
        return found
