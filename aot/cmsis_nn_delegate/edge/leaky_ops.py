"""Sums that a model keeps from one step to the next, and of which a part decays in each, as PyTorch operators:
`torch.ops.cmsis_nn_delegate.leaky_sum` and others.

    leaky_sum(state, input, decay, gain, chain) = a * state + gain * input

`state` and `input` have one shape, `gain` is a constant that fits them. `a` is `decay`, a constant that fits them, if
`chain` is empty, and else what the functions of `chain` (`edge.function_chain`) are of `decay`, of the same shape.

    selective_state(state, step, input, written, rates, chain) = exp(t * rates) * state + t * input * written

with t = chain(step): `state` is [..., rows, columns], `step` and `input` are [..., rows, 1], `written` is [..., 1,
columns], and `rates` a constant that fits the last two dimensions. This is what a selective state space layer (Mamba)
keeps.

Both have one result, the new state. `leaky_sum_last(output, ...)` and `selective_state_last(output, ...)` take that and
what the operator takes, and give the same: the new state with the elements that a state has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .function_chain import parsed
from .own_ops import define

_LEAKY_SUM = "Tensor state, Tensor input, Tensor decay, Tensor gain, str chain"
_SELECTIVE_STATE = "Tensor state, Tensor step, Tensor input, Tensor written, Tensor rates, str chain"

_FUNCTIONS: Mapping[str, Callable[..., torch.Tensor]] = {
    "neg": torch.neg,
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softplus": torch.nn.functional.softplus,
    "relu": torch.relu,
    "mul": lambda x, factor: x * factor,
    "add": lambda x, addend: x + addend,
}


def _of_chain(chain: str, x: torch.Tensor) -> torch.Tensor:
    for name, numbers in parsed(chain):
        x = _FUNCTIONS[name](x, *numbers)
    return x


def _leaky_sum(
    state: torch.Tensor, x: torch.Tensor, decay: torch.Tensor, gain: torch.Tensor, chain: str
) -> torch.Tensor:
    return (_of_chain(chain, decay) if chain else decay) * state + gain * x


def _selective_state(
    state: torch.Tensor,
    step: torch.Tensor,
    x: torch.Tensor,
    written: torch.Tensor,
    rates: torch.Tensor,
    chain: str,
) -> torch.Tensor:
    t = _of_chain(chain, step)
    return torch.exp(t * rates) * state + t * x * written


def _define(name: str, arguments: str, function: Any) -> tuple[Any, Any]:
    """Declares operator `name` and NAME_last, and returns both."""

    def last(output: torch.Tensor, *rest: Any) -> Any:
        return function(*rest)

    def shape(x: torch.Tensor, *_: Any) -> torch.Tensor:
        return torch.empty_like(x)

    return define(name, arguments, function, shape), define(f"{name}_last", f"Tensor output, {arguments}", last, shape)


LEAKY_SUM, LEAKY_SUM_LAST = _define("leaky_sum", _LEAKY_SUM, _leaky_sum)
SELECTIVE_STATE, SELECTIVE_STATE_LAST = _define("selective_state", _SELECTIVE_STATE, _selective_state)

# By operator, what gives its new state with the elements of a state.
LAST = {LEAKY_SUM: LEAKY_SUM_LAST, SELECTIVE_STATE: SELECTIVE_STATE_LAST}

# What each computes, with PyTorch's operators.
SUMS = {
    LEAKY_SUM: _leaky_sum,
    LEAKY_SUM_LAST: lambda output, *rest: _leaky_sum(*rest),
    SELECTIVE_STATE: _selective_state,
    SELECTIVE_STATE_LAST: lambda output, *rest: _selective_state(*rest),
}
