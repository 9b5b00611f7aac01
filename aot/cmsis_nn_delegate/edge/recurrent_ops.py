"""One layer of a recurrent network in one direction, as PyTorch operators: `torch.ops.cmsis_nn_delegate.lstm` and
others.

PyTorch's own operators compute several layers in both directions, with lists of weights and several results. These have
one result, and so can be quantized and delegated like any other.

    lstm(input, h0, c0, w_ih, w_hh, b_ih, b_hh, batch_first, reverse)
    gru, rnn_tanh, rnn_relu(input, h0, w_ih, w_hh, b_ih, b_hh, batch_first, reverse)

`input` is [steps, batch, inputs], or [batch, steps, inputs] if `batch_first`; `h0` and `c0` are [batch, hidden];
weights and biases are those of PyTorch's layers. The result is the hidden state after each step, [steps, batch, hidden]
or [batch, steps, hidden]. `reverse` begins with the last step, whose result stays the last one.

`lstm_cells` takes what `lstm` takes, and returns the cell state after each step, in the same form. The states after the
last step, [batch, hidden]:

    gru_last(output, batch_first, reverse), of the result of a gru
    lstm_last(output, ...), of the result of an lstm and what it takes: the cells

Nothing decomposes them: that takes time in proportion to the steps, in each pass over a program. Where nothing
delegates them, `LAYERS` has functions of PyTorch's operators."""

from __future__ import annotations

from typing import Any

import torch

_LAYER = "Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, bool batch_first, bool reverse) -> Tensor"
_library: Any = torch.library.Library("cmsis_nn_delegate", "DEF")  # type: ignore[no-untyped-call]  # torch's


def _define(name: str, states: str, function: Any) -> None:
    _library.define(f"{name}(Tensor input, {states}, {_LAYER}")
    _library.impl(name, function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"cmsis_nn_delegate::{name}", _shape, lib=_library)


def _shape(x: torch.Tensor, h0: torch.Tensor, *_: Any) -> torch.Tensor:
    return x.new_empty((*x.shape[:2], h0.shape[1]))


def _in_order(x: torch.Tensor, batch_first: bool, reverse: bool) -> torch.Tensor:
    return x.flip(int(batch_first)) if reverse else x


def _lstm(
    x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *layer: torch.Tensor, batch_first: bool, reverse: bool
) -> torch.Tensor:
    states = (h0.unsqueeze(0), c0.unsqueeze(0))
    x = _in_order(x, batch_first, reverse)
    y, _, _ = torch.lstm(x, states, list(layer), True, 1, 0.0, False, False, batch_first)
    return _in_order(y, batch_first, reverse)


def _cells(
    x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, *layer: torch.Tensor, batch_first: bool, reverse: bool
) -> torch.Tensor:
    w_ih, w_hh, b_ih, b_hh = layer
    steps = int(batch_first)
    cells = []
    for products in (_in_order(x, batch_first, reverse) @ w_ih.T + b_ih).unbind(steps):
        i, f, g, o = (products + h @ w_hh.T + b_hh).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        cells.append(c)
    return _in_order(torch.stack(cells, steps), batch_first, reverse)


def _of_one_state(function: Any) -> Any:
    def layer(
        x: torch.Tensor, h0: torch.Tensor, *weights: torch.Tensor, batch_first: bool, reverse: bool
    ) -> torch.Tensor:
        x = _in_order(x, batch_first, reverse)
        y, _ = function(x, h0.unsqueeze(0), list(weights), True, 1, 0.0, False, False, batch_first)
        return _in_order(y, batch_first, reverse)

    return layer


def _last(output: torch.Tensor, batch_first: bool, reverse: bool) -> torch.Tensor:
    return output.select(int(batch_first), 0 if reverse else -1).clone()


def _last_cells(output: torch.Tensor, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *rest: Any) -> torch.Tensor:
    *layer, batch_first, reverse = rest
    x = _in_order(x, batch_first, reverse)
    states = (h0.unsqueeze(0), c0.unsqueeze(0))
    _, _, cells = torch.lstm(x, states, layer, True, 1, 0.0, False, False, batch_first)
    return cells.squeeze(0)


def _last_shape(output: torch.Tensor, *rest: Any) -> torch.Tensor:
    batch = output.shape[0 if rest[-2] else 1]
    return output.new_empty((batch, output.shape[2]))


def _by_position(function: Any) -> Any:
    """PyTorch gives all arguments by position."""

    def call(*arguments: Any) -> Any:
        *tensors, batch_first, reverse = arguments
        return function(*tensors, batch_first=batch_first, reverse=reverse)

    return call


_lstm_by_position = _by_position(_lstm)
_gru, _rnn_tanh, _rnn_relu = (
    _by_position(_of_one_state(function)) for function in (torch.gru, torch.rnn_tanh, torch.rnn_relu)
)
_define("lstm", "Tensor h0, Tensor c0", _lstm_by_position)
_define("lstm_cells", "Tensor h0, Tensor c0", _by_position(_cells))
_define("gru", "Tensor h0", _gru)
_define("rnn_tanh", "Tensor h0", _rnn_tanh)
_define("rnn_relu", "Tensor h0", _rnn_relu)

_library.define("gru_last(Tensor output, bool batch_first, bool reverse) -> Tensor")
_library.define(f"lstm_last(Tensor output, Tensor input, Tensor h0, Tensor c0, {_LAYER}")
_library.impl("gru_last", _last, "CompositeExplicitAutograd")
_library.impl("lstm_last", _last_cells, "CompositeExplicitAutograd")
for _name in ("gru_last", "lstm_last"):
    torch.library.register_fake(f"cmsis_nn_delegate::{_name}", _last_shape, lib=_library)

LSTM = torch.ops.cmsis_nn_delegate.lstm.default
LSTM_CELLS = torch.ops.cmsis_nn_delegate.lstm_cells.default
LSTM_LAST = torch.ops.cmsis_nn_delegate.lstm_last.default
GRU = torch.ops.cmsis_nn_delegate.gru.default
GRU_LAST = torch.ops.cmsis_nn_delegate.gru_last.default
RNN_TANH = torch.ops.cmsis_nn_delegate.rnn_tanh.default
RNN_RELU = torch.ops.cmsis_nn_delegate.rnn_relu.default

# What each computes, with PyTorch's operators.
LAYERS = {
    LSTM: _lstm_by_position,
    GRU: _gru,
    RNN_TANH: _rnn_tanh,
    RNN_RELU: _rnn_relu,
    LSTM_LAST: _last_cells,
    GRU_LAST: _last,
}
