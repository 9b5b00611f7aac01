"""Computes recurrent layers (LSTM, GRU, RNN) step by step, with linear layers, products, sums and functions of numbers.

Each of these has a kernel and a scale of its own. The steps are those of PyTorch's own decomposition, which ExecuTorch
would use later, when they can no longer be quantized. The weights are shared by all steps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decompositions
from torch.fx import GraphModule, Node

from .rewriting import finish, inline

aten = torch.ops.aten

# A payload lists the calls of all steps, up to twenty for each.
MAX_STEPS = 64

RECURRENT_LAYERS: dict[Any, Callable[..., Any]] = {
    aten.lstm.input: decompositions.lstm_impl,
    aten.gru.input: decompositions.gru_impl,
    aten.rnn_tanh.input: decompositions.rnn_tanh_input,
    aten.rnn_relu.input: decompositions.rnn_relu_input,
}


def unroll_recurrent_layers(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says. Layers of more than `MAX_STEPS` steps stay, and those that drop
    numbers out as in training."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in RECURRENT_LAYERS and _is_short(node):
            _unroll(node)
    finish(model)


def _is_short(node: Node) -> bool:
    source: Any = node.args[0]
    *_, num_layers, dropout, train, _, batch_first = node.args
    shape = source.meta["val"].shape
    steps = shape[1 if batch_first else 0]
    return all(isinstance(size, int) for size in shape) and steps <= MAX_STEPS and not (dropout and train)


class _Steps(torch.nn.Module):
    """A layer as a function of its tensors alone."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self._node = node

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = dict(zip(self._node.all_input_nodes, tensors))
        args = torch.fx.node.map_arg(self._node.args, values.__getitem__)
        found: tuple[torch.Tensor, ...] = RECURRENT_LAYERS[self._node.target](*args)
        return found


def _unroll(node: Node) -> None:
    tensors = tuple(torch.zeros(source.meta["val"].shape) for source in node.all_input_nodes)
    # With oneDNN, PyTorch's decomposition of an LSTM would be one call of that library.
    with torch.backends.mkldnn.flags(enabled=False):
        steps = torch.export.export(_Steps(node), tensors).graph
    results = inline(node, steps)
    for user in list(node.users):
        if user.target is not operator.getitem:
            raise ValueError(f"{user.name} reads {node.name} as a whole")
        index: Any = user.args[1]
        user.replace_all_uses_with(results[index])
        node.graph.erase_node(user)
    node.graph.erase_node(node)  # which may drop numbers out, so that it would not count as dead
