"""`VariableLength`, a recurrent layer for sequences of different lengths that can be exported."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..support.errors import UserError
from .recurrent_ops import require_lengths
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
    int32 [batch], each from 1 to `steps`; `states` as for `layer`. Raises UserError if `layer` is no such layer, if
    `x` has no batch, or if `lengths` are not that. torch.export does not know their values: those of
    constants and samples are checked when they are used.
    """

    def __init__(self, layer: Union[nn.LSTM, nn.GRU, nn.RNN]) -> None:
        super().__init__()
        if not isinstance(layer, (nn.LSTM, nn.GRU, nn.RNN)):
            raise UserError(f"VariableLength takes an nn.LSTM, nn.GRU or nn.RNN, not {type(layer).__name__}")
        self.layer = layer

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor, states: Optional[States] = None
    ) -> tuple[torch.Tensor, States]:
        layer = self.layer
        if x.dim() != 3:
            raise UserError(f"sequences of different lengths are a batch, with 3 dimensions, not {x.dim()}")
        steps, batch = (x.shape[1], x.shape[0]) if layer.batch_first else (x.shape[0], x.shape[1])
        if lengths.dim() != 1 or lengths.shape[0] != batch:
            raise UserError(
                f"the lengths have the shape {list(lengths.shape)}, and the batch has {batch} sequences: give a tensor "
                f"[{batch}] with one length for each of them"
            )
        if lengths.dtype not in (torch.int64, torch.int32):
            raise UserError(
                f"the lengths are {str(lengths.dtype).removeprefix('torch.')}, and have to be int64 or int32: give "
                "integers, or compute them from integers or booleans, such as mask.sum(1) of a mask of booleans; what "
                "is computed from floats is quantized, and then no longer exact"
            )
        if not torch.compiler.is_exporting():
            require_lengths(lengths, steps)
            packed = pack_padded_sequence(x, lengths.cpu(), layer.batch_first, enforce_sorted=False)
            results, last = layer(packed, states)
            y, _ = pad_packed_sequence(results, layer.batch_first, total_length=steps)
            return y, last
        is_lstm = isinstance(layer, nn.LSTM)
        if states is None:
            directions = 2 if layer.bidirectional else 1
            cells, hidden = (
                torch.zeros((layer.num_layers * directions, batch, size), dtype=x.dtype, device=x.device)
                for size in (layer.hidden_size, layer.proj_size or layer.hidden_size)
            )
            states = (hidden, cells) if is_lstm else hidden
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
