"""Brings recurrent layers (LSTM, GRU, RNN, and their cells) into the form that kernels compute: one layer in one
direction a call.

PyTorch's operators compute several layers, in one direction or both, and return the last states besides the results of
all steps. Here each layer and direction becomes a call of `edge.recurrent_ops`, of the results of the layer before; the
last hidden state is the result of the last step, and a cell is a layer of one step. The cell state is computed beside
an LSTM, by a call that says to calibration which range the cells have, and that goes with calibration. Layers for
sequences of different lengths (`edge.sequence_ops`) become the same calls, with the lengths.

A GRU adds up small steps, and so do the cells of an LSTM: where they are kept for the next inference, in a buffer or by
the caller, they have 16 bits.

Layers that kernels do not compute are unrolled, up to `MAX_STEPS` steps, into linear layers, products, sums and
functions of numbers, which share their weights: a GRU with an initial state that may be beyond 1, and those that are
trained with quantization."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch._decomp import decompositions
from torch.fx import GraphModule, Node

from ..edge import recurrent_ops, sequence_ops
from .rewriting import constant_for, evaluated, expand, finish

aten = torch.ops.aten

# A payload lists the calls of all steps, up to twenty for each.
MAX_STEPS = 64


class Kind(NamedTuple):
    """How a layer of PyTorch is computed: step by step, if it can be, and by which operator of ours."""

    unrolled: Optional[Callable[..., Any]]
    layer: Any
    states: int  # of a layer: the hidden state, and the cells of an LSTM


KINDS: dict[Any, Kind] = {
    aten.lstm.input: Kind(decompositions.lstm_impl, recurrent_ops.LSTM, 2),
    aten.gru.input: Kind(decompositions.gru_impl, recurrent_ops.GRU, 1),
    aten.rnn_tanh.input: Kind(decompositions.rnn_tanh_input, recurrent_ops.RNN_TANH, 1),
    aten.rnn_relu.input: Kind(decompositions.rnn_relu_input, recurrent_ops.RNN_RELU, 1),
    sequence_ops.SEQUENCE_LSTM: Kind(None, recurrent_ops.LSTM, 2),
    sequence_ops.SEQUENCE_GRU: Kind(None, recurrent_ops.GRU, 1),
    sequence_ops.SEQUENCE_RNN_TANH: Kind(None, recurrent_ops.RNN_TANH, 1),
    sequence_ops.SEQUENCE_RNN_RELU: Kind(None, recurrent_ops.RNN_RELU, 1),
}


# Cells compute one step of these.
_LAYERS_OF_CELLS = {
    aten.lstm_cell.default: aten.lstm.input,
    aten.gru_cell.default: aten.gru.input,
    aten.rnn_tanh_cell.default: aten.rnn_tanh.input,
    aten.rnn_relu_cell.default: aten.rnn_relu.input,
}


def separate_recurrent_layers(model: GraphModule, trained: bool = False) -> None:
    """Rewrites `model` as the module docstring says; `trained` if its weights will change. Layers that drop numbers out
    as in training stay, and so do longer ones that kernels do not compute."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in _LAYERS_OF_CELLS:
            _make_layer(node)
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in KINDS:
            continue
        layers = None if trained else _Layers.of(model, node)
        if layers is not None:
            layers.separate()
        elif KINDS[node.target].unrolled is not None and _is_short(node):
            _unroll(node)
    finish(model)


