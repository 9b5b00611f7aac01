"""Brings recurrent layers (LSTM, GRU, RNN, and their cells) into the form that kernels compute: one layer in one
direction a call.

PyTorch's operators compute several layers, in one direction or both, and return the last states besides the results of
all steps. Here each layer and direction becomes a call of `edge.recurrent_ops`, of the results of the layer before; the
last hidden state is the result of the last step. The cell state is computed beside an LSTM, by a call that says to
calibration which range the cells have, and that `convert_pt2e` removes.

Layers that kernels do not compute are unrolled, up to `MAX_STEPS` steps, into linear layers, products, sums and
functions of numbers, which share their weights: those with a projection, with an initial state other than zeros, whose
last cell state is read, or that are trained with quantization."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch._decomp import decompositions
from torch.fx import GraphModule, Node

from ..edge import recurrent_ops
from .rewriting import constant_for, evaluated, expand, finish

aten = torch.ops.aten

# A payload lists the calls of all steps, up to twenty for each.
MAX_STEPS = 64


class Kind(NamedTuple):
    """How a layer of PyTorch is computed: step by step, and by which operator of ours."""

    unrolled: Callable[..., Any]
    layer: Any
    states: int  # of a layer: the hidden state, and the cells of an LSTM


KINDS: dict[Any, Kind] = {
    aten.lstm.input: Kind(decompositions.lstm_impl, recurrent_ops.LSTM, 2),
    aten.gru.input: Kind(decompositions.gru_impl, recurrent_ops.GRU, 1),
    aten.rnn_tanh.input: Kind(decompositions.rnn_tanh_input, recurrent_ops.RNN_TANH, 1),
    aten.rnn_relu.input: Kind(decompositions.rnn_relu_input, recurrent_ops.RNN_RELU, 1),
}


def separate_recurrent_layers(model: GraphModule, trained: bool = False) -> None:
    """Rewrites `model` as the module docstring says; `trained` if its weights will change. Layers that drop numbers out
    as in training stay, and so do longer ones that kernels do not compute."""
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in KINDS:
            continue
        layers = None if trained else _Layers.of(model, node)
        if layers is not None:
            layers.separate()
        elif _is_short(node):
            _unroll(node)
    finish(model)


class _Layers:
    """The layers of one call."""

    def __init__(self, model: GraphModule, node: Node) -> None:
        self._model, self._node, self._kind = model, node, KINDS[node.target]
        arguments: Any = node.args
        source, states, parameters, has_biases, layers, _, _, bidirectional, batch_first = arguments
        self._source: Node = source
        self._states: list[Node] = list(states) if isinstance(states, (list, tuple)) else [states]
        self._parameters: list[Node] = list(parameters)
        self._has_biases, self._layers = bool(has_biases), int(layers)
        self._directions = 2 if bidirectional else 1
        self._batch_first = bool(batch_first)

    @classmethod
    def of(cls, model: GraphModule, node: Node) -> Optional[_Layers]:
        """Returns the layers of `node` if kernels compute them."""
        *_, dropout, train, _, _ = node.args
        shape: Any = node.args[0].meta["val"].shape  # type: ignore[union-attr]  # a node
        layers = cls(model, node)
        return (
            layers
            if all(isinstance(n, int) for n in shape) and not (dropout and train) and layers._possible()
            else None
        )

    def _possible(self) -> bool:
        count = 4 if self._has_biases else 2
        if len(self._parameters) != count * self._layers * self._directions:
            return False  # with a projection
        if self._source.meta["val"].dim() != 3 or any(evaluated(self._model, p) is None for p in self._parameters):
            return False
        starts = [evaluated(self._model, state) for state in self._states]
        cells = any(user.args[1] == 2 and user.users for user in self._node.users)
        return all(start is not None and not start.any() for start in starts) and not cells

    def separate(self) -> None:
        """Replaces the call."""
        last = []
        x = self._source
        with self._node.graph.inserting_before(self._node):
            for layer in range(self._layers):
                results = [self._call(layer, direction, x) for direction in range(self._directions)]
                last += [self._last(result, direction) for direction, result in enumerate(results)]
                x = results[0] if len(results) == 1 else self._new(aten.cat.default, results, 2)
            for user in list(self._node.users):
                if user.target is not operator.getitem:
                    raise ValueError(f"{user.name} reads {self._node.name} as a whole")
                if user.users:
                    user.replace_all_uses_with(x if user.args[1] == 0 else self._stacked(last))
                self._node.graph.erase_node(user)
        self._node.graph.erase_node(self._node)  # which may drop numbers out, so that it would not count as dead

    def _call(self, layer: int, direction: int, x: Node) -> Node:
        count = 4 if self._has_biases else 2
        first = count * (layer * self._directions + direction)
        weights = self._parameters[first : first + count]
        rows, hidden = weights[1].meta["val"].shape
        batch = x.meta["val"].shape[0 if self._batch_first else 1]
        if not self._has_biases:
            weights += [self._constant("no_bias", (rows,))] * 2
        states = [self._constant(f"no_{name}", (batch, hidden)) for name in ("state", "cells")[: self._kind.states]]
        return self._new(self._kind.layer, x, *states, *weights, self._batch_first, direction == 1)

    def _last(self, result: Node, direction: int) -> Node:
        """Returns the result of the last step that is computed."""
        steps = int(self._batch_first)
        index = 0 if direction == 1 else result.meta["val"].shape[steps] - 1
        return self._new(aten.select.int, result, steps, index)

    def _stacked(self, last: Sequence[Node]) -> Node:
        rows = [self._new(aten.unsqueeze.default, state, 0) for state in last]
        return rows[0] if len(rows) == 1 else self._new(aten.cat.default, rows, 0)

    def _constant(self, what: str, shape: tuple[int, ...]) -> Node:
        return constant_for(self._model, self._node, what, torch.zeros(shape))

    def _new(self, target: Any, *arguments: Any) -> Node:
        call = self._node.graph.call_function(target, arguments)
        values: Any = torch.fx.node.map_arg(arguments, lambda node: node.meta["val"])
        call.meta = {**self._node.meta, "val": target(*values)}
        return call


def compute_cells(model: GraphModule) -> None:
    """Computes the cells of each LSTM beside it, where observers see them. Nothing reads them: `convert_pt2e` removes
    them."""
    for node in model.graph.find_nodes(op="call_function", target=recurrent_ops.LSTM):
        with node.graph.inserting_before(node):
            cells = node.graph.call_function(recurrent_ops.LSTM_CELLS, node.args)
        cells.meta = dict(node.meta)
    model.recompile()


def _is_short(node: Node) -> bool:
    source: Any = node.args[0]
    *_, dropout, train, _, batch_first = node.args
    shape = source.meta["val"].shape
    steps = shape[1 if batch_first else 0]
    return all(isinstance(size, int) for size in shape) and steps <= MAX_STEPS and not (dropout and train)


def _unroll(node: Node) -> None:
    target: Any = node.target
    # With oneDNN, PyTorch's decomposition of an LSTM would be one call of that library.
    with torch.backends.mkldnn.flags(enabled=False):
        results = expand(node, KINDS[target].unrolled)
    for user in list(node.users):
        if user.target is not operator.getitem:
            raise ValueError(f"{user.name} reads {node.name} as a whole")
        index: Any = user.args[1]
        user.replace_all_uses_with(results[index])
        node.graph.erase_node(user)
    node.graph.erase_node(node)  # which may drop numbers out, so that it would not count as dead
