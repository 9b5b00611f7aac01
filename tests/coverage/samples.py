"""Data for a case: `like` draws inputs that are distributed like its example inputs, and differ from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def like(arguments: Sequence[Any], generator: torch.Generator) -> tuple[Any, ...]:
    """Returns new arguments for those of a case, tensors and numbers. Tensors keep their shape, type and order in
    memory, numbers stay as they are."""
    return tuple(_like(x, generator) if isinstance(x, torch.Tensor) else x for x in arguments)


def _like(example: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Returns a tensor of which each element is drawn on its own. Floating-point numbers come from the distribution of
    the example's, with what lies between neighbours; if all are the same number, from between zero and it. Other
    numbers, such as indices, are some of the example's; in ascending order they are offsets, and stay."""
    values = example.detach().reshape(-1)
    count = values.numel()
    if not count:
        return example.clone()
    if not example.is_floating_point() and torch.equal(values, values.sort().values):
        return example.clone()
    if not example.is_floating_point():
        drawn = values[torch.randint(count, (count,), generator=generator)]
    else:
        values = values.double().sort().values
        if values[0] == values[-1]:
            values = torch.stack([values[0], torch.zeros_like(values[0])]).sort().values
        place = torch.rand(count, generator=generator, dtype=torch.float64) * (len(values) - 1)
        left = place.long().clamp(max=len(values) - 2)
        drawn = values[left] + (place - left) * (values[left + 1] - values[left])
    result = torch.empty_like(example, requires_grad=False)
    return result.copy_(drawn.reshape(example.shape))
