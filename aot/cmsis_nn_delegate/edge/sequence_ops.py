"""Recurrent layers of PyTorch for sequences of different lengths, as operators that torch.export can trace:
`torch.ops.cmsis_nn_delegate.sequence_lstm` and others.

    sequence_lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, lengths)
    sequence_gru, sequence_rnn_tanh, sequence_rnn_relu(...), with one tensor of states

They take what `torch.lstm` and others take for sequences that are all of one length, and `lengths`, integers [batch]
from 1 to the number of steps. They return what these return for a sequence that is packed with its lengths and padded
with zeros again to the number of steps: the results of all steps, and the last states of each sequence. Gradients are
those of PyTorch's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .own_ops import LIBRARY
from .recurrent_ops import (
    GRU,
    GRU_LAST,
    LAYERS,
    LSTM,
    LSTM_LAST,
    LSTM_PROJECTED,
    LSTM_PROJECTED_LAST,
    RNN_RELU,
    RNN_TANH,
)

_REST = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first, Tensor lengths)"
)


def _layers(
    kind: Any,
    x: torch.Tensor,
    states: Sequence[torch.Tensor],
    parameters: Sequence[torch.Tensor],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    lengths: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    # As PyTorch tells it.
    projected = kind is LSTM and states[0].shape[2] != states[1].shape[2]
    directions, biased = 2 if bidirectional else 1, 4 if has_biases else 2
    count = biased + int(projected)
    last: list[list[torch.Tensor]] = [[] for _ in states]
    for layer in range(layers):
        if layer and dropout and train:
            x = torch.dropout(x, dropout, True)
        results = []
        for index in range(layer * directions, (layer + 1) * directions):
            weights = list(parameters[count * index : count * (index + 1)])
            projection = weights[biased:]
            weights = weights[:biased]
            if not has_biases:
                weights += [weights[0].new_zeros(weights[0].shape[0])] * 2
            if projected:
                weights += [*projection, weights[0].new_zeros(1)]
            reverse = index % directions == 1
            arguments = (x, *(state[index] for state in states), *weights, batch_first, reverse, lengths)
            y = LAYERS[LSTM_PROJECTED if projected else kind](*arguments)
            results.append(y)
            last[0].append(LAYERS[GRU_LAST](y, batch_first, reverse, lengths))
            if kind is LSTM:
                last[1].append(LAYERS[LSTM_PROJECTED_LAST if projected else LSTM_LAST](y, *arguments))
        x = torch.cat(results, 2)
    return (x, *(torch.stack(some) for some in last))


def _of_two_states(x: torch.Tensor, states: Sequence[torch.Tensor], *rest: Any) -> tuple[torch.Tensor, ...]:
    return _layers(LSTM, x, states, *rest)


def _of_one_state(kind: Any) -> Any:
    def layers(x: torch.Tensor, state: torch.Tensor, *rest: Any) -> tuple[torch.Tensor, ...]:
        return _layers(kind, x, [state], *rest)

    return layers


LIBRARY.define(f"sequence_lstm(Tensor input, Tensor[] hx, {_REST} -> (Tensor, Tensor, Tensor)")
LIBRARY.impl("sequence_lstm", _of_two_states, "CompositeImplicitAutograd")
for _name, _kind in (("gru", GRU), ("rnn_tanh", RNN_TANH), ("rnn_relu", RNN_RELU)):
    LIBRARY.define(f"sequence_{_name}(Tensor input, Tensor hx, {_REST} -> (Tensor, Tensor)")
    LIBRARY.impl(f"sequence_{_name}", _of_one_state(_kind), "CompositeImplicitAutograd")

SEQUENCE_LSTM = torch.ops.cmsis_nn_delegate.sequence_lstm.default
SEQUENCE_GRU = torch.ops.cmsis_nn_delegate.sequence_gru.default
SEQUENCE_RNN_TANH = torch.ops.cmsis_nn_delegate.sequence_rnn_tanh.default
SEQUENCE_RNN_RELU = torch.ops.cmsis_nn_delegate.sequence_rnn_relu.default