class _Layers:
    """The layers of one call."""

    def __init__(self, model: GraphModule, node: Node) -> None:
        self._model, self._node, self._kind = model, node, KINDS[node.target]
        arguments: Any = node.args
        source, states, parameters, has_biases, layers, _, _, bidirectional, batch_first, *lengths = arguments
        self._source: Node = source
        self._lengths: list[Node] = lengths  # none, or one
        self._states: list[Node] = list(states) if isinstance(states, (list, tuple)) else [states]
        self._parameters: list[Node] = list(parameters)
        self._has_biases, self._layers = bool(has_biases), int(layers)
        self._directions = 2 if bidirectional else 1
        self._batch_first = bool(batch_first)
        self._weights = 4 if self._has_biases else 2
        if _is_projected(node):
            self._weights += 1
            self._kind = self._kind._replace(layer=recurrent_ops.LSTM_PROJECTED)

    @classmethod
    def of(cls, model: GraphModule, node: Node) -> Optional[_Layers]:
        """Returns the layers of `node` if kernels compute them."""
        layers = cls(model, node)
        return layers if _is_static(node) and layers._possible() else None

    def _possible(self) -> bool:
        if self._source.meta["val"].dim() != 3 or any(evaluated(self._model, p) is None for p in self._parameters):
            return False
        # The states of a GRU are results of tanh, or means of these and of the initial ones.
        return self._kind.layer is not recurrent_ops.GRU or _within_one(self._states[0], set())

    @property
    def _from_zeros(self) -> bool:
        starts = [evaluated(self._model, state) for state in self._states]
        return all(start is not None and not start.any() for start in starts)

    def separate(self) -> None:
        """Replaces the call."""
        calls: list[Node] = []
        x = self._source
        with self._node.graph.inserting_before(self._node):
            for layer in range(self._layers):
                calls += [self._call(layer, direction, x) for direction in range(self._directions)]
                results = calls[-self._directions :]
                x = results[0] if len(results) == 1 else self._new(aten.cat.default, results, 2)
            for user in list(self._node.users):
                if user.target is not operator.getitem:
                    raise ValueError(f"{user.name} reads {self._node.name} as a whole")
                if user.args[1] == 0:
                    user.replace_all_uses_with(x)
                    self._replace_last_steps(x)
                elif user.users:
                    self._replace_last(calls, user)
                self._node.graph.erase_node(user)
        self._node.graph.erase_node(self._node)  # which may drop numbers out, so that it would not count as dead

    def _call(self, layer: int, direction: int, x: Node) -> Node:
        index = layer * self._directions + direction
        weights = self._parameters[self._weights * index : self._weights * (index + 1)]
        rows, outputs = weights[1].meta["val"].shape
        batch = x.meta["val"].shape[0 if self._batch_first else 1]
        if not self._has_biases:
            weights[2:2] = [self._constant("no_bias", (rows,))] * 2
        if self._is_projected:
            weights.append(self._constant("no_units", (1,)))
        if self._from_zeros:
            sizes = {"state": outputs, "cells": rows // 4}
            states = [self._constant(f"no_{name}", (batch, sizes[name])) for name in list(sizes)[: self._kind.states]]
        elif self._layers * self._directions == 1:
            states = [self._new(aten.squeeze.dim, state, 0) for state in self._states]
        else:
            states = [self._new(aten.select.int, state, 0, index) for state in self._states]
        return self._new(self._kind.layer, x, *states, *weights, *self._order(direction == 1))

    @property
    def _is_projected(self) -> bool:
        return self._kind.layer is recurrent_ops.LSTM_PROJECTED

    def _order(self, reverse: bool) -> tuple[Any, ...]:
        """Returns the last arguments of a call: the order of its steps."""
        return self._batch_first, reverse, *self._lengths

    def _replace_last(self, calls: Sequence[Node], user: Node) -> None:
        """Replaces the states after the last steps of all `calls`, which `user` gives. Those of a GRU have 16 bits
        where they are kept for the next inference, and are results of the last steps for what computes with them."""
        if user.args[1] == 2:
            last = recurrent_ops.LSTM_PROJECTED_LAST if self._is_projected else recurrent_ops.LSTM_LAST
            user.replace_all_uses_with(self._stacked([self._new(last, call, *call.args) for call in calls]))
            return
        result = self._stacked([self._last_result(call) for call in calls])
        kept = result
        if self._kind.layer is recurrent_ops.GRU and not self._from_zeros:
            kept = self._stacked(
                [self._new(recurrent_ops.GRU_LAST, call, *self._order(self._reverses(call))) for call in calls]
            )
        replace_state(user, kept, result)

    def _replace_last_steps(self, result: Node) -> None:
        """The same for the last step of all, where it is read of the results of a GRU."""
        # After the last step of all, a sequence may have ended long ago.
        if result.target is not recurrent_ops.GRU or self._from_zeros or self._lengths or self._reverses(result):
            return
        time = int(self._batch_first)
        steps = result.meta["val"].shape[time]
        for reader in list(result.users):
            dim, first, *end = (
                reader.args[1:] if reader.target in (aten.select.int, aten.slice.Tensor) else (None, None)
            )
            if dim != time or first not in (-1, steps - 1) or any(stop < steps for stop in end[:1]):
                continue
            kept = self._new(recurrent_ops.GRU_LAST, result, *self._order(False))
            replace_state(
                reader,
                kept if reader.target is aten.select.int else self._new(aten.unsqueeze.default, kept, time),
                reader,
            )

    def _last_result(self, call: Node) -> Node:
        time = int(self._batch_first)
        if self._lengths and not self._reverses(call):
            return self._new(recurrent_ops.LAST_STEP, call, *self._lengths, self._batch_first)
        last = 0 if self._reverses(call) else call.meta["val"].shape[time] - 1
        return self._new(aten.select.int, call, time, last)

    def _reverses(self, call: Node) -> bool:
        return next(value for value in reversed(call.args) if isinstance(value, bool))

    def _stacked(self, states: Sequence[Node]) -> Node:
        rows = [self._new(aten.unsqueeze.default, state, 0) for state in states]
        return rows[0] if len(rows) == 1 else self._new(aten.cat.default, rows, 0)

    def _constant(self, what: str, shape: tuple[int, ...]) -> Node:
        return constant_for(self._model, self._node, what, torch.zeros(shape))

    def _new(self, target: Any, *arguments: Any) -> Node:
        call = self._node.graph.call_function(target, arguments)
        values: Any = torch.fx.node.map_arg(arguments, lambda node: node.meta["val"])
        call.meta = {**self._node.meta, "val": target(*values)}
        return call


# What only gives states another shape, or chooses one layer's.
_STATE_MOVES = frozenset(
    {
        aten.squeeze.dim,
        aten.squeeze.dims,
        aten.squeeze.default,
        aten.unsqueeze.default,
        aten.view.default,
        aten.reshape.default,
        aten.select.int,
        aten.clone.default,
        aten.contiguous.default,
        aten.detach.default,
    }
)


# Whose results are from -1 to 1.
_BOUNDED = frozenset(
    {
        aten.tanh.default,
        aten.sigmoid.default,
        aten.softmax.int,
        recurrent_ops.LSTM,
        recurrent_ops.GRU,
        recurrent_ops.GRU_LAST,
        recurrent_ops.RNN_TANH,
    }
)
_BOUNDED_LAYERS = frozenset(
    {
        aten.lstm.input,
        aten.gru.input,
        aten.rnn_tanh.input,
        sequence_ops.SEQUENCE_LSTM,
        sequence_ops.SEQUENCE_GRU,
        sequence_ops.SEQUENCE_RNN_TANH,
    }
)
_MOVES = _STATE_MOVES | {
    aten.cat.default,
    aten.stack.default,
    aten.slice.Tensor,
    aten.transpose.int,
    aten.permute.default,
    aten.flip.default,
    aten.expand.default,
    aten.repeat.default,
}


def _within_one(node: Node, seen: set[Node]) -> bool:
    """Returns whether `node` is known to be from -1 to 1; inputs of the model have to be."""
    model: Any = node.graph.owning_module
    if node in seen or node.op == "placeholder":
        return True
    seen.add(node)
    if node.op == "get_attr":
        written: list[Any] = [user.args[1] for user in node.users if user.target is aten.copy_.default]
        data = operator.attrgetter(str(node.target))(model)
        return float(data.detach().abs().max()) <= 1 and all(_within_one(value, seen) for value in written)
    source: Any = node.args[0] if node.args else None
    if node.target is operator.getitem and source.target in _BOUNDED_LAYERS:
        if node.args[1] == 2 or _is_projected(source):
            return False  # cells, or sums of the units
        start: Any = source.args[1]
        return KINDS[source.target].layer is not recurrent_ops.GRU or _within_one(start, seen)
    if node.target in _BOUNDED:
        return True
    if node.target is recurrent_ops.LAST_STEP:
        return _within_one(source, seen)
    found = evaluated(model, node)
    if found is not None:
        return float(found.abs().max()) <= 1
    return node.target in _MOVES and all(_within_one(value, seen) for value in node.all_input_nodes)


def _is_projected(node: Node) -> bool:
    """Returns whether a call of PyTorch's has a projection: whether its states have different sizes."""
    states: Any = node.args[1]
    return isinstance(states, (list, tuple)) and len({value_of(state).shape[-1] for state in states}) > 1


def replace_state(state: Node, kept: Node, result: Node) -> None:
    """Makes what reads `state` read `kept` instead where, through moves, that is only written to a buffer or returned;
    and `result` elsewhere. Moves become two, one of each."""
    for reader in list(state.users):
        if reader.op == "output" or reader.target is aten.copy_.default:
            reader.replace_input_with(state, kept)
        elif reader.target not in _STATE_MOVES:
            reader.replace_input_with(state, result)
        else:
            with state.graph.inserting_before(reader):
                moves = [state.graph.node_copy(reader, {state: source}.__getitem__) for source in (kept, result)]
            replace_state(reader, *moves)
            state.graph.erase_node(reader)


_BESIDE = {
    recurrent_ops.LSTM: (recurrent_ops.LSTM_CELLS,),
    recurrent_ops.LSTM_PROJECTED: (recurrent_ops.LSTM_PROJECTED_CELLS, recurrent_ops.LSTM_PROJECTED_UNITS),
}


def compute_cells(model: GraphModule) -> None:
    """Computes the cells of each LSTM beside it, and the units of one with a projection, where observers see them.
    Nothing reads them: `convert_pt2e` removes them."""
    for layer, beside in _BESIDE.items():
        for node in model.graph.find_nodes(op="call_function", target=layer):
            for target in beside:
                with node.graph.inserting_before(node):
                    call = node.graph.call_function(target, node.args)
                call.meta = dict(node.meta)
    model.recompile()


def _is_static(node: Node) -> bool:
    """Returns whether the shape of the sequence is fixed, and the layer drops no numbers out."""
    source: Any = node.args[0]
    dropout, train = node.args[5:7]
    return all(isinstance(size, int) for size in source.meta["val"].shape) and not (dropout and train)


def _is_short(node: Node) -> bool:
    source: Any = node.args[0]
    return _is_static(node) and source.meta["val"].shape[1 if node.args[8] else 0] <= MAX_STEPS


def _unroll(node: Node) -> None:
    target: Any = node.target
    # With oneDNN, PyTorch's decomposition of an LSTM would be one call of that library.
    unrolled = KINDS[target].unrolled
    assert unrolled is not None  # has been asked for
    with torch.backends.mkldnn.flags(enabled=False):
        results = expand(node, unrolled)
    for user in list(node.users):
        if user.target is not operator.getitem:
            raise ValueError(f"{user.name} reads {node.name} as a whole")
        index: Any = user.args[1]
        user.replace_all_uses_with(results[index])
        node.graph.erase_node(user)
    node.graph.erase_node(node)  # which may drop numbers out, so that it would not count as dead


def _make_layer(cell: Node) -> None:
    """Replaces a cell by a layer of one step."""
    arguments: Any = cell.args
    target: Any = cell.target
    source, given, *parameters = arguments
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    biased = len(parameters) == 4 and None not in parameters
    graph = cell.graph

    def new(target: Any, value: Any, *args: Any) -> Node:
        call: Node = graph.call_function(target, args)
        call.meta = {**cell.meta, "val": value}
        return call

    def unsqueezed(node: Node) -> Node:
        return new(aten.unsqueeze.default, value_of(node).unsqueeze(0), node, 0)

    with graph.inserting_before(cell):
        x, states = unsqueezed(source), [unsqueezed(state) for state in given]
        # Of their own memory: that of the states given would look like a view of them.
        last = [value_of(state).new_empty((1, *value_of(state).shape)) for state in given]
        layer = new(
            _LAYERS_OF_CELLS[target],
            (last[0], *last),
            x,
            states if len(states) > 1 else states[0],
            parameters if biased else parameters[:2],
            biased,
            1,  # layers
            0.0,  # dropout
            False,  # train
            False,  # bidirectional
            False,  # batch_first
        )
        results = []
        for index, value in enumerate(last, start=1):
            state = new(operator.getitem, value, layer, index)
            results.append(new(aten.squeeze.dim, value.squeeze(0), state, 0))
    if len(given) == 1:
        cell.replace_all_uses_with(results[0])
    for user in list(cell.users):
        which: Any = user.args[1]
        user.replace_all_uses_with(results[which])
        graph.erase_node(user)
    graph.erase_node(cell)


def value_of(node: Node) -> Any:
    """Returns the fake tensor of a node, or the parameter or buffer that it reads."""
    found = node.meta.get("val")
    if found is None and node.op == "get_attr":
        found = operator.attrgetter(str(node.target))(node.graph.owning_module)
    return found
