"""Conditions in floats, as PyTorch operators, because the delegate has no booleans: `torch.ops.cmsis_nn_delegate.gt`
and others.

    gt(a, b), ge, lt, le, eq, ne     1.0 where the comparison is true, and else 0.0
    keep(c, x)                       x where c is not 0, and else -0.0
    drop(c, x)                       x where c is 0, and else -0.0

So keep(c, a) + drop(c, b) is where(c, a, b) to the last bit, also of infinities: -0.0 added to a number is the number.
Operands are tensors of float32 that broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .own_ops import define


def _compared(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def compute(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return function(a, b).to(torch.float32)

    return compute


def _keep(condition: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.where(condition != 0, x, -0.0)


def _drop(condition: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.where(condition == 0, x, -0.0)


_FUNCTIONS: Mapping[str, Callable[..., torch.Tensor]] = {
    **{name: _compared(getattr(torch, name)) for name in ("gt", "ge", "lt", "le", "eq", "ne")},
    "keep": _keep,
    "drop": _drop,
}


# By name, and what computes each of them.
OPS: Mapping[str, Any] = {
    name: define(name, "Tensor a, Tensor b", function, torch.add) for name, function in _FUNCTIONS.items()
}
CONDITIONS: Mapping[Any, Callable[..., torch.Tensor]] = {OPS[name]: function for name, function in _FUNCTIONS.items()}
