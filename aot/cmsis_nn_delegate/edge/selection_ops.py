"""The largest or smallest numbers along a dimension, as PyTorch operators with one result each:
`torch.ops.cmsis_nn_delegate.topk_values` and `topk_indices`.

    topk_values(input, k, dim, largest)      torch.topk(input, k, dim, largest).values
    topk_indices(input, k, dim, largest)     its indices, int64; of equal numbers, the first one comes first

What is not delegated becomes PyTorch's topk, for which ExecuTorch has a kernel, unlike for sort. Equal numbers then
come in the order of that kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .own_ops import define, give_gradients


def _sorted(x: torch.Tensor, k: int, dim: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.sort(x, dim=dim, descending=largest, stable=True)
    return values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()


def _shape(x: torch.Tensor, k: int, dim: int) -> list[int]:
    shape = list(x.shape)
    shape[dim] = k
    return shape


def _save(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
    x, k, dim, largest = inputs
    ctx.save_for_backward(_sorted(x, k, dim, largest)[1])
    ctx.shape, ctx.dim = x.shape, dim


def _gradient(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
    """Numbers that were chosen have the gradient of their place in the result."""
    (indices,) = ctx.saved_tensors
    return gradient.new_zeros(ctx.shape).scatter_add(ctx.dim, indices, gradient), None, None, None


def _define(name: str, result: int, dtype: Callable[[torch.Tensor], torch.dtype]) -> Any:
    def compute(x: torch.Tensor, k: int, dim: int, largest: bool) -> torch.Tensor:
        return _sorted(x, k, dim, largest)[result]

    def shaped(x: torch.Tensor, k: int, dim: int, largest: bool) -> torch.Tensor:
        return x.new_empty(_shape(x, k, dim), dtype=dtype(x))

    return define(name, "Tensor input, int k, int dim, bool largest", compute, shaped)


TOPK_VALUES = _define("topk_values", 0, lambda x: x.dtype)
TOPK_INDICES = _define("topk_indices", 1, lambda x: torch.int64)
give_gradients("topk_values", _gradient, _save)

# What computes them with PyTorch's operators.
SELECTIONS: Mapping[Any, Callable[..., torch.Tensor]] = {
    TOPK_VALUES: lambda *arguments: torch.topk(*arguments).values,
    TOPK_INDICES: lambda *arguments: torch.topk(*arguments).indices,
}
