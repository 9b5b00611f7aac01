"""`VariableLength`, a recurrent layer for sequences of different lengths that can be exported."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..support.errors import UserError
from .sequence_ops import SEQUENCE_GRU, SEQUENCE_LSTM, SEQUENCE_RNN_RELU, SEQUENCE_RNN_TANH

States = Union[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]


class VariableLength(nn.Module):
    """`layer`, an nn.LSTM, nn.GRU or nn.RNN, for sequences of which each has its own number of steps.

    `forward(x, lengths, states=None)` returns what this returns, for `x` with `steps` steps, and its gradients:

        packed = pack_padded_sequence(x, lengths, layer.batch_first, enforce_sorted=False)
        y, states = layer(packed, states)
        y, _ = pad_packed_sequence(y, layer.batch_first, total_length=steps)

    torch.export cannot trace that, as the sizes in between depend on the lengths. This module exports as one operator
    with results of a fixed shape, which the delegate computes as calls whose loops end after the steps of each
    sequence.

    `x` is float [steps, batch, inputs], or [batch, steps, inputs] if the layer is `batch_first`; `lengths` int64 or
    int32 [batch], each from 1 to `steps`; `states` as for `layer`. Raises UserError if `layer` is no such layer or has
    a projection, or if `x` has no batch.
    """

    def __init__(self, layer: Union[nn.LSTM, nn.GRU, nn.RNN]) -> None:
        super().__init__()
        if not isinstance(layer, (nn.LSTM, nn.GRU, nn.RNN)):
            raise UserError(f"VariableLength takes an nn.LSTM, nn.GRU or nn.RNN, not {type(layer).__name__}")
        if layer.proj_size:
            raise UserError(
                "VariableLength takes no layer with a projection: put an nn.Linear behind the layer instead"
            )
        self.layer = layer

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor, states: Optional[States] = None
    ) -> tuple[torch.Tensor, States]:
        layer = self.layer
        if x.dim() != 3:
            raise UserError(f"sequences of different lengths are a batch, with 3 dimensions, not {x.dim()}")
        if not torch.compiler.is_exporting():
            packed = pack_padded_sequence(x, lengths.cpu(), layer.batch_first, enforce_sorted=False)
            results, last = layer(packed, states)
            y, _ = pad_packed_sequence(results, layer.batch_first, total_length=x.shape[int(layer.batch_first)])
            return y, last
        is_lstm = isinstance(layer, nn.LSTM)
        if states is None:
            directions = 2 if layer.bidirectional else 1
            batch = x.shape[0 if layer.batch_first else 1]
            shape = (layer.num_layers * directions, batch, layer.hidden_size)
            zeros = torch.zeros(shape, dtype=x.dtype, device=x.device)
            states = (zeros, zeros) if is_lstm else zeros
        y, *found = _operator_of(layer)(
            x,
            list(states) if is_lstm else states,
            [weight for weights in layer.all_weights for weight in weights],
            layer.bias,
            layer.num_layers,
            layer.dropout,
            layer.training,
            layer.bidirectional,
            layer.batch_first,
            lengths,
        )
        return y, tuple(found) if is_lstm else found[0]


def _operator_of(layer: Union[nn.LSTM, nn.GRU, nn.RNN]) -> Any:
    if isinstance(layer, nn.LSTM):
        return SEQUENCE_LSTM
    if isinstance(layer, nn.GRU):
        return SEQUENCE_GRU
    return SEQUENCE_RNN_TANH if layer.nonlinearity == "tanh" else SEQUENCE_RNN_RELU
