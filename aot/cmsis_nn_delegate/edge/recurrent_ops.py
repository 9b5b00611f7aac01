"""One layer of a recurrent network in one direction, as PyTorch operators: `torch.ops.cmsis_nn_delegate.lstm` and
others.

PyTorch's own operators compute several layers in both directions, with lists of weights and several results. These have
one result, and so can be quantized and delegated like any other.

    lstm(input, h0, c0, w_ih, w_hh, b_ih, b_hh, batch_first, reverse, lengths=None)
    lstm_projected(input, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, m0, batch_first, reverse, lengths=None)
    gru, rnn_tanh, rnn_relu(input, h0, w_ih, w_hh, b_ih, b_hh, batch_first, reverse, lengths=None)

`input` is [steps, batch, inputs], or [batch, steps, inputs] if `batch_first`; `h0` and `c0` are [batch, hidden];
weights and biases are those of PyTorch's layers. The result is the hidden state after each step, [steps, batch, hidden]
or [batch, steps, hidden]. `reverse` begins with the last step, whose result stays the last one. `lengths`, integers
[batch] from 1 to the number of steps, say how many steps each sequence has: its results are those for these steps
alone, and zeros for the others. UserError names a length that is not one.

`lstm_projected` is an lstm whose hidden state is the product of `w_hr`, [outputs, hidden], and the units
m = o * tanh(c): `h0` and the result have `outputs` in the place of `hidden`. `m0` is no part of what is computed: its
scale says how m is quantized.

`lstm_cells` takes what `lstm` takes, and returns the cell state after each step, in the same form; so does
`lstm_projected_cells` of `lstm_projected`, and `lstm_projected_units` returns m. The states after the last step,
[batch, hidden]:

    gru_last(output, batch_first, reverse, lengths=None), of the result of a gru
    lstm_last, lstm_projected_last(output, ...), of the result of an lstm and what it takes: the cells
    last_step(output, lengths, batch_first), of the result of any that does not reverse

Nothing decomposes them: that takes time in proportion to the steps, in each pass over a program. Where nothing
delegates them, `LAYERS` has functions of PyTorch's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch

from ..support.errors import UserError
from .own_ops import define

_ORDER = "bool batch_first, bool reverse, Tensor? lengths=None"
_WEIGHTS = "Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh"
_OF_ONE_STATE = f"Tensor input, Tensor h0, {_WEIGHTS}, {_ORDER}"
_OF_TWO_STATES = f"Tensor input, Tensor h0, Tensor c0, {_WEIGHTS}, {_ORDER}"
_PROJECTED = f"Tensor input, Tensor h0, Tensor c0, {_WEIGHTS}, Tensor w_hr, Tensor m0, {_ORDER}"


def _define(name: str, arguments: str, function: Any, shape: Any) -> Any:
    """Declares an operator as `define` does, which looks at the lengths first."""

    def checked(*arguments: Any) -> Any:
        order = _order_of(arguments)
        if order.lengths is not None:
            require_lengths(order.lengths, arguments[0].shape[int(order.batch_first)])
        return function(*arguments)

    return define(name, arguments, checked, shape)


def _shape(x: torch.Tensor, h0: torch.Tensor, *_: Any) -> torch.Tensor:
    return x.new_empty((*x.shape[:2], h0.shape[1]))


def _shape_of_units(x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *_: Any) -> torch.Tensor:
    return x.new_empty((*x.shape[:2], c0.shape[1]))


def require_lengths(lengths: torch.Tensor, steps: int) -> None:
    """UserError names the first of `lengths`, integers [batch], that is not from 1 to `steps`."""
    outside = torch.nonzero((lengths < 1) | (lengths > steps)).flatten().tolist()
    if outside:
        raise UserError(
            f"sequence {outside[0]} of the batch has the length {int(lengths[outside[0]])}, which is not from 1 to "
            f"{steps}, the steps of the input: give other lengths, or more steps; lengths that the model computes from "
            "floats are not exact once they are quantized, so compute them from integers or booleans"
        )


class _Order(NamedTuple):
    """In which order a layer computes the steps of sequences."""

    batch_first: bool
    reverse: bool
    lengths: Optional[torch.Tensor] = None

    def of(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the steps of `x` in this order; those of the result of this are `x`."""
        time = int(self.batch_first)
        if not self.reverse:
            return x
        if self.lengths is None:
            return x.flip(time)
        steps, lengths = self._steps(x)
        index = torch.where(steps < lengths, lengths - 1 - steps, steps)
        return x.gather(time, index.expand(x.shape))

    def limited(self, y: torch.Tensor) -> torch.Tensor:
        """Returns results `y` with zeros after the last step of each sequence."""
        if self.lengths is None:
            return y
        steps, lengths = self._steps(y)
        return torch.where(steps < lengths, y, 0.0)

    def last(self, y: torch.Tensor) -> torch.Tensor:
        """Returns the results `y` of the last step that is computed, [batch, hidden]."""
        time = int(self.batch_first)
        if self.reverse or self.lengths is None:
            return y.select(time, 0 if self.reverse else -1).clone()
        _, lengths = self._steps(y)
        shape = list(y.shape)
        shape[time] = 1
        return y.gather(time, (lengths - 1).expand(shape)).squeeze(time)

    def _steps(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the numbers of the steps and the lengths, int64, both of rank 3."""
        assert self.lengths is not None
        time = int(self.batch_first)
        steps = torch.arange(x.shape[time]).view((1, -1, 1) if time else (-1, 1, 1))
        return steps, self.lengths.to(torch.int64).view((-1, 1, 1) if time else (1, -1, 1))


def _lstm(order: _Order, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *layer: torch.Tensor) -> torch.Tensor:
    states = (h0.unsqueeze(0), c0.unsqueeze(0))
    y, _, _ = torch.lstm(order.of(x), states, list(layer), True, 1, 0.0, False, False, order.batch_first)
    return order.limited(order.of(y))


def _lstm_projected(
    order: _Order, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *layer: torch.Tensor
) -> torch.Tensor:
    return _lstm(order, x, h0, c0, *layer[:-1])


def _cells(
    order: _Order, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, *layer: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the cells and the units of all steps."""
    w_ih, w_hh, b_ih, b_hh, *projection = layer
    steps = int(order.batch_first)
    cells, units = [], []
    for products in (order.of(x) @ w_ih.T + b_ih).unbind(steps):
        i, f, g, o = (products + h @ w_hh.T + b_hh).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        cells.append(c)
        units.append(h)
        if projection:
            h = h @ projection[0].T
    of_cells, of_units = (order.limited(order.of(torch.stack(some, steps))) for some in (cells, units))
    return of_cells, of_units


def _only_cells(order: _Order, *arguments: torch.Tensor) -> torch.Tensor:
    return _cells(order, *arguments)[0]


def _only_units(order: _Order, *arguments: torch.Tensor) -> torch.Tensor:
    return _cells(order, *arguments)[1]


def _of_one_state(function: Any) -> Any:
    def layer(order: _Order, x: torch.Tensor, h0: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        y, _ = function(order.of(x), h0.unsqueeze(0), list(weights), True, 1, 0.0, False, False, order.batch_first)
        return order.limited(order.of(y))

    return layer


def _last(order: _Order, output: torch.Tensor) -> torch.Tensor:
    return order.last(output)


def _last_step(output: torch.Tensor, lengths: torch.Tensor, batch_first: bool) -> torch.Tensor:
    return _Order(batch_first, False, lengths).last(output)


def _last_cells(
    order: _Order, output: torch.Tensor, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *layer: torch.Tensor
) -> torch.Tensor:
    if order.lengths is not None:
        return order.last(_only_cells(order, x, h0, c0, *layer))
    states = (h0.unsqueeze(0), c0.unsqueeze(0))
    _, _, cells = torch.lstm(order.of(x), states, list(layer), True, 1, 0.0, False, False, order.batch_first)
    return cells.squeeze(0)


def _last_projected_cells(order: _Order, *arguments: torch.Tensor) -> torch.Tensor:
    return _last_cells(order, *arguments[:-1])


def _last_shape(output: torch.Tensor, *rest: Any) -> torch.Tensor:
    (batch_first,) = [flag for flag in rest if isinstance(flag, bool)][:1]
    return output.new_empty((output.shape[0 if batch_first else 1], output.shape[2]))


def _last_shape_of_cells(output: torch.Tensor, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor, *_: Any) -> Any:
    return torch.empty_like(c0)


def _by_position(function: Any) -> Any:
    """PyTorch gives all arguments by position, without the last one if that is the default."""

    def call(*arguments: Any) -> Any:
        return function(_order_of(arguments), *arguments[: _first_flag(arguments)])

    return call


def _order_of(arguments: Sequence[Any]) -> _Order:
    first = _first_flag(arguments)
    flags = arguments[first:]
    # last_step has its lengths before its only flag.
    return _Order(*flags) if len(flags) > 1 else _Order(flags[0], False, arguments[first - 1])


def _first_flag(arguments: Sequence[Any]) -> int:
    return next(index for index, value in enumerate(arguments) if isinstance(value, bool))


_lstm_by_position = _by_position(_lstm)
_gru, _rnn_tanh, _rnn_relu = (
    _by_position(_of_one_state(function)) for function in (torch.gru, torch.rnn_tanh, torch.rnn_relu)
)
LSTM = _define("lstm", _OF_TWO_STATES, _lstm_by_position, _shape)
LSTM_CELLS = _define("lstm_cells", _OF_TWO_STATES, _by_position(_only_cells), _shape)
GRU = _define("gru", _OF_ONE_STATE, _gru, _shape)
RNN_TANH = _define("rnn_tanh", _OF_ONE_STATE, _rnn_tanh, _shape)
RNN_RELU = _define("rnn_relu", _OF_ONE_STATE, _rnn_relu, _shape)

_lstm_projected_by_position = _by_position(_lstm_projected)
LSTM_PROJECTED = _define("lstm_projected", _PROJECTED, _lstm_projected_by_position, _shape)
LSTM_PROJECTED_CELLS = _define("lstm_projected_cells", _PROJECTED, _by_position(_only_cells), _shape_of_units)
LSTM_PROJECTED_UNITS = _define("lstm_projected_units", _PROJECTED, _by_position(_only_units), _shape_of_units)

_gru_last, _lstm_last = _by_position(_last), _by_position(_last_cells)
_lstm_projected_last = _by_position(_last_projected_cells)
GRU_LAST = _define("gru_last", f"Tensor output, {_ORDER}", _gru_last, _last_shape)
LAST_STEP = _define("last_step", "Tensor output, Tensor lengths, bool batch_first", _last_step, _last_shape)
LSTM_LAST = _define("lstm_last", f"Tensor output, {_OF_TWO_STATES}", _lstm_last, _last_shape)
LSTM_PROJECTED_LAST = _define(
    "lstm_projected_last", f"Tensor output, {_PROJECTED}", _lstm_projected_last, _last_shape_of_cells
)

# What each computes, with PyTorch's operators.
LAYERS = {
    LSTM: _lstm_by_position,
    LSTM_PROJECTED: _lstm_projected_by_position,
    GRU: _gru,
    RNN_TANH: _rnn_tanh,
    RNN_RELU: _rnn_relu,
    LSTM_LAST: _lstm_last,
    LSTM_PROJECTED_LAST: _lstm_projected_last,
    GRU_LAST: _gru_last,
    LAST_STEP: _last_step,
}
