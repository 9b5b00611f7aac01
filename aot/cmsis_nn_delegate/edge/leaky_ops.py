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

from . import recurrent_ops  # noqa: F401  declares the library
from .function_chain import parsed

_library: Any = torch.library.Library("cmsis_nn_delegate", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch's
_LEAKY_SUM = "Tensor state, Tensor input, Tensor decay, Tensor gain, str chain) -> Tensor"
_SELECTIVE_STATE = "Tensor state, Tensor step, Tensor input, Tensor written, Tensor rates, str chain) -> Tensor"

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


def _define(name: str, arguments: str, function: Any) -> None:
    def last(output: torch.Tensor, *rest: Any) -> Any:
        return function(*rest)

    for full, given, compute_it in ((name, arguments, function), (f"{name}_last", f"Tensor output, {arguments}", last)):
        _library.define(f"{full}({given}")
        _library.impl(full, compute_it, "CompositeExplicitAutograd")
        torch.library.register_fake(f"cmsis_nn_delegate::{full}", lambda x, *_: torch.empty_like(x), lib=_library)


_define("leaky_sum", _LEAKY_SUM, _leaky_sum)
_define("selective_state", _SELECTIVE_STATE, _selective_state)

LEAKY_SUM = torch.ops.cmsis_nn_delegate.leaky_sum.default
LEAKY_SUM_LAST = torch.ops.cmsis_nn_delegate.leaky_sum_last.default
SELECTIVE_STATE = torch.ops.cmsis_nn_delegate.selective_state.default
SELECTIVE_STATE_LAST = torch.ops.cmsis_nn_delegate.selective_state_last.default

# By operator, what gives its new state with the elements of a state.
LAST = {LEAKY_SUM: LEAKY_SUM_LAST, SELECTIVE_STATE: SELECTIVE_STATE_LAST}

# What each computes, with PyTorch's operators.
SUMS = {
    LEAKY_SUM: _leaky_sum,
    LEAKY_SUM_LAST: lambda output, *rest: _leaky_sum(*rest),
    SELECTIVE_STATE: _selective_state,
    SELECTIVE_STATE_LAST: lambda output, *rest: _selective_state(*rest),
}
